"""Citations: every marker must name a given passage, and its quote stands in the document."""

from dataclasses import replace

import pytest
from hypothesis import given as cases
from hypothesis import settings
from hypothesis import strategies as st

from atlas_search.answer.check.citations import Verification, verify
from atlas_search.build.chunking import Chunking, passage_spans
from atlas_search.core.domain import Document, Passage
from atlas_search.language.text import sentences
from tests.conftest import sample_documents

DOCUMENTS = sample_documents()
TEXT = "A preface. Grass is green. The sky is blue. Roses are red in 1932. Snow is white."
MARKER = "[uk.case p1]"


def passage(
    text: str, start: int, end: int, *, document: str = "uk.case", page: int = 1
) -> Passage:
    """The passage of `text` from `start` to `end`."""
    return Passage(
        row=start,
        id=f"{document}:{start}-{end}",
        document_id=document,
        corpus="uk",
        title="Case",
        text=text[start:end],
        start=start,
        end=end,
        page=page,
        line=1,
        section="",
        speaker="",
        date="",
        url="",
        metadata={},
    )


GIVEN = [passage(TEXT, len("A preface. "), len(TEXT))]


def check(answer: str, citation_limit: int = 5) -> Verification:
    return verify(answer, GIVEN, citation_limit)


def quotes(verification: Verification) -> list[list[str]]:
    """The quotes of each sentence."""
    return [[c.quote for c in sentence.citations] for sentence in verification.sentences]


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
        *["[uk.case p1, us.case p3]", "[uk.case P1]", "[uk.case#p1]", "[uk.case p1"],
        *[
            "{uk.no p9}",
            "<us.case p1>",
            "⟦uk.case⟧",
            "〔1〕",
            "｛1｝",
            "<2>",
            "《uk.case》",
            "⟨no p1⟩",
        ],
        *["uk.no p9", "uk.case p1", "uk_act, p. 2"],
    ],
)
def test_what_passes_for_a_citation_is_named_as_an_error(fake: str) -> None:
    verification = check(f"The sky is blue. {MARKER} Snow {fake} is white. {MARKER}")
    assert verification.errors == (f"Sentence 2 writes {fake}, which is not a citation token.",)


@pytest.mark.parametrize(
    "aside",
    [
        *["[sic]", "(the sky)", "[2004] UKHL 56", "(1932)", "(s 59(1))", "[a]s ever", "(Case 3)"],
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
    *[
        "(Marbury p12)",
        "(see Marbury, p3)",
        "(Smith: p3)",
        "[Harley p. 12]",
        "[p1]",
        "【4:0†source】",
    ],
    *[
        "(uk.case)",
        "[uk.case]",
        "(uk.case, p. 1)",
        "{uk.no p9}",
        "uk.no p9",
        "[1, 2]",
        "[uk.case p1-2]",
    ],
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
    )
    assert forged.warnings == (f"Sentence 1 cites [{name[:79]}… more than once.",)


def test_a_number_without_end_is_cut_in_what_is_said_of_it() -> None:
    assert check(f"The sky is {'9' * 500}. {MARKER}").warnings == (
        f"Sentence 1 says {'9' * 80}…, which is in no cited passage.",
    )


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


@pytest.mark.parametrize(
    "answer",
    [
        f"1. The sky is blue {MARKER}.\n2. Snow is white {MARKER}.",
        f"1. The sky is blue {MARKER}. 2. Snow is white {MARKER}.",
        f"* The sky is blue. {MARKER}\n* Snow is white. {MARKER}",
        f"The sky is blue ({MARKER}). Snow is white ({MARKER}).",
        f"**The sky is blue.** {MARKER} **Snow is white.** {MARKER}",
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


def test_a_token_given_twice_in_a_sentence_is_a_warning() -> None:
    verification = check(f"The sky {MARKER} is blue. {MARKER}")
    assert verification.warnings == (f"Sentence 1 cites {MARKER} more than once.",)
    assert verification.valid


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


PIECES = st.sampled_from(
    [
        *[
            MARKER,
            "[us.case p3]",
            "[uk.no p1]",
            "[uk.case p1",
            "p1]",
            "[",
            "]",
            "(",
            ")",
            "【",
            "】",
        ],
        *[
            "The sky is blue",
            "Snow",
            "snow",
            "v",
            "No",
            "The passages do not say",
            "1,932",
            "\u0663",
        ],
        *[
            ".",
            "!",
            "…",
            ",",
            ";",
            ":",
            " ",
            "\n",
            "-\n",
            "- ",
            "1. ",
            "## ",
            "**",
            *["*", "\u00a0", "\x0b", "\u3000", "。", "([uk.case p1])"],
            '"',
            "“",
            "”",
            "'",
        ],
    ]
)
ANSWERS = st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join)
TEXTS = st.text(max_size=80) | st.just(TEXT)


@settings(max_examples=300, deadline=None)
@cases(ANSWERS, TEXTS, st.integers(0, 3))
def test_any_quote_is_the_documents_text_and_only_markers_of_given_passages_are_valid(
    answer: str, text: str, start: int
) -> None:
    document = f"{'x' * start}{text}"
    given = [
        passage(document, start, len(document)),
        passage(TEXT, 3, 40, document="us.case", page=3),
    ]
    texts = {given[0].marker: document, given[1].marker: TEXT}
    verification = verify(answer, given, 3)
    for citation in verification.citations:
        assert citation.quote == texts[citation.marker][citation.start : citation.end]
    if verification.sentences:
        written = {marker for marker in texts if marker in answer}
        assert {citation.marker for citation in verification.citations} == written
        assert verification.valid <= ("[uk.no p1]" not in answer)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    [
        *["[", "(", "【", '"', "“a", "'a ", "a ", "a. ", "[a p1", "[ p1 ", "1. ", "1,", "-\n", " "],
        *[
            f"Snow. {MARKER} ",
            MARKER,
            f"({MARKER}",
            "Snow [1]. ",
            "the passages ",
            "i'm sorry, but ",
        ],
        *["9", "1 000 ", "…", "[a]", "while the passages ", "<", "{a ", "a.a", "a.b p", "**", "# "],
        *["as an ai ", "\x0b", "the passages do not say, and ", "insert a ", "dazu steht "],
    ],
)
def test_long_garbage_is_read_to_its_end(unit: str) -> None:
    verification = check(unit * (100_000 // len(unit)))
    assert verification.valid == (unit == f"Snow. {MARKER} ")
