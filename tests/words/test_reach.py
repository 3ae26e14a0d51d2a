"""What counts of generated documents with overlapping passages: each place once."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.core.stop import Stop
from atlas_search.language.text import TextSpan
from atlas_search.stores.words import WordWriter
from atlas_search.words.hits import find_hits, lots, page
from atlas_search.words.query import WordMatching, parse
from atlas_search.words.run import Reach
from tests.words.scan import characters, words_in

QUERY = ("or", ["a", "b"], ["a"])
TYPED = '"a b" OR a'

Case = tuple[list[tuple[str, list[TextSpan]]], set[int], bool]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Texts with passages that may overlap, leave gaps and cut words; which passages count."""
    texts = draw(st.lists(st.text("ab ", max_size=30), min_size=1, max_size=4))
    of = []
    for text in texts:
        pairs = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
        spans = {TextSpan(*sorted(pair)) for pair in draw(st.lists(pairs, min_size=1, max_size=4))}
        of.append((text, sorted(spans)))
    rows = range(sum(len(spans) for _, spans in of))
    whole = draw(st.booleans())
    return of, set(rows) if whole else draw(st.sets(st.sampled_from(rows))), whole


@settings(max_examples=300)
@given(cases())
def test_what_counts_equals_a_plain_look(case: Case) -> None:
    of, rows, whole = case
    writer = WordWriter()
    for text, spans in of:
        writer.add(text, "en", spans)
    table = writer.table()
    document_of = np.repeat(np.arange(len(of)), [len(spans) for _, spans in of])
    counted = np.array(sorted(rows), dtype=np.int64)
    reach = Reach(table, document_of, np.unique(document_of[counted]), counted, whole)
    hits = reach.keep(
        find_hits(parse(TYPED), table, WordMatching("en", "surface", exactly=False), Stop())
    )
    passages = [
        (row, document, span)
        for row, (document, span) in enumerate(
            (document, span) for document, (_, spans) in enumerate(of) for span in spans
        )
    ]
    own = [passage for passage in passages if passage[0] in rows]
    expected, holding = [], set()
    for document, (text, _) in enumerate(of):
        for start, end in characters(QUERY, text):
            held = [r for r, d, s in own if d == document and s.start <= start and end <= s.end]
            holding.update(held)
            if whole or held:
                expected.append((document, start, end))
    documents = table.documents_of(hits.starts)
    begin = table.starts[hits.starts]
    end = table.starts[hits.ends - 1] + table.lengths[hits.ends - 1]
    assert list(zip(documents.tolist(), begin.tolist(), end.tolist(), strict=True)) == expected
    assert set(reach.passages_with(hits).tolist()) == holding
    for document, (text, _) in enumerate(of):
        within = [s for _, d, s in own if d == document]
        words = [
            (a, b)
            for a, b in words_in(text)
            if whole or any(s.start <= a and b <= s.end for s in within)
        ]
        assert reach.words_of[document] == len(words)
    if len(hits.starts):
        for (document, a, b), row in zip(expected, reach.openers(hits).tolist(), strict=True):
            assert document_of[row] == document
            holds = [r for r, d, s in own if d == document and s.start <= a and b <= s.end]
            assert row in holds or not holds


VALUES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=60)


@settings(max_examples=200)
@given(VALUES, st.integers(0, 70), st.integers(0, 70), st.integers(0, 10))
def test_a_page_is_that_of_the_sorted_list(
    values: list[tuple[int, int]], offset: int, limit: int, small: int
) -> None:
    from unittest.mock import patch

    first, second = (np.array([pair[side] for pair in values], dtype=int) for side in (0, 1))
    with patch("atlas_search.words.hits.SMALL", small):
        found = page(len(values), [lambda at: first[at], lambda at: second[at]], offset, limit)
    whole = sorted(range(len(values)), key=lambda at: (*values[at], at))
    assert found.tolist() == whole[offset : offset + limit]


def test_lots_are_the_same_for_the_same_seed() -> None:
    places = np.arange(100_000)
    assert lots(places, 7).tolist() == lots(places, 7).tolist()
    assert lots(places[:3], 7).tolist() == lots(places, 7)[:3].tolist()
    assert lots(places[:3], 7).tolist() != lots(places[:3], 8).tolist()
    chosen = np.argsort(lots(places, 1))[:10_000]
    assert abs(chosen.mean() - 50_000) < 1500
