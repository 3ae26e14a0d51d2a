"""Ranking signals and rerankers on three tiny passages; the expected values are worked out here.

With N = 3 passages, a term in n of them weighs ln(1 + (3 - n + 0.5) / (n + 0.5)).
"""

from math import log

import numpy as np
import pytest

from backend.search.query import parse_query
from backend.search.rerank import fused, lexical, rerank
from backend.search.signals.measure import SignalTable, measure
from backend.search.signals.occurrences import weigh
from backend.stores.tokens import Ragged, TokenTable
from backend.targets import Target
from backend.text import identifier_parts, words

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
    for a, b in zip(stems, parts, strict=True):
        frequency[np.unique(np.concatenate((a, b)))] += 1
    return TokenTable(
        vocabulary=vocabulary,
        words=Ragged.of(stems),
        parts=Ragged.of(parts),
        titles=Ragged.of(title_ids),
        values=Ragged.of(values),
        values_of=Ragged(np.arange(len(metadata)), np.concatenate(([0], np.cumsum(owned)))),
        value_field=np.array([fields[field] for _, field, _ in metadata]),
        document_of=np.arange(len(texts)),
        passage_frequency=frequency,
    )


def signals_of(question: str, table: TokenTable | None = None) -> SignalTable:
    table = table or table_of()
    rows = np.arange(table.passages)
    vectors = np.eye(3, dtype=np.float32)[: table.passages]
    question_vector = np.array([0.8, 0.6, 0.0], dtype=np.float32)
    return measure(
        parse_query(question), question_vector, rows, vectors, table, table.mean_length()
    )


def idf(n: int, total: int = 3) -> float:
    return log(1 + (total - n + 0.5) / (n + 0.5))


def test_semantic_is_the_cosine() -> None:
    assert signals_of("police").signals["semantic"] == pytest.approx([0.8, 0.6, 0.0])


def test_a_negative_cosine_counts_as_no_similarity() -> None:
    table = table_of()
    vectors = np.eye(3, dtype=np.float32)
    question = np.array([-1.0, 0.0, 0.0], dtype=np.float32)
    found = measure(parse_query("police"), question, np.arange(3), vectors, table, 9.0)
    assert found.signals["semantic"][0] == 0.0


def test_term_weights_are_inverse_passage_frequency() -> None:
    weights = weigh(parse_query("police statute unheard"), table_of())
    assert weights.idf == pytest.approx([idf(2), idf(1), idf(0)])


def test_bm25() -> None:
    # "right": twice in passage 0, once in passage 1; lengths 10, 9, 10; mean 29 / 3
    def saturated(count: int, length: int) -> float:
        return count / (count + 0.9 * (1 - 0.75 + 0.75 * length / (29 / 3)))

    expected = [saturated(2, 10), saturated(1, 9), 0.0]
    assert signals_of("right").signals["bm25"] == pytest.approx(expected)


def test_bm25_finds_parts_of_identifiers() -> None:
    assert signals_of("59").signals["bm25"][2] > 0
    assert signals_of("s59").signals["bm25"][2] > signals_of("59").signals["bm25"][2] * 0.9


def test_phrase_is_the_share_of_adjacent_pairs() -> None:
    # pairs: (police, watched) and (watched, silence); only the first stands in passage 1
    first, second = idf(2) + idf(1), idf(1) + idf(2)
    expected = [0.0, first / (first + second), 0.0]
    assert signals_of("police watched silence").signals["phrase"] == pytest.approx(expected)


def test_phrase_pairs_do_not_cross_passages() -> None:
    table = table_of(("one two", "three four"), ("", ""), ((0, "a", "b"),))
    assert signals_of("two three", table).signals["phrase"] == pytest.approx([0.0, 0.0])


def test_exact_wants_the_whole_question_in_order() -> None:
    assert signals_of("right to silence").signals["exact"].tolist() == [1.0, 0.0, 0.0]
    assert signals_of("The right to silence!").signals["exact"].tolist() == [1.0, 0.0, 0.0]
    assert signals_of("silence right").signals["exact"].tolist() == [0.0, 0.0, 0.0]
    assert signals_of("right to unheard").signals["exact"].tolist() == [0.0, 0.0, 0.0]


def test_exact_does_not_cross_passages() -> None:
    table = table_of(("one two", "three four"), ("", ""), ((0, "a", "b"),))
    assert signals_of("two three", table).signals["exact"].tolist() == [0.0, 0.0]


