"""The sentences of a passage that speak to the question."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.core.domain import Passage
from atlas_search.language.text import TextSpan, sentences
from atlas_search.search.evidence import (
    WINDOW,
    WORTH_A_SENTENCE,
    best_window,
    stored_hits,
    term_hits,
)
from atlas_search.search.query import Query, parse_query
from atlas_search.stores.terms import TokenTable
from tests.search.three_passages import table_of

BEFORE, MIDDLE, AFTER = "Ships carry wool.", "The king taxes silk.", "Ports sell salt."
TEXT = f"{BEFORE} {MIDDLE} {AFTER}"
FOUR = {"wool": 1.0, "silk": 1.0, "king": 1.0, "salt": 1.0}


def span(text: str, weights: dict[str, float], query: Query) -> TextSpan:
    return best_window(text, term_hits(text, query), weights, query)


def window(text: str, **weights: float) -> str:
    start, end = span(text, weights, parse_query(" ".join(weights)))
    return text[start:end]


@pytest.mark.parametrize(
    ("text", "weights", "expected"),
    [
        (TEXT, {"king": 3.0, "silk": 2.0, "wool": 4.0}, f"{BEFORE} {MIDDLE}"),  # 3 + 2 > 4 >= 9 / 5
        (TEXT, {"king": 3.0, "silk": 5.0, "wool": 2.0}, f"{BEFORE} {MIDDLE}"),  # 2 = 10 / 5
        (TEXT, {"king": 3.0, "silk": 5.0, "wool": 1.9}, MIDDLE),  # 1.9 < 9.9 / 5
        (TEXT, {"king": 3.0, "wool": 3.0}, f"{BEFORE} {MIDDLE}"),  # 3 = 3, the first; 3 >= 6 / 5
        (TEXT, {"wool": 3.0, "salt": 3.0}, BEFORE),  # no neighbour adds anything
        (TEXT, {"king": 6.0, "wool": 2.0, "salt": 2.0}, TEXT),  # 2 = 10 / 5 on either side
        # 2.3 >= 11.2 / 5 > 1.9
        (TEXT, {"king": 7.0, "wool": 1.9, "salt": 2.3}, f"{MIDDLE} {AFTER}"),
        (TEXT, {"king": 4.0, "gold": 11.0, "wool": 2.0}, MIDDLE),  # 2 < 17 / 5, gold counts too
        (TEXT, {"gold": 1.0}, BEFORE),
        (TEXT, {}, BEFORE),
        # terms that are covered already add nothing
        ("Kings ruled. The king taxes silk.", {"king": 1.0, "silk": 1.0}, MIDDLE),
        # wool adds 2 on either side; after it the other adds less than 10 / 5
        (f"{BEFORE} {MIDDLE} More wool.", {"king": 8.0, "wool": 2.0}, f"{BEFORE} {MIDDLE}"),
        # at most three sentences; 1 >= 4 / 5
        ("Wool. Silk. King. Salt.", FOUR, "Wool. Silk. King."),
        ("Wool. Silk. King, salt. Port.", FOUR, "Wool. Silk. King, salt."),
        # a word broken at a line's end is whole
        (
            "Ships sail.\nThe consti-\ntution binds.\nPorts sell.",
            {"constitut": 1.0},
            "The consti-\ntution binds.",
        ),
    ],
)
def test_a_neighbour_joins_the_best_sentence_if_it_adds_a_fifth_of_the_weight(
    text: str, weights: dict[str, float], expected: str
) -> None:
    assert WORTH_A_SENTENCE == 1 / 5
    assert window(text, **weights) == expected


def test_another_spelling_of_a_term_counts_as_the_term_and_once() -> None:
    query = replace(parse_query("silk king"), spellings={"silk": ("filk", "silck")})
    weights = {"silk": 3.0, "king": 2.0}
    text = "Silk and silck. Filk and the king. Ports sell salt."
    # 3 < 3 + 2, and then the silk before is covered; else it is 3 > 2, and the king adds 2 >= 5 / 5
    start, end = span(text, weights, query)
    assert text[start:end] == "Filk and the king."
    assert span(text, weights, parse_query("silk king")) == (0, 34)


@given(
    st.lists(st.sampled_from([BEFORE, MIDDLE, AFTER, "\n", " ", "x-\ny"])).map("".join),
    st.dictionaries(st.sampled_from("ship wool king tax silk port x".split()), st.floats(0, 9)),
)
def test_a_window_is_some_whole_sentences(text: str, weights: dict[str, float]) -> None:
    start, end = span(text, weights, parse_query(" ".join(weights)))
    inside = [span for span in sentences(text) if start <= span.start and span.end <= end]
    assert len(inside) <= WINDOW
    assert (start, end) == ((inside[0].start, inside[-1].end) if inside else (0, len(text)))


WORDS = "kings Taxes silkWorm tax_rates s59 tax-\npayer rôle roles the .".split(" ")


def stored(*texts: str) -> tuple[TokenTable, list[Passage]]:
    """Passages of a document each, and their words."""
    passages = [
        Passage(
            row, f"law.a:{row}", "law.a", "law", "", text, 0, len(text), 1, 1, "", "", "", "", {}
        )
        for row, text in enumerate(texts)
    ]
    return table_of(texts), passages


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=3),
    st.lists(st.sampled_from([*WORDS, "worm", "rate", "unheard"]), max_size=4).map(" ".join),
)
def test_hits_in_a_stored_passage_are_those_in_its_text(texts: list[str], question: str) -> None:
    query = replace(parse_query(question), spellings={"unheard": ("king", "tax"), "king": ("tax",)})
    table, passages = stored(*texts)
    for passage in passages:
        assert stored_hits(passage, query, table) == term_hits(passage.text, query)


def test_a_part_of_a_stored_word_is_found_where_the_word_stands() -> None:
    table, (passage,) = stored("The silkWorm spins silk.")
    hits = stored_hits(passage, parse_query("worm silk"), table)
    assert [(hit.start, hit.term) for hit in hits] == [(4, "silk"), (4, "worm"), (19, "silk")]
