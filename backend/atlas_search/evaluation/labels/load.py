"""Reading a label set."""

import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.labels.label import Label

_LABEL = TypeAdapter(Label)


def load_labels(path: Path, split: str | None = None) -> list[Label]:
    """The labels of a JSONL file, of one split or all. Raises SourceError with the line."""
    if not path.is_file():
        raise SourceError(f"There is no label set at {path}.")
    labels = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            labels.append(_LABEL.validate_python(json.loads(line)))
        except (ValueError, ValidationError) as error:
            raise SourceError(f"{path}:{number}: not a label: {error}") from error
    return [label for label in labels if split in (None, label.split)]
