"""The lines, paragraphs and headings of printed pages."""

from io import BytesIO
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.pdf_pages import draft, pdf


def test_pages_begin_where_their_text_does(tmp_path):
    found = draft(tmp_path, pdf([["Page one."], ["Page two."], ["Page three."]]))
    assert found.text == "Page one.\n\nPage two.\n\nPage three."
    assert found.pages == (0, 11, 22)
    assert found.text[found.pages[1] :].startswith("Page two.")


def test_lines_stay_as_printed_and_gaps_part_paragraphs(tmp_path):
    found = draft(tmp_path, pdf([["A harbour", "shelters ships.", "", "A mole", "breaks waves."]]))
    assert found.text == "A harbour\nshelters ships.\n\nA mole\nbreaks waves."


def test_lines_of_one_distance_throughout_are_one_paragraph(tmp_path):
    found = draft(tmp_path, pdf([["one", "", "two", "", "three"]]))
    assert found.text == "one\ntwo\nthree"


def test_the_lines_of_a_paragraph_become_one_and_short_lines_stay(tmp_path: Path) -> None:
    lines = [
        "THE HARBOUR",
        "A harbour shelters ships from the open",
        "sea, and from the wind.",
        "1. The mole breaks the waves of the sea.",
        "2. The quay is where ships are unloaded.",
    ]
    assert draft(tmp_path, pdf([lines])).text == (
        "THE HARBOUR\nA harbour shelters ships from the open sea, and from the wind.\n"
        "1. The mole breaks the waves of the sea.\n2. The quay is where ships are unloaded."
    )


def test_heads_and_feet_that_run_on_are_read_once(tmp_path: Path) -> None:
    bodies = ["Ships came in the spring and", "went again with the autumn.", "Nobody wrote of it."]
    pages = [
        ["Harbour Board", "", "", body, "", "", f"- {number} -"]
        for number, body in enumerate(bodies, start=7)
    ]
    found = draft(tmp_path, pdf(pages))
    assert found.text == (
        "Harbour Board\nShips came in the spring and\nwent again with the autumn.\n\n"
        "Nobody wrote of it."
    )
    assert [found.text[start:][:5] for start in found.pages] == ["Harbo", "went ", "Nobod"]


@pytest.mark.parametrize(("first", "kept"), [(1, False), (5, True)])
def test_numbers_that_count_the_lines_of_a_pleading_are_left_out(
    tmp_path: Path, first: int, kept: bool
) -> None:
    canvas = Canvas(stream := BytesIO())
    for line in range(25):
        canvas.drawString(60, 700 - 24 * line, str(first + line))
    canvas.drawString(90, 700, "The court sat.")
    canvas.drawString(300, 80, "1")
    canvas.save()
    text = draft(tmp_path, stream.getvalue()).text
    assert ("20" in text.split()) is kept
    assert {"sat.", "1"} <= set(text.split())


def test_a_superscript_does_not_part_paragraphs(tmp_path):
    canvas = Canvas(stream := BytesIO())
    canvas.drawString(72, 700, "The lights of the harbour were moved,")
    canvas.drawString(72, 686, "as the pilots had asked")
    canvas.drawString(72, 672, "for years.")
    canvas.setFont("Helvetica", 7)
    canvas.drawString(60, 690, "1")
    canvas.save()
    assert "\n\n" not in draft(tmp_path, stream.getvalue()).text


def test_a_hyphen_before_a_capital_stays(tmp_path):
    found = draft(tmp_path, pdf([["An X-", "Ray of ANGLO-", "SAXON law by Mr Smith-", "Jones."]]))
    assert found.text == "An X-Ray of ANGLOSAXON law by Mr Smith-Jones."


def test_a_hyphen_stays_that_the_document_writes_elsewhere(tmp_path):
    found = draft(tmp_path, pdf([["A well-", "known case."], ["It is well-known."]]))
    assert found.text == "A well-known case.\n\nIt is well-known."


def test_a_hyphen_at_the_end_of_a_page_stays(tmp_path):
    assert draft(tmp_path, pdf([["A consti-"], ["tution."]])).text == "A consti-\ntution."


def test_sections_begin_at_the_line_that_has_the_bookmark_and_are_named_as_it_is(tmp_path):
    pages = [["Preface", "x"], ["1 Harbours", "Text.", "1.1 Lights", "More.", "2.Tides", "End."]]
    outline = [("Harbours", 1, 0), ("Lights", 1, 1), ("2. Tides", 1, 0)]
    found = draft(tmp_path, pdf(pages, outline))
    assert [(found.text[s.start :].split("\n")[0], s.section) for s in found.segments] == [
        ("1 Harbours", "1 Harbours"),
        ("1.1 Lights", "1 Harbours > 1.1 Lights"),
        ("2.Tides", "2.Tides"),
    ]


