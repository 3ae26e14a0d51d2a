"""Readers, and what they hand to the build: drafts of documents, and skipped files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from atlas_search.core.domain import Segment


@dataclass(frozen=True)
class Draft:
    """A document as its source has it, before it belongs to a corpus and has an id.

    `key` tells the records of one file apart and is empty where the file is one document. `pages`
    are the offsets in `text` at which pages begin, `printed_pages` the numbers that stand on them
    (one for each or none at all), `segments` its sections and speeches in order. With
    `speeches_known` the source says itself who speaks, or that nobody does: else a text that reads
    like a transcript is taken for one.
    `metadata` is as found: the build types it. `remark` is shown in the report. An empty `title`
    is filled with the first line of the text.
    """

    text: str
    title: str = ""
    key: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    pages: tuple[int, ...] = (0,)
    segments: tuple[Segment, ...] = ()
    remark: str = ""
    printed_pages: tuple[str, ...] = ()
    speeches_known: bool = False


@dataclass(frozen=True)
class Skipped:
    """A file, or the record `key` of it, that gave no document, and why."""

    reason: str
    key: str = ""


Read = Draft | Skipped


class Reader(Protocol):
    """One source format."""

    @property
    def suffixes(self) -> frozenset[str]:
        """Endings of the names of its files, in lower case: `.pdf`."""

    @property
    def options(self) -> Mapping[str, object]:
        """Whatever changes what it reads from the same bytes, its own `version` among them: a file
        is read again if they differ."""

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """Read the file at `path` in its order.

        `encoding` is the one to assume where the format does not state its own; empty means UTF-8.
        A file that cannot be read gives one `Skipped` that says why and what to do. Raises
        nothing but OSError: the build reports it.
        """


class EmbeddedPassage(NamedTuple):
    """A passage `text[start:end]` of a draft, with the id and the vector it has elsewhere."""

    id: str
    start: int
    end: int
    vector: Sequence[float]


@dataclass(frozen=True)
class ScanDraft(Draft):
    """A draft of scanned pages, with the `confidences` of words by the offset of each in `text`."""

    confidences: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class EmbeddedDraft(Draft):
    """A draft that was cut and embedded elsewhere: its `passages` in order of `start`.

    The id of the document is made of `name`, if there is one, else of `key`.
    """

    passages: tuple[EmbeddedPassage, ...] = ()
    name: str = ""
