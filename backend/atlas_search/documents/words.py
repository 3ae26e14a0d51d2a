"""The form of what is counted of words, as the API sends and describes it."""

from pydantic import Field

from atlas_search.documents.search import Link, Sent


class LineOut(Sent):
    """A hit in its context; `left`, `hit` and `right` follow each other without a gap."""

    corpus: str
    document_id: str
    passage_id: str = Field(description="A passage that shows it")
    title: str
    date: str | None
    start: int = Field(description="First character of the hit in the document's text")
    end: int = Field(description="Character after its last")
    left: str
    hit: str
    right: str
    page: int = Field(description="Of the passage, counted from 1")
    locator: str | None
    section: str | None
    speaker: str | None
    url: Link


class ConcordanceOut(Sent):
    """A page of lines, and counts of all hits."""

    query: str
    trace_id: str = Field(description="Empty for who may not see traces")
    hits: int = Field(description="All there are, each place once")
    per_million: float | None = Field(description="Hits in a million words; null without a word")
    words: int = Field(description="Words that were looked through, each once")
    documents: int = Field(description="Documents with a hit")
    passages: int = Field(description="Passages that hold one whole")
    per_corpus: dict[str, int] = Field(description="Hits in each corpus")
    listed: int = Field(description="Hits that are listed: all, or those drawn by lot")
    offset: int
    lines: list[LineOut]


class CellOut(Sent):
    """The hits in the documents with one value."""

    value: str | None = Field(
        description="null: documents without one, or with a date of several years"
    )
    corpus: str | None = Field(description="null: every corpus together")
    hits: int | None = Field(description="null where there is no word to count in")
    per_million: float | None
    words: int = Field(description="Words of these documents that were looked through")
    documents: int = Field(description="Documents with a hit")
    of_documents: int
    passages: int = Field(description="Passages that hold a hit whole")
    of_passages: int
    filters: dict[str, list[str]] | None = Field(
        description="Finds the same documents in a search, beside the request's own filters; null "
        "if no filter does. `point` of a concordance finds them always"
    )


class WordCountsOut(Sent):
    """Hits counted by a value."""

    query: str
    by: str
    trace_id: str = Field(description="Empty for who may not see traces")
    total: CellOut = Field(description="Every document once")
    cells: list[CellOut] = Field(
        description="Years and decades in order, also those without text; else most hits first. A "
        "document with several values is in several cells"
    )
    cells_left_out: int = Field(description="Of the values with the fewest hits")


class CollocateOut(Sent):
    """A word that stands near hits more often than elsewhere."""

    word: str = Field(
        description="As words are compared: in small letters without accents, as it "
        "is written (`case_sensitive`), or its stem"
    )
    near: int = Field(description="Its places near a hit, each once")
    frequency: int = Field(description="All of its places")
    log_likelihood: float = Field(description="G² of Dunning (1993)")
    log_dice: float = Field(description="Of Rychlý (2008)")
    query: str | None = Field(
        description="The places near a hit, for a concordance with the same fields; null if it "
        "would be too long"
    )


class CollocatesOut(Sent):
    """The words near the hits of a query, the strongest first."""

    query: str
    trace_id: str = Field(description="Empty for who may not see traces")
    hits: int
    words: int = Field(description="Words that were looked through, each once")
    words_near: int = Field(description="Those near a hit")
    collocates: list[CollocateOut]
    left_out: int = Field(description="Collocates beyond `limit`")


class KeywordOut(Sent):
    """A word in what is looked through, and in the reference."""

    word: str = Field(description="As a collocate has it")
    frequency: int
    per_million: float
    documents: int = Field(description="Documents that hold it")
    reference_frequency: int
    reference_per_million: float
    reference_documents: int
    log_likelihood: float = Field(description="Of Rayson and Garside (2000)")
    log_ratio: float = Field(
        description="Of Hardie (2014): 1 is twice as frequent, -1 half; a frequency of 0 is 0.5"
    )
    query: str = Field(description="Its places, for a concordance with the same fields")


class KeywordsOut(Sent):
    """Words that set what is looked through apart, those that differ most first."""

    trace_id: str = Field(description="Empty for who may not see traces")
    words: int = Field(description="Words that were looked through, each once")
    documents: int
    reference_words: int = Field(description="Words of the reference")
    reference_documents: int
    keywords: list[KeywordOut]
    left_out: int = Field(description="Keywords beyond `limit`")
