"""Three tiny passages and their signals, so small that expected values can be worked out by hand.

With N = 3 passages, a term in n of them weighs ln(1 + (3 - n + 0.5) / (n + 0.5)).
"""

from math import log

import numpy as np
from numpy.typing import NDArray

from atlas_search.language.text import identifier_parts, words
from atlas_search.search.candidates import Candidates, CorpusHits
from atlas_search.search.query import Query, parse_query
from atlas_search.search.signals import SignalTable, measure
from atlas_search.stores.arrays import IntArray, Ragged
from atlas_search.stores.store import LegHits
from atlas_search.stores.terms import TokenTable
from atlas_search.stores.vectors import Cosines

TEXTS = (
    "Police must warn. The right to silence is a right.",  # 10 words
    "Silence fell over the whole right bank; police watched.",  # 9 words
    "A statute on fishing in section s59 waters.",  # 8 words and 2 parts of s59
)
TITLES = ("Right to silence", "A river", "Fishing Act")
METADATA = (  # (document, field, value)
    (0, "author", "Warren"),
    (0, "tags", "police questioning"),
    (2, "date", "1966"),
)


def table_of(texts=TEXTS, titles=TITLES, metadata=METADATA) -> TokenTable:
    vocabulary: dict[str, int] = {}

    def ids(terms):
        return np.array([vocabulary.setdefault(t, len(vocabulary)) for t in terms], dtype=np.int32)

    found = [words(text) for text in texts]
    stems = [ids([word.term for word in each]) for each in found]
    parts = [
        ids([p for w in each for p in identifier_parts(text[w.start : w.end])])
        for text, each in zip(texts, found, strict=True)
    ]
    title_ids = [ids([word.term for word in words(title)]) for title in titles]
    values = [ids([word.term for word in words(value)]) for *_, value in metadata]
    fields = {name: index for index, name in enumerate(sorted({f for _, f, _ in metadata}))}
    owned = np.bincount([document for document, *_ in metadata], minlength=len(texts))
    frequency = np.zeros(len(vocabulary), dtype=np.int32)
    for found_by in zip(stems, parts, title_ids, strict=True):
        frequency[np.unique(np.concatenate(found_by))] += 1
    return TokenTable(
        vocabulary=vocabulary,
        words=Ragged.of(stems),
        parts=Ragged.of(parts),
        titles=Ragged.of(title_ids),
        contexts=Ragged.of([ids([])]),
        context_of=np.zeros(len(texts), dtype=np.int64),
        values=Ragged.of(values),
        values_of=Ragged.between(np.arange(len(metadata)), np.concatenate(([0], np.cumsum(owned)))),
        value_field=np.array([fields[field] for _, field, _ in metadata], dtype=np.int64),
        document_of=np.arange(len(texts)),
        passage_frequency=frequency,
        terms_of=Ragged.of([np.arange(len(vocabulary))]),
        counts_of=Ragged.of([frequency]),
        passages_of=np.array([len(texts)]),
    )


def signals_of(
    question: str | Query,
    table: TokenTable | None = None,
    rows: IntArray | None = None,
    vectors: NDArray[np.float32] | None = None,
) -> SignalTable:
    table = table or table_of()
    rows = np.arange(table.passages) if rows is None else rows
    vectors = np.eye(3, dtype=np.float32)[: table.passages] if vectors is None else vectors
    question_vector = np.array([0.8, 0.6, 0.0], dtype=np.float32)
    return measure(
        parse_query(question) if isinstance(question, str) else question,
        Cosines(question_vector, lambda rows: vectors[rows]),
        rows,
        table,
        [0],
        table.mean_length(),
    )


def idf(n: int, total: int = 3) -> float:
    return log(1 + (total - n + 0.5) / (n + 0.5))


def hits(*found: tuple[int, float]) -> LegHits:
    """A leg's (row, score) pairs."""
    return LegHits(np.array([row for row, _ in found]), np.array([score for _, score in found]))


def candidates_of(table: SignalTable, *corpora: tuple[LegHits, LegHits]) -> Candidates:
    """Candidates with these signals, found by the dense and the lexical leg of each corpus."""
    found = [CorpusHits(f"c{number}", *legs) for number, legs in enumerate(corpora)]
    cosines = Cosines(np.ones(3, dtype=np.float32), lambda rows: np.eye(3, dtype=np.float32)[rows])
    return Candidates(parse_query("any"), cosines, found, table)