def test_a_line_that_begins_with_the_bookmark_is_its_heading(tmp_path: Path) -> None:
    page = ["Article 12. Of tides.", "", "", "Text of two", "short lines.", "", ""]
    page += [
        "Article 1 bis. Of buoys.",
        "",
        "",
        "Article 1. Of lamps.",
        "",
        "",
        "The end",
        "of it.",
    ]
    found = draft(tmp_path, pdf([page], [("Article 1", 0, 0)]))
    (segment,) = found.segments
    assert segment.section == "Article 1. Of lamps."
    assert found.text[segment.start :].startswith("Article 1. Of lamps.")


def test_prose_that_begins_with_the_bookmark_does_not_name_the_section(tmp_path: Path) -> None:
    page = ["Text of two", "short lines.", "", "", "Harbours: they shelter ships from the sea, and"]
    page += ["from the wind, and from whoever", "comes.", "", "", "The end", "of it."]
    found = draft(tmp_path, pdf([page], [("Harbours", 0, 0)]))
    (segment,) = found.segments
    assert (found.text[segment.start :][:9], segment.section) == ("Harbours:", "Harbours")


def test_a_heading_below_a_short_paragraph_is_a_paragraph_of_its_own(tmp_path: Path) -> None:
    lines = [
        "Article 5.",
        "The harbour belongs to the town of Northport.",
        "Article 6.",
        "",
        "",
        "Ships that come by night wait for a pilot at the mole, unless the harbour master",
        "has told them otherwise by lamp, and pay for him as the board has laid down in its",
        "rules, which the master keeps, and which he shows to whoever asks for them by day,",
        "on the quay.",
    ]
    text = draft(tmp_path, pdf([lines])).text
    assert text.startswith(
        "Article 5.\n\nThe harbour belongs to the town of Northport.\n\nArticle 6.\n\nShips"
    )
    assert text.count("\n") == 6


def test_a_section_whose_title_is_on_no_line_begins_with_its_page(tmp_path):
    found = draft(tmp_path, pdf([["Preface."], ["Of harbours."]], [("Harbours", 1, 0)]))
    assert [(s.start, s.section) for s in found.segments] == [(found.pages[1], "Harbours")]


def placed(*lines: tuple[float, float, str]) -> bytes:
    """One page of lines, each at its left end and height."""
    canvas = Canvas(stream := BytesIO(), pageCompression=0)
    for left, height, text in lines:
        canvas.drawString(left, height, text)
    canvas.save()
    return stream.getvalue()


def below(lines: list[tuple[float, str]], top: float = 700) -> list[tuple[float, float, str]]:
    """Lines 14 points apart, each with its left end."""
    return [(left, top - 14 * number, text) for number, (left, text) in enumerate(lines)]


def test_a_speech_begins_a_paragraph(tmp_path: Path) -> None:
    lines = [
        "Hon. Speaker: I am told that you hold a brief for the Chairman.",
        "Hon. (Dr) Ann Hay (Northport, AB): Yes, Hon. Speaker, I beg to.",
        "The Bill is on the harbours of the north and on their upkeep as",
        "well. I am told of one more matter by the Minister. It is this.",
        "Hon. Members: Yes.",
    ]
    assert draft(tmp_path, pdf([lines])).text.split("\n\n") == [
        lines[0],
        " ".join(lines[1:4]),
        lines[4],
    ]


def test_a_line_that_stands_further_in_begins_a_paragraph(tmp_path: Path) -> None:
    lines = [
        (84, "The harbour of Northport belongs to the"),
        (72, "town, which keeps its moles and its quays, as"),
        (72, "the charter says, in good order for all ships."),
        (84, "Ships that come by night wait for a pilot"),
        (72, "at the mole."),
        (84, "No ship sails unlit."),
        (84, "The master of the harbour keeps the book"),
        (72, "of lamps, and shows it to whoever asks."),
    ]
    assert draft(tmp_path, placed(*below(lines))).text.split("\n\n") == [
        "The harbour of Northport belongs to the town, which keeps its moles and its quays, as the "
        "charter says, in good order for all ships.",
        "Ships that come by night wait for a pilot at the mole.",
        "No ship sails unlit.",
        "The master of the harbour keeps the book of lamps, and shows it to whoever asks.",
    ]


def test_a_line_that_stands_further_in_below_the_first_of_its_entry_goes_on(tmp_path: Path) -> None:
    lines = [
        (72, "Anders, B., The lamps of Northport and of the"),
        (90, "Southern Moles, with plans and drawings, Hill"),
        (72, "Brand, C., On tides and on the men who took to"),
        (90, "Measuring them by hand, from 1790 to the days"),
        (72, "Carver, D., Of buoys, bells and other signs for"),
        (90, "Pilots, a report to the board, second edition"),
    ]
    assert "\n\n" not in draft(tmp_path, placed(*below(lines))).text


def test_centred_lines_begin_no_paragraphs(tmp_path: Path) -> None:
    widths = [30, 34, 38, 33, 29, 36, 31, 35, 28, 37]
    lines = [(300 - 2.75 * width, "A" + "n" * (width - 1)) for width in widths]
    assert "\n\n" not in draft(tmp_path, placed(*below(lines))).text


