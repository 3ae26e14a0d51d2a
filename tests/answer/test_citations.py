"""Answers are checked against the passages given: tokens, quotes, limits, errors and warnings."""

from dataclasses import replace

import pytest
from hypothesis import example, settings
from hypothesis import given as cases
from hypothesis import strategies as st

from atlas_search.answer.check.citations import Verification, verify
from atlas_search.building.chunking import Chunking, passage_spans
from atlas_search.core.domain import Document, Successor
from atlas_search.language.text import sentences
from tests.citing import GIVEN, MARKER, TEXT, check, passage, quotes
from tests.conftest import sample_documents

BLUE, SNOW = ["The sky is blue."], ["Snow is white."]
NOON = passage("The sky is blue at noon.", 0, 24, document="us.case", page=3)


# which passage and which words a sentence cites


@pytest.mark.parametrize(
    "answer",
    [
        f"The sky is blue. {MARKER} Snow is white. {MARKER}",
        f"The sky is blue.{MARKER} Snow is white.{MARKER}",
        f"The sky is blue. {MARKER}\nSnow is white. {MARKER}\n",
        f"The sky is blue.\n{MARKER}\nSnow is white.\n{MARKER}",
        f"The sky is blue {MARKER}. Snow is white {MARKER}.",
        f"The sky {MARKER} is blue. Snow {MARKER} is white.",
        f"1. The sky is blue {MARKER}.\n2. Snow is white {MARKER}.",
        f"1. The sky is blue {MARKER}. 2. Snow is white {MARKER}.",
        f"* The sky is blue. {MARKER}\n* Snow is white. {MARKER}",
        f"The sky is blue ({MARKER}). Snow is white ({MARKER}).",
        f'"The sky is blue." {MARKER} "Snow is white." {MARKER}',
        f'"The sky is blue. {MARKER}" "Snow is white. {MARKER}"',
    ],
)
def test_a_token_belongs_to_its_sentence_wherever_it_stands(answer: str) -> None:
    verification = check(answer)
    assert (verification.errors, verification.warnings) == ((), ())
    assert (verification.valid, verification.answer_grounded) == (True, True)
    assert quotes(verification) == [BLUE, SNOW]
    for citation in verification.citations:
        assert TEXT[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    "answer",
    [
        f"The sky is blue {MARKER}.",
        f"The sky {MARKER} is blue. {MARKER}",
        f"The sky is blue\u00a0{MARKER}.",
        f"The sky is blue {MARKER}, [us.case p3].",
    ],
)
def test_a_sentence_without_its_tokens_has_no_stray_blanks(answer: str) -> None:
    assert [sentence.text for sentence in check(answer).sentences] == BLUE


@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        (f"In 1932 red roses bloomed. {MARKER}", [["Roses are red in 1932."]]),
        (f"The sky is blue. {MARKER}[us.case p3]", [["The sky is blue.", NOON.text]]),
        (f"The sky {MARKER} is blue. {MARKER}", [BLUE]),
        (f"The sky is blue. {MARKER} Blue is the sky. {MARKER}", [BLUE, BLUE]),
        (f"In Sky v. {MARKER} Snow, No. {MARKER} 1932, snow is white. {MARKER}", [SNOW]),
    ],
)
def test_the_sentence_of_the_source_that_shares_most_words_is_quoted(
    answer: str, quoted: list[list[str]]
) -> None:
    verification = verify(answer, [*GIVEN, NOON], 5)
    assert quotes(verification) == quoted
    places = dict.fromkeys(quote for sentence in quoted for quote in sentence)
    assert [citation.quote for citation in verification.citations] == list(places)


def test_the_quote_comes_from_the_passage_of_the_page_that_fits_best() -> None:
    half = TEXT.index("Roses")
    sources = [passage(TEXT, 0, half), passage(TEXT, half, len(TEXT))]
    (citation,) = verify(f"White snow. {MARKER}", sources, 5).citations
    assert citation.passage == sources[1]
    assert citation.quote == TEXT[citation.start : citation.end] == "Snow is white."
    quoting = f'The sky is blue, and "Snow is white" in 1932. {MARKER}'
    assert verify(quoting, sources, 5).warnings == ()


