"""Which questions are put to a set, where, and what is known of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atlas_search.evaluation.label_files import BenchmarkQuery
from atlas_search.search.request import Filter
from benchmarks.quality.collection import record_id
from benchmarks.quality.sets import TestSet, sampled, split_of

Half = Literal["dev", "test"]
Group = Literal["answerable", "unanswerable", "off-topic"]

MOST_OFF_TOPIC = 400
"""Off-topic questions of a set and half where all questions are asked."""


@dataclass(frozen=True)
class Question:
    """A question as it is put to one set.

    `place` is the filter under which it is asked, `answers` are the gold texts, and `gold` the ids
    of what answers it: nothing does unless it is answerable.
    """

    id: str
    text: str
    half: Half
    group: Group
    place: Mapping[str, Filter]
    answers: tuple[str, ...] = ()
    gold: frozenset[str] = frozenset()


def questions(test_set: TestSet, others: Sequence[TestSet], limit: int) -> list[Question]:
    """Up to `limit` questions of each group and half, always the same; 0 for all.

    Off-topic ones come in equal numbers from `others`, and are put to the places of the set's own.
    """
    return [each for half in ("dev", "test") for each in _of_half(test_set, others, limit, half)]


def _of_half(
    test_set: TestSet, others: Sequence[TestSet], limit: int, half: Half
) -> Iterator[Question]:
    own = sampled(_different(test_set.queries, test_set.place), limit, half)
    for query in own:
        yield _question(query, "answerable", test_set.place(query), _gold(test_set, query))
    for query in sampled(_different(test_set.unjudged(), test_set.place), limit, half):
        yield _question(query, "unanswerable", test_set.place(query))
    places = [test_set.place(query) for query in own] or [{}]
    for number, query in enumerate(_strangers(others, limit or MOST_OFF_TOPIC, half)):
        yield _question(query, "off-topic", places[number % len(places)])


def _strangers(others: Sequence[TestSet], limit: int, half: Half) -> Iterator[BenchmarkQuery]:
    for other in others:
        different = _different(other.queries, lambda _: {})  # a statement put to 100 contracts: 1
        yield from sampled(different, max(1, limit // len(others)), half)


def _different(
    queries: Iterable[BenchmarkQuery], place: Callable[[BenchmarkQuery], Mapping[str, Filter]]
) -> list[BenchmarkQuery]:
    """One of the questions with the same words in the same place."""
    return list({repr((query.text, place(query))): query for query in queries}.values())


def _gold(test_set: TestSet, query: BenchmarkQuery) -> frozenset[str]:
    return frozenset(record_id(test_set.name, record) for record in test_set.qrels[query.id])


def _question(
    query: BenchmarkQuery,
    group: Group,
    place: Mapping[str, Filter],
    gold: frozenset[str] = frozenset(),
) -> Question:
    answers = query.answers if gold else ()
    return Question(query.id, query.text, split_of(query), group, place, answers, gold)
