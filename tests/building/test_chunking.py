"""Where each splitter cuts, which sizes it takes, and the place of a passage in its document."""

import re

import pytest

from atlas_search.building.chunking import (
    Chunking,
    Position,
    Splitter,
    Unit,
    chunking,
    is_title,
    passage_spans,
    positions,
)
from atlas_search.core.domain import Document, Located, Segment
from atlas_search.core.errors import SourceError
from atlas_search.language.text import TextSpan, sentences
from tests.cuts import document, pieces, token_spans

ABOVE, BELOW = "above " * 5 + "end", "below " * 5 + "end"
FIRST, SECOND = "one " * 9 + "end", "two " * 9 + "end"
A, B, C, D = (f"{letter * 18}. " for letter in "ABCD")  # 20 characters with the blank
AGREED = [f"{judge} agreed. Nobody dissented." for judge in ("Ash", "Birch", "Cole")]
NUMBERED = [f"Judge {name} said that No. 45 applies." for name in ("Ash", "Birch", "Cole")]
NUMBERS = " ".join(f"no{n:02}" for n in range(25))  # 4 characters each, 5 with the blank
ALPHABET = "".join(chr(ord("a") + n % 26) for n in range(130))
LATE = "short " * 6 + "x" * 60  # the last blank is at 35, the last fifth begins at 40
LINE = "This line has forty characters in all, a"
QUAYS = [f"Who paid for quay {number} of the harbour?" for number in range(6)]
VERY_LONG = "The court agrees. Nobody dissented. " * 500

CUTS: dict[str, tuple[str, int, int, Splitter, list[str]]] = {
    "a text that fits is one span": (
        "a" * 20 + "\n\n" + "b" * 28,
        *(20 + 2 + 28, 0, "recursive"),
        ["a" * 20 + "\n\n" + "b" * 28],
    ),
    "paragraphs that fit are whole": (
        f"{FIRST}\n\n{SECOND}\n \nthree",
        *(50, 0, "recursive"),
        [FIRST, f"{SECOND}\n \nthree"],
    ),
    "a heading stays with what is below": (
        f"{ABOVE}\n\n## Facts\n\n{BELOW}",
        *(50, 0, "recursive"),
        [ABOVE, f"## Facts\n\n{BELOW}"],
    ),
    "so does one in capitals": (
        f"{ABOVE}\n\nTHE FACTS\n\n{BELOW}",
        *(50, 0, "recursive"),
        [ABOVE, f"THE FACTS\n\n{BELOW}"],
    ),
    # a sentence more would fit
    "lines are whole in a paragraph too long": ("\n".join(AGREED), 50, 0, "recursive", AGREED),
    "sentences that fit are whole": (" ".join(NUMBERED), 50, 0, "recursive", NUMBERED),
    "a sentence too long is cut between words": (
        "abcd " * 20,
        *(50, 0, "recursive"),
        [("abcd " * 10).strip()] * 2,
    ),
    "whole sentences are repeated": (
        A + B + C + D,
        *(60, 20, "recursive"),
        [(A + B + C).strip(), (C + D).strip()],
    ),
    "no sentence is repeated in part": (
        A + B + C + D,
        *(60, 18, "recursive"),
        [(A + B + C).strip(), D.strip()],
    ),
    "only the last sentence of a paragraph leads in": (
        "The council met at noon. It was asked who paid. Who paid for it?\n\n"
        "The council paid for it.",
        *(65, 0, "recursive"),
        [
            "The council met at noon. It was asked who paid.",
            "Who paid for it?\n\nThe council paid for it.",
        ],
    ),
    "a question takes the first sentence of a long answer": (
        "He was asked at noon about money.\n\nWho paid for it?\n\n"
        "The council did. Nobody else had a shilling. Nobody else had a shilling.",
        *(60, 0, "recursive"),
        [
            "He was asked at noon about money.",
            "Who paid for it?\n\nThe council did.",
            "Nobody else had a shilling. Nobody else had a shilling.",
        ],
    ),
    "a list of questions is cut where it is full": (
        "\n\n".join(QUAYS),
        *(90, 0, "recursive"),
        ["\n\n".join(QUAYS[at : at + 2]) for at in (0, 2, 4)],
    ),
    "a character with more marks than fit is cut": (
        "e" + "\u0301" * 99,
        *(50, 0, "recursive"),
        ["e" + "\u0301" * 49, "\u0301" * 50],
    ),
    "windows overlap by what was chosen": (
        ALPHABET,
        *(50, 10, "fixed"),
        [ALPHABET[0:50], ALPHABET[40:90], ALPHABET[80:130]],
    ),
    "a window begins and ends between words": (
        NUMBERS,
        *(52, 12, "fixed"),
        [NUMBERS[0:49], NUMBERS[40:89], NUMBERS[80:]],
    ),
    "a window is cut hard if no word ends in its last fifth": (
        LATE,
        *(50, 0, "fixed"),
        [LATE[0:50], LATE[50:]],
    ),
    "each paragraph is a passage": (
        "One.\n\nTHE FACTS\n\nTwo.\nThree.\n\nFour.",
        *(50, 0, "paragraph"),
        ["One.", "THE FACTS\n\nTwo.\nThree.", "Four."],
    ),
    "a paragraph too long is cut along its lines": (
        f"One.\n\n{LINE}\n{LINE}\n\nFour.",
        *(50, 0, "paragraph"),
        ["One.", LINE, LINE, "Four."],
    ),
    "each sentence is a passage": (
        "He cites No. 45. She agrees.\nSo ordered",
        *(50, 0, "sentence"),
        ["He cites No. 45.", "She agrees.", "So ordered"],
    ),
    "a sentence too long for a passage": (
        "Yes. " + "abcd " * 20,
        *(50, 0, "sentence"),
        ["Yes.", *[("abcd " * 10).strip()] * 2],
    ),
    "the sentences of a very long line": (
        VERY_LONG,
        *(50, 0, "sentence"),
        [VERY_LONG[start:end] for start, end in sentences(VERY_LONG[:35])] * 500,
    ),
}


