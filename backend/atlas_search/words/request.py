"""Requests about the words of a collection, and their plans once they were checked."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from atlas_search.search.request import Names, Phrases, ScopePlan, ScopeRequest
from atlas_search.words.query import MAX_QUERY, Form, Node

Sort = Literal["document", "left", "right", "hit", "date", "-date", "corpus"]
Strength = Literal["log_likelihood", "log_dice"]
Direction = Literal["more", "less", "both"]
Keyness = Literal["log_likelihood", "log_ratio"]

YEAR, DECADE, CORPUS, ALL = "year", "decade", "corpus", "all"
"""What hits can be counted by, besides metadata fields; `all` is one count of everything."""

MAX_NAME = 1000  # characters of a field, or of its value
MOST_LINES = 1000
MOST_CONTEXT = 50
MOST_OFFSET = 100_000_000
MOST_WINDOW = 10
KEYWORDS_FROM = 5
COLLOCATES_FROM = 2
"""How often a word must stand there to be listed, unless told otherwise. Near a rare word only the
commonest stand more often."""


class WordsScopeRequest(ScopeRequest):
    """The texts whose words are counted, and how words are compared."""

    require: Phrases = Field(
        default_factory=list,
        description="Phrases a passage must hold, all of them, for its words to count",
    )
    exclude: Phrases = Field(default_factory=list, description="Phrases it may not hold")
    form: Form = Field(
        "surface",
        description="Words as they are written, or `stem`: words without a wildcard count in all "
        "forms of their stem",
    )
    case_sensitive: bool = Field(
        False, description="Whether capitals and accents count; only with `surface`"
    )

    @model_validator(mode="after")
    def _comparable(self) -> "WordsScopeRequest":
        if self.case_sensitive and self.form == "stem":
            raise ValueError(
                "case_sensitive compares words as they are written, which form=stem does not. "
                "Leave one of them out"
            )
        return self


class WordsRequest(WordsScopeRequest):
    """Words to look for, and where."""

    query: str = Field(
        max_length=MAX_QUERY,
        description='Words, "a phrase", strike*, wom?n, strike* NEAR/5 wage*, a OR b, brackets',
    )


class Point(BaseModel):
    """One point of a trend."""

    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True)

    by: str = Field(max_length=MAX_NAME, description="What the trend was counted by")
    value: str | None = Field(
        max_length=MAX_NAME, description="The `value` of the cell; null: documents without one"
    )
    corpus: str | None = Field(
        None, max_length=MAX_NAME, description="The `corpus` of the cell, if it has one"
    )


class ConcordanceRequest(WordsRequest):
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
        None, ge=1, le=MOST_OFFSET, description="List a random sample of so many hits"
    )
    seed: int = Field(0, ge=0, lt=2**32, description="The same draws the same sample")
    point: Point | None = Field(None, description="The hits of one point of a trend alone")


_BY = "`year`, `decade`, `corpus`, `all`, or a metadata field"


class TrendsRequest(WordsRequest):
    """Words to be counted over time, or by a field."""

    by: str = Field(YEAR, max_length=MAX_NAME, description=_BY)
    by_corpus: bool = Field(False, description="Count every corpus for itself, too")


class CountsRequest(TrendsRequest):
    """Words to be counted at once, or by a field."""

    by: str = Field(ALL, max_length=MAX_NAME, description=_BY)


_FUNCTION_WORDS = Field(
    True, description="False leaves out `the`, `of` and the like, as the languages list them"
)


class CollocatesRequest(WordsRequest):
    """Words whose neighbours are wanted."""

    left: int = Field(5, ge=0, le=MOST_WINDOW, description="Words before a hit that are near")
    right: int = Field(
        5, ge=0, le=MOST_WINDOW, description="Words after a hit; not 0 where `left` is 0"
    )
    sort: Strength = Field("log_likelihood", description="The strongest first")
    min_count: int = Field(COLLOCATES_FROM, ge=1, le=MOST_OFFSET, description="Places near a hit")
    limit: int = Field(50, ge=0, le=MOST_LINES, description="Collocates wanted")
    function_words: bool = _FUNCTION_WORDS

    @model_validator(mode="after")
    def _some_side(self) -> "CollocatesRequest":
        if not self.left and not self.right:
            raise ValueError("left and right are both 0, where no word stands. Give one of them")
        return self


class KeywordsRequest(WordsScopeRequest):
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


class FrequenciesRequest(WordsScopeRequest):
    """Texts whose words are counted."""

    pattern: str = Field(
        "", max_length=MAX_NAME, description="Only words like this: strike*, *ship, wom?n"
    )
    min_count: int = Field(1, ge=1, le=MOST_OFFSET, description="Places")
    limit: int = Field(50, ge=0, le=MOST_LINES, description="Words wanted")
    function_words: bool = _FUNCTION_WORDS


@dataclass(frozen=True, kw_only=True)
class WordsScope(ScopePlan):
    """A checked scope, and the comparison of its words.

    `filters`, `require` and `exclude` leave the passages that a search would find, without
    exception. With `exactly`, capitals and accents count.
    """

    form: Form = "surface"
    exactly: bool = False


@dataclass(frozen=True, kw_only=True)
class WordsPlan(WordsScope):
    """A query and its scope. Where passages are chosen, a hit must lie within one of them."""

    text: str
    query: Node
