"""How near an answer comes to a reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.evaluation.metrics import (
    contains_reference,
    exact_match,
    normalise,
    similarity,
    token_f1,
    without_markers,
)
from tests.hash_embedder import HashEmbedder

TEXTS = st.lists(st.sampled_from(["seven", "days", "of", "records"])).map(" ".join)


def test_f1_is_the_harmonic_mean_of_word_precision_and_recall() -> None:
    precision, coverage = 2 / 4, 2 / 3  # "seven days" of four words, and of three
    expected = 2 * precision * coverage / (precision + coverage)
    assert token_f1("Exactly seven whole days.", ["seven days, maximum"]) == expected


def test_f1_counts_a_repeated_word_as_often_as_both_have_it() -> None:
    precision, coverage = 1 / 3, 1 / 1
    expected = 2 * precision * coverage / (precision + coverage)
    assert token_f1("days days days", ["days"]) == expected


def test_f1_is_that_of_the_best_reference() -> None:
    assert token_f1("seven days", ["a week", "Seven days", "days"]) == 1.0


@pytest.mark.parametrize(
    ("answer", "reference", "f1"),
    [
        ("The cat", "cat", 1),
        ("The cat", "a cat sat", 2 * (1 / 1) * (1 / 2) / (1 / 1 + 1 / 2)),  # cat of cat, and of two
        ("The", "the", 1),
        ("The", "A", 0),
        ("The Who", "Who", 1),
    ],
)
def test_f1_counts_no_articles_unless_there_is_nothing_else(
    answer: str, reference: str, f1: float
) -> None:
    assert token_f1(answer, [reference]) == pytest.approx(f1)
    assert exact_match(answer, [reference]) == (f1 == 1)


@pytest.mark.parametrize("reference", ["A", "The", "😀", "", "…"])
def test_no_answer_is_no_reference(reference: str) -> None:
    for answer in ("", "😀"):
        assert not exact_match(answer, [reference])
        assert not contains_reference(answer, [reference])
        assert token_f1(answer, [reference]) == 0
    assert not contains_reference("Seven days", ["😀"])


@pytest.mark.parametrize(
    ("answer", "references"), [("", ["seven"]), ("seven", []), ("seven", ["eight"]), ("", [""])]
)
def test_f1_is_zero_where_nothing_is_shared(answer: str, references: list[str]) -> None:
    assert token_f1(answer, references) == 0.0


@given(TEXTS, TEXTS)
def test_f1_is_a_share_that_does_not_depend_on_the_side(answer: str, reference: str) -> None:
    assert 0 <= token_f1(answer, [reference]) <= 1
    assert token_f1(answer, [reference]) == pytest.approx(token_f1(reference, [answer]))
    assert token_f1(answer, [answer]) == (1.0 if answer else 0.0)


@pytest.mark.parametrize(
    ("answer", "references", "contained"),
    [
        ("The Court said SEVEN days, no more.", ["seven days"], True),
        ("A week.", ["seven days", "a week"], True),
        ("Seven days", ["Seven days"], True),
        ("Seven long days", ["seven days"], False),
        ("Days seven", ["seven days"], False),
        ("Seventy-seven daysailers", ["seven days"], False),
        ("Seven", ["seven days"], False),
        ("", ["seven days"], False),
        ("Seven days", [], False),
    ],
)
def test_a_reference_is_contained_as_whole_words_in_order(
    answer: str, references: list[str], contained: bool
) -> None:
    assert contains_reference(answer, references) is contained


@pytest.mark.parametrize(
    ("answer", "references", "exact"),
    [
        ("The seven DAYS.", ["a week", "Seven days"], True),
        ("Seven days", ["An Seven, days!"], True),
        ("Exactly seven days", ["seven days"], False),
        ("Days seven", ["seven days"], False),
        ("Seven days", [], False),
        ("", ["seven days"], False),
    ],
)
def test_an_exact_match_is_a_reference_but_for_case_punctuation_and_articles(
    answer: str, references: list[str], exact: bool
) -> None:
    assert exact_match(answer, references) is exact


def test_texts_are_compared_in_lower_case_without_punctuation() -> None:
    assert normalise("  The Court's “seven-day” rule,\n§ 7_a! ") == "the court s seven day rule 7 a"


def test_similarity_is_the_cosine_with_the_closest_reference() -> None:
    embedder = HashEmbedder()
    answer, near, far = embedder.embed(["seven days", "seven whole days", "a week"])
    references = ["A week.", "Seven whole days!"]
    expected = max(float(answer @ near), float(answer @ far))
    assert similarity("Seven days.", references, embedder) == pytest.approx(expected)
    assert similarity("SEVEN, days", ["Seven days"], embedder) == pytest.approx(1)


@pytest.mark.parametrize(("answer", "references"), [("", ["x"]), ("x", []), ("x", ["…"])])
def test_similarity_is_zero_where_there_is_nothing_to_compare(
    answer: str, references: list[str]
) -> None:
    assert similarity(answer, references, HashEmbedder()) == 0


def test_an_answer_is_compared_without_its_citation_tokens() -> None:
    answer = "Seven days [us.carpenter p1].\nIt is a search [us.katz p2] [us.jones p12]."
    assert without_markers(answer) == "Seven days . It is a search ."
