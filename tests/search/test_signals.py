"""Ranking signals on three tiny passages; the expected values are worked out here."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.search.query import parse_query
from atlas_search.search.signals import locate, neighbours, weigh, with_neighbours
from atlas_search.stores.arrays import AT_ONCE
from atlas_search.stores.terms import TokenWriter
from tests.search.three_passages import idf, signals_of, table_of, three


def test_semantic_is_the_cosine_and_a_negative_one_is_no_similarity() -> None:
    assert signals_of("police").signals["semantic"] == pytest.approx([0.8, 0.6, 0.0])
    opposite = signals_of("police", vectors=-np.eye(3, dtype=np.float32))
    assert opposite.signals["semantic"].tolist() == [0.0, 0.0, 0.0]


def test_term_weights_are_inverse_passage_frequency() -> None:
    weights = weigh(parse_query("police statute unheard"), three(), [0])
    assert weights.idf == pytest.approx([idf(2), idf(1), idf(0)])


def test_bm25() -> None:
    # "right": twice in passage 0 and once in its title, once in passage 1; lengths with the titles
    # 13, 11, 12; mean 12
    def saturated(count: int, length: int) -> float:
        return count / (count + 0.9 * (1 - 0.75 + 0.75 * length / 12))

    expected = [saturated(3, 13), saturated(1, 11), 0.0]
    assert signals_of("right").signals["bm25"] == pytest.approx(expected)


def test_bm25_finds_parts_of_identifiers() -> None:
    assert signals_of("59").signals["bm25"][2] > 0
    assert signals_of("s59").signals["bm25"][2] > signals_of("59").signals["bm25"][2] * 0.9


def test_phrase_is_the_share_of_adjacent_pairs() -> None:
    # pairs: (police, watched) and (watched, silence); only the first stands in passage 1
    first, second = idf(2) + idf(1), idf(1) + idf(2)
    expected = [0.0, first / (first + second), 0.0]
    assert signals_of("police watched silence").signals["phrase"] == pytest.approx(expected)


def test_phrase_is_the_share_of_the_question_that_is_quoted_where_that_is_more() -> None:
    # pairs: (police, warn), (warn, right), (right, bank), of equal weight; the last stands in 1
    plain = signals_of("police must warn right bank").signals["phrase"]
    assert plain == pytest.approx([0.0, 1 / 3, 0.0])
    both = signals_of('"police must warn" "right bank"').signals
    # police and warn, right and bank: each pair is half of all weight
    assert both["phrase"].tolist() == [0.5, 0.5, 0.0]
    assert both["exact"].tolist() == [0.0, 0.0, 0.0]
    one = signals_of('is "right bank" asked').signals
    half = (idf(2) + idf(1)) / (idf(2) + idf(1) + idf(0))
    assert one["phrase"] == pytest.approx([0.0, half, 0.0])
    assert one["exact"].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("question", "exact"),
    [
        ("right to silence", [1.0, 0.0, 0.0]),
        ("The right to silence!", [1.0, 0.0, 0.0]),
        ("silence right", [0.0, 0.0, 0.0]),
        ("right to unheard", [0.0, 0.0, 0.0]),
    ],
)
def test_exact_wants_the_whole_question_in_order(question: str, exact: list[float]) -> None:
    assert signals_of(question).signals["exact"].tolist() == exact


def test_phrases_do_not_cross_passages() -> None:
    signals = signals_of("two three", table_of(("one two", "three four"))).signals
    assert signals["phrase"].tolist() == signals["exact"].tolist() == [0.0, 0.0]


def test_frequency_saturates() -> None:
    # terms right and silence: 2 + 1 hits, each once in the title; 1 + 1 hits; none; h / (h + 2)
    expected = [5 / 7, 2 / 4, 0.0]
    assert signals_of("right silence").signals["frequency"] == pytest.approx(expected)


def test_proximity_wants_the_terms_within_32_words() -> None:
    near = "alpha " + "x " * 30 + "omega"  # positions 0 and 31: inside one window
    far = "alpha " + "x " * 31 + "omega"  # positions 0 and 32: not
    table = table_of((near, far))
    assert signals_of("alpha omega", table).signals["proximity"] == pytest.approx([1.0, 0.5])


def test_proximity_counts_what_the_title_has_once_and_looks_for_the_rest_in_the_text() -> None:
    far = "alpha " + "x " * 40 + "omega beta"
    table = table_of((far, far), ("alpha", "other"))
    # alpha is the title's; omega and beta stand together, alpha and omega do not
    assert signals_of("alpha omega", table).signals["proximity"] == pytest.approx([1.0, 0.5])


def test_title_is_the_weighted_share_of_terms_in_the_title() -> None:
    assert signals_of("right silence").signals["title"] == pytest.approx([1.0, 0.0, 0.0])


def test_metadata_counts_fields_whose_value_is_named() -> None:
    result = signals_of("Did Warren allow questioning by police before 1966?")
    assert result.matches.tolist() == [2, 0, 1]
    assert result.signals["metadata"] == pytest.approx([2 / 3, 0.0, 1 / 2])
    assert signals_of("questioning").matches.tolist() == [0, 0, 0]


@pytest.mark.parametrize("question", ["", "?!", "the", "unheard of"])
def test_questions_without_known_words_score_by_meaning_alone(question: str) -> None:
    result = signals_of(question)
    for name, values in result.signals.items():
        if name != "semantic":
            assert not values[2], name
        assert np.all((values >= 0) & (values <= 1))


def test_neighbours_are_the_mean_of_those_before_and_after_in_the_same_document() -> None:
    table = replace(three(), document_of=np.array([0, 0, 1]))
    signals = signals_of("police silence", table).signals
    fit = signals["bm25"]
    assert signals["neighbours"] == pytest.approx([fit[1], fit[0], 0.0])
    together = signals_of("police silence", replace(table, document_of=np.array([0, 0, 0])))
    fit = together.signals["bm25"]
    assert together.signals["neighbours"] == pytest.approx([fit[1], (fit[0] + fit[2]) / 2, fit[1]])


def test_a_neighbour_counts_though_no_leg_found_it() -> None:
    table = replace(three(), document_of=np.array([0, 0, 0]))
    every = signals_of("police silence", table).signals
    one = signals_of("police silence", table, rows=np.array([1])).signals
    assert {name: values[0] for name, values in one.items()} == pytest.approx(
        {name: values[1] for name, values in every.items()}
    )


def test_terms_are_weighed_by_the_corpora_that_are_searched() -> None:
    writer = TokenWriter()
    for corpus, texts in (("a", ("silence", "silence police")), ("b", ("police", "police", "law"))):
        for text in texts:
            writer.document(corpus, writer.ids([]), [])
            writer.passage(writer.ids(text.split()), writer.ids([]), writer.ids([]))
    table = writer.table()
    query = replace(parse_query(""), terms=("silence", "police", "law", "unheard"))
    assert list(table.vocabulary) == ["law", "police", "silence"]
    assert table.passage_frequency.tolist() == [1, 3, 2]
    assert table.passages_of.tolist() == [2, 3]
    for corpora, counts, passages in (
        ([0], (2, 1, 0, 0), 2),
        ([1], (0, 2, 1, 0), 3),
        ([0, 1], (2, 3, 1, 0), 5),
    ):
        expected = [idf(count, passages) for count in counts]
        assert weigh(query, table, corpora).idf == pytest.approx(expected)


def test_title_and_text_are_read_as_one_with_a_gap_between_them() -> None:
    table = table_of(("silence at sea", "a sea"), ("right to", ""))
    signals = signals_of("right silence", table, vectors=np.eye(2, 3, dtype=np.float32)).signals
    assert signals["proximity"].tolist() == [1.0, 0.0]
    assert signals["phrase"].tolist() == [0.0, 0.0]


def test_section_and_speaker_count_for_keywords_but_stand_nowhere_in_the_text() -> None:
    writer = TokenWriter()
    writer.document("law", writer.ids([]), [])
    context = writer.ids(["silenc", "warren"])
    for text in ("polic warn", "fish swim"):
        writer.passage(writer.ids(text.split()), writer.ids([]), context)
    table = writer.table()
    assert len(table.contexts.flat) == 2, "shared by both passages"
    signals = signals_of("silence police", table, vectors=np.eye(2, 3, dtype=np.float32)).signals
    assert signals["bm25"][0] > signals["bm25"][1] > 0
    assert signals["proximity"][1] == 0.0
    assert table.mean_length() == 4.0


def test_a_collection_may_have_more_fields_than_two_bytes_can_number() -> None:
    writer = TokenWriter()
    fields = 2**15 + 2
    warren = writer.ids(["warren"])
    values = [(f"f{number:05}", warren) for number in (0, 0, *range(fields))]
    writer.document("a", writer.ids([]), values)
    writer.passage(warren, writer.ids([]), writer.ids([]))
    result = signals_of("Warren", writer.table(), vectors=np.eye(1, 3, dtype=np.float32))
    assert result.matches.tolist() == [fields]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=9), st.data())
def test_each_neighbour_stands_once_beside_its_candidates(
    lengths: list[int], data: st.DataObject
) -> None:
    document_of = np.repeat(np.arange(len(lengths)), lengths)
    count = len(document_of)
    candidates = sorted(data.draw(st.sets(st.integers(0, count - 1))))
    owner = dict(enumerate(document_of.tolist()))
    beside = {
        row: [near for near in (row - 1, row + 1) if owner.get(near) == owner[row]]
        for row in candidates
    }
    around = with_neighbours(np.array(candidates, dtype=int), document_of)
    assert around.rows.tolist() == sorted({*candidates, *(r for of in beside.values() for r in of)})
    assert around.rows[around.own].tolist() == candidates
    fit = np.linspace(0.1, 0.9, count)
    expected = [np.mean(fit[beside[row]]) if beside[row] else 0.0 for row in candidates]
    assert neighbours(around, fit[around.rows]).tolist() == pytest.approx(expected)


def test_passages_that_share_a_title_all_have_its_words() -> None:
    writer = TokenWriter()
    for title, texts in (("a fog bell", ["wide sea", "fog", ""]), ("", ["fog fog"])):
        writer.document("c", writer.ids(title.split()), [])
        for text in texts:
            writer.passage(writer.ids(text.split()), writer.ids([]), writer.ids([]))
    table = writer.table()
    terms = weigh(parse_query("fog bell"), table, [0])
    around = with_neighbours(np.array([1, 3]), table.document_of)
    hits, counts = locate(terms, around, table)
    assert around.rows.tolist() == [0, 1, 2, 3]
    assert counts.tolist() == [[1, 1], [2, 1], [1, 1], [2, 0]]
    # the text of the second begins after the three words of its title and a gap
    assert hits.row.tolist() == [0, 0, 0, 1, 1]
    assert hits.position.tolist() == [1, 2, 4, 1, 2]
    assert hits.term.tolist() == [0, 1, 0, 0, 0]
    assert hits.counts.tolist() == [[2, 1], [2, 0]]
    assert hits.length.tolist() == [4, 2]


@pytest.mark.parametrize("count", [126, 127, 128, 129, 300])
def test_a_question_may_have_more_terms_than_a_byte_can_number(count: int) -> None:
    text = " ".join(f"word{number:03}" for number in range(count))
    table = table_of((text, "another"))
    result = signals_of(text, table)
    assert result.signals["phrase"] == pytest.approx([1.0, 0.0])
    assert result.signals["exact"].tolist() == [1.0, 0.0]


def test_words_are_found_on_both_sides_of_a_block() -> None:
    # the passages are read a block at a time, whatever begins and ends in the middle of it
    texts = ("x " * (AT_ONCE - 1) + "fog", "bell fog", "x " * (2 * AT_ONCE) + "bell")
    table = table_of(texts)
    around = with_neighbours(np.arange(3), table.document_of)
    hits, counts = locate(weigh(parse_query("fog bell"), table, [0]), around, table)
    assert counts.tolist() == [[1, 0], [1, 1], [0, 1]]
    assert (hits.position - 1).tolist() == [AT_ONCE - 1, 0, 1, 2 * AT_ONCE]
