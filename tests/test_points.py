"""Where the answers of several corpora agree and differ."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.compare import agreements_and_differences
from atlas_search.core.domain import CheckedSentence, Citation, Passage
from tests.contradictions import passage


def said(document: str, text: str, language: str = "en") -> CheckedSentence:
    found: Passage = passage(document, text, language=language).passage
    cited = Citation(found.marker, found, found.start, found.end, text)
    return CheckedSentence(text, (cited,), True)


def all_alike(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


def all_apart(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.eye(len(texts), dtype=np.float32)


YES = said("uk.a", "A marriage of same-sex couples is lawful.")
ALSO = said("nz.b", "Marriage is lawful for same-sex couples.")
NO = said("nz.c", "A marriage of same-sex couples is unlawful.")


def test_what_two_corpora_say_alike_is_an_agreement_in_their_own_words() -> None:
    agreements, differences = agreements_and_differences({"uk": [YES], "nz": [ALSO]}, all_alike)
    assert [pair.text for pair in agreements] == [
        "uk: “A marriage of same-sex couples is lawful.” [uk.a p1]; "
        "nz: “Marriage is lawful for same-sex couples.” [nz.b p1]."
    ]
    assert [citation.passage.document_id for citation in agreements[0].citations] == [
        "uk.a",
        "nz.b",
    ]
    assert differences == []


def test_what_one_affirms_and_the_other_denies_is_a_difference() -> None:
    agreements, differences = agreements_and_differences({"uk": [YES], "nz": [NO]}, all_alike)
    assert agreements == []
    assert [pair.corpora for pair in differences] == [("uk", "nz")]


def test_other_numbers_of_one_unit_are_a_difference() -> None:
    short, long = said("uk.a", "Parcels take 14 days."), said("nz.b", "Parcels take 28 days.")
    agreements, differences = agreements_and_differences({"uk": [short], "nz": [long]}, all_alike)
    assert (agreements, len(differences)) == ([], 1)


def test_what_is_not_on_the_same_subject_is_not_claimed_to_be_anything() -> None:
    assert agreements_and_differences({"uk": [YES], "nz": [ALSO]}, all_apart) == ([], [])
    other = said("nz.b", "Ships must carry lights.")
    assert agreements_and_differences({"uk": [YES], "nz": [other]}, all_alike) == ([], [])


def test_sentences_of_one_corpus_are_not_compared() -> None:
    assert agreements_and_differences({"uk": [YES, NO], "nz": []}, all_alike) == ([], [])


def test_a_sentence_stands_in_one_pair_only() -> None:
    agreements, differences = agreements_and_differences({"uk": [YES], "nz": [ALSO, NO]}, all_alike)
    assert (len(agreements), len(differences)) == (0, 1)


def test_sentences_without_citation_or_in_another_language_are_left_out() -> None:
    bare = CheckedSentence(ALSO.text, (), False)
    foreign = said("nz.b", ALSO.text, language="de")
    assert agreements_and_differences({"uk": [YES], "nz": [bare, foreign]}, all_alike) == ([], [])
    assert agreements_and_differences({}, all_alike) == ([], [])
