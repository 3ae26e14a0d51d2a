"""Whether a passage is evidence for the question, and which of its sentences says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from backend.dates import OPEN_END, OPEN_START, bounds
from backend.domain import CheckedPassage, Highlight, RankedPassage
from backend.search.query import Query
from backend.targets import Target
from backend.text import Span, sentences, words


@dataclass(frozen=True)
class Confidence:
    """Similarity of the kept passages: largest, mean, first minus second, and how many.

    `gap` is None with fewer than two. `support` is the best default `fused` score of all
    candidates, in [0, 1]: how much of the question the collection speaks to. `low` marks results
    none of which passed the evidence check.
    """

    max: float
    mean: float
    gap: float | None
    hit_count: int
    support: float
    low: bool


@dataclass(frozen=True)
class Freshness:
    """Dates of the passages that passed the check.

    `violations` counts those older than `freshness_days`, `stale` says whether all are.
    """

    oldest: str | None
    newest: str | None
    freshness_days: int
    violations: int
    stale: bool


def check(
    query: Query, ranked: Sequence[RankedPassage], weights: Mapping[str, float], target: Target
) -> list[CheckedPassage]:
    """Mark what is evidence: similar enough, or sharing enough of the question's words.

    `weights` are the idf of the question's terms; they choose the sentence to highlight.
    """
    return [_checked(query, item, weights, target) for item in ranked]


def best_sentence(text: str, weights: Mapping[str, float]) -> Span:
    """The sentence of `text` whose distinct terms weigh most; the first of equals."""
    spans = sentences(text) or [Span(0, len(text))]
    return max(spans, key=lambda span: _weight(text[span.start : span.end], weights))


def confidence(checked: Sequence[CheckedPassage], support: float) -> Confidence:
    """Summarise how well the kept passages fit."""
    similarities = sorted((item.ranked.signals["semantic"] for item in checked), reverse=True)
    return Confidence(
        max=similarities[0] if similarities else 0.0,
        mean=round(sum(similarities) / len(similarities), 6) if similarities else 0.0,
        gap=round(similarities[0] - similarities[1], 6) if len(similarities) > 1 else None,
        hit_count=len(similarities),
        support=round(support, 6),
        low=not any(item.valid for item in checked),
    )


def freshness(checked: Sequence[CheckedPassage], days: int, today: date) -> Freshness:
    """Summarise how old the evidence is, counted from `today`."""
    evidence = [item for item in checked if item.valid]
    known = [span for item in evidence if (span := bounds(item.passage.date))]
    limit = (today - timedelta(days=days)).isoformat()
    violations = sum(last < limit for _, last in known) if days else 0
    return Freshness(
        oldest=min((first for first, _ in known if first != OPEN_START), default=None),
        newest=max((last for _, last in known if last != OPEN_END), default=None),
        freshness_days=days,
        violations=violations,
        stale=0 < len(evidence) == violations,
    )


def _checked(
    query: Query, ranked: RankedPassage, weights: Mapping[str, float], target: Target
) -> CheckedPassage:
    text = ranked.passage.text
    present = {word.term for word in words(text)}
    overlap = sum(term in present for term in query.terms) / max(len(query.terms), 1)
    spans = [best_sentence(text, weights)] if overlap else []
    return CheckedPassage(
        ranked=ranked,
        valid=(
            ranked.signals["semantic"] >= target.similarity_threshold
            or overlap >= target.overlap_threshold
        ),
        overlap=round(overlap, 6),
        highlights=tuple(Highlight(span.start, span.end) for span in spans),
    )


def _weight(text: str, weights: Mapping[str, float]) -> float:
    return sum(weights.get(term, 0.0) for term in {word.term for word in words(text)})
