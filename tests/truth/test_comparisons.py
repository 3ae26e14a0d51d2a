"""A comparison quotes each side or says which is silent; a change is told from its ends."""

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
TARGET = "ANSWER_LIKELIHOOD=0.25\n"
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
    assert "No passage quoted speaks of Sudhaven." in warnings(answer)


def test_nothing_is_said_of_which_where_only_the_other_is_known(one_sided: Atlas) -> None:
    answer = one_sided.ask(WHICH)
    assert answer.outcome.decision == "ABSTAIN"
    assert answer.closest


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


FEE = "The pilot's fee is {} shillings for each vessel."
YEARS = {"1950": "nine", "1926": "five", "1901": "two"}


@pytest.mark.parametrize(
    "question",
    [
        "How did the pilot's fee change from 1901 to 1950?",
        "How has the pilot's fee changed over time?",
        "How did the pilot's fee develop between 1901 and 1950?",
    ],
)
def test_a_change_is_told_from_its_ends_in_order_of_date(
    tmp_path: Path, embedder: Embedder, question: str
) -> None:
    """The three sentences are alike but for a figure, and the latest is read first."""
    files = {
        f"pilots/{name}.txt": f"---\ntitle: Pilot rules of {year}\ndate: {year}-03-01\n---\n"
        f"{FEE.format(fee)}\n"
        for name, (year, fee) in zip("abc", YEARS.items(), strict=True)
    }
    with collection(tmp_path, embedder, files, "ANSWER_LIKELIHOOD=0.05\n") as atlas:
        answer = atlas.ask(question)
    assert said(answer) == [FEE.format("two"), FEE.format("nine")]
    assert [c.passage.date for c in answer.citations] == ["1901-03-01", "1950-03-01"]
