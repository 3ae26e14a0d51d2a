"""Reading a question: its words, what it requires, what it leaves out."""

import pytest

from atlas_search.search.query import parse_query


@pytest.mark.parametrize(
    ("question", "text", "required", "excluded"),
    [
        ("right to silence", "right to silence", (), ()),
        ('the "right to silence" today', "the right to silence today", ("right to silenc",), ()),
        ("“Rights of Man” „of women“", "Rights of Man of women", ("right of man", "of women"), ()),
        ("silence -police", "silence", (), ("polic",)),
        ('police -"right to silence"', "police", (), ("right to silenc",)),
        ("-police silence -court", "silence", (), ("polic", "court")),
        ('"a well-known -police right"', "a well-known -police right",
         ("a well known polic right",), ()),
        ("well-known 1954-1960", "well-known 1954-1960", (), ()),
        ("police - court", "police - court", (), ()),
        ("before -1960", "before -1960", (), ()),
        ('an unfinished "quotation', 'an unfinished "quotation', (), ()),
        ('empty "" and "?!"', "empty and ?!", (), ()),
    ],
)  # fmt: skip
def test_quotation_marks_require_and_a_hyphen_before_a_word_excludes(
    question: str, text: str, required: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    query = parse_query(question)
    assert tuple(" ".join(phrase) for phrase in query.required) == required
    assert tuple(" ".join(phrase) for phrase in query.excluded) == excluded
    assert query.text == text


def test_what_is_excluded_is_not_looked_for() -> None:
    assert parse_query("silence -police").terms == ("silenc",)
    assert parse_query('police "right to silence"').terms == ("polic", "right", "silenc")
    assert parse_query("-police").words == ()


def test_a_word_broken_by_a_line_s_end_is_asked_for_whole_and_by_its_halves() -> None:
    query = parse_query("the well-\nknown right")
    assert query.terms == ("wellknown", "right", "well", "known")
    assert query.pairs == ((0, 1),)