@pytest.mark.parametrize(
    "heading", ["1. Introduction", "2.1 Of lamps", "II. THE LAW", "Article 5", "Section 12 - Lamps"]
)
def test_a_numbered_heading_is_a_paragraph_of_its_own(tmp_path: Path, heading: str) -> None:
    lines = ["The harbour belongs to the town, which keeps its moles and quays.", heading]
    lines += ["Ships that come by night wait for a pilot at the mole, as the town says."]
    assert draft(tmp_path, pdf([lines])).text == "\n\n".join(lines)


@pytest.mark.parametrize(
    "lines",
    [
        [
            "The master has three books, which he keeps in order:",
            "1. Lamps",
            "2. Tides",
            "3. Buoys",
        ],
        [
            "The board may close the harbour, as it is told to by the words of",
            "Article 5.",
            "It may",
        ],
        ["The master keeps his books in order, by day and by night:", "4. Admitted.", "5. Denied."],
    ],
)
def test_a_list_and_the_end_of_a_sentence_are_no_headings(tmp_path: Path, lines: list[str]) -> None:
    assert "\n\n" not in draft(tmp_path, pdf([lines])).text


def test_each_part_of_a_paragraph_is_as_wide_as_its_column(tmp_path: Path) -> None:
    left = [
        "The harbour of Northport belongs",
        "to the town, which keeps its moles",
        "and its quays",
    ]
    right = ["in good order. Ships that come in", "by night wait for a pilot at the", "mole."]
    page = below([(72, text) for text in left]) + below([(330, text) for text in right])
    assert draft(tmp_path, placed(*page)).text == " ".join([*left[:2], "and its quays\nin"]) + (
        " good order. Ships that come in by night wait for a pilot at the mole."
    )


@pytest.mark.parametrize(("left", "counted"), [(40.0, True), (520.0, True), (76.0, False)])
@pytest.mark.parametrize("at_once", [True, False])
def test_numbers_that_count_every_fifth_line_are_left_out(
    tmp_path: Path, left: float, counted: bool, at_once: bool
) -> None:
    """Whether they are drawn with their lines or after them, they are no text outside of it."""
    canvas = Canvas(stream := BytesIO())
    numbers = []
    for page in range(2):
        for line in range(1, 18 if page == 0 else 7):
            height = 700 - 16 * line
            canvas.drawString(72, height, "the board may close the harbour, and open it by day")
            numbers.append((height, line) if line % 5 == 0 else (height, 0))
            if at_once and line % 5 == 0:
                canvas.drawString(left, height, str(line))
        for height, line in numbers if not at_once else []:
            if line:
                canvas.drawString(left, height, str(line))
        numbers.clear()
        canvas.showPage()
    canvas.save()
    text = draft(tmp_path, stream.getvalue()).text
    assert any(character.isdecimal() for character in text) is not counted


def test_a_table_that_counts_by_fives_keeps_its_numbers(tmp_path: Path) -> None:
    words = "metres of chain for a ship of this length"
    cells = [((72, str(5 * row)), (140, words)) for row in range(1, 7)]
    rows = [(at, 700 - 14 * row, text) for row, pair in enumerate(cells) for at, text in pair]
    text = draft(tmp_path, placed(*rows)).text
    assert {"5", "15", "30"} <= set(text.split())


@pytest.mark.parametrize("at", [72, 300])
def test_a_table_with_five_rows_below_each_age_keeps_its_numbers(tmp_path: Path, at: float) -> None:
    rows: list[tuple[float, str]] = []
    for _ in range(6):
        words = ["years of age, and how many", "men", "women", "boys", "girls"]
        rows += [(110.0, word) for word in words]
    lines = below(rows)
    ages = [
        (at, height, str(5 * (n // 5 + 1))) for n, (_, height, _) in enumerate(lines) if n % 5 == 0
    ]
    text = draft(tmp_path, placed(*sorted([*lines, *ages], key=lambda line: -line[1]))).text
    assert {"5", "15", "30"} <= set(text.split())


def test_a_note_of_the_number_five_keeps_it_beside_pages_with_numbered_lines(
    tmp_path: Path,
) -> None:
    words = "the board may close the harbour, and open it by day"
    canvas = Canvas(stream := BytesIO())
    for line in range(1, 18):
        canvas.drawString(72, 700 - 16 * line, words)
        if line % 5 == 0:
            canvas.drawString(40, 700 - 16 * line, str(line))
    canvas.showPage()
    for line in range(1, 18):
        canvas.drawString(72, 700 - 16 * line, words)
    canvas.drawString(40, 400, "5")
    canvas.drawString(72, 400, "See the Harbour Act.")
    canvas.save()
    read = draft(tmp_path, stream.getvalue()).text
    assert "10" not in read.split()
    assert "5 See the Harbour Act." in read
