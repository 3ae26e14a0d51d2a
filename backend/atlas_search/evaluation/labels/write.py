"""Writing a label set in our own form: a line of JSON for each label."""

import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path

from atlas_search.evaluation.labels.label import Label

ALWAYS = ("id", "split", "category", "question", "answers", "gold_document_ids", "kind")
"""Fields that every line has; others are left out where nothing is known."""


def write_labels(labels: Iterable[Label], path: Path) -> None:
    """Write a file that `load_labels` reads back the same."""
    path.write_text(labels_text(labels), encoding="utf-8", newline="")


def labels_text(labels: Iterable[Label]) -> str:
    """The lines of such a file."""
    lines = (json.dumps(label_fields(label), ensure_ascii=False) for label in labels)
    return "".join(f"{line}\n" for line in lines)


def label_fields(label: Label) -> dict[str, object]:
    """A label as JSON has it, always the same for equal ones."""
    found = {field.name: _plain(getattr(label, field.name)) for field in fields(label)}
    return {
        name: value
        for name, value in found.items()
        if name in ALWAYS or value not in (None, [], {})
    }


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [item if isinstance(item, str) else asdict(item) for item in value]
    return value
