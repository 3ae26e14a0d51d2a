"""Records of a benchmark joined again into the documents they were cut from.

The part of a record's id before the last `#` names its document (`Normans#3`); an id without `#`
is a document of one record. Passages next to each other in a document are a signal of their own,
so records must not become documents of one passage each.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from atlas_search.building.chunking import Chunking
from atlas_search.core.domain import Segment
from atlas_search.core.errors import SourceError
from atlas_search.readers import Draft, Read
from atlas_search.readers.tables import CORPUS_FILES, Columns, JsonlReader

AS_RECORDED = Chunking("structural", size=1_000_000, overlap=0)
"""Cuts a document of `GroupReader` into exactly its records; `chunking` allows no such size."""

_RECORDS = JsonlReader(Columns(text=("text",)))
_BETWEEN = "\n\n"


@dataclass(frozen=True)
class Group:
    """The records of one document in their order, and what is said alike of all of them."""

    key: str
    records: tuple[Draft, ...]
    metadata: Mapping[str, object]


@dataclass(frozen=True)
class GroupReader:
    """Reads each group of records as one document with a segment for each record.

    Metadata `record_id` is the group's key. A title that its records do not share is none.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset(CORPUS_FILES)

    @property
    def options(self) -> Mapping[str, object]:
        """What is read changes with the version of the records' reader too."""
        records = _RECORDS.options["version"]
        return {"version": 3, "records": records}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """One draft for every group. Raises SourceError for a record that cannot be read."""
        for group in read_groups(path, encoding):
            yield _draft(group)


def read_groups(path: Path, encoding: str = "") -> list[Group]:
    """The groups of a file of records, in order of their first records.

    Raises SourceError for a record that cannot be read: judgements speak of every record.
    """
    groups: dict[str, list[Draft]] = {}
    for read in _RECORDS.read(path, encoding):
        if not isinstance(read, Draft):
            raise SourceError(f"{path}: {read.reason}")
        groups.setdefault(read.key.rpartition("#")[0] or read.key, []).append(read)
    return [Group(key, tuple(records), _common(records)) for key, records in groups.items()]


def _segment(start: int, record: Draft) -> Segment:
    """The record's own headings and speaker, at its place in the document."""
    return replace(next(iter(record.segments), Segment(0)), start=start)


def _common(records: list[Draft]) -> dict[str, object]:
    first, *others = (record.metadata for record in records)
    return {
        name: value
        for name, value in first.items()
        if all(name in other and other[name] == value for other in others)
    }


def _draft(group: Group) -> Draft:
    texts = [record.text.strip() for record in group.records]
    starts = [0]
    for text in texts[:-1]:
        starts.append(starts[-1] + len(text) + len(_BETWEEN))
    titles = {record.title for record in group.records}
    return Draft(
        text=_BETWEEN.join(texts),
        title=titles.pop() if len(titles) == 1 else "",
        key=group.key,
        metadata={**group.metadata, "record_id": group.key},
        segments=tuple(map(_segment, starts, group.records)),
        speeches_known=True,  # its passages are the records
    )
