"""The kind of thing a question asks for, and sentences that hold one or say the opposite."""

import pytest

from atlas_search.answer.quotes.kinds import ANYTHING, asked_for
from atlas_search.answer.quotes.scores import is_turned_round


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How old was the applicant?", "a number"),
        ("How much did the jury award against Yuba?", "an amount"),
        ("How many dollars were the damages?", "an amount"),
        ("What is the maximum penalty for libel?", "an amount"),
        ("How many judges dissented?", "a number"),
        ("How many people who sued won?", "a number"),
        ("How long was he held?", "a time"),
        ("How often must a key be rotated?", "a time"),
        ("What is the deadline for an appeal?", "a time"),
        ("How many days has the board to answer?", "a time"),
        ("What percentage of cases fail?", "a share"),
        ("When was Roe decided?", "a date"),
        ("In which year was it repealed?", "a date"),
        ("Who wrote the opinion?", "a name"),
        ("To whom is it owed?", "a name"),
        ("What were the names of the sailors?", "a name"),
        ("Why was the warrant invalid?", "a reason"),
        ("Why was the doctor who performed the operation convicted?", "a reason"),
        ("What is negligence?", "anything"),
        ("What duty is owed to people who trespass?", "anything"),
        ("", "anything"),
    ],
)
def test_a_question_asks_for_one_kind(question: str, kind: str) -> None:
    assert asked_for(question).name == kind


@pytest.mark.parametrize(
    ("question", "with_answer", "without"),
    [
        ("What sum was it?", "The jury gave $65,000.", "The jury found for him."),
        (
            "What is the fine?",
            "The fine is prison for two months.",
            "The fine is set by the board.",
        ),
        ("How many judges sat?", "Nine judges sat.", "The judges sat."),
        ("How many judges sat?", "It sat 9 to 0.", "It sat en banc."),
        ("How tall was the mast?", "The mast was 20 feet.", "In May 1884 the mast fell."),
        ("How many boats?", "It holds forty boats.", "Under section 6 it holds boats."),
        ("How often is it?", "It is rotated every 90 days.", "It is rotated by the clerk."),
        ("How long is it?", "It takes three months.", "It takes patience."),
        ("When was it?", "It was in May.", "It was long ago."),
        ("When was it?", "It was decided in 1954.", "It was 954 pages."),
        ("What percentage is it?", "It is 40 per cent.", "It is the larger part."),
        ("Who wrote it?", "It was written by Justice Blackmun.", "It was written in January."),
        ("Who opened it?", "It was opened by the king.", "It was opened in rain."),
        ("Why?", "It failed because no duty was owed.", "It failed."),
    ],
)
def test_a_sentence_holds_the_kind_or_not(question: str, with_answer: str, without: str) -> None:
    assert asked_for(question).held(with_answer, question)
    assert not asked_for(question).held(without, question)


def test_a_question_for_nothing_in_particular_takes_any_sentence() -> None:
    assert asked_for("What is negligence?") is ANYTHING
    assert ANYTHING.held("", "What is negligence?")


@pytest.mark.parametrize(
    ("question", "sentence", "turned"),
    [
        # the question denies, and the sentence does not
        ("Which states did not ratify it?", "Ohio ratified it.", True),
        ("Which states did not ratify it?", "Ohio refused to ratify it.", False),
        ("Which states did not ratify it?", "In Ohio it is unratified.", False),
        ("Which states not only ratified it?", "Ohio ratified it.", False),
        ("Is it not lawful?", "It is lawful.", False),
        # an opposite
        ("Who lost the match?", "The crew of Norport won the match.", True),
        ("Which duty is voluntary?", "The duty to register is compulsory.", True),
        ("What is a formal contract?", "It is an informal contract.", True),
        ("Which is compulsory and which voluntary?", "The first is compulsory.", False),
        ("Which duty is voluntary?", "The duty is not compulsory.", False),
        ("Is the duty voluntary?", "The duty is compulsory.", False),
        ("Roe lost. Who won?", "Roe won.", False),
        ("", "Roe won in 1954.", False),
    ],
)
def test_a_sentence_may_say_the_opposite(question: str, sentence: str, turned: bool) -> None:
    assert is_turned_round(question, sentence, sentence) is turned
    if turned and " not " not in question:  # the passage has the word of the question too
        assert not is_turned_round(question, sentence, f"{question} {sentence}")
