"""A comparison quotes each side or says which is silent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import collection, said, warnings

HEAD = "---\ntitle: Harbour rules of {}\n---\n"
LEASH = "Dogs must be kept on a leash on the quays of Norport."
FREE = "Dogs may run free on the quays of Sudhaven before nine in the morning."
NORPORT = f"{HEAD.format('Norport')}{LEASH} A mooring costs $40 for the month.\n"
SUDHAVEN = f"{HEAD.format('Sudhaven')}{FREE} A mooring costs $75 for the month.\n"
SILENT = f"{HEAD.format('Sudhaven')}The pilot of Sudhaven rings a bell. No oil may be poured out.\n"
ELSEWHERE = f"{HEAD.format('Norport')}The pier is of oak. Ships call on Mondays.\n"
TARGET = ""
COMPARED = [
    "How do the harbour rules of Norport and Sudhaven differ on dogs?",
    "How do Norport and Sudhaven differ on dogs?",
    "Compare the rules on dogs in Norport with those in Sudhaven.",
    "Compare Norport with Sudhaven on dogs.",
    "What is the difference between the rules on dogs in Norport and in Sudhaven?",
]
WHICH = "Which of the two, Norport or Sudhaven, lets dogs run free?"
LEASHED = "Are dogs on the quays free or on a leash?"


@pytest.fixture(scope="module")
def speaking(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Atlas]:
    files = {"norport/rules.txt": NORPORT, "sudhaven/rules.txt": SUDHAVEN}
    with collection(tmp_path_factory.mktemp("speaking"), embedder, files, TARGET) as opened:
        yield opened


@pytest.fixture(scope="module", params=["silent", "absent"])
def one_sided(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[Atlas]:
    """Of Sudhaven other rules are held, or nothing at all."""
    other = {
        "silent": {"sudhaven/rules.txt": SILENT},
        "absent": {"norport/pier.txt": ELSEWHERE},
    }[request.param]
    files = {"norport/rules.txt": NORPORT, **other}
    with collection(tmp_path_factory.mktemp("one"), embedder, files, TARGET) as opened:
        yield opened


@pytest.mark.parametrize("question", COMPARED)
def test_each_side_is_quoted_first(speaking: Atlas, question: str) -> None:
    answer = speaking.ask(question)
    assert set(said(answer)[:2]) == {LEASH, FREE}
    assert warnings(answer) == ""


def test_which_of_two_is_told_from_its_own_words(speaking: Atlas) -> None:
    assert FREE in said(speaking.ask(WHICH))


@pytest.mark.parametrize("question", COMPARED)
def test_the_side_that_is_silent_is_named_and_given_no_words(
    one_sided: Atlas, question: str
) -> None:
    answer = one_sided.ask(question)
    if answer.outcome.decision == "ABSTAIN":
        assert "Sudhaven" in answer.outcome.message
        return
    assert said(answer)[0] == LEASH
    assert {citation.passage.corpus for citation in answer.citations} == {"norport"}
    assert "Sudhaven" in warnings(answer)


def test_which_is_never_likely_where_only_the_other_is_known(one_sided: Atlas) -> None:
    answer = one_sided.ask(WHICH)
    assert answer.confidence is None or answer.confidence.word == "possible"
    assert "“Sudhaven”" in f"{warnings(answer)} {answer.outcome.message}"


def test_a_side_that_is_quoted_is_not_called_silent(tmp_path: Path, embedder: Embedder) -> None:
    files = {"norport/rules.txt": NORPORT, "sudhaven/rules.txt": SUDHAVEN}
    with collection(tmp_path, embedder, files, "ANSWER_LIKELIHOOD=0\n") as atlas:
        answer = atlas.ask("What is the difference between moorings in Norport and in Sudhaven?")
    assert {citation.passage.corpus for citation in answer.citations} == {"norport", "sudhaven"}
    assert "speaks of" not in warnings(answer)


def test_corpora_compared_answer_each_for_itself(one_sided: Atlas, speaking: Atlas) -> None:
    both = speaking.compare(LEASHED)
    assert {part.corpus: part.outcome.decision for part in both.comparison.answers} == {
        "norport": "ANSWER",
        "sudhaven": "ANSWER",
    }
    one = one_sided.compare(LEASHED)
    parts = {part.corpus: part for part in one.comparison.answers}
    assert LEASH in parts["norport"].text
    if "sudhaven" in parts:
        assert (parts["sudhaven"].outcome.decision, parts["sudhaven"].text) == ("ABSTAIN", "")
