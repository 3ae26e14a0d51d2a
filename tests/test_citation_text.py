"""Tokens in lists and quotations, and the typography of quotes and numbers."""

import pytest

from atlas_search.answer.check.citations import verify
from tests.citing import GIVEN, MARKER, TEXT, check, passage, quotes


@pytest.mark.parametrize(
    "answer",
    [
        f"1. The sky is blue {MARKER}.\n2. Snow is white {MARKER}.",
        f"1. The sky is blue {MARKER}. 2. Snow is white {MARKER}.",
        f"* The sky is blue. {MARKER}\n* Snow is white. {MARKER}",
        f"The sky is blue ({MARKER}). Snow is white ({MARKER}).",
        f'"The sky is blue." {MARKER} "Snow is white." {MARKER}',
        f'"The sky is blue. {MARKER}" "Snow is white. {MARKER}"',
    ],
)
def test_list_items_brackets_and_quotation_marks_keep_tokens_with_their_sentence(
    answer: str,
) -> None:
    verification = check(answer)
    assert (verification.errors, verification.warnings) == ((), ())
    assert quotes(verification) == [["The sky is blue."], ["Snow is white."]]


def test_an_abbreviation_before_a_token_does_not_end_the_sentence() -> None:
    verification = check(f"In Sky v. {MARKER} Snow, No. {MARKER} 1932, snow is white. {MARKER}")
    assert len(verification.sentences) == 1


def test_tokens_joined_by_commas_leave_nothing_behind() -> None:
    other = passage("The sky is blue at noon.", 0, 24, document="us.case", page=3)
    verification = verify(f"The sky is blue {MARKER}, [us.case p3].", [*GIVEN, other], 5)
    assert [sentence.text for sentence in verification.sentences] == ["The sky is blue."]
    assert len(verification.citations) == 2


def test_findings_stand_on_their_sentence_without_its_number() -> None:
    first, second = check(f"Grass is green. {MARKER} In 1933 it rained. [uk.no p1]").sentences
    assert (first.errors, first.warnings) == ((), ())
    assert second.errors == ("cites [uk.no p1], which was not retrieved.",)


def test_a_token_given_twice_in_a_sentence_is_an_error() -> None:
    verification = check(f"The sky {MARKER} is blue. {MARKER}")
    assert verification.errors == (f"Sentence 1 cites {MARKER} more than once.",)
    assert not verification.valid


SOURCE = (
    "The Court held: “A tenant’s duty to re-\npair is a well-known, ancient duty” — the fee was "
    "£1,500.50 in 1914-18, or 3 million for twenty-one ofﬁcers; 2 000 came on the 5th."
)


@pytest.mark.parametrize(
    "said",
    [
        'The duty is "well-known, ancient duty".',
        "The duty is ‘a well known ancient duty’.",
        "The duty to «repair» is old.",
        'It is a "[W]ell-known, … duty".',
        'It is "a tenant\'s duty to repair ... ancient duty."',
        "It is „a tenant's duty“.",
        "For “twenty-one officers” the fee was due.",
        "The fee was 1500.50 pounds.",
        "The fee was £1 500,5.",
        "The duty of 1918 was held by 3,000,000.",
        "The fee was for 21 officers, in the 1910s.",
        "Some 2,000 of the Court came.",
        "The 5 tenants had a duty.",
    ],
)
def test_typography_makes_no_difference_to_quotes_and_numbers(said: str) -> None:
    source = [passage(SOURCE, 0, len(SOURCE))]
    assert verify(f"{said} {MARKER}", source, 5).warnings == ()


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ('The duty is "well-known modern duty".', "quotes “well-known modern duty”"),
        ("The duty is ‘a duty of landlords’.", "quotes “a duty of landlords”"),
        ('It is "ancient … well-known".', "quotes “ancient … well-known”"),
        ("The fee was 1,501.", "says 1,501"),
        ("The duty held 4 million.", "says 4"),
        ("The fee was due in 1919.", "says 1919"),
        ("The fee was due in the 1920s.", "says 1920"),
    ],
)
def test_quotes_and_numbers_that_no_cited_passage_holds_are_warnings(
    said: str, missing: str
) -> None:
    source = [passage(SOURCE, 0, len(SOURCE))]
    verification = verify(f"{said} {MARKER}", source, 5)
    assert verification.warnings == (f"Sentence 1 {missing}, which is in no cited passage.",)
    assert verification.valid


def test_a_quote_may_come_from_any_passage_of_the_page() -> None:
    half = TEXT.index("Roses")
    given = [passage(TEXT, 0, half), passage(TEXT, half, len(TEXT))]
    said = f'The sky is blue, and "Snow is white" in 1932. {MARKER}'
    assert verify(said, given, 5).warnings == ()