@pytest.mark.parametrize("name", CUTS)
def test_a_text_is_cut(name: str) -> None:
    text, size, overlap, splitter, expected = CUTS[name]
    assert pieces(text, size, overlap, splitter) == expected


def test_a_word_too_long_is_cut_into_characters() -> None:
    lengths = [len(piece) for piece in pieces("x" * 5000, 400, 100)]
    assert lengths == [400] * 12 + [5000 - 12 * 400]


def test_a_repeated_text_gives_spans_at_different_places() -> None:
    line = "The appeal is dismissed with costs."  # 35 characters, 37 with the blank line
    spans = passage_spans(document(f"{line}\n\n" * 3), chunking(size=50, overlap=0), None)
    assert spans == [TextSpan(0, 35), TextSpan(37, 72), TextSpan(74, 109)]


@pytest.mark.parametrize("bar", ["", "| "])
def test_the_header_of_a_markdown_table_stays_with_its_first_row(bar: str) -> None:
    header = (
        f"{bar}Port | Depth of the outer basin\n{bar}:--- | ---:\n"
        f"{bar}Ostby | four metres at low water"
    )
    other = f"{bar}Northport | nine metres at low water"
    third = f"{bar}Vik | two metres at low water"
    text = f"The ports of the north:\n\n{header}\n{other}\n{third}"
    assert pieces(text, 90) == ["The ports of the north:", header, f"{other}\n{third}"]


@pytest.mark.parametrize(
    ("before", "lead", "after"),
    [
        ("He was asked at noon.", "Who paid for it?", "The council paid."),
        ("def open_port():\n    pass", "def close_port():", "    harbour.shut()"),
        ("Nothing is owed until May.", "In this Act—", "port means a harbour"),
        ("Nothing is owed until May.", "The fees are:", "- four shillings"),
        ("Nothing is owed here until May.", "## Fees", "Four shillings."),
    ],
)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_lead_stays_with_what_it_leads_to(before: str, lead: str, after: str, gap: str) -> None:
    text = gap.join([before, lead, after])
    assert pieces(text, 50) == [before, f"{lead}{gap}{after}".strip()]


# sizes


@pytest.mark.parametrize(
    ("splitter", "unit", "size", "overlap"),
    [
        ("recursive", "characters", 1000, 100),
        ("structural", "characters", 1000, 100),
        ("paragraph", "characters", 1000, 0),
        ("fixed", "characters", 800, 120),
        ("recursive", "tokens", 200, 20),
        ("fixed", "tokens", 160, 24),
        ("whole", "characters", 0, 0),
    ],
)
def test_a_splitter_has_its_own_size(
    splitter: Splitter, unit: Unit, size: int, overlap: int
) -> None:
    assert chunking(splitter, unit=unit) == Chunking(splitter, size, overlap, unit)


def test_the_overlap_follows_the_size() -> None:
    assert chunking(size=150).overlap == 15


