"""Questions of real use, read from the traces in Phoenix."""

import heapq
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import numpy as np
from openinference.semconv.trace import SpanAttributes

from atlas_search.core.errors import NotFound, RequestError
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry.span import NAME_JOINT
from atlas_search.evaluation.phoenix_api import PhoenixApi, configured_phoenix, reading

Attributes = Mapping[str, Any]
"""Of a span, as Phoenix gives them: flat, nested names joined by dots."""

_DOCUMENT = re.compile(rf"{SpanAttributes.RETRIEVAL_DOCUMENTS}\.(\d+)\.document\.id")


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and cost of an answer; the cost is None where the target has no prices."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: "Spent") -> "Spent":  # noqa: D105
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Spent(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class Marks:
    """Number of people who gave an annotation of one name, and the mean of their scores."""

    count: int
    mean: float


@dataclass(frozen=True, kw_only=True, slots=True)
class StageCounts:
    """Passages by corpus at each stage; a stage of which nothing was told is empty.

    `available` could be found at all; `depth` was asked of each leg, 0 if that was not told.
    """

    depth: int = 0
    available: Mapping[str, int] = field(default_factory=dict)
    dense: Mapping[str, int] = field(default_factory=dict)
    lexical: Mapping[str, int] = field(default_factory=dict)
    candidates: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)
    cited: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """One request, build, job or evaluation. A text of which nothing was told is empty.

    `kind` is the name of the root span. `ended` is `ok`, `failed` or `cancelled`; only what ended
    well has a decision. `question` is there only if traces hold texts, and `cited` are the ids of
    passages, or their digests. `spent` is told of what came to no end; of others, their calls tell.
    """

    trace_id: str
    span_id: str
    kind: str
    started: datetime
    seconds: float
    ended: str
    target: str
    composite_target: str
    collection: str
    corpus_filter: str
    mode: str
    decision: str
    question: str
    kept_answer: bool
    follow_up: bool
    counts: StageCounts
    imbalance: Mapping[str, float]
    citations: int | None
    cited: frozenset[str]
    spent: Spent

    @property
    def outcome(self) -> str:
        """The decision, or that there is none since it failed or was cancelled."""
        return self.decision if self.ended == "ok" else self.ended


@dataclass(frozen=True, slots=True)
class Told:
    """A trace with what other spans and people tell of it; marks by the names of annotations."""

    trace: Trace
    spent: Spent
    marks: Mapping[str, Marks]


def read_trace(span: Mapping[str, Any]) -> Trace:
    """A root span as Phoenix's REST API gives it. Raises KeyError or ValueError if it is none."""
    attributes = span["attributes"]
    started, ended = _time(span["start_time"]), _time(span["end_time"])
    return Trace(
        trace_id=span["context"]["trace_id"],
        span_id=span["context"]["span_id"],
        kind=span["name"].partition(NAME_JOINT)[0],
        started=started,
        seconds=(ended - started).total_seconds(),
        ended=_end_of(span, attributes),
        target=_text(attributes, "target"),
        composite_target=_text(attributes, "composite_target"),
        collection=_text(attributes, "collection"),
        corpus_filter=_text(attributes, "corpus_filter"),
        mode=_text(attributes, "mode"),
        decision=_text(attributes, "decision"),
        question=_text(attributes, SpanAttributes.INPUT_VALUE),
        kept_answer=attributes.get("cache_hit") is True,
        follow_up=bool(_whole(attributes, "history_turns")),
        counts=_counts(attributes),
        imbalance=_below(attributes, "imbalance"),
        citations=_whole(attributes, "citations"),
        cited=_cited(attributes),
        spent=_spent(attributes, "prompt_tokens", "completion_tokens", "cost"),
    )


def read_call(attributes: Attributes) -> Spent:
    """Return what a call of a language model took."""
    return _spent(
        attributes,
        SpanAttributes.LLM_TOKEN_COUNT_PROMPT,
        SpanAttributes.LLM_TOKEN_COUNT_COMPLETION,
        SpanAttributes.LLM_COST_TOTAL,
    )


