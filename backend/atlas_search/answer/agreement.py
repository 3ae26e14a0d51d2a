"""Where the answers of several corpora agree and where they differ, in the sources' own words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.conflicts.differences import difference, may_agree
from atlas_search.answer.conflicts.statements import read, specific
from atlas_search.core.domain import CheckedSentence, Citation

AGREES = 0.56  # least cosine of two sentences that say the same; below, they did not by eye
SAME_SUBJECT = 0.5  # least cosine of two sentences that may differ about one thing


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence from each of two corpora; `corpora` and `sentences` are in the same order."""

    corpora: tuple[str, str]
    sentences: tuple[CheckedSentence, CheckedSentence]

    @property
    def text(self) -> str:
        """Both sentences, each with its corpus and markers, and no word on which is right."""
        said = zip(self.corpora, self.sentences, strict=True)
        return "; ".join(f"{corpus}: {_quote(sentence)}" for corpus, sentence in said) + "."

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations of both."""
        return tuple(citation for sentence in self.sentences for citation in sentence.citations)


@dataclass(frozen=True, slots=True)
class _Match:
    pair: Pair
    cosine: float
    places: frozenset[int]


def agreements_and_differences(
    answers: Mapping[str, Sequence[CheckedSentence]],
    vectors_of: Callable[[Sequence[str]], NDArray[np.float32]],
) -> tuple[list[Pair], list[Pair]]:
    """What two corpora say alike, and what they say of one thing with other numbers or denied.

    `answers` are the sentences of each corpus, `vectors_of` gives unit vectors, one row a text.
    The closest pairs come first, then those in the order of `answers`; a sentence stands in one
    pair at most. What is neither alike nor opposed is left out, and so is any sentence without a
    citation or in another language than English.
    """
    said = [
        (corpus, sentence)
        for corpus, sentences in answers.items()
        for sentence in sentences
        if sentence.citations and all(c.passage.language == "en" for c in sentence.citations)
    ]
    if not said:
        return [], []
    vectors = vectors_of([sentence.text for _, sentence in said])
    cosines = vectors @ vectors.T
    matches = [
        _Match(Pair((a, b), (x, y)), float(cosines[i, j]), frozenset({i, j}))
        for (i, (a, x)), (j, (b, y)) in combinations(enumerate(said), 2)
        if a != b and cosines[i, j] >= SAME_SUBJECT and _share_a_subject(x.text, y.text)
    ]
    matches.sort(key=lambda m: (-m.cosine, *sorted(m.places)))
    used: set[int] = set()
    differences = _best_pairs_of([m for m in matches if _differ(m.pair)], used)
    agreements = _best_pairs_of([m for m in matches if m.cosine >= AGREES and _agree(m.pair)], used)
    return agreements, differences


def _best_pairs_of(matches: Sequence[_Match], used: set[int]) -> list[Pair]:
    """The pairs of sentences that no better pair has used."""
    taken = []
    for match in matches:
        if not match.places & used:
            used |= match.places
            taken.append(match.pair)
    return taken


def _share_a_subject(a: str, b: str) -> bool:
    return bool(specific(read(a).subject & read(b).subject))


def _differ(pair: Pair) -> bool:
    first, second = (read(sentence.text) for sentence in pair.sentences)
    return difference(first, second) is not None


def _agree(pair: Pair) -> bool:
    first, second = (read(sentence.text) for sentence in pair.sentences)
    return may_agree(first, second)


def _quote(sentence: CheckedSentence) -> str:
    markers = " ".join(dict.fromkeys(citation.marker for citation in sentence.citations))
    return f"“{sentence.text}” {markers}"
