"""Caveats and headings: what needs a citation and what does not."""

import pytest

from tests.citing import MARKER, check, quotes


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
