"""What requests for words look like."""

from pydantic import Field

from atlas_search.counting import (
    COLLOCATES_FROM,
    KEYWORDS_FROM,
    MOST_CONTEXT,
    MOST_LINES,
    MOST_OFFSET,
    MOST_WINDOW,
    WordsWhere,
)
from atlas_search.search.query import MOST_PHRASES
from atlas_search.search.request import MOST_VALUES
from atlas_search.server.schemas.requests import (
    Filters,
    Names,
    StrictBody,
    Telemetry,
    plain_filters,
)
from atlas_search.words.query import MAX_QUERY, Form
from atlas_search.words.request import (
    ALL,
    YEAR,
    Direction,
    Keyness,
    Point,
    Sort,
    Strength,
)

MAX_NAME = 1000  # characters of a field, or of its value


class WhereBody(StrictBody):
    """Where words are looked for."""

    corpus_filter: str | Names = Field(
        "all", description='"all", the id of a corpus, or a list of ids'
    )
    filters: Filters = Field(
        default_factory=dict,
        description=f"As in a search; of all lists together at most {MOST_VALUES:,} values",
    )
    collection: str | None = Field(
        None, description="Name of a collection that is served; the configured one if absent"
    )
    require: list[str] = Field(
        default_factory=list,
        max_length=MOST_PHRASES,
        description="Phrases a passage must hold, all of them, for its words to count",
    )
    exclude: list[str] = Field(
        default_factory=list, max_length=MOST_PHRASES, description="Phrases it may not hold"
    )
    form: Form = Field(
        "surface",
        description="`stem`: words without a wildcard count in all forms of their stem",
    )
    case_sensitive: bool = Field(
        False, description="Whether capitals and accents count; only with `surface`"
    )
    telemetry: bool = Telemetry


class WordsBody(WhereBody):
    """Words to look for, and where."""

    query: str = Field(
        max_length=MAX_QUERY,
        description='Words, "a phrase", strike*, wom?n, strike* NEAR/5 wage*, a OR b, brackets',
    )


class PointBody(StrictBody):
    """One point of a trend."""

    by: str = Field(max_length=MAX_NAME, description="What the trend was counted by")
    value: str | None = Field(max_length=MAX_NAME, description="The `value` of the cell")
    corpus: str | None = Field(
        None, max_length=MAX_NAME, description="The `corpus` of the cell, if it has one"
    )


class ConcordanceBody(WordsBody):
    """Words to be shown in their context."""

    limit: int = Field(50, ge=0, le=MOST_LINES, description="Lines wanted")
    offset: int = Field(0, ge=0, le=MOST_OFFSET, description="Lines before them")
    context: int = Field(10, ge=0, le=MOST_CONTEXT, description="Words on either side")
    sort: Sort = Field(
        "document",
        description="By the words beside the hit, the nearest first (`left`, `right`), by the hit, "
        "by date or by corpus and date; ties, as `document`, in the order of the collection",
    )
    sample: int | None = Field(
        None, ge=1, le=MOST_OFFSET, description="List so many hits alone, drawn by lot"
    )
    seed: int = Field(0, ge=0, lt=2**32, description="The same draws the same hits")
    point: PointBody | None = Field(None, description="The hits of one point of a trend alone")


_BY = "`year`, `decade`, `corpus`, `all`, or a metadata field"


class TrendsBody(WordsBody):
    """Words to be counted over time, or by a field."""

    by: str = Field(YEAR, max_length=MAX_NAME, description=_BY)
    by_corpus: bool = Field(False, description="Count every corpus for itself, too")


class CountsBody(TrendsBody):
    """Words to be counted at once, or by a field."""

    by: str = Field(ALL, max_length=MAX_NAME, description=_BY)


_FUNCTION_WORDS = Field(
    True, description="False leaves out `the`, `of` and the like, as the languages list them"
)


class CollocatesBody(WordsBody):
    """Words whose neighbours are wanted."""

    left: int = Field(5, ge=0, le=MOST_WINDOW, description="Words before a hit that are near")
    right: int = Field(
        5, ge=0, le=MOST_WINDOW, description="Words after a hit; not 0 where `left` is 0"
    )
    sort: Strength = Field("log_likelihood", description="The strongest first")
    min_count: int = Field(COLLOCATES_FROM, ge=1, le=MOST_OFFSET, description="Places near a hit")
    limit: int = Field(50, ge=0, le=MOST_LINES, description="Collocates wanted")
    function_words: bool = _FUNCTION_WORDS


class KeywordsBody(WhereBody):
    """Texts whose words are compared with those of other texts."""

    against: str | Names = Field(
        "all",
        description='"all", the id of a corpus, or a list of ids: compared with all of their text '
        "that is not looked through",
    )
    direction: Direction = Field(
        "more", description="Words that are more frequent than there, less, or both"
    )
    sort: Keyness = Field("log_likelihood", description="Those that differ most first")
    min_count: int = Field(
        KEYWORDS_FROM, ge=1, le=MOST_OFFSET, description="Places, where it is more frequent"
    )
    min_documents: int = Field(
        1, ge=1, le=MOST_OFFSET, description="Documents, where it is more frequent"
    )
    limit: int = Field(50, ge=0, le=MOST_LINES, description="Keywords wanted")
    function_words: bool = _FUNCTION_WORDS


def words_where(body: WhereBody) -> WordsWhere:
    """What a body says of where and how to look."""
    return WordsWhere(
        corpora=body.corpus_filter,
        filters=plain_filters(body.filters),
        require=body.require,
        exclude=body.exclude,
        form=body.form,
        case_sensitive=body.case_sensitive,
    )


def point_of(body: ConcordanceBody) -> Point | None:
    """The point it asks for."""
    given = body.point
    return Point(given.by, given.value, given.corpus or "") if given else None
