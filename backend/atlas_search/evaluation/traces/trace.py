"""A trace as its root span in Phoenix tells it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from openinference.semconv.trace import SpanAttributes

Attributes = Mapping[str, Any]
"""Of a span, as Phoenix gives them: flat, nested names joined by dots."""

_DOCUMENT = re.compile(rf"{SpanAttributes.RETRIEVAL_DOCUMENTS}\.(\d+)\.document\.id")


@dataclass(frozen=True, slots=True)
class Spent:
    """What language models took for an answer; the cost is None where the target has no prices."""

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
    """How many people gave an annotation of one name, and the mean of its scores."""

    count: int
    mean: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
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
    counts: Counts
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
        kind=span["name"],
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
    """What a call of a language model took."""
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


def _counts(attributes: Attributes) -> Counts:
    stages = ("available", "dense", "lexical", "candidates", "kept", "cited")
    return Counts(
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
    found = {
        name.removeprefix(start): _number(value)
        for name, value in attributes.items()
        if name.startswith(start)
    }
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
