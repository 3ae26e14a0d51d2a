"""Whether every request over all corpora drew its candidates from each to the same depth."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from atlas_search.evaluation.traces.trace import Counts, Trace

SEARCHING = ("ask", "search")
"""The kinds of request that draw candidates."""

Verdict = Literal["equal", "unequal", "unknown", "unfinished"]
"""`unknown` has no word of what could be found: an earlier version traced it. `unfinished`
failed or was cancelled before its candidates were told."""


@dataclass(frozen=True, slots=True)
class CorpusDepth:
    """What the legs gave of a corpus, and what was due: the depth, or all that could be found.

    By meaning exactly that is due; by words at most that, since few passages may hold them.
    """

    corpus: str
    dense: int
    lexical: int
    due: int
    available: int

    @property
    def as_due(self) -> bool:
        """Whether it was searched as deep as the others."""
        return self.dense == self.due and self.lexical <= self.due


@dataclass(frozen=True, slots=True)
class Unequal:
    """A request whose corpora were not searched to the same depth, with all of them."""

    trace: Trace
    corpora: tuple[CorpusDepth, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthCheck:
    """What came of a check: how many there were of each verdict, those that were not equal in the
    order they were given, and when the first and the last that could be checked began."""

    verdicts: dict[Verdict, int]
    unequal: tuple[Unequal, ...]
    first: datetime | None
    last: datetime | None

    @property
    def checked(self) -> int:
        """How many say enough to tell."""
        return self.verdicts["equal"] + self.verdicts["unequal"]


def check_depth(traces: Iterable[Trace]) -> DepthCheck:
    """Check those over all corpora; others are passed over."""
    verdicts: dict[Verdict, int] = {"equal": 0, "unequal": 0, "unknown": 0, "unfinished": 0}
    unequal: list[Unequal] = []
    times: list[datetime] = []
    for trace in traces:
        if trace.corpus_filter != "all" or trace.kind not in SEARCHING:
            continue
        found = verdict(trace)
        verdicts[found] += 1
        if found in ("equal", "unequal"):
            times.append(trace.started)
        if found == "unequal":
            unequal.append(Unequal(trace, tuple(depths(trace.counts))))
    return DepthCheck(
        verdicts=verdicts,
        unequal=tuple(unequal),
        first=min(times, default=None),
        last=max(times, default=None),
    )


def verdict(trace: Trace) -> Verdict:
    """What its root tells of one request over all corpora."""
    counts = trace.counts
    if not (counts.depth and counts.available):
        return "unknown" if trace.ended == "ok" else "unfinished"
    return "equal" if all(each.as_due for each in depths(counts)) else "unequal"


def depths(counts: Counts) -> Iterator[CorpusDepth]:
    """Each corpus that was searched, by its id; one that gave nothing too."""
    for corpus in sorted({*counts.available, *counts.dense, *counts.lexical}):
        available = counts.available.get(corpus, 0)
        dense, lexical = counts.dense.get(corpus, 0), counts.lexical.get(corpus, 0)
        yield CorpusDepth(corpus, dense, lexical, min(counts.depth, available), available)
