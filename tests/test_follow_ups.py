"""Follow-ups that point back: what they are read as after what was said, and when as nothing."""

import pytest

from atlas_search.answer.follow_up import LONGEST, FollowUp, read_follow_up
from atlas_search.core.domain import ChatTurn

HOLT = "Who was Harold Holt?"
WAGE = "What is the minimum wage in Britain?"
PRIVACY = "When was the Privacy Act 1993 passed?"
BROWN = "What did Brown v Board of Education decide?"
JUDGES = "Who appoints judges?"
LIBEL = "Can a local authority sue a newspaper for libel?"
WIFE = "Who was Harold Holt's wife?"


def said(*turns: str) -> tuple[ChatTurn, ...]:
    """Questions; what begins with a greater-than sign is an answer."""
    return tuple(
        ChatTurn("assistant", turn[2:]) if turn.startswith("> ") else ChatTurn("user", turn)
        for turn in turns
    )


@pytest.mark.parametrize(
    ("before", "question", "read_as"),
    [
        # he and she
        ([HOLT], "When was he killed?", "When was Harold Holt killed?"),
        ([HOLT], "Who was his successor?", "Who was Harold Holt's successor?"),
        (["Who was Neil Davis and how did he die?"], "When was he killed?",
         "When was Neil Davis killed?"),
        ([HOLT], "Who succeeded him?", "Who succeeded Harold Holt?"),
        ([HOLT], "Did Robert Menzies support him?", "Did Robert Menzies support Harold Holt?"),
        ([HOLT], "And when did he resign?", "When did Harold Holt resign?"),
        ([HOLT], "When did he lose his seat?", "When did Harold Holt lose his seat?"),
        ([HOLT, "When was he born?"], "Where did he die?", "Where did Harold Holt die?"),
        ([HOLT, WAGE], "When was he born?", "When was Harold Holt born?"),
        (["When did Menzies retire?"], "Was he knighted?", "Was Menzies knighted?"),
        ([WIFE], "When did she die?", "When did Harold Holt's wife die?"),
        (["Who was the first Prime Minister of New Zealand?"], "When was he born?",
         "When was the first Prime Minister of New Zealand born?"),
        (["Who was Queen Victoria?"], "When was her coronation?",
         "When was Queen Victoria's coronation?"),
        (["What happened at Cheviot Beach in 1967?",
          "> Harold Holt disappeared while swimming. [aus.holt p1]"],
         "When was he born?", "When was Harold Holt born?"),
        (["Who wrote the report on the lighthouse?", "> Mr Ruben Ostrow wrote the report."],
         "When was he born?", "When was Mr Ruben Ostrow born?"),
        # it and its
        ([WAGE], "When was it introduced?", "When was the minimum wage in Britain introduced?"),
        ([PRIVACY], "Has it been amended?", "Has the Privacy Act 1993 been amended?"),
        ([PRIVACY], "What is its purpose?", "What is the Privacy Act 1993's purpose?"),
        ([PRIVACY], "Does it apply to companies that trade abroad?",
         "Does the Privacy Act 1993 apply to companies that trade abroad?"),
        ([PRIVACY], "Is it possible to sue under it?",
         "Is it possible to sue under the Privacy Act 1993?"),
        ([PRIVACY], "Who introduced it?", "Who introduced the Privacy Act 1993?"),
        ([PRIVACY], "What powers does the minister have under it?",
         "What powers does the minister have under the Privacy Act 1993?"),
        ([PRIVACY], "What does section 5 of it say?",
         "What does section 5 of the Privacy Act 1993 say?"),
        ([PRIVACY], "Was it added to the schedule?",
         "Was the Privacy Act 1993 added to the schedule?"),
        (["What is libel?"], "Is it a crime?", "Is libel a crime?"),
        (["When was the minimum wage introduced?"], "Who introduced it?",
         "Who introduced the minimum wage?"),
        (["What is the purpose of the Privacy Act?"], "When was it passed?",
         "When was the Privacy Act passed?"),
        (["Where is Canada?"], "What is its capital?", "What is Canada's capital?"),
        # they
        (["What did Harold Holt and Robert Menzies say?"], "When did they meet?",
         "When did Harold Holt and Robert Menzies meet?"),
        # there and then
        ([WAGE], "Who is entitled to vote there?", "Who is entitled to vote in Britain?"),
        (["Who was mayor of the town in 1967?"], "Who was prime minister then?",
         "Who was prime minister in 1967?"),
        (["What happened in 1967?"], "Who was prime minister that year?",
         "Who was prime minister in 1967?"),
        # nouns
        ([PRIVACY], "Does the same act apply to schools?",
         "Does the Privacy Act 1993 apply to schools?"),
        ([BROWN], "Who decided that case?", "Who decided Brown v Board of Education?"),
        # a word about what was spoken of
        ([BROWN], "Who dissented?", "Who dissented (Brown v Board of Education)?"),
        # parts of a question
        ([WAGE], "What about Canada?", "What is the minimum wage in Canada?"),
        ([WAGE], "And in Canada?", "What is the minimum wage in Canada?"),
        ([WAGE], "In the United States?", "What is the minimum wage in the United States?"),
        ([WAGE], "And in 2005?", "What is the minimum wage in Britain in 2005?"),
        ([WAGE, "And in 2005?"], "And in 2010?", "What is the minimum wage in Britain in 2010?"),
        ([WAGE, "And in Canada?"], "And in France?", "What is the minimum wage in France?"),
        ([JUDGES], "And in Canada?", "Who appoints judges in Canada?"),
        (["What is the capital of Australia?"], "And in Canada?", "What is the capital of Canada?"),
        ([BROWN], "What about Roe v Wade?", "What did Roe v Wade decide?"),
        ([PRIVACY], "And the Human Rights Act 1993?", "When was the Human Rights Act 1993 passed?"),
        (["When did Menzies retire?"], "What about Holt?", "When did Holt retire?"),
        ([HOLT, "When was he killed?"], "Why?", "Why was Harold Holt killed?"),
    ],
)  # fmt: skip
def test_what_points_back_is_replaced_by_what_it_points_to(
    before: list[str], question: str, read_as: str
) -> None:
    assert read_follow_up(question, said(*before)).question == read_as


