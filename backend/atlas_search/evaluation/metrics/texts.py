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
    """Harmonic mean of word precision and recall against the best reference (SQuAD's F1).

    Articles do not count, as in SQuAD; words are Atlas' own.
    """
    found = _without_articles(answer)
    return max((_f1(found, _without_articles(one)) for one in references), default=0.0)


def contains_reference(answer: str, references: Sequence[str]) -> bool:
    """Whether the answer holds all the words of a reference that has any, in order."""
    padded = _padded(answer)
    return any(bool(known.strip()) and known in padded for known in map(_padded, references))


def exact_match(answer: str, references: Sequence[str]) -> bool:
    """Whether the answer is a reference, but for case, punctuation and articles (SQuAD's EM)."""
    found = _without_articles(answer)
    return bool(found) and any(found == _without_articles(one) for one in references)


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
    """The words; articles too if there are no others."""
    found = _bag(text)
    return [word for word in found if word not in _ARTICLES] or found


def _bag(text: str) -> list[str]:
    return [word.folded for word in words(text)]


def _f1(answer: list[str], reference: list[str]) -> float:
    shared = sum((Counter(answer) & Counter(reference)).values())
    if not shared:
        return 0.0
    precision, coverage = shared / len(answer), shared / len(reference)
    return 2 * precision * coverage / (precision + coverage)
