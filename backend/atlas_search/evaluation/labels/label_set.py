"""A label set as it was read, and what was understood of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.labels.label import Label, Split
from atlas_search.evaluation.labels.names import Columns
from atlas_search.evaluation.labels.read import ReadLabel

EVERY_SPLIT = "all"
"""Asks for all questions, whatever their split."""


@dataclass(frozen=True)
class Counts:
    """How many labels there are, and of how many what is known."""

    labels: int
    answerable: int
    with_references: int
    with_gold: int
    with_quotes: int
    splits: Mapping[str, int]
    categories: Mapping[str, int]

    @property
    def unanswerable(self) -> int:
        """Questions that should be declined."""
        return self.labels - self.answerable


@dataclass(frozen=True)
class Understood:
    """What a label set was read as: its form, what its columns mean, and what is odd about it."""

    form: str
    columns: Columns
    counts: Counts
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabelSet:
    """The labels of a file or folder, in its order, and what was understood of all of it."""

    path: Path
    read: tuple[ReadLabel, ...]
    understood: Understood

    @property
    def labels(self) -> list[Label]:
        """The labels."""
        return [one.label for one in self.read]

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of its splits, sorted."""
        return tuple(sorted({one.label.split for one in self.read} - {""}))

    def choose_split(self, asked: str | None) -> str:
        """The split that is asked for, empty for all.

        Without a word it is `test`, on which figures are reported, where there is one, else all.
        """
        if asked is None:
            return Split.TEST if Split.TEST in self.splits else ""
        return "" if asked == EVERY_SPLIT else asked

    def of_split(self, split: str) -> Self:
        """The labels of one split; all for an empty name. Raises SourceError if there are none."""
        if not split:
            return self
        chosen = tuple(one for one in self.read if one.label.split == split)
        if not chosen:
            known = ", ".join(self.splits)
            has = f"it has {known}" if known else "its labels have no split: leave --split out"
            raise SourceError(f"{self.path} has no split `{split}`; {has}.")
        return replace(self, read=chosen)


def count(read: Iterable[ReadLabel]) -> Counts:
    """What is known of how many labels."""
    read = list(read)
    labels = [one.label for one in read]
    return Counts(
        labels=len(labels),
        answerable=sum(label.answerable for label in labels),
        with_references=sum(bool(label.answers) for label in labels),
        with_gold=sum(label.located for label in labels),
        with_quotes=sum(bool(one.quotes) for one in read),
        splits=Counter(label.split for label in labels if label.split),
        categories=Counter(label.category for label in labels),
    )
