"""Comparing texts with references, each figure in [0, 1]; `similarity` in [-1, 1]."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from atlas_search.language.text import fold_words, words
from atlas_search.providers.embedding import Embedder

_ARTICLES = frozenset({"a", "an", "the"})
_NO_WORD = re.compile(r"[^\w\s]|_")


def token_f1(answer: str, references: Sequence[str]) -> float:
    """Harmonic mean of word precision and recall against the best reference (SQuAD's F1)."""
    return max((_f1(_bag(answer), _bag(reference)) for reference in references), default=0.0)


def contains_reference(answer: str, references: Sequence[str]) -> bool:
    """Whether the answer holds all the words of a reference, in order."""
    padded = _padded(answer)
    return any(_padded(reference) in padded for reference in references)


def exact_match(answer: str, references: Sequence[str]) -> bool:
    """Whether the answer is a reference, but for case, punctuation and articles (SQuAD's EM)."""
    found = _without_articles(answer)
    return any(found == _without_articles(reference) for reference in references)


def similarity(answer: str, references: Sequence[str], embedder: Embedder) -> float:
    """Cosine of the answer and the closest reference, both normalised; 0 where either is empty.

    The mean over answers is `Sem = mean_i max_j cosine(emb(pred_i), emb(gold_j))`.
    """
    found, *known = (normalise(text) for text in (answer, *references))
    known = [text for text in known if text]
    if not found or not known:
        return 0.0
    vectors = embedder.embed([found, *known])
    return float((vectors[1:] @ vectors[0]).max())


def normalise(text: str) -> str:
    """Lower case, without punctuation, single spaces."""
    return " ".join(_NO_WORD.sub(" ", text.lower()).split())


@lru_cache(maxsize=1 << 12)  # the same passages are found again and again
def _padded(text: str) -> str:
    return fold_words(text)


def _without_articles(text: str) -> list[str]:
    return [word for word in _bag(text) if word not in _ARTICLES]


def _bag(text: str) -> list[str]:
    return [word.folded for word in words(text)]


def _f1(answer: list[str], reference: list[str]) -> float:
    shared = sum((Counter(answer) & Counter(reference)).values())
    if not shared:
        return 0.0
    precision, coverage = shared / len(answer), shared / len(reference)
    return 2 * precision * coverage / (precision + coverage)
