"""What passes for a citation token and is none."""

import pytest

from atlas_search.answer.check.citations import verify
from tests.citing import MARKER, check, passage, quotes


@pytest.mark.parametrize(
    "fake", ["[uk.case p1-2]", "[uk.case  p1]", "[uk.case p. 7]", "[Harley p12]"]
)
def test_what_looks_like_a_citation_token_but_is_none_is_an_error(fake: str) -> None:
    assert check(f"The sky is blue {MARKER}.").valid
    assert not check(f"The sky is blue {fake} {MARKER}.").valid


@pytest.mark.parametrize(
    "fake",
    [
        *["[p1]", "[1]", "[1, 2]", "[^3]", "[uk.case, p. 3]", "(uk.case p1)", "(uk.case, p. 1)"],
        *["[uk.case]", "[Source 1]", "(Passage 2)", "【4:0†source】", "［uk.case p1］"],
        *["[uk.case p1, us.case p3]", "[uk.case P1]", "[uk.case#p1]", "uk.no p9", "uk.case p1"],
        *["uk_act, p. 2", "(uk.case s10(1))", "(uk.case, s 10(1)(a))", "[uk.case, s 10(1)]"],
        *["[uk.case § 10]", "[uk.case reg. 4]", "［uk.case s10(1)］", "uk.case s10(1)"],
    ],
)
def test_what_passes_for_a_citation_is_named_as_an_error(fake: str) -> None:
    verification = check(f"The sky is blue. {MARKER} Snow {fake} is white. {MARKER}")
    assert verification.errors == (f"Sentence 2 writes {fake}, which is not a citation token.",)


@pytest.mark.parametrize("forged", ["[uk.case s10]", "[uk.case s10(1)(a)]", "[uk.case sch1para3]"])
def test_another_place_of_the_right_document_was_not_retrieved(forged: str) -> None:
    verification = check(f"The sky is blue. {MARKER} Snow is white. {forged}")
    assert verification.errors == (f"Sentence 2 cites {forged}, which was not retrieved.",)


@pytest.mark.parametrize(
    "aside",
    [
        *["[sic]", "(the sky)", "[2004] UKHL 56", "(1932)", "(s 59(1))", "[a]s ever", "(Case 3)"],
        *["[s 10]", "[under s 10]", "(Privacy Act 2020, s 10(1))", "(see s10(1))", "(Act s10)"],
        *["s.10 para3", "art 5 s10", "s 10(1)(a) of the Act", "e.g. s10"],
        *["{snow}", "(1 < p5 and 3 > 1)", "<b>", "U.S. p. 3", "uk.case", "Harley p12"],
    ],
)
def test_an_aside_in_brackets_is_no_citation(aside: str) -> None:
    assert check(f"The sky {aside} is blue. {MARKER}").errors == ()


def test_a_note_that_stands_in_the_source_is_no_citation() -> None:
    source = [passage("The duty is absolute [45] as we held.", 0, 37)]
    said = verify(f"The duty is absolute [45] as we held. {MARKER}", source, 5)
    assert said.errors == ()
    changed = verify(f"An absolute duty [45] is held. {MARKER}", source, 5)
    assert changed.errors == ("Sentence 1 writes [45], which is not a citation token.",)


OWN_REFERENCES = [
    *["(Marbury p12)", "(Smith: p3)", "[Harley p. 12]", "[p1]", "【4:0†source】", "(uk.case)"],
    *["[uk.case]", "(uk.case, p. 1)", "uk.no p9", "[1, 2]", "[uk.case p1-2]"],
]


@pytest.mark.parametrize("reference", OWN_REFERENCES)
def test_a_reference_of_the_source_is_no_forgery_among_the_same_words(reference: str) -> None:
    text = f"A duty {reference} is absolute as we held."
    source = [passage(text, 0, len(text))]
    said = verify(f"{text} {MARKER}", source, 5)
    assert (said.errors, quotes(said)) == ((), [[text]])
    changed = verify(f"An absolute duty {reference} is held. {MARKER}", source, 5)
    assert changed.errors == (f"Sentence 1 writes {reference}, which is not a citation token.",)


def test_a_whole_token_in_the_source_cites_what_it_names() -> None:
    text = "A duty [us.act p2] is absolute."
    said = verify(f"{text} {MARKER}", [passage(text, 0, len(text))], 5)
    assert said.errors == ("Sentence 1 cites [us.act p2], which was not retrieved.",)


def test_a_long_forgery_is_cut_in_what_is_said_of_it() -> None:
    name = "x" * 250
    marker = f"[{name} p1]"
    forged = check(f"The sky {marker} is [p1932, {name}] blue. {marker} {MARKER}")
    assert forged.errors == (
        f"Sentence 1 writes [p1932, {name[:72]}…, which is not a citation token.",
        f"Sentence 1 cites [{name[:79]}…, which was not retrieved.",
        f"Sentence 1 cites [{name[:79]}… more than once.",
    )


def test_a_number_without_end_is_cut_in_what_is_said_of_it() -> None:
    assert check(f"The sky is {'9' * 500}. {MARKER}").warnings == (
        f"Sentence 1 says {'9' * 80}…, which is in no cited passage.",
    )
