"""Metrics of retrieval and answers, each in [0, 1]."""

from collections import Counter
from collections.abc import Collection, Sequence

from backend.text import words


def recall(found: Collection[str], gold: Collection[str]) -> float:
    """Share of the gold documents that were found. Requires gold documents."""
    return len(set(found) & set(gold)) / len(set(gold))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold document, 0 if none was found."""
    for rank, document in enumerate(ranked, start=1):
        if document in gold:
            return 1 / rank
    return 0.0


def token_f1(answer: str, references: Sequence[str]) -> float:
    """Harmonic mean of word precision and recall against the best reference (SQuAD's F1)."""
    return max((_f1(_bag(answer), _bag(reference)) for reference in references), default=0.0)


def contains_reference(answer: str, references: Sequence[str]) -> bool:
    """Whether the answer holds all the words of a reference, in order."""
    padded = f" {' '.join(_bag(answer))} "
    return any(f" {' '.join(_bag(reference))} " in padded for reference in references)


def _bag(text: str) -> list[str]:
    return [word.folded for word in words(text)]


def _f1(answer: list[str], reference: list[str]) -> float:
    shared = sum((Counter(answer) & Counter(reference)).values())
    if not shared:
        return 0.0
    precision, coverage = shared / len(answer), shared / len(reference)
    return 2 * precision * coverage / (precision + coverage)