def mean_marks(annotations: Iterable[tuple[str, float]]) -> dict[str, Marks]:
    """Scores of annotations by their names, in alphabetical order."""
    found: dict[str, list[float]] = {}
    for name, score in annotations:
        found.setdefault(name, []).append(score)
    return {name: Marks(len(of), sum(of) / len(of)) for name, of in sorted(found.items())}


def _counts(attributes: Attributes) -> StageCounts:
    stages = ("available", "dense", "lexical", "candidates", "kept", "cited")
    return StageCounts(
        depth=_whole(attributes, "large_retrieval_size") or 0,
        **{
            stage: {corpus: int(count) for corpus, count in _below(attributes, stage).items()}
            for stage in stages
        },
    )


def _spent(attributes: Attributes, prompt: str, completion: str, cost: str) -> Spent:
    return Spent(
        _whole(attributes, prompt) or 0,
        _whole(attributes, completion) or 0,
        _number(attributes.get(cost)),
    )


def _below(attributes: Attributes, prefix: str) -> dict[str, float]:
    """The numbers whose names begin with a prefix, by the rest of their names."""
    start = f"{prefix}."
    together = attributes.get(prefix)
    found = {
        name.removeprefix(start): _number(value)
        for name, value in attributes.items()
        if name.startswith(start)
    } | (json.loads(together) if isinstance(together, str) else {})
    return {name: value for name, value in sorted(found.items()) if value is not None}


def _cited(attributes: Attributes) -> frozenset[str]:
    return frozenset(
        str(id_)
        for name, id_ in attributes.items()
        if (at := _DOCUMENT.fullmatch(name)) and _is_cited(attributes, at[1])
    )


def _is_cited(attributes: Attributes, place: str) -> bool:
    document = f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{place}.document"
    return attributes.get(f"{document}.metadata.cited") is True


def _end_of(span: Mapping[str, Any], attributes: Attributes) -> str:
    if attributes.get("cancelled") is True:
        return "cancelled"
    return "failed" if span["status_code"] == "ERROR" else "ok"


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _text(attributes: Attributes, name: str) -> str:
    value = attributes.get(name)
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(attributes: Attributes, name: str) -> int | None:
    number = _number(attributes.get(name))
    return None if number is None else int(number)


PAGE = 200  # roots of a page; one with its list of passages has some 20 kB
TOGETHER = 50  # traces that are asked about at once, by ids in the address
MOST_ANNOTATIONS = 1000  # of a page
MODEL_CALL = "generate"


@dataclass(frozen=True, slots=True)
class TraceFilter:
    """Filter of traces: of these kinds, of a target or composite target, begun at `since` or later.

    What is empty or None asks for nothing.
    """

    kinds: Sequence[str] = ()
    target: str = ""
    since: datetime | None = None


