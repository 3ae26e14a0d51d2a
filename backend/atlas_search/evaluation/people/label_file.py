"""A label set that people write in the page: one file, which other programs may write as well."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from atlas_search.core.errors import Conflict, NotFound, SourceError
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.people.lines import alone, json_line, read_lines, replace_lines

_LABEL = TypeAdapter(Label)
_UNORDERED = ("gold_document_ids", "gold_passage_ids")


@dataclass(frozen=True)
class SavedLabel:
    """A label as it stands in the file; another `revision` says that somebody changed it."""

    label: Label
    revision: str


@dataclass(frozen=True)
class LabelFile:
    """A JSONL file of labels. Safe to use from several threads and processes."""

    path: Path

    def saved(self) -> list[SavedLabel]:
        """All labels, in order. Raises SourceError with the first line that is none."""
        return self._read(read_lines(self.path))

    def find(self, label_id: str) -> SavedLabel:
        """One label. Raises NotFound and SourceError."""
        return _find(self.saved(), label_id)

    def save(self, label: Label, revision: str = "") -> SavedLabel:
        """Add a label, or replace the one of its id if it still has this revision.

        Raises Conflict if somebody else has changed, removed or made it meanwhile. The same label
        may be saved twice.
        """
        line = label_line(label)
        with alone(self.path):
            lines = read_lines(self.path)
            saved = self._read(lines)
            place = _place(saved, label.id)
            if place is None and revision:
                raise Conflict("This label was removed from the file meanwhile.")
            if place is None:
                lines.append(line)
            elif saved[place].revision in (revision, revision_of(line)):
                lines[place] = line
            else:
                raise Conflict("This label was changed in the file meanwhile.")
            replace_lines(self.path, lines)
        return SavedLabel(label, revision_of(line))

    def remove(self, label_id: str, revision: str) -> None:
        """Take a label out of the file. Raises NotFound and Conflict."""
        with alone(self.path):
            lines = read_lines(self.path)
            saved = self._read(lines)
            if _find(saved, label_id).revision != revision:
                raise Conflict("This label was changed in the file meanwhile.")
            kept = [
                line for line, one in zip(lines, saved, strict=True) if one.label.id != label_id
            ]
            replace_lines(self.path, kept)

    def _read(self, lines: Sequence[str]) -> list[SavedLabel]:
        saved: list[SavedLabel] = []
        known: set[str] = set()
        for number, line in enumerate(lines, start=1):
            try:
                label = _with_graded(_LABEL.validate_python(json.loads(line)))
            except (ValueError, ValidationError) as error:
                raise SourceError(
                    f"{self.path}: line {number} is no label of the form that the page writes; "
                    f"give it another file: {error}"
                ) from error
            if label.id in known:
                raise SourceError(f"{self.path}: two labels have the id {label.id}.")
            known.add(label.id)
            saved.append(SavedLabel(label, revision_of(line)))
        return saved


def label_line(label: Label) -> str:
    """A label as a line of its file: the same for the same label, without what it leaves out."""
    document = _LABEL.dump_python(label, mode="json", exclude_defaults=True)
    return json_line(
        {name: sorted(value) if name in _UNORDERED else value for name, value in document.items()}
    )


def revision_of(line: str) -> str:
    """What changes with a line."""
    return hashlib.sha256(line.encode()).hexdigest()[:16]


def _with_graded(label: Label) -> Label:
    """A label whose graded documents are gold, as whoever evaluates reads them (`labels.read`)."""
    graded = {id_ for id_, grade in label.grades.items() if grade > 0}
    gold = label.gold_document_ids | (graded - label.gold_passage_ids)
    return replace(label, gold_document_ids=gold)


def _place(saved: Sequence[SavedLabel], label_id: str) -> int | None:
    found = (number for number, one in enumerate(saved) if one.label.id == label_id)
    return next(found, None)


def _find(saved: Sequence[SavedLabel], label_id: str) -> SavedLabel:
    place = _place(saved, label_id)
    if place is None:
        raise NotFound(f"There is no label {label_id[:80]!r} in the file.")
    return saved[place]
