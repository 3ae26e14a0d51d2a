"""The forms in which documents, passages and citations are sent, and the base of all such forms."""

from dataclasses import dataclass
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from atlas_search.core.addresses import is_link, linked_fields
from atlas_search.core.metadata import MetadataValue

T = TypeVar("T")


def _require_all(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema["properties"])
    for field in schema["properties"].values():
        field.pop("default", None)


def sent(kind: type[T]) -> type[T]:
    """Have the description of the API say of a dataclass that every field is sent."""
    kind.__pydantic_config__ = ConfigDict(json_schema_extra=_require_all)  # type: ignore[attr-defined]
    return kind


class Sent(BaseModel):
    """A form that is made of an object with attributes of these names, or read from JSON.

    Every field is sent. What has a default may be missing from a document that is read.
    """

    model_config = ConfigDict(
        from_attributes=True, defer_build=True, json_schema_extra=_require_all
    )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as the API sends them."""
        return self.model_dump(mode="json")


def _link(address: str | None) -> str | None:
    return address if is_link(address) else None


Stated = Annotated[str | None, BeforeValidator(lambda text: None if text == "" else text)]
"""A text, null where the source does not say."""

Link = Annotated[str | None, AfterValidator(_link)]
"""An address of the web; what is none is read as null."""

Facts = Annotated[dict[str, MetadataValue], AfterValidator(linked_fields)]
"""Metadata of a document, without an address that is no link."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """Characters `start` to `end` of a passage's text that speak to the question."""

    start: int
    end: int


class SuccessorOut(Sent):
    """A document that took another's place; one that is not held has no id."""

    title: str
    document_id: Stated


class PassageOut(Sent):
    """A passage, with the score and signals that placed it."""

    passage_id: str = Field(validation_alias=AliasChoices("passage_id", "id"))
    document_id: str
    corpus: str
    title: str
    text: str
    start: int = Field(description="First character in the document's text")
    end: int = Field(description="Character after the last")
    locator: Stated = Field(
        None, description="How the source cites the smallest part that holds it: `s 10(1)`"
    )
    page: int = Field(description="Counted from 1")
    printed_page: Stated = Field(None, description="The number that stands on the page: `xii`")
    line: int
    section: Stated = Field(description="Path of headings where the passage begins")
    speaker: Stated = Field(description="Who speaks in it; several joined by `; `")
    date: Stated
    url: Link
    metadata: Facts
    successors: list[SuccessorOut] = Field([], description="What its `superseded_by` names")
    marker: str = Field(description="Citation token of the passage: `[id s10(1)]`, `[id p3]`")

    @property
    def id(self) -> str:
        """The passage's id, as `Passage` calls it."""
        return self.passage_id


class RankedPassageOut(PassageOut):
    """A passage in a result."""

    score: float
    signals: dict[str, float] = Field(description="Each in [0, 1]")
    valid: bool = Field(description="Whether it passed the evidence check")
    overlap: float = Field(description="Share of the question's words it holds")
    highlights: list[Highlight] = Field(description="Spans in `text` that speak most to it")
    duplicates: list[str] = Field(
        description="Ids of passages left out because they say nearly the same"
    )

    @property
    def ranked(self) -> Self:
        """Itself: in Python a result's check holds its rank, and that its passage."""
        return self

    @property
    def passage(self) -> Self:
        """Itself, likewise."""
        return self


class CitationOut(Sent):
    """A verified citation: `quote` is the document's text from `start` to `end`."""

    marker: str
    passage_id: str
    document_id: str
    corpus: str
    title: str
    locator: Stated = Field(
        None, description="How the source cites the place of the quote: `s 10(1)`"
    )
    page: int
    printed_page: Stated = Field(None, description="The number that stands on the page")
    line: int | None = Field(None, description="Line of the document at which the quote begins")
    section: Stated = None
    speaker: Stated = None
    date: Stated = None
    url: Link = None
    start: int
    end: int
    quote: str
    metadata: Facts = Field(default_factory=dict, description="The document's")
    successors: list[SuccessorOut] = Field([], description="What took the document's place")

    @property
    def passage(self) -> Self:
        """Itself: in Python a citation has the passage that it quotes."""
        return self

    @property
    def id(self) -> str:
        """The passage's id, as `Passage` calls it."""
        return self.passage_id


class SegmentOut(Sent):
    """From the character `start` to the next segment: a section, or one speech."""

    start: int
    section: Stated = Field(description="Headings that it stands under, joined by ` > `")
    speaker: Stated
    locator: Stated


class DocumentOut(Sent):
    """A document with its whole text.

    `pages` are the characters at which its pages begin, `printed_pages` the numbers on them, one
    for each or none at all.
    """

    document_id: str = Field(validation_alias=AliasChoices("document_id", "id"))
    corpus: str
    title: str
    text: str
    metadata: Facts
    source: str
    pages: list[int]
    printed_pages: list[str]
    segments: list[SegmentOut]
    passages: list[PassageOut] = []

    @property
    def id(self) -> str:
        """The document's id, as `Document` calls it."""
        return self.document_id
