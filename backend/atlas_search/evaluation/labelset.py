"""Label sets: questions with reference answers and the documents that hold them."""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from atlas_search.core.errors import SourceError


class Split(StrEnum):
    """Weights and thresholds are tuned on DEV; figures are reported on TEST."""

    DEV = "dev"
    TEST = "test"


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Label:
    """One question. Unanswerable ones have neither answers nor gold documents.

    `should_answer` says whether the collection holds the answer where no gold document does.
    """

    id: str
    split: Split
    category: str
    question: str
    answers: tuple[str, ...]
    gold_document_ids: frozenset[str]
    kind: str = ""
    should_answer: bool | None = None

    @property
    def answerable(self) -> bool:
        """Whether the collection holds the answer."""
        return bool(self.gold_document_ids) if self.should_answer is None else self.should_answer


_LABEL = TypeAdapter(Label)


def load_labels(path: Path, split: Split | None = None) -> list[Label]:
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