def test_every_citation_of_a_sentence_is_one_of_the_answer() -> None:
    text = "As we held, The tenant pays rent. The landlord repairs."
    start = text.index("The tenant")
    overlapping = [passage(text, 0, text.index(" The land")), passage(text, start, len(text))]
    answer = f"The tenant pays rent. {MARKER} Rent the tenant pays. {MARKER}"
    verification = verify(answer, overlapping, 5)
    cited = [citation for sentence in verification.sentences for citation in sentence.citations]
    assert [citation.quote for citation in cited] == ["The tenant pays rent."] * 2
    assert all(citation in verification.citations for citation in cited)


@pytest.mark.parametrize("document", sample_documents(), ids=lambda document: document.id)
def test_every_bundled_sentence_verifies_against_its_own_passage(document: Document) -> None:
    for span in passage_spans(document, Chunking(), None):
        source = passage(document.text, *span, document=document.id)
        for start, end in sentences(source.text):
            sentence = source.text[start:end]
            verification = verify(f"{sentence} {source.marker}\n", [source], 1)
            assert (verification.errors, verification.warnings) == ((), ())
            (citation,) = verification.citations
            assert citation.quote == document.text[citation.start : citation.end] == sentence


# errors


def not_retrieved(sentence: int, marker: str) -> str:
    return f"Sentence {sentence} cites {marker}, which was not retrieved."


LONG = "x" * 250


@pytest.mark.parametrize(
    ("answer", "errors"),
    [
        ("", ["The answer holds no sentence."]),
        (" \n", ["The answer holds no sentence."]),
        (MARKER, ["The answer holds no sentence."]),
        ("The passages do not say why.", ["No sentence has a citation."]),
        (f"Grass is green. The sky is blue. {MARKER}", ["Sentence 1 has no citation."]),
        (f"The sky {MARKER} is blue. {MARKER}", [f"Sentence 1 cites {MARKER} more than once."]),
        (f"The sky is blue. [uk.other p1] {MARKER}", [not_retrieved(1, "[uk.other p1]")]),
        (
            f"The sky [{LONG} p1] is [p1932, {LONG}] blue. [{LONG} p1] {MARKER}",
            [
                f"Sentence 1 writes [p1932, {LONG[:72]}…, which is not a citation token.",
                not_retrieved(1, f"[{LONG[:79]}…"),
                f"Sentence 1 cites [{LONG[:79]}… more than once.",
            ],
        ),
        *(
            (f"The sky is blue. {marker}", [not_retrieved(1, marker)])
            for marker in (
                *["[uk.other p1]", "[uk.case p2]", "[uk.case p01]", "[us.case p1]"],
                *["[uk.case s10]", "[uk.case s10(1)(a)]", "[uk.case sch1para3]"],
            )
        ),
    ],
)
def test_a_faulty_answer_is_told_what_is_wrong(answer: str, errors: list[str]) -> None:
    verification = check(answer)
    assert list(verification.errors) == errors
    assert not verification.valid


def test_an_invented_token_before_the_first_sentence_is_an_error() -> None:
    verification = check(f"[uk.other p1] The sky is blue. {MARKER}")
    assert any("[uk.other p1]" in error for error in verification.errors)


def test_findings_stand_on_their_sentence_without_its_number() -> None:
    first, second = check(f"Grass is green. {MARKER} In 1933 it rained. [uk.no p1]").sentences
    assert (first.errors, first.warnings) == ((), ())
    assert second.errors == ("cites [uk.no p1], which was not retrieved.",)


def test_groundedness_is_the_share_of_sentences_with_a_valid_citation() -> None:
    verification = check(f"Grass is green. {MARKER} The sky is blue. [uk.no p1] Snow is white.")
    assert [sentence.grounded for sentence in verification.sentences] == [True, False, False]
    assert verification.sentence_groundedness == 1 / 3
    assert (len(verification.errors), verification.answer_grounded) == (2, False)
    assert check("").sentence_groundedness == 0.0


def test_places_beyond_the_citation_limit_are_an_error_and_each_counts_once() -> None:
    answer = f"Grass is green. {MARKER} The sky is blue. {MARKER} Snow is white. {MARKER}"
    assert check(answer, citation_limit=3).valid
    assert check(answer, citation_limit=2).errors == (
        "Sentence 3 brings the citations to 3, more than 2.",
    )
    assert check(f"The sky is blue. {MARKER} Blue sky. {MARKER}", citation_limit=1).valid


# what passes for a citation token and is none


