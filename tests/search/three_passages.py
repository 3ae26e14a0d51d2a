"""Three tiny passages and their signals, so small that expected values can be worked out by hand.

With N = 3 passages, a term in n of them weighs ln(1 + (3 - n + 0.5) / (n + 0.5)).
"""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from atlas_search.language.text import terms_and_parts, words
from atlas_search.search.candidates import Candidates
from atlas_search.search.query import Query, parse_query
from atlas_search.search.signals import SignalTable, measure
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.store import LegHits
from atlas_search.stores.terms import TokenTable, TokenWriter
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


def three() -> TokenTable:
    return table_of(TEXTS, TITLES, METADATA)


def table_of(
    texts: Sequence[str],
    titles: Sequence[str] = (),
    metadata: Sequence[tuple[int, str, str]] = (),
) -> TokenTable:
    """The words of documents of one passage each."""
    writer = TokenWriter()

    def stems(text: str) -> IntArray:
        return writer.ids([word.term for word in words(text)])

    for number, text in enumerate(texts):
        values = [(field, stems(value)) for of, field, value in metadata if of == number]
        writer.document("c", stems(titles[number] if titles else ""), values)
        terms, parts = terms_and_parts(text)
        writer.passage(writer.ids(terms), writer.ids(parts), writer.ids([]))
    return writer.table()


def signals_of(
    question: str | Query,
    table: TokenTable | None = None,
    rows: IntArray | None = None,
    vectors: NDArray[np.float32] | None = None,
) -> SignalTable:
    """The signals of `rows`, by default all of the three; their cosines are 0.8, 0.6 and 0."""
    table = table or three()
    rows = np.arange(table.passages) if rows is None else rows
    vectors = np.eye(3, dtype=np.float32)[: table.passages] if vectors is None else vectors
    question_vector = np.array([0.8, 0.6, 0.0], dtype=np.float32)
    return measure(
        parse_query(question) if isinstance(question, str) else question,
        Cosines(question_vector, lambda rows, vector: (vectors[rows] @ vector).astype(float)),
        rows,
        table,
        [0],
        table.mean_length(),
    )


def idf(n: int, total: int = 3) -> float:
    return log(1 + (total - n + 0.5) / (n + 0.5))


def hits(*pairs: tuple[int, float]) -> LegHits:
    """A leg's (row, score) pairs."""
    return LegHits(np.array([row for row, _ in pairs]), np.array([score for _, score in pairs]))


def candidates_of(table: SignalTable, *corpora: tuple[LegHits, LegHits]) -> Candidates:
    """Candidates with these signals, found by the dense and the lexical leg of each corpus."""
    of_corpora = {
        f"c{number}": {"dense": dense, "lexical": lexical}
        for number, (dense, lexical) in enumerate(corpora)
    }
    cosines = Cosines(np.ones(3, dtype=np.float32), lambda rows, _: np.ones(len(rows)))
    return Candidates(parse_query("any"), cosines, of_corpora, table)
