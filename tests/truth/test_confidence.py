"""How surely quotes answer, and what is said against it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.answer.quotes.choose import Chosen, RankedQuotes
from atlas_search.answer.quotes.scores import LIKELY, POSSIBLE, Grounds, Signs, likelihood
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import closest, collection, said, warnings

HEAD = "---\ntitle: The pier of Norport\n---\n"
MATCH = (
    f"{HEAD}The crew of Norport won the rowing match of 1904 by two lengths. The cup was given by "
    "the mayor. Fishing boats with sails are allowed in the inner basin during the match.\n"
)
ALL = "ANSWER_LIKELIHOOD=0\n"


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("match")
    with collection(folder, embedder, {"town/match.txt": MATCH}, ALL) as opened:
        yield opened


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        ("Who won the rowing match of 1904?", "Who lost the rowing match of 1904?"),
        (
            "Which boats are allowed in the inner basin during the match?",
            "Which boats are not allowed in the inner basin during the match?",
        ),
    ],
    ids=["opposite", "denied"],
)
def test_an_opposite_and_a_denied_question_are_less_likely_answered(
    match: Atlas, plain: str, other: str
) -> None:
    answer, turned = match.ask(plain), match.ask(other)
    assert said(answer)[0] == said(turned)[0]
    assert answer.confidence
    assert turned.confidence
    assert (answer.confidence.word, turned.confidence.word) == ("likely", "possible")
    assert turned.confidence.likelihood < POSSIBLE < LIKELY <= answer.confidence.likelihood
    assert "The quote may say the opposite of what is asked." in warnings(turned)
    assert warnings(answer) == ""


def test_what_is_too_unlikely_is_declined_and_said_to_come_nearest(
    tmp_path: Path, embedder: Embedder
) -> None:
    with collection(tmp_path, embedder, {"town/match.txt": MATCH}) as atlas:
        answer = atlas.ask("Who lost the rowing match of 1904?")
    assert (answer.outcome.code, answer.confidence) == ("not_held", None)
    assert answer.outcome.numbers["likelihood"] < answer.outcome.numbers["needed"] == POSSIBLE
    nearest = "The crew of Norport won the rowing match of 1904 by two lengths."
    assert closest(answer)[0] == nearest
    assert answer.outcome.message.startswith(
        f"No passage clearly answers this. The nearest says: “{nearest}”"
    )


# the kind, a question, a sentence that holds what is asked for, and one that only is about it
HELD = [
    (
        "a date",
        "When was the pier of Norport opened?",
        "The pier of Norport was opened on 3 May 1880.",
        "The pier of Norport was opened by the mayor in rain.",
    ),
    (
        "a name",
        "Who built the pier?",
        "The pier was built by Amos Tyler.",
        "The pier was built in haste and in the rain of autumn.",
    ),
    (
        "an amount",
        "How much did the pier cost?",
        "The pier cost 900 pounds.",
        "The pier cost more than anybody had thought.",
    ),
    (
        "a number",
        "How many boats were lost in the storm?",
        "In the storm eleven boats were lost.",
        "In the storm the boats of the widow were lost.",
    ),
]


@pytest.mark.parametrize(
    ("kind", "question", "holds", "lacks"), HELD, ids=[question for _, question, *_ in HELD]
)
def test_an_answer_that_lacks_what_is_asked_for_is_less_likely_and_says_so(
    tmp_path: Path, embedder: Embedder, kind: str, question: str, holds: str, lacks: str
) -> None:
    answers = []
    for name, sentence in (("holds", holds), ("lacks", lacks)):
        files = {"town/pier.txt": f"{HEAD}{sentence} The bell is rung in fog.\n"}
        with collection(tmp_path / name, embedder, files, ALL) as atlas:
            answer = atlas.ask(question)
        assert said(answer)[0] == sentence
        assert answer.confidence
        answers.append(answer.confidence.likelihood)
    assert answers[0] > answers[1] + 0.1
    if answers[1] < LIKELY:
        assert f"No quote gives {kind}." in warnings(answer)


@pytest.mark.parametrize(
    ("question", "text", "right"),
    [
        # plain questions over first files, which an earlier scale mostly declined
        (
            "Who opened the mole?",
            "The mole was opened by the king on 4 June 1913. Ships pay by weight.",
            "The mole was opened by the king on 4 June 1913.",
        ),
        (
            "How often should encryption keys be rotated?",
            "Encryption keys must be rotated every 90 days. Passwords are kept in a vault.",
            "Encryption keys must be rotated every 90 days.",
        ),
        (
            "How did water usage change at the Portland campus?",
            "Water usage at the Portland campus fell by 18% year over year, through recycling and "
            "rainwater harvesting. The Austin campus added solar panels.",
            "Water usage at the Portland campus fell by 18% year over year, through recycling and "
            "rainwater harvesting.",
        ),
    ],
)
def test_plain_questions_over_plain_files_are_answered(
    tmp_path: Path, embedder: Embedder, question: str, text: str, right: str
) -> None:
    others = {
        f"town/{number}.txt": f"The board met on day {number}. Its clerk kept the minutes.\n"
        for number in range(9)
    }
    with collection(tmp_path, embedder, {"town/own.txt": f"{text}\n", **others}) as atlas:
        answer = atlas.ask(question)
    assert said(answer)[0] == right


def test_a_longer_question_is_not_more_surely_answered() -> None:
    assert likelihood(Signs(score=0.45, similarity=0.5, terms=1.0)) < POSSIBLE
    assert likelihood(Signs(score=1.1, similarity=0.8, terms=1.0)) > LIKELY


def test_of_nothing_that_is_quoted_nothing_is_said() -> None:
    nothing = RankedQuotes("Is the contract of the agent void?", (), Grounds(Signs(), 0.0))
    assert Chosen(nothing).notes(LIKELY) == ()


JUDGMENT = (
    "---\ntitle: Alder v Quay Board\ndate: 1932-05-26\njudges: [Lord Hay, Lady Moor]\n"
    "votes: 3 to 2\n---\nThe board may not close the quay of Norport without notice. The appeal of "
    "the owners was allowed with costs.\n"
)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("When was Alder v Quay Board decided?", "date 1932-05-26"),
        ("Who decided Alder v Quay Board?", "judges Lord Hay, Lady Moor"),
        ("Which judges heard Alder v Quay Board?", "judges Lord Hay, Lady Moor"),
        ("By how many votes was Alder v Quay Board decided?", "votes 3 to 2"),
    ],
)
def test_who_and_when_are_told_from_metadata_where_no_sentence_says_it(
    tmp_path: Path, embedder: Embedder, question: str, told: str
) -> None:
    with collection(tmp_path, embedder, {"law/alder.txt": JUDGMENT}) as atlas:
        answer = atlas.ask(question)
    said_beside = f"{warnings(answer)} {answer.outcome.message}"
    assert f"The metadata of “Alder v Quay Board” say: {told}." in said_beside


def test_metadata_say_nothing_of_what_a_sentence_says(match: Atlas) -> None:
    assert "metadata" not in warnings(match.ask("When was the rowing match of Norport?"))


def test_a_question_that_the_target_calls_a_risk_needs_a_likely_answer(
    tmp_path: Path, embedder: Embedder
) -> None:
    question = "What may be paid for the cup that the mayor gave after the match?"
    for risk, decision in (("dose,gave", "ABSTAIN"), ("dose", "ANSWER")):
        folder, lines = tmp_path / decision, f"RISK={risk}\n"
        with collection(folder, embedder, {"town/match.txt": MATCH}, lines) as atlas:
            answer = atlas.ask(question)
        assert answer.outcome.decision == decision