@pytest.mark.parametrize(
    ("splitter", "size", "overlap", "unit", "reason"),
    [
        ("recursive", 10, None, "characters", "--chunk-size 10: give 50 to 20000 characters."),
        ("fixed", 20_001, None, "characters", "--chunk-size 20001: give 50 to 20000 characters."),
        ("recursive", 15, None, "tokens", "--chunk-size 15: give 16 to 8192 tokens."),
        ("recursive", 100, 51, "characters", "--chunk-overlap 51: give 0 to half the chunk size"),
        ("sentence", 100, -1, "characters", "--chunk-overlap -1: give 0 to half the chunk size"),
        ("whole", 500, None, "characters", "--chunk-size 500: whole documents are not cut"),
        ("whole", None, 9, "characters", "--chunk-overlap 9: whole documents are not cut"),
    ],
)
def test_a_contradiction_names_the_option(
    splitter: Splitter, size: int | None, overlap: int | None, unit: Unit, reason: str
) -> None:
    with pytest.raises(SourceError, match=re.escape(reason)):
        chunking(splitter, size, overlap, unit)


def test_a_size_in_tokens_counts_what_the_model_reads() -> None:
    text = "I am a cat. " * 6  # five tokens each
    cut = chunking(size=16, overlap=0, unit="tokens")
    spans = passage_spans(document(text), cut, token_spans)
    assert [text[start:end] for start, end in spans] == [("I am a cat. " * 3).strip()] * 2
    with pytest.raises(ValueError, match="need the token spans of the model"):
        passage_spans(document(text), cut, None)


@pytest.mark.parametrize("splitter", ["recursive", "fixed"])
def test_a_word_of_one_token_is_still_cut_when_it_is_endless(splitter: Splitter) -> None:
    chosen = chunking(splitter, 16, 0, "tokens")
    spans = passage_spans(document("x" * 1000), chosen, lambda text: [(0, len(text))])
    # 20 characters a token
    assert [(s.start, s.end) for s in spans] == [(0, 320), (320, 640), (640, 960), (960, 1000)]


@pytest.mark.parametrize("splitter", ["recursive", "fixed"])
def test_one_character_of_many_tokens_is_a_passage(splitter: Splitter) -> None:
    chosen = chunking(splitter, 16, 8, "tokens")
    spans = passage_spans(document("﷽﷽"), chosen, lambda _: [(0, 1)] * 18 + [(1, 2)] * 18)
    assert spans == [TextSpan(0, 1), TextSpan(1, 2)]


# pages, sections and speakers


def test_sections_stay_apart_and_a_long_one_is_cut() -> None:
    source = document(
        "Before.\nOne.\nTwo.\n" + "Long. " * 10,
        (0,),
        Segment(8, "Part 1"),
        Segment(13, "Part 2"),
        Segment(18, "Part 3"),
    )
    spans = passage_spans(source, chunking("structural", 50, 0), None)
    assert [(s.start, s.end) for s in spans] == [(0, 7), (8, 12), (13, 17), (18, 65), (66, 77)]
    sections = [position.section for position in positions(source, spans)]
    assert sections == ["", "Part 1", "Part 2", "Part 3", "Part 3"]


def test_whole_sections_are_joined_across_sections() -> None:
    source = document("x" * 30 + " " + "y" * 15 + " " + "z" * 30, (0,), Segment(31), Segment(47))
    chosen = chunking("structural", 50, 0, across_sections=True)
    assert passage_spans(source, chosen, None) == [TextSpan(0, 46), TextSpan(47, 77)]


def test_a_whole_document_is_one_passage() -> None:
    source = document(" One.\n\n" + "x" * 30_000 + "\n", (0, 4, 90), Segment(10))
    assert passage_spans(source, chunking("whole"), None) == [TextSpan(1, 30_007)]


def test_a_passage_ends_with_its_page_unless_it_may_cross() -> None:
    source = document("One sentence\ngoes on.", (0, 13))
    assert passage_spans(source, chunking(), None) == [TextSpan(0, 12), TextSpan(13, 21)]
    assert passage_spans(source, chunking(across_pages=True), None) == [TextSpan(0, 21)]


def test_a_text_before_the_first_page_is_a_passage_on_the_first() -> None:
    source = document("text more", (5,))
    spans = passage_spans(source, chunking(), None)
    assert spans == [TextSpan(0, 4), TextSpan(5, 9)]
    assert positions(source, spans) == [Position(1, 1, "", ""), Position(1, 1, "", "")]


def test_a_passage_with_several_sections_names_where_each_begins() -> None:
    source = document("One. Two. Three.", (0,), Segment(0, "A"), Segment(5, "B", "", "s 2"))
    whole, first, last = positions(source, [TextSpan(0, 16), TextSpan(0, 4), TextSpan(5, 9)])
    assert whole.locators == (Located(0, "", "A"), Located(5, "s 2", "B"))
    assert (first.section, first.locators) == ("A", ())
    assert (last.section, last.locators) == ("B", (Located(0, "s 2"),))


