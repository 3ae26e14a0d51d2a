"""The kind of answer a question asks for, and the sentences that hold one."""

import pytest

from atlas_search.answer.quotes.kind import ANYTHING
from atlas_search.answer.quotes.kinds import asked_for
from atlas_search.answer.quotes.mismatch import Mismatch, mismatch
from atlas_search.answer.quotes.precedence import asks_for_current


def held(question: str, sentence: str, *others: str) -> bool:
    """Whether `sentence` holds what is asked for, in evidence of it and `others`."""
    return asked_for(question).held(sentence, " ".join([sentence, *others]), question)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How old was the applicant?", "age"),
        ("At what age may a child consent?", "age"),
        ("How much did the jury award against Yuba?", "money"),
        ("How many dollars were the damages?", "money"),
        ("What sum did she recover?", "money"),
        ("How many judges dissented?", "number"),
        ("How long was he held?", "time"),
        ("What is the deadline for an appeal?", "time"),
        ("How many days has the board to answer?", "time"),
        ("What percentage of cases fail?", "share"),
        ("When was Roe decided?", "date"),
        ("In which year was it repealed?", "date"),
        ("Who wrote the opinion?", "name"),
        ("Whose execution was it?", "name"),
        ("Where was he arrested?", "name"),
        ("Which judge dissented?", "name"),
        ("What were the names of the sailors?", "name"),
        ("Why was the warrant invalid?", "reason"),
        ("why did it fail, and when?", "reason"),
        ("How many people who sued won?", "number"),
        ("What is negligence?", "anything"),
        ("Explain why and when it failed.", "anything"),
        ("To whom is it owed?", "name"),
        ("When a rule is void, what follows?", "anything"),
        ("In what century was it?", "date"),
        ("", "anything"),
    ],
)
def test_a_question_asks_for_one_kind(question: str, kind: str) -> None:
    assert asked_for(question).name == kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Why was the doctor who performed the operation convicted?", "reason"),
        ("What duty is owed to people who trespass?", "anything"),
        ("What did the man who was the captain say?", "anything"),
    ],
)
def test_a_relative_clause_does_not_ask_for_a_name(question: str, kind: str) -> None:
    assert asked_for(question).name == kind


@pytest.mark.parametrize(
    ("question", "with_answer", "without"),
    [
        ("How old was he?", "He was 15 years old.", "He was born in Ohio."),
        ("What sum was it?", "The jury gave $65,000.", "The jury found for him."),
        ("What sum was it?", "She got five hundred pounds.", "She got nothing."),
        ("How many judges sat?", "Nine judges sat.", "The judges sat."),
        ("How many judges sat?", "It sat 9 to 0.", "It sat en banc."),
        ("How many beds are there?", "One of the wards has beds.", "It is one of the largest."),
        ("How tall was the mast?", "The mast was 20 feet.", "In May 1884 the mast fell."),
        ("What colour was the buoy?", "The buoy was Red.", "The buoy was small."),
        ("When was it?", "It was in May.", "It was long ago."),
        ("When was it?", "It was decided in 1954.", "It was 954 pages."),
        ("When was it?", "It began in the 1950s.", "It began with 50 men."),
        ("When was it?", "It was founded in 911.", "It was 911 miles."),
        ("When was it?", "It was in the 10th and 11th centuries.", "It was the 10th."),
        ("When does it take effect?", "It takes effect on 4 May.", "On 4 May its effect was seen."),
        ("When did it come into force?", "In force since 1954.", "It was signed in 1954."),
        ("Why?", "It failed because no duty was owed.", "It failed."),
        ("Why?", "It was done to protect children.", "It was done."),
    ],
)
def test_a_sentence_holds_the_kind_or_not(question: str, with_answer: str, without: str) -> None:
    assert held(question, with_answer)
    assert not held(question, without)


@pytest.mark.parametrize(
    ("sentence", "new"),
    [
        ("The opinion was by Justice Blackmun.", True),
        ("The opinion in Roe was long.", False),
        ("The opinion was given in January.", False),
        ("Opinions differ.", False),
        ("", False),
    ],
)
def test_a_name_must_be_new_and_not_merely_begin_the_sentence(sentence: str, new: bool) -> None:
    assert held("Who wrote the opinion in Roe?", sentence) is new


def test_a_question_for_nothing_in_particular_takes_any_sentence() -> None:
    assert asked_for("What is negligence?") is ANYTHING
    assert held("What is negligence?", "")


@pytest.mark.parametrize(
    "question",
    [
        "Which barrister spoke?",
        "By what barrister was it said?",
        "What were the names of the barristers who spoke?",
    ],
)
def test_a_name_asked_for_by_role_needs_evidence_that_speaks_of_the_role(question: str) -> None:
    assert held(question, "Then Jane Roe spoke.", "Two barristers were there.")
    assert not held(question, "Then Jane Roe spoke.", "Two judges were there.")


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("In Roe Lord Hay gave judgment.", True),
        ("The judge in Roe was Anna Hay.", True),
        ("Hay J told the jury that they must agree.", True),
        ("In Roe the Appellant asked the judge for leave.", False),
        ("In Roe, Counsel for Mr Roe said to the judge that the Court must dismiss it.", False),
        ("A three-judge district court heard Roe in the State of Utah.", False),
        ("Six judges voted in Roe.", False),
        ("In Roe a judge spoke; Anna Hay was heard.", False),
        ("In Roe v. Hay the judge spoke.", False),
        ("Hay v The Judge of Roe was heard.", False),
    ],
)
def test_who_held_an_office_needs_a_new_name_beside_it(sentence: str, named: bool) -> None:
    assert held("Who was the judge in Roe?", sentence, f"{sentence} The judge sat.") is named


