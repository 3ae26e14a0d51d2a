"""Caveats, headings and sentences about the writer: what needs a citation and what does not."""

import pytest

from atlas_search.answer.check.citations import verify
from tests.citing import MARKER, check, passage, quotes


@pytest.mark.parametrize(
    "template",
    [
        *["[INSERT ANSWER HERE]", "TODO: answer", "Lorem ipsum", "[Your answer]", "TBD"],
        *["As an AI language model, I have no opinions", "I am an AI and say the sky is blue"],
    ],
)
def test_a_sentence_about_the_writer_is_an_error_even_with_a_token(template: str) -> None:
    verification = check(f"The sky is blue {MARKER}. {template} {MARKER}.")
    assert verification.errors == ("Sentence 2 is not about the sources.",)


@pytest.mark.parametrize(
    "said",
    [
        *["Todo cielo es azul", "The witness said “I am an AI”", "As an artist, I paint the sky"],
        *["The form says: insert the date", "The question is to be determined by snow"],
    ],
)
def test_a_sentence_like_one_about_the_writer_is_none(said: str) -> None:
    assert check(f"{said} {MARKER}.").errors == ()


def test_what_a_source_says_of_itself_may_be_repeated() -> None:
    text = "As an AI language model, I painted the sky."
    assert verify(f"{text} {MARKER}", [passage(text, 0, len(text))], 5).errors == ()


def test_a_caveat_needs_no_citation_and_counts_as_ungrounded() -> None:
    verification = check(f"The sky is blue. {MARKER} The passages do not say why.")
    assert verification.valid
    assert [sentence.caveat for sentence in verification.sentences] == [False, True]
    assert verification.warnings == ("Sentence 2 has no citation.",)
    assert verification.sentence_groundedness == 0.5


@pytest.mark.parametrize(
    "claim",
    [
        "The passages do not mention it, as roses are red.",
        "The passages do not say what was red in 1933.",
    ],
)
def test_a_caveat_that_says_more_needs_a_citation(claim: str) -> None:
    verification = check(f"The sky is blue. {MARKER} {claim}")
    assert verification.errors == ("Sentence 2 has no citation.",)
    assert not verification.sentences[1].caveat


def test_a_caveat_may_name_what_it_says_is_not_there() -> None:
    verification = check(f"The sky is blue. {MARKER} The passages do not mention Jones.")
    assert verification.valid
    assert verification.sentences[1].caveat


def test_caveats_alone_are_no_answer() -> None:
    verification = check("The passages do not say why.")
    assert verification.errors == ("No sentence has a citation.",)


@pytest.mark.parametrize("heading", ["## Blue sky", "**White snow**", "The passages name these:"])
def test_a_heading_needs_no_citation(heading: str) -> None:
    verification = check(f"{heading}\n\n- The sky is blue {MARKER}.\n- Snow is white {MARKER}.")
    assert verification.errors == ()
    assert [sentence.grounded for sentence in verification.sentences] == [False, True, True]
    assert quotes(verification) == [[], ["The sky is blue."], ["Snow is white."]]


@pytest.mark.parametrize(
    "claim",
    [
        *["**The king was killed.**", "# The king was killed!", "**Smith painted roses in 1932**"],
        *["# The sky is red after all, says Jones", "Smith murdered snow and the sky hid it:"],
        *["# Roses are red in 1933", "# The sky is not blue", "**Snow isn't white**"],
    ],
)
def test_a_claim_in_bold_needs_a_citation(claim: str) -> None:
    assert "Sentence 1 has no citation." in check(f"{claim}\nThe sky is blue. {MARKER}").errors
