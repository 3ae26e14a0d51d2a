"""Taking apart questions that ask for several things, and leaving the others whole."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.search.multihop.questions import LONGEST, MOST_JOINTS, MOST_PARTS, sub_questions
from backend.text import FUNCTION_WORDS, content_terms, words

PIECES = [
    *"what which who how is are does did do in under of on to for by and or also then".split(),
    *"compare contrast with against versus vs v. the a difference between differ from".split(),
    *"both that those one it Britain France New Zealand's Brown Roe murder theft 1954 1960".split(),
    *"' \" ( ) “ ’s ? , ; : . É ß \n".split(" "),
    '"A and B"',
    "(in force)",
    "have in common",
    "as well as",
    "what about",
]
QUESTIONS = st.text(max_size=80) | st.lists(
    st.sampled_from(PIECES) | st.text(max_size=3), max_size=30
).map(" ".join)
QUOTED = st.sampled_from(["law and order", "in France and in 1954", "Who? And why?", "A, B; C"])


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Compare the death penalty in Britain with New Zealand",
            ("the death penalty in Britain", "the death penalty in New Zealand"),
        ),
        (
            "Compare the right to vote in Britain and New Zealand.",
            ("the right to vote in Britain", "the right to vote in New Zealand"),
        ),
        (
            "Compare the approaches of Britain, France and Spain to privacy",
            (
                "the approaches of Britain to privacy",
                "the approaches of France to privacy",
                "the approaches of Spain to privacy",
            ),
        ),
        (
            "Can you compare the Police and Criminal Evidence Act with the Fourth Amendment?",
            ("the Police and Criminal Evidence Act", "the Fourth Amendment"),
        ),
        (
            "Compare how Britain and France treat hate speech",
            ("how Britain treat hate speech", "how France treat hate speech"),
        ),
        (
            "Compare Britain's approach to privacy with New Zealand's",
            ("Britain's approach to privacy", "New Zealand's approach to privacy"),
        ),
        ("Compare and contrast murder and manslaughter", ("murder", "manslaughter")),
    ],
)
def test_a_request_to_compare_gives_each_side_what_both_share(
    question: str, parts: tuple[str, ...]
) -> None:
    assert sub_questions(question) == parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What is the difference between murder and manslaughter in New Zealand?",
            ("murder in New Zealand", "manslaughter in New Zealand"),
        ),
        (
            "In English law, what is the difference between a warranty and a condition?",
            ("In English law, a warranty", "In English law, a condition"),
        ),
        (
            "differences between direct and indirect discrimination",
            ("direct discrimination", "indirect discrimination"),
        ),
        (
            "What are the differences in sentencing between Scotland and Wales?",
            ("sentencing in Scotland", "sentencing in Wales"),
        ),
        (
            "What is the difference between law and order in Britain and France?",
            ("law and order in Britain", "law and order in France"),
        ),
        (
            "How did France differ from Britain in managing its colonies?",
            ("France in managing its colonies", "Britain in managing its colonies"),
        ),
        (
            "How did the Factory Act of 1833 differ from that of 1844?",
            ("the Factory Act of 1833", "the Factory Act of 1844"),
        ),
        (
            "How do murder and manslaughter differ in English law?",
            ("murder in English law", "manslaughter in English law"),
        ),
        ("What do negligence and nuisance have in common?", ("negligence", "nuisance")),
        ("Strict liability versus negligence", ("Strict liability", "negligence")),
    ],
)
def test_a_question_for_a_difference_becomes_its_two_sides(
    question: str, parts: tuple[str, ...]
) -> None:
    assert sub_questions(question) == parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What did Brown v. Board of Education decide and what did Roe v. Wade decide?",
            ("What did Brown v. Board of Education decide", "what did Roe v. Wade decide"),
        ),
        (
            "Who wrote the opinion in Brown and which justice dissented in Plessy?",
            ("Who wrote the opinion in Brown", "which justice dissented in Plessy"),
        ),
        ("What is a tort and what is a crime?", ("What is a tort", "what is a crime")),
        (
            "Is hanging lawful in Britain? And in New Zealand? What about Spain?",
            (
                "Is hanging lawful in Britain",
                "Is hanging lawful in New Zealand",
                "Is hanging lawful in Spain",
            ),
        ),
        (
            "Is spying a crime under US law, and what is the position under English law?",
            ("Is spying a crime under US law", "Is spying a crime under English law"),
        ),
    ],
)
def test_two_questions_in_one_are_taken_apart(question: str, parts: tuple[str, ...]) -> None:
    assert sub_questions(question) == parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who won in 1954 and in 1960?", ("Who won in 1954", "Who won in 1960")),
        (
            "Who won in Spain in 1954, in 1960 and then in 1972?",
            ("Who won in Spain in 1954", "Who won in Spain in 1960", "Who won in Spain in 1972"),
        ),
        (
            "What applies in both Britain and France?",
            ("What applies in Britain", "What applies in France"),
        ),
        (
            "who dissented both in the railway case and in the bakery case",
            ("who dissented in the railway case", "who dissented in the bakery case"),
        ),
        (
            "Who wrote both the opinion on wheels and the one on fireworks, and who won it?",
            ("Who wrote the opinion on wheels", "Who wrote the opinion on fireworks"),
        ),
        (
            "When did France's and Spain's parliaments ban hanging?",
            (
                "When did France's parliaments ban hanging",
                "When did Spain's parliaments ban hanging",
            ),
        ),
        (
            "Is the penalty for theft a fine in Spain and a flogging in France?",
            (
                "Is the penalty for theft a fine in Spain",
                "Is the penalty for theft a flogging in France",
            ),
        ),
        (
            "What is the penalty: a fine in Spain, prison in France, and what in Italy?",
            (
                "What is the penalty: a fine in Spain",
                "What is the penalty: prison in France",
                "What is the penalty: in Italy",
            ),
        ),
    ],
)
def test_what_one_clause_lists_is_asked_for_one_by_one(
    question: str, parts: tuple[str, ...]
) -> None:
    assert sub_questions(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "",
        "compare",
        "Compare with",
        "What is the Police and Criminal Evidence Act?",
        "Who is the Secretary of State for Health and Social Care?",
        "Who is the Minister for Women and for Equalities?",
        "What does Marks and Spencer sell in Trinidad and Tobago?",
        "How do law and order, search and seizure or health and safety matter?",
        "When and where was Abraham Lincoln born?",
        "What are the rights and duties of tenants?",
        "What is the relationship between law and morality?",
        "What happened between 1914 and 1918?",
        "Is a landlord in England bound by terms and conditions?",
        "How did women in Britain and in New Zealand get the vote?",
        "What did Lord Hoffmann say about the difference between rights and wishes?",
    ],
)
def test_a_simple_question_stays_whole(question: str) -> None:
    assert sub_questions(question) == ()


@pytest.mark.parametrize(
    "question",
    [
        "Who was Lincoln and when did he die?",
        "When did women win the vote, and who led the campaign?",
        "What did the group say about jobs and what the government should do in Wales?",
        "Who was the judge who dissented in Plessy and who wrote the opinion in Lochner?",
        "Is it legal to smoke? If so, where?",
        "I live in Leeds. Can I sue my landlord? What damages can I get in England?",
    ],
)
def test_a_clause_that_leans_on_another_stays_with_it(question: str) -> None:
    assert sub_questions(question) == ()


@pytest.mark.parametrize(
    "question",
    [
        "Brown v. Board of Education",
        "Roe versus Wade",
        "Brown vs. Board of Education on schools",
        "new york times vs sullivan",
    ],
)
def test_the_name_of_a_case_is_no_comparison(question: str) -> None:
    assert sub_questions(question) == ()


@pytest.mark.parametrize(
    "statement",
    [
        "Receiving Party shall not disclose in Britain and in France.",
        "Agreement shall make no distinction between employees and contractors.",
        "Where Receiving Party, which trades in Britain and in France, is bound, it shall say so.",
    ],
)
def test_a_statement_stays_whole(statement: str) -> None:
    assert sub_questions(statement) == ()


@given(QUOTED, QUOTED, st.sampled_from(['"{}"', "“{}”", "‘{}’", "'{}'", "({})"]))
def test_what_is_quoted_or_bracketed_is_never_cut(one: str, other: str, marks: str) -> None:
    left, right = marks.format(one), marks.format(other)
    question = f"What did Brown say on {left} in 1954 and what did Roe say on {right} in 1973?"
    assert sub_questions(question) == (
        f"What did Brown say on {left} in 1954",
        f"what did Roe say on {right} in 1973",
    )


@settings(deadline=None)
@given(QUESTIONS)
@example("Compare and ")
@example("how is  differ and ")
@example("Compare , and x")
def test_parts_of_any_text_are_few_informative_different_and_shorter(question: str) -> None:
    parts = sub_questions(question)
    assert len(parts) in {0, *range(2, MOST_PARTS + 1)}
    assert len({content_terms(part) for part in parts}) == len(parts)
    for part in parts:
        assert any(word.folded not in FUNCTION_WORDS for word in words(part))
        # so parts of parts come to an end
        assert len(words(part)) < len(words(question))


def test_the_first_four_of_many_questions_are_kept() -> None:
    names = ["Peel", "Bright", "Cobden", "Derby", "Russell"]
    question = " ".join(f"Who was Lord {name}?" for name in names)
    assert sub_questions(question) == tuple(f"Who was Lord {name}" for name in names[:MOST_PARTS])


def test_a_text_too_long_for_a_question_stays_whole() -> None:
    ending = " in 1954 and in 1960?"
    fitting = "Who won " + "x" * (LONGEST - len("Who won " + ending)) + ending
    assert len(sub_questions(fitting)) == 2
    assert sub_questions("x" + fitting) == ()


def test_a_text_with_too_many_joints_stays_whole() -> None:
    joints = " and murder" * MOST_JOINTS
    assert len(sub_questions("Who won with murder in 1954 and in 1960?")) == 2
    assert sub_questions(f"Who won with murder{joints} in 1954 and in 1960?") == ()


@pytest.mark.parametrize("part", ["the death penalty in Britain", "What did Roe v. Wade decide"])
def test_a_part_stays_whole(part: str) -> None:
    assert sub_questions(part) == ()
