"""The evidence test of a passage, and the sentences in it that answer the question."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import fsum
from typing import NamedTuple

from atlas_search.core.domain import CheckedPassage, Passage, RankedPassage
from atlas_search.core.targets import Target
from atlas_search.core.wire import Highlight, sent
from atlas_search.language.dates import OPEN_END, OPEN_START, bounds, iso_day
from atlas_search.language.text import TextSpan, places_of, sentences, starts_of
from atlas_search.search.query import Query
from atlas_search.stores.terms import TokenTable

WINDOW = 3  # sentences that one highlight may hold
WORTH_A_SENTENCE = 0.2  # of the question's weight that a further sentence must add


class Hit(NamedTuple):
    """A term of the question, and where it stands."""

    start: int
    term: str


@sent
@dataclass(frozen=True)
class RetrievalConfidence:
    """Similarity of the kept passages: largest, mean, first minus second, and how many.

    `gap` is None with fewer than two. `support` is the best default `fused` score of all
    candidates, their neighbours left out, in [0, 1]: how much of the question the collection
    speaks to. `low` marks results none of which passed the evidence check.
    """

    max: float = 0.0
    mean: float = 0.0
    gap: float | None = None
    hit_count: int = 0
    support: float = 0.0
    low: bool = False


@sent
@dataclass(frozen=True)
class Freshness:
    """Dates of the passages that passed the check.

    `violations` counts those older than `freshness_days`, `stale` says whether all are.
    """

    oldest: str | None = None
    newest: str | None = None
    freshness_days: int = 0
    violations: int = 0
    stale: bool = False


def check(
    query: Query,
    ranked: RankedPassage,
    table: TokenTable,
    weights: Mapping[str, float],
    target: Target,
) -> CheckedPassage:
    """Mark a passage as evidence: similar enough, or sharing enough of the question's words.

    It is compared with the question as read in its language. `weights` are the idf of the
    question's terms in all languages; they choose the sentences to highlight.
    """
    text = ranked.passage.text
    query = query.in_language(ranked.passage.language)
    hits = stored_hits(ranked.passage, query, table)
    overlap = len({hit.term for hit in hits}) / max(len(query.terms), 1)
    return CheckedPassage(
        ranked=ranked,
        valid=(
            ranked.signals["semantic"] >= target.similarity_threshold
            or overlap >= target.overlap_threshold
        ),
        overlap=round(overlap, 6),
        highlights=(Highlight(*best_window(text, hits, weights, query)),) if hits else (),
    )


def best_window(
    text: str, hits: Sequence[Hit], weights: Mapping[str, float], query: Query
) -> TextSpan:
    """One to WINDOW consecutive sentences of `text` that speak most to the question.

    It begins with the sentence whose distinct terms weigh most, the first of equals. A neighbour
    joins while its terms that are not covered yet weigh at least WORTH_A_SENTENCE of the whole
    question: the one that adds more, of equals the one before.
    """
    spans = sentences(text, query.language) or [TextSpan(0, len(text))]
    terms_of = [
        frozenset(hit.term for hit in hits if start <= hit.start < end) for start, end in spans
    ]
    first = max(range(len(spans)), key=lambda at: _weight(terms_of[at], weights))
    last, covered = first, terms_of[first]
    enough = WORTH_A_SENTENCE * _weight(query.terms, weights)
    while last - first + 1 < WINDOW:
        gains = {
            at: _weight(terms_of[at] - covered, weights)
            for at in (first - 1, last + 1)
            if 0 <= at < len(spans)
        }
        added = max(gains, key=gains.__getitem__, default=first)
        if not 0 < gains.get(added, 0.0) >= enough:
            break
        first, last, covered = min(first, added), max(last, added), covered | terms_of[added]
    return TextSpan(spans[first].start, spans[last].end)


def confidence(checked: Sequence[CheckedPassage], support: float) -> RetrievalConfidence:
    """Summarise how well the kept passages fit."""
    similarities = sorted((item.ranked.signals["semantic"] for item in checked), reverse=True)
    return RetrievalConfidence(
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
    firsts = [first for first, _ in known if first != OPEN_START]
    lasts = [last for _, last in known if last != OPEN_END]
    limit = (today - timedelta(days=days)).isoformat()
    violations = sum(last < limit for _, last in known) if days else 0
    return Freshness(
        oldest=iso_day(min(firsts)) if firsts else None,
        newest=iso_day(max(lasts)) if lasts else None,
        freshness_days=days,
        violations=violations,
        stale=0 < len(evidence) == violations,
    )


def term_hits(text: str, query: Query) -> list[Hit]:
    """Find the question's terms in `text`, in any of their spellings."""
    terms = _terms_by_spelling(query)
    return [
        Hit(start, term)
        for start, form in places_of(terms, text, query.language)
        for term in terms[form]
    ]


def stored_hits(passage: Passage, query: Query, table: TokenTable) -> list[Hit]:
    """The `term_hits` of a passage, from the stems that were found when it was stored."""
    terms = {
        table.vocabulary[form]: terms
        for form, terms in _terms_by_spelling(query).items()
        if form in table.vocabulary
    }
    if not terms.keys().isdisjoint(table.parts.row(passage.row).tolist()):
        return term_hits(passage.text, query)  # of a part nobody has kept where it stands
    stems = table.words.row(passage.row).tolist()
    numbers = [number for number, stem in enumerate(stems) if stem in terms]
    starts = starts_of(numbers, passage.text, query.language)
    return [
        Hit(start, term)
        for start, number in zip(starts, numbers, strict=True)
        for term in terms[stems[number]]
    ]


def _terms_by_spelling(query: Query) -> dict[str, list[str]]:
    by_spelling: dict[str, list[str]] = {}
    for term in query.terms:
        for spelling in (term, *query.spellings.get(term, ())):
            by_spelling.setdefault(spelling, []).append(term)
    return by_spelling


def _weight(terms: Iterable[str], weights: Mapping[str, float]) -> float:
    # summed exactly: the order of a set is another in every process
    return fsum(weights.get(term, 0.0) for term in terms)