# headings are context of the passages under them, not passages


def headed(text: str, *sections: tuple[str, ...], title: str = "") -> Document:
    """A document with sections (path and speaker) that begin at the text that each names."""
    segments, at = [], 0
    for start, *names in sections:
        at = text.index(start, at)
        segments.append(Segment(at, *names))
        at += 1
    return Document(
        *("id", "law", title, text, {}, "a.xml"), segments=tuple(segments), is_titled=bool(title)
    )


def sections_of(source: Document, splitter: Splitter = "recursive") -> list[tuple[str, str]]:
    """Section path and text of every passage."""
    spans = passage_spans(source, chunking(splitter), None)
    return [
        (at.section, source.text[span.start : span.end])
        for span, at in zip(spans, positions(source, spans), strict=True)
    ]


SPEECH = "Ms HERON: I move that the bill be read."
CLOSING = "The SPEAKER: The house is adjourned."
READING = "BILLS > Fishing Bill > Second Reading"
LAW = "# Law\n\n## One\n\nFirst.\n\n## Two\n\nSecond."
LAWS = (("# Law", "Law"), ("## One", "Law > One"), ("## Two", "Law > Two"))
PETITIONS = "PETITIONS\n\nPAPERS\n\nThe Clerk tabled a paper."
NOTICES = "A paper.\n\nNOTICES"
GUESSED = "The court may order costs. It seldom does.\nIt did once."

HEADINGS: dict[str, tuple[Document, Splitter, list[tuple[str, str]]]] = {
    "a speech": (
        headed(
            f"BILLS\n\nFishing Bill\n\nSecond Reading\n\n{SPEECH}\n\nADJOURNMENT\n\n{CLOSING}",
            ("BILLS", "BILLS"),
            ("Fishing", "BILLS > Fishing Bill"),
            ("Second", READING),
            ("Ms HERON", READING, "Heron"),
            ("ADJOURNMENT", "ADJOURNMENT"),
            ("The SPEAKER", "ADJOURNMENT", "Speaker"),
        ),
        "recursive",
        [(READING, SPEECH), ("ADJOURNMENT", CLOSING)],
    ),
    "inside a passage": (
        headed(LAW, *LAWS),
        "recursive",
        [("Law > One", "First.\n\n## Two\n\nSecond.")],
    ),
    "of each section": (
        headed(LAW, *LAWS),
        "structural",
        [("Law > One", "First."), ("Law > Two", "Second.")],
    ),
    "of each paragraph": (
        headed(LAW, *LAWS),
        "paragraph",
        [("Law > One", "First."), ("Law > Two", "Second.")],
    ),
    "one without text stays with the text after it": (
        headed(PETITIONS, ("PETITIONS", "PETITIONS"), ("PAPERS", "PAPERS")),
        "structural",
        [("PETITIONS", PETITIONS)],
    ),
    "one at the end stays with the text before it": (
        headed(NOTICES, ("A paper", "Papers"), ("NOTICES", "NOTICES")),
        "structural",
        [("Papers", NOTICES)],
    ),
    "nothing but headings": (
        headed("One\n\nTwo", ("One", "One"), ("Two", "Two")),
        "structural",
        [("One", "One"), ("Two", "Two")],
    ),
    "the title above the text": (
        headed("Privacy Act\n===========\n\nThis act binds.", title="Privacy Act"),
        "recursive",
        [("", "This act binds.")],
    ),
    "a guessed title is text": (headed(GUESSED), "recursive", [("", GUESSED)]),
    **{
        f"marks {marks}": (
            headed(f"{marks}\n\nTwelve boats came in.", (marks, "Boats")),
            "recursive",
            [("Boats", "Twelve boats came in.")],
        )
        for marks in ("## Boats ##", "**Boats**", "__Boats__")
    },
    "over two lines": (
        headed("Search and\nseizure\n\nNobody may search.", ("Search", "Search and seizure")),
        "recursive",
        [("Search and seizure", "Nobody may search.")],
    ),
    "one that comes twice is one each time": (
        headed(
            "Economy\n\nMr ASH: One.\n\nEconomy\n\nMr OAK: Two.",
            ("Economy", "Economy"),
            ("Mr ASH", "Economy", "Ash"),
            ("Economy", "Economy"),
            ("Mr OAK", "Economy", "Oak"),
        ),
        "recursive",
        [("Economy", "Mr ASH: One."), ("Economy", "Mr OAK: Two.")],
    ),
}


@pytest.mark.parametrize("name", HEADINGS)
def test_a_heading_is_no_passage(name: str) -> None:
    source, splitter, expected = HEADINGS[name]
    assert sections_of(source, splitter) == expected


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