@dataclass(frozen=True)
class PhoenixProject:
    """The project of a Phoenix that traces are read from, and the headers that it asks for."""

    address: str
    project: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def traces(self, wanted: TraceFilter) -> Iterator[Trace]:
        """Yield the traces wanted, the last begun first; pages are asked for as they are needed."""
        query: dict[str, Any] = {
            "parent_id": "null",
            "start_time": wanted.since.isoformat() if wanted.since else None,
            "sort": "start_time",
            "limit": PAGE,
        }
        if not wanted.target:
            return self._roots(query, wanted.kinds)
        # Phoenix knows no "or"; as JSON, or a number would be no text
        name = json.dumps(wanted.target)
        both = [
            self._roots(query | {"attribute": f"{field}:{name}"}, wanted.kinds)
            for field in ("target", "composite_target")
        ]
        return heapq.merge(*both, key=lambda trace: trace.started, reverse=True)

    def tell(self, traces: Iterable[Trace]) -> Iterator[Told]:
        """Each trace with what its calls of language models took and what people marked."""
        left = iter(traces)
        while some := list(islice(left, TOGETHER)):
            spent, marks = self._spent(some), self._marks(some)
            for trace in some:
                taken = trace.spent if trace.ended != "ok" else spent.get(trace.trace_id, Spent())
                yield Told(trace, taken, marks.get(trace.span_id, {}))

    def _roots(self, query: Mapping[str, Any], kinds: Sequence[str]) -> Iterator[Trace]:
        for span in self._pages("spans", query):
            with reading(self.address):
                trace = read_trace(span)
            if not kinds or trace.kind in kinds:
                yield trace

    def _spent(self, traces: Sequence[Trace]) -> dict[str, Spent]:
        """Return the cost by the ids of traces that called a language model."""
        ids = [trace.trace_id for trace in traces if trace.kind == "ask"]
        found: dict[str, Spent] = {}
        if not ids:
            return found
        query = {"trace_id": ids, "name": MODEL_CALL, "limit": PAGE}
        for span in self._pages("spans", query):
            with reading(self.address):
                id_ = span["context"]["trace_id"]
                found[id_] = found.get(id_, Spent()) + read_call(span["attributes"])
        return found

    def _marks(self, traces: Sequence[Trace]) -> dict[str, dict[str, Marks]]:
        """Return the scores by people, by the ids of root spans, without evaluators of Phoenix."""
        said: dict[str, list[tuple[str, float]]] = {}
        query = {"span_ids": [trace.span_id for trace in traces], "limit": MOST_ANNOTATIONS}
        for one in self._pages("span_annotations", query):
            with reading(self.address):
                score = (one["result"] or {}).get("score")
                if one["annotator_kind"] == "HUMAN" and score is not None:
                    said.setdefault(one["span_id"], []).append((one["name"], float(score)))
        return {id_: mean_marks(given) for id_, given in said.items()}

    def _pages(self, what: str, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the items of all pages of a list."""
        path = f"/v1/projects/{quote(self.project, safe='')}/{what}"
        with PhoenixApi(self.address, self.headers) as api:
            try:
                yield from api.pages(path, query)
            except NotFound as error:
                raise NotFound(
                    f"Phoenix at {self.address} has no project {self.project!r}: nothing was traced"
                    " to it yet. Ask a question first, or set PHOENIX_PROJECT_NAME."
                ) from error


def open_phoenix(settings: Settings) -> PhoenixProject:
    """The configured one, or that which `atlas run` starts."""
    at = configured_phoenix(settings)
    return PhoenixProject(at.base, settings.phoenix_project_name, at.headers)


SEARCHING = ("ask", "search")
"""The kinds of request that draw candidates."""

Verdict = Literal["equal", "unequal", "unknown", "unfinished"]
"""`unknown` has no word of what could be found: an earlier version traced it. `unfinished`
failed or was cancelled before its candidates were told."""


@dataclass(frozen=True, slots=True)
class CorpusDepth:
    """Passages of a corpus that the legs gave, and the number due: the depth, or all there are.

    By meaning exactly that is due; by words at most that, since few passages may hold them.
    """

    corpus: str
    dense: int
    lexical: int
    due: int
    available: int

    @property
    def as_due(self) -> bool:
        """Return whether it was searched as deep as the others."""
        return self.dense == self.due and self.lexical <= self.due


@dataclass(frozen=True, slots=True)
class Unequal:
    """A request whose corpora were not searched to the same depth, with all of them."""

    trace: Trace
    corpora: tuple[CorpusDepth, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthCheck:
    """Result of a check: the number of each verdict, the requests that were not equal in the
    order they were given, and when the first and the last that could be checked began."""

    verdicts: dict[Verdict, int]
    unequal: tuple[Unequal, ...]
    first: datetime | None
    last: datetime | None

    @property
    def checked(self) -> int:
        """Return how many say enough to tell."""
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
    """Return what its root tells of one request over all corpora."""
    counts = trace.counts
    if not (counts.depth and counts.available):
        return "unknown" if trace.ended == "ok" else "unfinished"
    return "equal" if all(each.as_due for each in depths(counts)) else "unequal"


def depths(counts: StageCounts) -> Iterator[CorpusDepth]:
    """Each corpus that was searched, by its id; one that gave nothing too."""
    for corpus in sorted({*counts.available, *counts.dense, *counts.lexical}):
        available = counts.available.get(corpus, 0)
        dense, lexical = counts.dense.get(corpus, 0), counts.lexical.get(corpus, 0)
        yield CorpusDepth(corpus, dense, lexical, min(counts.depth, available), available)


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


class QuestionKey(NamedTuple):
    """Key by which questions are the same. The collection is empty if it need not be the same."""

    question: str
    corpus_filter: str
    mode: str
    collection: str


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The last answers of both targets to one question."""

    asked: QuestionKey
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
class CommonQuestions:
    """The common questions of two targets, in alphabetical order and at least one, and how many
    other answers each target gave, by the reason why they are left out."""

    names: tuple[str, str]
    pairs: tuple[AnswerPair, ...]
    left_out: tuple[Mapping[LeftOut, int], Mapping[LeftOut, int]]

    def side(self, number: int) -> list[Trace]:
        """The answers of the first target (0) or the second (1), in the order of the pairs."""
        return [(pair.first, pair.second)[number] for pair in self.pairs]


def pair_traces(
    names: tuple[str, str], first: Iterable[Trace], second: Iterable[Trace]
) -> CommonQuestions:
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
    pairs = tuple(AnswerPair(asked, *(each.answers[asked] for each in chosen)) for asked in common)
    left_out = [_left_out(each, common) for each in chosen]
    return CommonQuestions(names, pairs, (left_out[0], left_out[1]))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The last answer to each question, how many there were, and what was left out."""

    answers: Mapping[QuestionKey, Trace]
    times: Mapping[QuestionKey, int]
    left_out: Mapping[LeftOut, int]


def _choose(given: Sequence[Trace], *, with_collection: bool) -> _Chosen:
    answers: dict[QuestionKey, Trace] = {}
    times: Counter[QuestionKey] = Counter()
    left_out: Counter[LeftOut] = Counter()
    for trace in given:
        if reason := _unfit(trace):
            left_out[reason] += 1
            continue
        collection = trace.collection if with_collection else ""
        asked = QuestionKey(trace.question, trace.corpus_filter, trace.mode, collection)
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


def _left_out(chosen: _Chosen, common: Sequence[QuestionKey]) -> dict[LeftOut, int]:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One target over the common questions, by the last answer to each.

    Seconds are those of whole answers; percentiles are interpolated. Tokens and cost are sums,
    citations and imbalance means, and `marks` are of all annotations of a name.
    """

    name: str
    answers: int
    seconds_p50: float
    seconds_p95: float
    decisions: Mapping[str, int]
    spent: Spent
    citations: float
    imbalance: Mapping[str, float]
    marks: Mapping[str, Marks]


def compare_sides(pairs: CommonQuestions, told: Iterable[Told]) -> tuple[Side, Side]:
    """Sum both sides up. `told` has every trace of the pairs, in any order."""
    by_id = {each.trace.trace_id: each for each in told}
    sides = [
        _side(name, [by_id[trace.trace_id] for trace in pairs.side(number)])
        for number, name in enumerate(pairs.names)
    ]
    return sides[0], sides[1]


def _side(name: str, answers: Sequence[Told]) -> Side:
    traces = [told.trace for told in answers]
    p50, p95 = np.percentile([trace.seconds for trace in traces], [50, 95]).tolist()
    return Side(
        name=name,
        answers=len(answers),
        seconds_p50=p50,
        seconds_p95=p95,
        decisions=dict(sorted(Counter(trace.decision for trace in traces).items())),
        spent=sum((told.spent for told in answers), Spent()),
        citations=_mean([trace.citations or 0 for trace in traces]),
        imbalance=_mean_imbalance(traces),
        marks=_join_marks(answers),
    )


def _mean_imbalance(traces: Sequence[Trace]) -> dict[str, float]:
    """Return the mean imbalance by stage, over the answers that tell it."""
    stages = sorted({stage for trace in traces for stage in trace.imbalance})
    return {
        stage: _mean([trace.imbalance[stage] for trace in traces if stage in trace.imbalance])
        for stage in stages
    }


def _join_marks(answers: Sequence[Told]) -> dict[str, Marks]:
    given: dict[str, list[Marks]] = {}
    for told in answers:
        for name, marks in told.marks.items():
            given.setdefault(name, []).append(marks)
    return {name: _joint(marks) for name, marks in sorted(given.items())}


def _joint(marks: Sequence[Marks]) -> Marks:
    count = sum(each.count for each in marks)
    return Marks(count, sum(each.count * each.mean for each in marks) / count)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