@pytest.mark.parametrize(
    ("before", "question"),
    [
        # it points to nothing
        (HOLT, "Is it lawful to swim at Cheviot Beach?"),
        (PRIVACY, "When was it decided that women may vote?"),
        (PRIVACY, "Is it a crime for a company to keep records?"),
        (PRIVACY, "Does it matter whether a record is old?"),
        (PRIVACY, "How long does it take to register a trust?"),
        (PRIVACY, "What does it mean to be domiciled abroad?"),
        (PRIVACY, "Do judges say it is wrong to film a trial?"),
        (PRIVACY, "Was it Holt who signed the treaty?"),
        # what it points to stands in the same question
        (HOLT, "When did Menzies say he would resign?"),
        (HOLT, "Can a husband be guilty of raping his wife?"),
        (HOLT, "Can a tenant be evicted if he has paid?"),
        (HOLT, "Who lost his seat in 1966?"),
        (HOLT, "When he resigned, did Menzies write a book?"),
        (JUDGES, "Do tenants lose their deposits?"),
        (JUDGES, "Which countries have changed their flags?"),
        (PRIVACY, "When the court heard the appeal, did it allow costs?"),
        (PRIVACY, "Does the Companies Act apply and when did the act commence?"),
        (HOLT, "By how much did Kent-Brown reduce his debts?"),
        (HOLT, "How many sheep above his quota did Roscoe Lind keep?"),
        (HOLT, "What author is best known for his diaries?"),
        (HOLT, "Is silence proof of guilt if he refuses to speak?"),
        (HOLT, "Does anyone lose his seat in a tie?"),
        (PRIVACY, "Does Britain publish its laws?"),
        (PRIVACY, "Is property forfeit when its owner dies?"),
        (PRIVACY, "May evidence be used if it was obtained unlawfully?"),
        (PRIVACY, "Which law makes it a crime to lie?"),
        (PRIVACY, "How far is it from the court to the harbour?"),
        (PRIVACY, "What is it called when a ship sinks?"),
        (PRIVACY, "My landlord sold the house. Can it be let again?"),
        (JUDGES, "Newts are rare because they need what?"),
        (WAGE, "After 1945, what challenged the empire?"),
        # words that only look like pointers
        (WAGE, "Is there a right to silence?"),
        (WAGE, "Are there any judges in parliament?"),
        (PRIVACY, "What is the law that students must obey?"),
        (PRIVACY, "What does the act of 1957 say?"),
        (HOLT, 'Who wrote "he was killed"?'),
        (HOLT, "Who was the former prime minister of Fiji?"),
        (WAGE, "What happens this year?"),
        (HOLT, "Is the IT law of Canada strict?"),
        # whole questions
        (HOLT, "And when did the war end?"),
        (HOLT, "When was capital punishment abolished in Britain?"),
        (HOLT, "¿Qué ley he de leer?"),
    ],
)
def test_a_question_that_points_to_nothing_said_is_left_alone(before: str, question: str) -> None:
    assert read_follow_up(question, said(before)) == FollowUp()


@pytest.mark.parametrize(
    ("before", "question"),
    [
        (["Did Robert Menzies support Harold Holt?"], "When did he resign?"),
        (["Who wrote the report?", "> Ada Lind and Ole Berg wrote it."], "When was he born?"),
        (["Did the Privacy Act repeal the Secrets Act?"], "When was it passed?"),
        (["What is murder?"], "Who said that?"),
        ([LIBEL], "Why can it not?"),
        ([LIBEL], "Which case decided that?"),
        ([LIBEL], "Why?"),
        ([LIBEL], "What about an individual?"),
        (["What rights do tenants have?"], "When were they introduced?"),
        (["Did Harold Holt walk from Portsea to Sorrento?"], "Who lived there?"),
        (["What happened between 1957 and 1967?"], "Who was prime minister then?"),
        ([HOLT], "When was it built?"),
        ([HOLT], "Who else?"),
        ([WAGE], "And in wartime?"),
        ([HOLT], "And in Canada?"),
        ([HOLT], "Why?"),
        ([HOLT], "What does that case say?"),
        (["> Harold Holt and Robert Menzies were friends."], "When did he die?"),
        ([], "When was he killed?"),
        ([], "How do I store it?"),
        ([], "What about Canada?"),
        ([], "Why?"),
    ],
)
def test_where_nothing_is_sure_nothing_is_offered(before: list[str], question: str) -> None:
    reading = read_follow_up(question, said(*before))
    assert reading.question == ""
    assert reading.pointer in question
    assert reading.pointer


def test_a_citation_token_of_the_history_does_not_come_into_the_question() -> None:
    history = said("What does [aus.privacy-act p1] of the Privacy Act 1993 say?")
    read = read_follow_up("When was it passed?", history)
    assert "[" not in read.question


def test_a_long_text_tells_what_it_is_about() -> None:
    told = "He drove. " * LONGEST
    assert read_follow_up(f"{told} Is he liable?", said(HOLT)) == FollowUp()


def test_what_was_said_long_ago_and_at_length_takes_no_time() -> None:
    long = said(*["Who was Harold Holt? " * 400, "> " + "Cheviot Beach " * 4000] * 100)
    read = read_follow_up("When was he killed?", long)
    assert read.question == "When was Harold Holt killed?"
