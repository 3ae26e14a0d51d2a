"""Headings are context of the passages under them, not passages."""

import pytest

from atlas_search.building.chunking import chunking, is_title, passage_spans, positions
from atlas_search.core.domain import Document, Segment


def document(text: str, *segments: Segment, title: str = "", is_titled: bool = False) -> Document:
    return Document(
        "id", "law", title, text, {}, "a.xml", segments=segments, is_titled=is_titled or bool(title)
    )


def pieces(found: Document, **options: str) -> list[tuple[str, str]]:
    """Section path and text of every passage."""
    spans = passage_spans(found, chunking(**options), None)
    placed = positions(found, spans)
    return [
        (at.section, found.text[span.start : span.end])
        for span, at in zip(spans, placed, strict=True)
    ]


DAY = """\
BILLS

Fishing Bill

Second Reading

Ms HERON: I move that the bill be read.

ADJOURNMENT

The SPEAKER: The house is adjourned."""


def segment(start: str, section: str, speaker: str = "") -> Segment:
    return Segment(DAY.index(start), section, speaker)


HANSARD = document(
    DAY,
    segment("BILLS", "BILLS"),
    segment("Fishing", "BILLS > Fishing Bill"),
    segment("Second", "BILLS > Fishing Bill > Second Reading"),
    segment("Ms HERON", "BILLS > Fishing Bill > Second Reading", "Heron"),
    segment("ADJOURNMENT", "ADJOURNMENT"),
    segment("The SPEAKER", "ADJOURNMENT", "Speaker"),
)


def test_a_speech_is_a_passage_and_its_headings_are_not() -> None:
    assert pieces(HANSARD) == [
        ("BILLS > Fishing Bill > Second Reading", "Ms HERON: I move that the bill be read."),
        ("ADJOURNMENT", "The SPEAKER: The house is adjourned."),
    ]


def test_headings_inside_a_passage_stay_in_its_text() -> None:
    text = "# Law\n\n## One\n\nFirst.\n\n## Two\n\nSecond."
    found = document(
        text,
        Segment(0, "Law"),
        Segment(text.index("## One"), "Law > One"),
        Segment(text.index("## Two"), "Law > Two"),
    )
    assert pieces(found) == [("Law > One", "First.\n\n## Two\n\nSecond.")]
    apart = [("Law > One", "First."), ("Law > Two", "Second.")]
    assert pieces(found, splitter="structural") == apart
    assert pieces(found, splitter="paragraph") == apart


def test_a_heading_without_text_under_it_stays_with_the_text_after_it() -> None:
    text = "PETITIONS\n\nPAPERS\n\nThe Clerk tabled a paper."
    found = document(text, Segment(0, "PETITIONS"), Segment(text.index("PAPERS"), "PAPERS"))
    assert pieces(found, splitter="structural") == [("PETITIONS", text)]


def test_a_heading_at_the_end_stays_with_the_text_before_it() -> None:
    text = "A paper.\n\nNOTICES"
    found = document(text, Segment(0, "Papers"), Segment(text.index("NOTICES"), "NOTICES"))
    assert pieces(found, splitter="structural") == [("Papers", text)]


def test_a_document_of_headings_alone_is_left_as_it_is() -> None:
    found = document("One\n\nTwo", Segment(0, "One"), Segment(5, "Two"))
    assert [text for _, text in pieces(found, splitter="structural")] == ["One", "Two"]


def test_the_title_above_the_text_is_a_heading_too() -> None:
    found = document("Privacy Act\n===========\n\nThis act binds.", title="Privacy Act")
    assert pieces(found) == [("", "This act binds.")]


def test_a_guessed_title_is_text() -> None:
    text = "The court may order costs. It seldom does.\nIt did once."
    found = document(text, is_titled=False)
    assert pieces(found) == [("", text)]


@pytest.mark.parametrize("heading", ["## Boats ##", "**Boats**", "__Boats__"])
def test_the_marks_of_a_heading_are_not_its_name(heading: str) -> None:
    text = f"{heading}\n\nTwelve boats came in."
    assert pieces(document(text, Segment(0, "Boats"))) == [("Boats", "Twelve boats came in.")]


def test_a_heading_over_two_lines_is_one() -> None:
    text = "Search and\nseizure\n\nNobody may search."
    found = document(text, Segment(0, "Search and seizure"))
    assert pieces(found) == [("Search and seizure", "Nobody may search.")]


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("Privacy Act\n\nThis act binds.", "Privacy Act", True),
        ("# Privacy Act\nThis act binds.", "Privacy Act", True),
        ("This act binds.\n\nAll of it.", "This act binds.", False),
        ("Privacy Act", "Privacy Act", False),
        ("A line that was cut in the middle of it\nand more", "A line that was…", False),
        ("A line that is\nwrapped by hand", "A line that is wrapped by hand", False),
        ("title: Privacy Act\n\nThis act binds.", "Privacy Act", True),
    ],
)
def test_a_first_line_is_a_title_if_it_stands_alone_and_ends_like_one(
    text: str, title: str, expected: bool
) -> None:
    assert is_title(title, text) is expected


def test_a_heading_that_comes_twice_is_one_each_time() -> None:
    text = "Economy\n\nMr ASH: One.\n\nEconomy\n\nMr OAK: Two."
    found = document(
        text,
        Segment(0, "Economy"),
        Segment(text.index("Mr ASH"), "Economy", "Ash"),
        Segment(text.index("Economy", 5), "Economy"),
        Segment(text.index("Mr OAK"), "Economy", "Oak"),
    )
    assert pieces(found) == [("Economy", "Mr ASH: One."), ("Economy", "Mr OAK: Two.")]