def test_frequency_saturates() -> None:
    # terms right and silence: 2 + 1 hits, 1 + 1 hits, none; h / (h + 2)
    expected = [3 / 5, 2 / 4, 0.0]
    assert signals_of("right silence").signals["frequency"] == pytest.approx(expected)


def test_coverage_is_the_weighted_share_of_terms() -> None:
    expected = [idf(2) / (idf(2) + idf(1)), idf(2) / (idf(2) + idf(1)), idf(1) / (idf(2) + idf(1))]
    assert signals_of("police fishing").signals["coverage"] == pytest.approx(expected)


def test_proximity_wants_the_terms_within_32_words() -> None:
    near = "alpha " + "x " * 30 + "omega"  # positions 0 and 31: inside one window
    far = "alpha " + "x " * 31 + "omega"  # positions 0 and 32: not
    table = table_of((near, far), ("", ""), ((0, "a", "b"),))
    assert signals_of("alpha omega", table).signals["proximity"] == pytest.approx([1.0, 0.5])


def test_title_is_the_weighted_share_of_terms_in_the_title() -> None:
    expected = [1.0, 0.0, 0.0]
    assert signals_of("right silence").signals["title"] == pytest.approx(expected)


def test_metadata_counts_fields_whose_value_is_named() -> None:
    found = signals_of("Did Warren allow questioning by police before 1966?")
    assert found.matches.tolist() == [2, 0, 1]
    assert found.signals["metadata"] == pytest.approx([2 / 3, 0.0, 1 / 2])
    assert signals_of("questioning").matches.tolist() == [0, 0, 0]


def test_the_lexical_reranker_is_the_published_table() -> None:
    # "right to silence": passage 0 holds it verbatim, twice right and once silence, within one
    # window; passage 1 has each word once within one window. No metadata matches.
    expected = [
        0.5 * 1 + 0.3 * (3 / 5) + 0.2 * 1,
        0.5 * 0 + 0.3 * (2 / 4) + 0.2 * 1,
        0.5 * 0 + 0.3 * 0 + 0.2 * 0,
    ]
    assert lexical(signals_of("right to silence")) == pytest.approx(expected)


def test_the_lexical_reranker_adds_a_half_for_each_metadata_match() -> None:
    # author and tags match passage 0, the date passage 2
    found = signals_of("Warren police questioning 1966")
    hits = found.signals["frequency"]
    near = found.signals["proximity"]
    expected = [
        0.3 * hits[0] + 0.2 * near[0] + 0.5 * 2,
        0.3 * hits[1] + 0.2 * near[1] + 0.5 * 0,
        0.3 * hits[2] + 0.2 * near[2] + 0.5 * 1,
    ]
    assert lexical(found) == pytest.approx(expected)
    assert hits == pytest.approx([1 / 5, 1 / 5, 0.0])


def test_the_fused_score_is_the_weighted_mean_of_five_signals() -> None:
    found = signals_of("right silence")
    s = found.signals
    total = 0.6 + 0.6 + 0.3 + 0.3 + 0.3
    expected = [
        (
            0.6 * s["semantic"][i]
            + 0.6 * s["bm25"][i]
            + 0.3 * s["phrase"][i]
            + 0.3 * s["proximity"][i]
            + 0.3 * s["title"][i]
        )
        / total
        for i in range(3)
    ]
    assert fused(found) == pytest.approx(expected)


def test_weights_of_the_target_are_used() -> None:
    found = signals_of("right silence")
    only_meaning = Target(
        weight_semantic=1, weight_bm25=0, weight_phrase=0, weight_proximity=0, weight_title=0
    )
    assert rerank(found, only_meaning).scores == pytest.approx([0.8, 0.6, 0.0])


def test_equal_scores_are_ordered_by_row() -> None:
    table = table_of(("same words", "same words"), ("", ""), ((0, "a", "b"),))
    rows = np.array([1, 0])
    vectors = np.ones((2, 3), dtype=np.float32)
    found = measure(parse_query("same"), vectors[0], rows, vectors, table, 2.0)
    assert rerank(found, Target()).rows.tolist() == [0, 1]


@pytest.mark.parametrize("question", ["", "?!", "the", "unheard of"])
def test_questions_without_known_words_score_by_meaning_alone(question: str) -> None:
    found = signals_of(question)
    for name, values in found.signals.items():
        if name != "semantic":
            assert not values[2], name
        assert np.all((values >= 0) & (values <= 1))
