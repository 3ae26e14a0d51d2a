"""Reading a question: its words, what it prefers, what it requires, what it leaves out."""

import pytest

from atlas_search.search.query import MOST_PHRASES, Phrase, parse_query


@pytest.mark.parametrize(
    ("question", "text", "preferred"),
    [
        ("right to silence", "right to silence", ()),
        ('the "right to silence" today', "the right to silence today", ("right to silence",)),
        ("“Rights of Man” „of women“", "Rights of Man of women", ("Rights of Man", "of women")),
        ('"a well-known -police right"', "a well-known -police right",
         ("a well-known -police right",)),
        ('an unfinished "quotation', 'an unfinished "quotation', ()),
        ('empty "" and "?!"', "empty and ?!", ()),
    ],
)  # fmt: skip
def test_a_phrase_in_quotation_marks_is_preferred_and_not_required(
    question: str, text: str, preferred: tuple[str, ...]
) -> None:
    query = parse_query(question)
    assert tuple(phrase.text for phrase in query.preferred) == preferred
    assert (query.required, query.excluded) == ((), ())
    assert query.text == text


def test_only_so_many_phrases_are_preferred() -> None:
    quoted = parse_query(" ".join(f'"phrase {number}"' for number in range(50)))
    assert len(quoted.preferred) == MOST_PHRASES
    assert len(quoted.terms) == 51


@pytest.mark.parametrize(
    ("question", "text", "required", "excluded"),
    [
        ('police +"right to silence"', "police right to silence", ("right to silence",), ()),
        ("police +silence +“a lawyer”", "police silence a lawyer", ("silence", "a lawyer"), ()),
        ('police -"right to silence"', "police", (), ("right to silence",)),
        ('-"police" silence -"court"', "silence", (), ("police", "court")),
        ("1 + 1 and C++ and +1", "1 + 1 and C++ and +1", (), ()),
    ],
)
def test_a_sign_before_quotation_marks_requires_or_excludes(
    question: str, text: str, required: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    query = parse_query(question)
    assert tuple(phrase.text for phrase in query.required) == required
    assert tuple(phrase.text for phrase in query.excluded) == excluded
    assert (query.text, query.preferred) == (text, ())


@pytest.mark.parametrize(
    "question",
    [
        "state - of - the art",
        "a well -known rule",
        "from 1990 -1995",
        "pre- and post-war housing",
        "well-known 1954-1960",
        "police -court",
    ],
)
def test_a_hyphen_in_prose_is_no_operator(question: str) -> None:
    query = parse_query(question)
    assert query.text == question
    assert query.excluded == query.required == query.preferred == ()


def test_what_is_asked_for_beside_the_question_joins_what_stands_in_it() -> None:
    query = parse_query('+"to silence"').narrowed(["The Police", "to silence"], ["courts"])
    assert [phrase.stems for phrase in query.required] == [("to", "silenc"), ("the", "polic")]
    assert query.excluded == (Phrase("courts", ("court",)),)
    assert query.terms == ("silenc",)


def test_what_is_excluded_is_not_looked_for() -> None:
    assert parse_query('silence -"police"').terms == ("silenc",)
    assert parse_query('police "right to silence"').terms == ("polic", "right", "silenc")
    assert parse_query('-"police"').words == ()


def test_a_word_broken_by_a_line_s_end_is_asked_for_whole_and_by_its_halves() -> None:
    query = parse_query("the well-\nknown right")
    assert query.terms == ("wellknown", "right", "well", "known")
    assert query.pairs == ((0, 1),)


def test_how_somebody_is_called_is_no_term_unless_it_is_all_there_is() -> None:
    assert parse_query("How much was Mr. Lochner fined?").terms == ("lochner", "fine")
    assert parse_query("Mr Justice Holmes").terms == ("justic", "holm")
    assert parse_query("Mrs").terms == ("mrs",)