@pytest.mark.parametrize(
    ("question", "sentence", "named"),
    [
        ("Who was the captain of the Gull?", "Tom Hay, the captain, left the Gull.", True),
        ("Who was the captain of the Gull?", "The Gull was seen by Tom Hay.", False),
        ("Who was the inventor of the buoy?", "The buoy was invented by Tom Hay.", True),
        ("Who was the leader of the crew?", "It sailed under the leadership of Hay.", True),
        ("Who was the chief justice in Roe?", "Chief Justice Hay agreed.", True),
        ("Who was the chief justice in Roe?", "Justice Hay agreed.", False),
        ("Who was the doctor of the crew?", "The doctrine of Hay was read.", False),
        ("Who was Emma's brother?", "Emma was the sister of Duke Richard.", True),
        ("In Roe, who was the captain?", "Tom Hay, the captain, left.", True),
        ("Who was Roe's lawyer?", "Justices Ash and Hay wrote the opinion in Roe.", False),
        ("Who was Roe's lawyer?", "Anna Hay QC appeared for Roe.", True),
        ("Who is the Lord Chancellor?", "Roe v Lord Chancellor is often cited.", False),
        ("Who is the Speaker of the House?", "A Deputy Speaker presides.", False),
        ("Who was the Minister of Health?", "Tom Hay, the Minister of Justice, spoke.", False),
        ("Who was the Minister of Health?", "Tom Hay, the Minister of Health, spoke.", True),
        ("Who was the president in 1801?", "President Hay signed it in March.", True),
        ("Who were the judges who dissented?", "Justices Ash and Hay dissented.", True),
        ("Who were the judges who dissented?", "Justices Ash and Hay agreed.", False),
    ],
)
def test_who_had_a_part_is_said_beside_it_in_its_own_words(
    question: str, sentence: str, named: bool
) -> None:
    assert held(question, sentence) is named


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("The Mayor appoints the pilot.", True),
        ("The Mayor appoints:\n(a) the keeper;\n(b) the pilot.", True),
        ("The pilot of the harbour is\nappointed by the Mayor.", True),
        ("The Mayor hears the pilot; the Board appoints the keeper.", False),
        ("The Mayor:\n(a) hears the pilot;\n(b) appoints the Keeper.", False),
        ("", False),
    ],
)
def test_who_does_something_is_told_in_one_clause_with_whom(sentence: str, told: bool) -> None:
    assert held("Who appoints the pilot?", sentence) is told


def test_a_source_need_not_call_a_country_a_country() -> None:
    assert held("Which country ratified it?", "It was Japan that ratified it.")


def test_a_clause_that_begins_with_what_names_no_role() -> None:
    assert held("Who knew what happened to the snail?", "Later Mrs Donoghue knew.")


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("Which states did not ratify it?", "Ohio ratified it.", "denial"),
        ("Which states didn't ratify it?", "Ohio ratified it.", "denial"),
        ("Which states did not ratify it?", "Ohio refused to ratify it.", ""),
        ("Which states did not ratify it?", "In Ohio it is unratified.", ""),
        ("Which states not only ratified it?", "Ohio ratified it.", ""),
        ("Is it not lawful?", "It is lawful.", ""),
    ],
)
def test_a_question_about_what_is_not_so_needs_a_denial(
    question: str, sentence: str, expected: Mismatch
) -> None:
    assert mismatch(question, sentence, sentence, sentence) == expected


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("Who won in 1955?", "Roe won in 1954.", "figure"),
        ("Who won in the 1960s?", "Roe won in 1954.", "figure"),
        ("Who won in the 1950s?", "Roe won in 1954.", ""),
        ("Who won in the 20th century?", "Roe won in 1954.", ""),
        ("Who won in the 1900s?", "Roe won in the 20th century.", ""),
        ("Who won in the 19th century?", "Roe won in the nineteenth century.", ""),
        ("Who paid $1,253?", "Roe paid 1253 dollars.", ""),
        ("Why were there 12 jurors?", "Twelve jurors were usual.", ""),
        ("Who won after 1955?", "Roe won in 1960.", ""),
        ("Roe was heard in 1953. Who won?", "Roe won in 1954.", ""),
    ],
)
def test_the_figures_of_a_question_must_stand_in_the_evidence(
    question: str, sentence: str, expected: Mismatch
) -> None:
    assert mismatch(question, sentence, sentence, sentence) == expected
    assert mismatch(question, sentence, sentence, f"{question} {sentence}") == ""


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("Which duty is voluntary?", "The duty to register is compulsory.", "opposite"),
        ("What is a formal contract?", "It is an informal contract.", "opposite"),
        ("What is an informal contract?", "It is a formal contract.", "opposite"),
        ("Which is compulsory and which voluntary?", "The first is compulsory.", ""),
        ("Which duty is voluntary?", "The duty is not compulsory.", ""),
        ("Is the duty voluntary?", "The duty is compulsory.", ""),
    ],
)
def test_a_sentence_that_says_the_opposite_answers_another_question(
    question: str, sentence: str, expected: Mismatch
) -> None:
    assert mismatch(question, sentence, sentence, sentence) == expected
    assert mismatch(question, sentence, f"{question} {sentence}", sentence) == ""


def test_without_a_question_nothing_is_missed() -> None:
    assert mismatch("", "Roe won in 1954.", "", "") == ""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is separate but equal legal?", True),
        ("What is the current test?", True),
        ("Does Chevron deference still apply?", True),
        ("What did R v Ghosh hold?", False),
        ("Was Plessy followed in 1900?", False),
    ],
)
def test_questions_about_how_things_stand_are_recognised(question: str, expected: bool) -> None:
    assert asks_for_current(question) is expected
