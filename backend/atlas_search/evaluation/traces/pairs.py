"""The questions that two targets were both asked, with the last answer of each."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from atlas_search.core.errors import RequestError
from atlas_search.evaluation.traces.trace import Trace

LeftOut = Literal[
    "failed", "cancelled", "kept_answer", "follow_up", "no_text", "earlier", "not_common"
]
"""Why an answer is not compared. A kept one took no time and no model; a follow-up depends on what
was asked before; without its text a question cannot be found again."""

REASONS: Mapping[LeftOut, str] = {
    "failed": "failed",
    "cancelled": "cancelled",
    "kept_answer": "given from the cache",
    "follow_up": "to follow-ups",
    "no_text": "to questions that are not in the traces (TRACE_CONTENT=0)",
    "earlier": "followed by a later one to the same question",
    "not_common": "to questions that the other was not asked",
}


class Asked(NamedTuple):
    """What makes two questions the same. The collection is empty if it need not be the same."""

    question: str
    corpus_filter: str
    mode: str
    collection: str


@dataclass(frozen=True, slots=True)
class Pair:
    """The last answers of both targets to one question."""

    asked: Asked
    first: Trace
    second: Trace

    @property
    def cited_by_both(self) -> int:
        """Passages that both cite."""
        return len(self.first.cited & self.second.cited)

    @property
    def cited_by_either(self) -> int:
        """Passages that one of them cites, or both."""
        return len(self.first.cited | self.second.cited)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The common questions of two targets, in alphabetical order and at least one, and how many
    other answers each target gave, by the reason why they are left out."""

    names: tuple[str, str]
    pairs: tuple[Pair, ...]
    left_out: tuple[Mapping[LeftOut, int], Mapping[LeftOut, int]]

    def side(self, number: int) -> list[Trace]:
        """The answers of the first target (0) or the second (1), in the order of the pairs."""
        return [(pair.first, pair.second)[number] for pair in self.pairs]


def pair_traces(names: tuple[str, str], first: Iterable[Trace], second: Iterable[Trace]) -> Pairs:
    """Pair the answers of two targets, or composite targets, each given the last first.

    Those of two targets must be of the same collection. A composite target names its own, so that
    two collections can be compared. Raises RequestError if there is no common question.
    """
    given = list(first), list(second)
    free = any(_is_composite(name, of) for name, of in zip(names, given, strict=True))
    chosen = [_choose(of, with_collection=not free) for of in given]
    common = sorted(set(chosen[0].answers) & set(chosen[1].answers))
    if not common:
        raise RequestError(_nothing_common(names, given, chosen))
    pairs = tuple(Pair(asked, *(each.answers[asked] for each in chosen)) for asked in common)
    left_out = [_left_out(each, common) for each in chosen]
    return Pairs(names, pairs, (left_out[0], left_out[1]))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The last answer to each question, how many there were, and what was left out."""

    answers: Mapping[Asked, Trace]
    times: Mapping[Asked, int]
    left_out: Mapping[LeftOut, int]


def _choose(given: Sequence[Trace], *, with_collection: bool) -> _Chosen:
    answers: dict[Asked, Trace] = {}
    times: Counter[Asked] = Counter()
    left_out: Counter[LeftOut] = Counter()
    for trace in given:
        if reason := _unfit(trace):
            left_out[reason] += 1
            continue
        collection = trace.collection if with_collection else ""
        asked = Asked(trace.question, trace.corpus_filter, trace.mode, collection)
        answers.setdefault(asked, trace)
        times[asked] += 1
    return _Chosen(answers, times, left_out)


def _unfit(trace: Trace) -> LeftOut | None:
    if trace.ended != "ok":
        return "failed" if trace.ended == "failed" else "cancelled"
    if trace.kept_answer:
        return "kept_answer"
    if trace.follow_up:
        return "follow_up"
    return None if trace.question else "no_text"


def _is_composite(name: str, given: Sequence[Trace]) -> bool:
    return any(trace.composite_target == name != trace.target for trace in given)


def _left_out(chosen: _Chosen, common: Sequence[Asked]) -> dict[LeftOut, int]:
    """Counts that are not 0, in the order of REASONS."""
    compared = set(common)
    counts = Counter(chosen.left_out)
    for asked, times in chosen.times.items():
        counts["earlier"] += times - 1 if asked in compared else 0
        counts["not_common"] += 0 if asked in compared else times
    return {reason: counts[reason] for reason in REASONS if counts[reason]}


def _nothing_common(
    names: tuple[str, str], given: tuple[Sequence[Trace], ...], chosen: Sequence[_Chosen]
) -> str:
    each = "; ".join(
        f"{name} has {_answers(of, found)}"
        for name, of, found in zip(names, given, chosen, strict=True)
    )
    return (
        f"There is no question that both answered in this time: {each}. Ask both the same, as "
        "`atlas eval --target` does, or look further back with --since."
    )


def _answers(given: Sequence[Trace], chosen: _Chosen) -> str:
    left_out = [
        f"{chosen.left_out[why]} {REASONS[why]}" for why in REASONS if why in chosen.left_out
    ]
    counted = "1 answer" if len(given) == 1 else f"{len(given) or 'no'} answers"
    return f"{counted} ({', '.join(left_out)})" if left_out else counted
