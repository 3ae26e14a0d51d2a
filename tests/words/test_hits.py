"""Queries of words are read, and their hits are those of a plain look through the texts."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.core.errors import InvalidQuery
from atlas_search.core.stop import Stop
from atlas_search.stores.words import WordTable, WordWriter
from atlas_search.words.hits import find_hits, lots, near_places, page
from atlas_search.words.query import (
    MAX_DISTANCE,
    MOST_WILDCARDS,
    Either,
    Near,
    WordMatching,
    Words,
    parse,
)
from tests.words.scan import scan, typed

VOCABULARY = ["strike", "Strike", "strikes", "striker", "wage", "wages", "ship", "shipwage", "a"]
PATTERNS = ["strike", "Strike*", "strike?", "wage", "wages", "*ship*", "*wage", "s*i*e", "?", "a"]
TEXTS = st.lists(
    st.tuples(st.sampled_from(VOCABULARY), st.sampled_from([" ", ", ", ".\n\n"])), max_size=25
).map(lambda pairs: "".join(word + blank for word, blank in pairs))
PHRASES = st.lists(st.sampled_from([*PATTERNS, "*"]), min_size=1, max_size=3).filter(
    lambda words: set(words) != {"*"}
)
QUERIES = st.recursive(
    PHRASES,
    lambda parts: (
        st.tuples(st.just("or"), parts, parts)
        | st.tuples(st.just("near"), parts, parts, st.integers(1, 6))
    ),
    max_leaves=4,
)


def table_of(*texts: str, language: str = "en") -> WordTable:
    writer = WordWriter()
    for text in texts:
        writer.add(text, language, [])
    return writer.table()


def hits_in(table: WordTable, query: str, **how: object) -> list[list[tuple[int, int]]]:
    """The spans of hits in each document, by the number of its words."""
    compared = WordMatching(**({"language": "en", "form": "surface", "exactly": False} | how))  # type: ignore[arg-type]
    hits = find_hits(parse(query), table, compared, Stop())
    documents = table.documents_of(hits.starts)
    spans: list[list[tuple[int, int]]] = [[] for _ in range(table.documents)]
    for document, start, end in zip(documents, hits.starts, hits.ends, strict=True):
        first = int(table.ends[document])
        spans[document].append((int(start) - first, int(end) - first))
    return spans


@settings(max_examples=300)
@given(st.lists(TEXTS, max_size=4), QUERIES, st.booleans(), st.sampled_from([0, 3, 20]))
def test_hits_equal_a_plain_scan(
    texts: list[str], query: object, exactly: bool, steps: int
) -> None:
    with patch("atlas_search.words.hits.STEPS", steps):  # both ways to find what is near
        hits = hits_in(table_of(*texts), typed(query), exactly=exactly)
    assert hits == [scan(query, text, exactly=exactly) for text in texts]


@settings(max_examples=150)
@given(st.lists(TEXTS, max_size=4), QUERIES, st.integers(0, 4), st.integers(1, 4))
def test_places_near_hits_are_those_that_near_finds(
    texts: list[str], query: object, left: int, right: int
) -> None:
    table = table_of(*texts)
    hits = find_hits(
        parse(typed(query)), table, WordMatching("en", "surface", exactly=False), Stop()
    )
    near = np.flatnonzero(near_places(table, hits, left, right)).tolist()
    expected, first = [], 0
    for text in texts:
        written = scan(["*"], text)
        for start, end in written:
            beside = scan(query, text)
            if any(
                end <= a <= end + left - 1 or start - right + 1 <= b <= start for a, b in beside
            ):
                expected.append(first + start)
        first += len(written)
    assert near == expected
    of_forms = hits_in(table, f'"?*" NEAR/{right},{left} ({typed(query)})')
    starts = [start + int(table.ends[d]) for d, spans in enumerate(of_forms) for start, _ in spans]
    assert starts == near


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("general strike", Words("general strike")),
        ('"general strike"', Words("general strike")),
        ("“general strike”", Words("general strike")),
        ("a OR b NEAR/2 c", Either((Words("a"), Near(Words("b"), Words("c"), 2, 2)))),
        ("(a OR b) NEAR/2 c", Near(Either((Words("a"), Words("b"))), Words("c"), 2, 2)),
        ("a NEAR/2 b NEAR/3 c", Near(Near(Words("a"), Words("b"), 2, 2), Words("c"), 3, 3)),
        ("a NEAR/0,3 b", Near(Words("a"), Words("b"), 0, 3)),
        ('"a OR b"', Words("a OR b")),
        ("near or", Words("near or")),
        ('"the * of"', Words("the * of")),
    ],
)
def test_a_query_is_read(query: str, tree: object) -> None:
    assert parse(query) == tree


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "character 1: a word is missing at the end"),
        ("   ", "character 4: a word is missing at the end"),
        ("a OR", "character 5: a word is missing at the end"),
        ("OR a", "character 1: a word is missing before OR"),
        ('a "b', 'character 3: the quotation mark " is not closed'),
        ("(a OR b", "character 8: the bracket of character 1 is not closed"),
        ("a) b", "character 2: this bracket was never opened"),
        ("a (b)", "character 3: an operator is missing: OR, or NEAR/5"),
        ('"a" b', "character 5: an operator is missing"),
        ("a NEAR b", "character 3: say how near"),
        (
            "a NEAR/0 b",
            f"character 3: say how near: NEAR/5 for five words, from 1 to {MAX_DISTANCE}",
        ),
        ("a NEAR/999 b", "character 3: say how near"),
        ("a NEAR/0,0 b", "character 3: say how near"),
        ("a NEAR/1,101 b", "character 3: say how near"),
        ("a NEAR/1,2,3 b", "character 3: say how near"),
        ("a NEAR/x b", "character 3: say how near"),
        ("a NEAR/² b", "character 3: say how near"),
        ("*", "character 1: `*` alone is every word"),
        ("a OR ...", "character 6: '...' holds no word"),
        ("(" * 30 + "a" + ")" * 30, "character 21: more than 20 brackets"),
        ("a* " * (MOST_WILDCARDS + 1), "21 words have a wildcard; at most 20 may"),
        ("a AND b", "character 3: 'AND' is no operator. There are OR and NEAR/5"),
        ("a NOT b", "character 3: 'NOT' is no operator"),
        ("a NEAR5 b", "character 3: 'NEAR5' is no operator"),
        ("a near/5 b", "character 3: 'near/5' is no operator"),
        ("a" * 1001, "1,001 characters; at most 1,000"),
    ],
)
def test_a_query_that_cannot_be_read_is_refused_with_its_place(query: str, message: str) -> None:
    with pytest.raises(InvalidQuery) as refused:
        parse(query)
    assert message in str(refused.value)


COMPARED = "Striking strikes struck a Strike; the café and the Cafe\u0301, cafe."
HYPHENS = "short-time and short time; time short; a wa-\nge of co-operation"


@pytest.mark.parametrize(
    ("text", "query", "how", "spans"),
    [
        (COMPARED, "strike", {}, [(4, 5)]),
        (COMPARED, "strike", {"form": "stem"}, [(0, 1), (1, 2), (4, 5)]),
        (COMPARED, "Cafe", {}, [(6, 7), (9, 10), (10, 11)]),
        (COMPARED, "Café", {"exactly": True}, [(9, 10)]),
        (COMPARED, "caf*", {"exactly": True}, [(6, 7), (10, 11)]),
        # a word with a hyphen is words that stand next to each other
        (HYPHENS, "short-time", {}, [(0, 2), (3, 5)]),
        (HYPHENS, "wage", {}, [(8, 9)]),
        (HYPHENS, "co-op*", {}, [(10, 12)]),
        # each language takes words apart in its own way
        ("l'eau", "eau", {"language": "fr"}, [(1, 2)]),
        ("l'eau", "l'e*", {"language": "fr"}, [(0, 2)]),
        ("l'eau", "eau", {}, []),
    ],
)
def test_words_are_compared_as_written_or_by_their_stem_in_their_language(
    text: str, query: str, how: dict[str, str], spans: list[tuple[int, int]]
) -> None:
    assert hits_in(table_of(text, language=how.get("language", "en")), query, **how) == [spans]


@pytest.mark.timeout(20)
def test_a_wildcard_takes_no_longer_than_its_word_is_long() -> None:
    table = table_of("a" * 200_000)
    assert hits_in(table, "*a" * 20 + "*b") == [[]]
    assert hits_in(table, "*a" * 20 + "*") == [[(0, 1)]]


VALUES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=60)


@given(VALUES, st.integers(0, 70), st.integers(0, 70), st.integers(0, 10))
def test_a_page_is_that_of_the_sorted_list(
    values: list[tuple[int, int]], offset: int, limit: int, small: int
) -> None:
    first, second = (np.array([pair[side] for pair in values], dtype=int) for side in (0, 1))
    with patch("atlas_search.words.hits.SMALL", small):
        places = page(len(values), [lambda at: first[at], lambda at: second[at]], offset, limit)
    whole = sorted(range(len(values)), key=lambda at: (*values[at], at))
    assert places.tolist() == whole[offset : offset + limit]


def test_lots_are_spread_evenly_and_the_same_for_a_seed() -> None:
    places = np.arange(100_000)
    assert lots(places[:3], 7).tolist() == lots(places, 7)[:3].tolist()
    assert lots(places[:3], 7).tolist() != lots(places[:3], 8).tolist()
    chosen = np.argsort(lots(places, 1))[:10_000]
    assert abs(chosen.mean() - 50_000) < 1500
