"""Answers are checked against the passages given: tokens, quotes, limits and warnings."""

from dataclasses import replace

import pytest

from atlas_search.answer.check.citations import verify
from atlas_search.building.chunking import Chunking, passage_spans
from atlas_search.core.domain import Document
from atlas_search.language.text import sentences
from tests.citing import GIVEN, MARKER, TEXT, check, passage, quotes
from tests.conftest import sample_documents

DOCUMENTS = sample_documents()


def test_a_sentence_in_the_words_of_its_source_is_valid() -> None:
    verification = check(f"The sky is blue. {MARKER}")
    assert verification.valid
    assert (verification.errors, verification.warnings) == ((), ())
    assert [sentence.text for sentence in verification.sentences] == ["The sky is blue."]
    assert verification.answer_grounded


def test_the_quote_stands_at_its_offsets_in_the_document() -> None:
    (citation,) = check(f"The sky is blue. {MARKER}").citations
    start = len("A preface. Grass is green. ")
    assert (citation.start, citation.end) == (start, start + len("The sky is blue."))
    assert citation.quote == TEXT[citation.start : citation.end] == "The sky is blue."


def test_the_quote_of_a_paraphrase_is_the_sentence_that_shares_most_words() -> None:
    (citation,) = check(f"In 1932 red roses bloomed. {MARKER}").citations
    assert citation.quote == TEXT[citation.start : citation.end] == "Roses are red in 1932."


def test_the_quote_comes_from_the_passage_of_the_page_that_fits_best() -> None:
    half = TEXT.index("Roses")
    given = [passage(TEXT, 0, half), passage(TEXT, half, len(TEXT))]
    (citation,) = verify(f"White snow. {MARKER}", given, 5).citations
    assert citation.passage == given[1]
    assert citation.quote == TEXT[citation.start : citation.end] == "Snow is white."


@pytest.mark.parametrize(
    "marker", ["[uk.other p1]", "[uk.case p2]", "[uk.case p01]", "[us.case p1]"]
)
def test_an_invented_marker_is_an_error(marker: str) -> None:
    verification = check(f"The sky is blue. {marker}")
    assert verification.errors == (f"Sentence 1 cites {marker}, which was not retrieved.",)
    assert quotes(verification) == [[]]
    assert not verification.valid
    assert not verification.answer_grounded


def test_an_invented_marker_is_an_error_beside_a_valid_one() -> None:
    verification = check(f"The sky is blue. [uk.other p1] {MARKER}")
    assert verification.errors == ("Sentence 1 cites [uk.other p1], which was not retrieved.",)
    assert quotes(verification) == [["The sky is blue."]]


def test_an_invented_marker_before_the_first_sentence_is_an_error() -> None:
    verification = check(f"[uk.other p1] The sky is blue. {MARKER}")
    assert any("[uk.other p1]" in error for error in verification.errors)


def test_a_sentence_without_a_citation_is_an_error() -> None:
    verification = check(f"Grass is green. The sky is blue. {MARKER}")
    assert verification.errors == ("Sentence 1 has no citation.",)
    assert quotes(verification) == [[], ["The sky is blue."]]


@pytest.mark.parametrize("marker", ["[1]", "(uk.case p1)", "[uk.case]", "[uk.case p1; uk.case p2]"])
def test_what_is_not_a_marker_is_not_a_citation(marker: str) -> None:
    assert "Sentence 1 has no citation." in check(f"The sky is blue {marker}.").errors


@pytest.mark.parametrize("answer", ["", " \n", MARKER])
def test_an_answer_without_a_sentence_is_an_error(answer: str) -> None:
    verification = check(answer)
    assert verification.errors == ("The answer holds no sentence.",)
    assert verification.sentence_groundedness == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        f"The sky is blue. {MARKER} Snow is white. {MARKER}",
        f"The sky is blue.{MARKER} Snow is white.{MARKER}",
        f"The sky is blue. {MARKER}\nSnow is white. {MARKER}\n",
        f"The sky is blue.\n{MARKER}\nSnow is white.\n{MARKER}",
        f"The sky is blue {MARKER}. Snow is white {MARKER}.",
        f"The sky {MARKER} is blue. Snow {MARKER} is white.",
    ],
)
def test_a_marker_belongs_to_its_sentence_wherever_it_stands(answer: str) -> None:
    verification = check(answer)
    assert verification.valid
    assert quotes(verification) == [["The sky is blue."], ["Snow is white."]]


@pytest.mark.parametrize(
    "answer",
    [
        f"The sky is blue {MARKER}.",
        f"The sky {MARKER} is blue. {MARKER}",
        f"The sky is blue\u00a0{MARKER}.",
    ],
)
def test_a_sentence_without_its_markers_has_no_stray_blanks(answer: str) -> None:
    assert [sentence.text for sentence in check(answer).sentences] == ["The sky is blue."]


