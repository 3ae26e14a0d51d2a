"""The second stage: a model that reads the question with each of the best candidates.

It costs a thousand times more than the signals, so it reads few passages, each in part, and has
little time. Where it gives no answer the order of the first stage stands.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, SupportsIndex, overload

import numpy as np

from atlas_search.core.errors import RerankerUnavailable
from atlas_search.core.stop import Stop
from atlas_search.search.candidates import min_max
from atlas_search.search.rerank import Ranking
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray

_LEAST = 1e-12  # a service may give 0 or 1, which have no odds

TextsOf = Callable[[IntArray], Sequence[str]]
"""Gives the texts of passages."""


class Limits(NamedTuple):
    """What a second stage may read: candidates, characters of each, and for how many seconds.

    `share` is what its word counts for in the order of what it read, in [0, 1].
    """

    depth: int
    characters: int
    seconds: float
    share: float


class Relevance(NamedTuple):
    """How well texts answer a question: `scores` in [0, 1] of the first of them, as many as were
    read. `note` says why some were not, and is empty if all were."""

    scores: FloatArray
    note: str


class SecondStage(Protocol):
    """A model that reads a question and a text together. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """The model, as traces and responses show it."""

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        """How well `texts`, best first, answer the question, as far as `seconds` suffice.

        Raises RerankerUnavailable.
        """


class _Awaited(list[str]):
    """Texts that are read for somebody: after the stop, taking one or a batch raises Cancelled."""

    def __init__(self, texts: Iterable[str], stop: Stop):
        super().__init__(texts)
        self._stop = stop

    def __iter__(self) -> Iterator[str]:
        for text in super().__iter__():
            self._stop.check()
            yield text

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | list[str]:
        self._stop.check()
        return super().__getitem__(at)


def read_again(
    stage: SecondStage,
    question: str,
    ranking: Ranking,
    texts_of: TextsOf,
    limits: Limits,
    stop: Stop,
) -> Ranking:
    """The ranking with its best `limits.depth` passages in an order that `stage` has a share in.

    If the stage is unavailable the order stays, and the note says why. Raises Cancelled.
    """
    best = texts_of(ranking.rows[: limits.depth])
    texts = _Awaited((text[: limits.characters] for text in best), stop)
    try:
        relevance = stage.relevance(question, texts, limits.seconds)
        return reorder(ranking, relevance, limits.share)
    except RerankerUnavailable as error:
        note = f"The passages are in the order of the first stage. {error}"
        return replace(ranking, note=note)


def reorder(ranking: Ranking, relevance: Relevance, share: float) -> Ranking:
    """What was read first, then the rest as it was.

    What was read is ordered by `share` of the log-odds of its relevance and the rest of its score,
    both min-max scaled to what was read, ties by the former place. ms-marco-MiniLM-L-12 alone lost
    on six of eight public test sets what its half gains on seven.
    """
    read = len(relevance.scores)
    certain = np.clip(relevance.scores, _LEAST, 1 - _LEAST)
    odds = min_max(np.log(certain) - np.log1p(-certain))
    mixed = share * odds + (1 - share) * min_max(ranking.scores[:read])
    best = np.lexsort((np.arange(read), -np.round(mixed, 9)))
    given = zip(ranking.order[:read].tolist(), relevance.scores.tolist(), strict=True)
    moved = ranking.in_order(np.concatenate([best, np.arange(read, len(ranking.order))]))
    return replace(moved, relevance=dict(given), note=relevance.note)
