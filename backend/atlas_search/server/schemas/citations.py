"""What requests about citations look like, and what comes of them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from atlas_search.documents.answer import CitationOut
from atlas_search.documents.search import Facts
from atlas_search.documents.styles import StyleName
from atlas_search.server.schemas.requests import StrictBody

MAX_CITATIONS = 1000
LONGEST = 2_000  # characters of a title, a place and the like; a quotation may be longer


def _plain(metadata: object) -> object:
    """Refuses what is no text, number or list of texts before it is made to fit."""
    values = metadata.values() if isinstance(metadata, dict) else ()
    for value in values:
        texts = value if isinstance(value, list) else [""]
        plain = isinstance(value, str | int | float | list) and not isinstance(value, bool)
        if not plain or not all(isinstance(text, str) for text in texts):
            raise ValueError("a value is a text, a number or a list of texts")
    return metadata


class GivenCitation(CitationOut):
    """A citation as an answer has it; what has a default may be left out."""

    model_config = ConfigDict(json_schema_extra={})

    metadata: Annotated[Facts, BeforeValidator(_plain)] = Field(
        default_factory=dict, description="The document's"
    )
    page: int = Field(strict=True)
    line: int | None = Field(None, strict=True)
    start: int = Field(strict=True)
    end: int = Field(strict=True)


def _bounded(cited: GivenCitation) -> GivenCitation:
    fields = (cited.title, cited.locator, cited.printed_page, cited.section, cited.date)
    if any(len(field or "") > LONGEST for field in fields):
        raise ValueError(f"a title, a place or a date is longer than {LONGEST} characters")
    return cited


BoundedCitation = Annotated[GivenCitation, AfterValidator(_bounded)]

Citations = Annotated[
    list[BoundedCitation],
    Field(
        min_length=1,
        max_length=MAX_CITATIONS,
        description="As answers have them: of a passage or a document, what they say of it",
    ),
]


class CiteBody(StrictBody):
    """Citations, and how to write them."""

    style: StyleName
    citations: Citations


class WrittenOut(BaseModel):
    """A citation as plain text, and as HTML whose only markup is `<i>`."""

    text: str
    html: str


class StyledOut(BaseModel):
    """A citation in a style."""

    reference: WrittenOut = Field(
        description="A footnote with its place; where `in_text` holds the place, the entry of the "
        "list of works"
    )
    in_text: WrittenOut | None = Field(description="What stands in the text; null of footnotes")


class CitedOut(BaseModel):
    """The citations in the style, in the order in which they were sent."""

    style: StyleName
    citations: list[StyledOut]


class ZoteroBody(StrictBody):
    """What to put into Zotero."""

    citations: Citations


class ZoteroOut(BaseModel):
    """Whether this server can reach the reader's Zotero."""

    state: Literal["ready", "not_running", "elsewhere"] = Field(
        description="`elsewhere`: the reader and the server are not on the same machine"
    )


class SavedOut(BaseModel):
    """How many items Zotero has taken."""

    saved: int