def test_a_sentence_may_cite_several_passages() -> None:
    other = passage("The sky is blue at noon.", 0, 24, document="us.case", page=3)
    verification = verify(f"The sky is blue. {MARKER}[us.case p3]", [*GIVEN, other], 5)
    assert [citation.marker for citation in verification.citations] == [MARKER, "[us.case p3]"]
    assert quotes(verification) == [["The sky is blue.", "The sky is blue at noon."]]


def test_a_marker_repeated_in_a_sentence_cites_once() -> None:
    assert quotes(check(f"The sky {MARKER} is blue. {MARKER}")) == [["The sky is blue."]]


def test_a_place_cited_by_two_sentences_is_one_citation() -> None:
    verification = check(f"The sky is blue. {MARKER} Blue is the sky. {MARKER}")
    assert quotes(verification) == [["The sky is blue."], ["The sky is blue."]]
    assert [citation.quote for citation in verification.citations] == ["The sky is blue."]


def test_every_citation_of_a_sentence_is_one_of_the_answer() -> None:
    text = "As we held, The tenant pays rent. The landlord repairs."
    start = text.index("The tenant")
    overlapping = [passage(text, 0, text.index(" The land")), passage(text, start, len(text))]
    answer = f"The tenant pays rent. {MARKER} Rent the tenant pays. {MARKER}"
    verification = verify(answer, overlapping, 5)
    cited = [citation for sentence in verification.sentences for citation in sentence.citations]
    assert [citation.quote for citation in cited] == ["The tenant pays rent."] * 2
    assert all(citation in verification.citations for citation in cited)


def test_a_number_that_no_cited_passage_holds_is_a_warning() -> None:
    verification = check(f"In 1933 all 12 roses were red. {MARKER}")
    assert verification.warnings == (
        "Sentence 1 says 12, which is in no cited passage.",
        "Sentence 1 says 1933, which is in no cited passage.",
    )
    assert verification.valid


def test_a_number_at_the_end_of_a_sentence_is_read_without_the_full_stop() -> None:
    assert check(f"Roses were red in 1932. {MARKER}").warnings == ()


def test_sharing_no_word_with_the_source_is_a_warning() -> None:
    verification = check(f"Zebras gallop. {MARKER}")
    assert verification.warnings == ("Sentence 1 shares no word with what it cites.",)
    assert verification.valid


def test_citing_a_superseded_source_is_a_warning() -> None:
    old = replace(GIVEN[0], title="Old Act", metadata={"superseded_by": "the New Act"})
    verification = verify(f"The sky is blue. {MARKER}", [old], 5)
    assert verification.warnings == (
        "Sentence 1 cites Old Act, which was superseded by the New Act.",
    )
    assert verification.valid


def test_what_took_its_place_is_named_by_its_title_once_in_an_answer() -> None:
    old = replace(GIVEN[0], title="Old Act", metadata={"superseded_by": "new-act"})
    new = replace(old, document_id=f"{old.corpus}.new-act", title="New Act", metadata={})
    verification = verify(f"The sky is blue. {MARKER} It is so. {MARKER}", [old, new], 5)
    (warning,) = [said for said in verification.warnings if "superseded" in said]
    assert warning == "Sentence 1 cites Old Act, which was superseded by New Act."


def test_more_places_than_the_citation_limit_are_an_error() -> None:
    answer = f"Grass is green. {MARKER} The sky is blue. {MARKER} Snow is white. {MARKER}"
    assert check(answer, citation_limit=3).valid
    assert check(answer, citation_limit=2).errors == (
        "Sentence 3 brings the citations to 3, more than 2.",
    )


def test_one_place_cited_often_counts_once_towards_the_limit() -> None:
    assert check(f"The sky is blue. {MARKER} Blue sky. {MARKER}", citation_limit=1).valid


def test_groundedness_is_the_share_of_sentences_with_a_valid_citation() -> None:
    verification = check(f"Grass is green. {MARKER} The sky is blue. [uk.no p1] Snow is white.")
    assert [sentence.grounded for sentence in verification.sentences] == [True, False, False]
    assert verification.sentence_groundedness == 1 / 3
    assert len(verification.errors) == 2


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.id)
def test_every_bundled_sentence_verifies_against_its_own_passage(document: Document) -> None:
    for span in passage_spans(document, Chunking(), None):
        given = passage(document.text, *span, document=document.id)
        for start, end in sentences(given.text):
            sentence = given.text[start:end]
            verification = verify(f"{sentence} {given.marker}\n", [given], 1)
            assert (verification.errors, verification.warnings) == ((), ())
            (citation,) = verification.citations
            assert citation.quote == document.text[citation.start : citation.end] == sentence