@pytest.mark.parametrize("marker", ["[1]", "(uk.case p1)", "[uk.case]", "[uk.case p1; uk.case p2]"])
def test_what_is_no_token_is_no_citation(marker: str) -> None:
    assert "Sentence 1 has no citation." in check(f"The sky is blue {marker}.").errors


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
def test_a_forged_token_is_named_as_an_error(fake: str) -> None:
    verification = check(f"The sky is blue. {MARKER} Snow {fake} is white. {MARKER}")
    assert verification.errors == (f"Sentence 2 writes {fake}, which is not a citation token.",)


@pytest.mark.parametrize(
    "fake", ["[uk.case p1-2]", "[uk.case  p1]", "[uk.case p. 7]", "[Harley p12]"]
)
def test_what_only_looks_like_a_token_makes_an_answer_invalid(fake: str) -> None:
    assert not check(f"The sky is blue {fake} {MARKER}.").valid


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


@pytest.mark.parametrize(
    "reference",
    [
        *["[45]", "(Marbury p12)", "(Smith: p3)", "[Harley p. 12]", "[p1]", "【4:0†source】"],
        *["(uk.case)", "[uk.case]", "(uk.case, p. 1)", "uk.no p9", "[1, 2]", "[uk.case p1-2]"],
    ],
)
def test_a_reference_of_the_source_is_no_forgery_among_the_same_words(reference: str) -> None:
    text = f"A duty {reference} is absolute as we held."
    source = [passage(text, 0, len(text))]
    same = verify(f"{text} {MARKER}", source, 5)
    assert (same.errors, quotes(same)) == ((), [[text]])
    changed = verify(f"An absolute duty {reference} is held. {MARKER}", source, 5)
    assert changed.errors == (f"Sentence 1 writes {reference}, which is not a citation token.",)


def test_a_whole_token_in_the_source_cites_what_it_names() -> None:
    text = "A duty [us.act p2] is absolute."
    verification = verify(f"{text} {MARKER}", [passage(text, 0, len(text))], 5)
    assert verification.errors == (not_retrieved(1, "[us.act p2]"),)


# sentences that need no citation


@pytest.mark.parametrize(
    "caveat", ["The passages do not say why.", "The passages do not mention Jones."]
)
def test_a_caveat_needs_no_citation_and_counts_as_ungrounded(caveat: str) -> None:
    verification = check(f"The sky is blue. {MARKER} {caveat}")
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


@pytest.mark.parametrize("heading", ["## Blue sky", "**White snow**", "The passages name these:"])
def test_a_heading_needs_no_citation(heading: str) -> None:
    verification = check(f"{heading}\n\n- The sky is blue {MARKER}.\n- Snow is white {MARKER}.")
    assert verification.errors == ()
    assert [sentence.grounded for sentence in verification.sentences] == [False, True, True]
    assert quotes(verification) == [[], BLUE, SNOW]


@pytest.mark.parametrize(
    "claim",
    [
        *["**The king was killed.**", "# The king was killed!", "**Smith painted roses in 1932**"],
        *["# The sky is red after all, says Jones", "Smith murdered snow and the sky hid it:"],
        *["# Roses are red in 1933", "# The sky is not blue", "**Snow isn't white**"],
    ],
)
def test_a_claim_in_the_form_of_a_heading_needs_a_citation(claim: str) -> None:
    assert "Sentence 1 has no citation." in check(f"{claim}\nThe sky is blue. {MARKER}").errors


# warnings: numbers, quotations, words and superseded sources

SOURCE = (
    "The Court held: “A tenant’s duty to re-\npair is a well-known, ancient duty” — the fee was "
    "£1,500.50 in 1914-18, or 3 million for twenty-one ofﬁcers; 2 000 came on the 5th."
)


def against_source(answer: str) -> Verification:
    return verify(f"{answer} {MARKER}", [passage(SOURCE, 0, len(SOURCE))], 5)


