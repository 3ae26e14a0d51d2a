"""Taking sentences out of an answer, with their tokens and nothing else."""

import pytest

from atlas_search.answer.check.citations import verify
from atlas_search.answer.support.strike import without_sentences
from tests.contradictions import passage

A, B = (passage(f"uk.{name}", f"Of {name} much is said.").passage for name in ("a", "b"))
TWO = "Wool is sold here. [uk.a p1] Cloth is dear. [uk.b p1]"


@pytest.mark.parametrize(
    ("answer", "struck", "left"),
    [
        (TWO, {1}, "Cloth is dear. [uk.b p1]"),
        (TWO, {2}, "Wool is sold here. [uk.a p1]"),
        (TWO, {1, 2}, ""),
        (TWO, set(), TWO),
        # tokens before the full stop, in a row, or on a line of their own
        ("Wool is sold [uk.a p1]. Cloth is dear [uk.b p1].", {1}, "Cloth is dear [uk.b p1]."),
        ("Wool [uk.a p1] is sold. [uk.a p1], [uk.b p1]\nCloth is dear. [uk.b p1]", {2},
         "Wool [uk.a p1] is sold. [uk.a p1], [uk.b p1]"),
        ("Wool is sold.\n[uk.a p1]\n\nCloth is dear.\n[uk.b p1]", {1},
         "Cloth is dear.\n[uk.b p1]"),
        ("Wool is sold.\n[uk.a p1]\n\nCloth is dear.\n[uk.b p1]", {2}, "Wool is sold.\n[uk.a p1]"),
        ("[uk.a p1] Wool is sold. Cloth is dear. [uk.b p1]", {1}, "Cloth is dear. [uk.b p1]"),
        # lists keep their marks, paragraphs their distance
        ("- Wool [uk.a p1]\n- Cloth [uk.b p1]\n- Hay [uk.a p1]", {2},
         "- Wool [uk.a p1]\n- Hay [uk.a p1]"),
        ("1. Wool is sold. [uk.a p1]\n2. Cloth is dear. [uk.b p1]", {1},
         "2. Cloth is dear. [uk.b p1]"),
        ("Wool is sold. [uk.a p1] Hay is dear. [uk.a p1]\n\nCloth is dear. [uk.b p1]", {2},
         "Wool is sold. [uk.a p1]\n\nCloth is dear. [uk.b p1]"),
        ("Wool is sold. [uk.a p1]\n\nHay is dear. [uk.a p1] Cloth is dear. [uk.b p1]", {2},
         "Wool is sold. [uk.a p1]\n\nCloth is dear. [uk.b p1]"),
    ],
)  # fmt: skip
def test_a_struck_sentence_takes_its_tokens_and_leaves_the_rest(
    answer: str, struck: set[int], left: str
) -> None:
    assert without_sentences(answer, struck, [A, B]) == left


@pytest.mark.parametrize(
    "answer",
    [TWO, "Sold [uk.a p1]. Dear [uk.b p1].", "- Sold here [uk.a p1]\n- Dear there [uk.b p1]\n"],
)
def test_what_is_left_is_read_as_it_was(answer: str) -> None:
    whole = verify(answer, [A, B], 5).sentences
    for number in range(1, len(whole) + 1):
        left = verify(without_sentences(answer, {number}, [A, B]), [A, B], 5).sentences
        assert left == whole[: number - 1] + whole[number:]
