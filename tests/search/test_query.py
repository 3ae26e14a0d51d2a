"""Reading a question: its words and phrases, and the parts of one that asks for several things."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atlas_search.language.languages import FUNCTION_WORDS
from atlas_search.language.text import content_terms, words
from atlas_search.search.parts import LONGEST, MOST_PARTS, sub_questions
from atlas_search.search.query import MOST_PHRASES, Phrase, parse_query


@pytest.mark.parametrize(
    ("question", "text", "phrases"),
    [
        ("right to silence", "right to silence", {}),
        (
            'the "right to silence" today',
            "the right to silence today",
            {"preferred": ["right to silence"]},
        ),
        (
            "“Rights of Man” „of women“",
            "Rights of Man of women",
            {"preferred": ["Rights of Man", "of women"]},
        ),
        (
            '"a well-known -police right"',
            "a well-known -police right",
            {"preferred": ["a well-known -police right"]},
        ),
        ('an unfinished "quotation', 'an unfinished "quotation', {}),
        ('empty "" and "?!"', "empty and ?!", {}),
        (
            'police +"right to silence"',
            "police right to silence",
            {"required": ["right to silence"]},
        ),
        (
            "police +silence +“a lawyer”",
            "police silence a lawyer",
            {"required": ["silence", "a lawyer"]},
        ),
        ('police -"right to silence"', "police", {"excluded": ["right to silence"]}),
        ('-"police" silence -"court"', "silence", {"excluded": ["police", "court"]}),
        ("1 + 1 and C++ and +1", "1 + 1 and C++ and +1", {}),
        # a hyphen in prose is no operator
        ("state - of - the art", "state - of - the art", {}),
        ("a well -known rule", "a well -known rule", {}),
        ("from 1990 -1995", "from 1990 -1995", {}),
        ("pre- and post-war housing", "pre- and post-war housing", {}),
        ("well-known 1954-1960", "well-known 1954-1960", {}),
        ("police -court", "police -court", {}),
    ],
)
def test_quotation_marks_prefer_a_phrase_and_a_sign_requires_or_excludes_it(
    question: str, text: str, phrases: dict[str, list[str]]
) -> None:
    query = parse_query(question)
    assert query.text == text
    for kind in ("preferred", "required", "excluded"):
        assert [phrase.text for phrase in getattr(query, kind)] == phrases.get(kind, [])


def test_only_so_many_phrases_are_preferred() -> None:
    quoted = parse_query(" ".join(f'"phrase {number}"' for number in range(50)))
    assert len(quoted.preferred) == MOST_PHRASES
    assert len(quoted.terms) == 51


def test_phrases_beside_the_question_join_those_in_it() -> None:
    query = parse_query('+"to silence"').narrowed(["The Police", "to silence"], ["courts"])
    assert [phrase.stems for phrase in query.required] == [("to", "silenc"), ("the", "polic")]
    assert query.excluded == (Phrase("courts", ("court",)),)
    assert query.terms == ("silenc",)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ('silence -"police"', ("silenc",)),
        ('police "right to silence"', ("polic", "right", "silenc")),
        ('-"police"', ()),
        # a word broken by a line's end is looked for whole and by its halves
        ("the well-\nknown right", ("wellknown", "right", "well", "known")),
        # a form of address is no term unless it is all there is
        ("How much was Mr. Lochner fined?", ("lochner", "fine")),
        ("Mr Justice Holmes", ("justic", "holm")),
        ("Mrs", ("mrs",)),
    ],
)
def test_terms_are_the_words_to_look_for(question: str, terms: tuple[str, ...]) -> None:
    assert parse_query(question).terms == terms


PIECES = [
    *"what which who how is are does did do in under of on to for by and or also then".split(),
    *"compare contrast with against versus vs v. the a difference between differ from".split(),
    *"both that those one it Britain France New Zealand's Brown Roe murder theft 1954 1960".split(),
    *"' \" ( ) “ ’s ? , ; : . É ß \n".split(" "),
    "(in force)",
    "what about",
]
QUESTIONS = st.text(max_size=80) | st.lists(
    st.sampled_from(PIECES) | st.text(max_size=3), max_size=30
).map(" ".join)


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
            "Can you compare the Police and Criminal Evidence Act with the Fourth Amendment?",
            ("the Police and Criminal Evidence Act", "the Fourth Amendment"),
        ),
        (
            "Compare the law of theft in Wales with that in Jersey.",
            ("the law of theft in Wales", "the law of theft in Jersey"),
        ),
        ("Compare Wales with Jersey on theft.", ("theft in Wales", "theft in Jersey")),
        (
            "How do the laws of Wales and Jersey differ on theft?",
            ("theft in the laws of Wales", "theft in the laws of Jersey"),
        ),
        ("Compare and contrast murder and manslaughter", ("murder", "manslaughter")),
        (
            "What is the difference between murder and manslaughter in New Zealand?",
            ("murder in New Zealand", "manslaughter in New Zealand"),
        ),
        (
            "What are the differences in sentencing between Scotland and Wales?",
            ("sentencing in Scotland", "sentencing in Wales"),
        ),
        ("Strict liability versus negligence", ("Strict liability", "negligence")),
        (
            "What did Brown v. Board of Education decide and what did Roe v. Wade decide?",
            ("What did Brown v. Board of Education decide", "what did Roe v. Wade decide"),
        ),
        ("What is a tort and what is a crime?", ("What is a tort", "what is a crime")),
        ("Who was Roe? Who was Wade?", ("Who was Roe", "Who was Wade")),
    ],
)
def test_a_comparison_or_two_questions_become_their_parts(
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
        "What does Marks and Spencer sell in Trinidad and Tobago?",
        "When and where was Abraham Lincoln born?",
        "What are the rights and duties of tenants?",
        "What is the relationship between law and morality?",
        "What happened between 1914 and 1918?",
        "What did Lord Hoffmann say about the difference between rights and wishes?",
        "Who was Lincoln and when did he die?",
        "What did the group say about jobs and what the government should do in Wales?",
        "Is it legal to smoke? If so, where?",
        "I live in Leeds. Can I sue my landlord?",
        "Brown v. Board of Education",
        "Roe versus Wade",
        "new york times vs sullivan",
        'What did Brown say on "law and order" and what did Roe say on it?',
        "Receiving Party shall not disclose in Britain and in France.",
        "Agreement shall make no distinction between employees and contractors.",
        "the death penalty in Britain",
    ],
)
def test_one_thing_or_a_doubtful_question_stays_whole(question: str) -> None:
    assert sub_questions(question) == ()


@given(QUESTIONS)
@example("Compare and ")
@example("Compare , and x")
def test_parts_of_any_text_are_few_informative_and_different(question: str) -> None:
    parts = sub_questions(question)
    assert len(parts) in {0, *range(2, MOST_PARTS + 1)}
    assert len({content_terms(part) for part in parts}) == len(parts)
    for part in parts:
        assert any(word.folded not in FUNCTION_WORDS for word in words(part))


def test_the_first_four_of_many_questions_are_kept() -> None:
    names = ["Peel", "Bright", "Cobden", "Derby", "Russell"]
    question = " ".join(f"Who was Lord {name}?" for name in names)
    assert sub_questions(question) == tuple(f"Who was Lord {name}" for name in names[:MOST_PARTS])


def test_a_text_too_long_for_a_question_stays_whole() -> None:
    fitting = "Who was Roe? Who was " + "x" * (LONGEST - 22) + "?"
    assert len(fitting) == LONGEST
    assert len(sub_questions(fitting)) == 2
    assert sub_questions(fitting.replace("?", "??", 1)) == ()