@pytest.mark.parametrize(
    "answer",
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
def test_typography_makes_no_difference_to_quotes_and_numbers(answer: str) -> None:
    assert against_source(answer).warnings == ()


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ('The duty is "well-known modern duty".', ["quotes “well-known modern duty”"]),
        ("The duty is ‘a duty of landlords’.", ["quotes “a duty of landlords”"]),
        ('It is "ancient … well-known".', ["quotes “ancient … well-known”"]),
        ("The fee was 1,501.", ["says 1,501"]),
        ("The duty held 4 million.", ["says 4"]),
        ("The fee was due in 1919.", ["says 1919"]),
        ("The fee was due in the 1920s.", ["says 1920"]),
        ("In 1933 all 12 tenants had a duty.", ["says 12", "says 1933"]),
        (f"The fee was {'9' * 500}.", [f"says {'9' * 80}…"]),
    ],
)
def test_quotes_and_numbers_that_no_cited_passage_holds_are_warnings(
    answer: str, missing: list[str]
) -> None:
    verification = against_source(answer)
    assert list(verification.warnings) == [
        f"Sentence 1 {each}, which is in no cited passage." for each in missing
    ]
    assert verification.valid


def test_sharing_no_word_with_the_source_is_a_warning() -> None:
    verification = check(f"Zebras gallop. {MARKER}")
    assert verification.warnings == ("Sentence 1 shares no word with what it cites.",)
    assert verification.valid


def test_citing_a_superseded_source_is_a_warning_once_that_names_what_took_its_place() -> None:
    old = replace(
        GIVEN[0],
        title="Old Act",
        metadata={"superseded_by": "new-act"},
        successors=(Successor("New Act 1993"),),
    )
    verification = verify(f"The sky is blue. {MARKER}", [old], 5)
    assert verification.warnings == (
        "Sentence 1 cites Old Act, which was superseded by New Act 1993.",
    )
    assert verification.valid
    new = replace(old, document_id=f"{old.corpus}.new-act", title="New Act", metadata={})
    verification = verify(f"The sky is blue. {MARKER} It is so. {MARKER}", [old, new], 5)
    (warning,) = [each for each in verification.warnings if "superseded" in each]
    assert warning == "Sentence 1 cites Old Act, which was superseded by New Act."


# any answer

PIECES = st.sampled_from(
    [
        *[MARKER, "[us.case p3]", "[us.case s10(1)]", "[us.case s1", "[uk.no p1]", "[uk.case p1"],
        *["p1]", "[", "]", "(", ")", "【", "】", "([uk.case p1])", '"', "“", "”", "'"],
        *["The sky is blue", "Snow", "snow", "v", "No", "The passages do not say", "1,932"],
        *["\u0663", ".", "!", "…", ",", ";", ":", " ", "\n", "-\n", "- ", "1. ", "## ", "**"],
        *["*", "\u00a0", "\x0b", "\u3000", "。"],
    ]
)


@settings(max_examples=100)
@cases(
    st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join),
    st.text(max_size=80) | st.just(TEXT),
    st.integers(0, 3),
)
@example(f"The sky is blue. {MARKER}\n- ", TEXT, 0)
def test_any_quote_is_the_documents_text_and_only_tokens_of_given_passages_are_valid(
    answer: str, text: str, start: int
) -> None:
    document = f"{'x' * start}{text}"
    sources = [
        passage(document, start, len(document)),
        passage(TEXT, 3, 40, document="us.case", page=3),
    ]
    texts = {sources[0].marker: document, sources[1].marker: TEXT}
    verification = verify(answer, sources, 3)
    for citation in verification.citations:
        assert citation.quote == texts[citation.marker][citation.start : citation.end]
    if verification.sentences:
        written = {marker for marker in texts if marker in answer}
        assert {citation.marker for citation in verification.citations} == written
        assert verification.valid <= ("[uk.no p1]" not in answer)


@pytest.mark.thorough
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    [
        *["[", "(", "【", '"', "“a", "'a ", "a ", "a. ", "[a p1", "[ p1 ", "1. ", "1,", "-\n", " "],
        *[f"Snow. {MARKER} ", MARKER, f"({MARKER}", "Snow [1]. ", "the passages "],
        *["i'm sorry, but ", "9", "1 000 ", "…", "[a]", "while the passages ", "<", "{a ", "a.a"],
        *["a.b p", "a.b s1(", "a.b s1(1)", "(s1(1)", "a(1)", "**", "# ", "as an ai ", "\x0b"],
        *["the passages do not say, and ", "insert a ", "dazu steht "],
    ],
)
def test_long_garbage_is_read_to_its_end(unit: str) -> None:
    verification = check(unit * (100_000 // len(unit)))
    assert verification.valid == (unit == f"Snow. {MARKER} ")
