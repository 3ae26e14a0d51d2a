"""The lines, paragraphs and headings of printed pages."""

from collections.abc import Callable, Iterable
from io import BytesIO
from itertools import pairwise

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from atlas_search.readers import Draft
from tests.pdf_pages import pdf
from tests.readers.conftest import Reads
from tests.readers.drafts import headings, only_draft

Read = Callable[[bytes], Draft]
Line = tuple[float, float, str]
"""A line of text with its left end and its height."""


@pytest.fixture
def draft(reads: Reads) -> Read:
    return lambda data: only_draft(reads(data, "paper.pdf"))


def drawing(*pages: Iterable[Line]) -> bytes:
    """Pages of lines, each at its place."""
    canvas = Canvas(stream := BytesIO(), pageCompression=0)
    for page in pages:
        for left, height, text in page:
            canvas.drawString(left, height, text)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def below(lines: list[tuple[float, str]], top: float = 700) -> list[Line]:
    """Lines 14 points apart, each with its left end."""
    return [(left, top - 14 * number, text) for number, (left, text) in enumerate(lines)]


@pytest.mark.parametrize(
    ("pages", "text"),
    [
        # pages begin where their text does, and a sentence may go on over the page
        (["Page one.", "Page two.", "Page three."], "Page one.\n\nPage two.\n\nPage three."),
        (["The pilot boards", "the ship.", "Then it enters."],
         "The pilot boards\nthe ship.\n\nThen it enters."),
        # lines stay as printed, and gaps part paragraphs, unless all have one distance
        (["A harbour|shelters ships.||A mole|breaks waves."],
         "A harbour\nshelters ships.\n\nA mole\nbreaks waves."),
        (["one||two||three"], "one\ntwo\nthree"),
        # the lines of a paragraph become one, and short lines stay
        (["THE HARBOUR|A harbour shelters ships from the open|sea, and from the wind.|"
          "1. The mole breaks the waves of the sea.|2. The quay is where ships are unloaded."],
         "THE HARBOUR\nA harbour shelters ships from the open sea, and from the wind.\n"
         "1. The mole breaks the waves of the sea.\n2. The quay is where ships are unloaded."),
        # a word broken over a line's end is joined before it
        (["The consti-|tution, as amend-|ed|since 1914-|1918."],
         "The constitution, as amended since 1914-\n1918."),
        # a hyphen stays before a capital, at the end of a page, and if it is written elsewhere
        (["An X-|Ray of ANGLO-|SAXON law by Mr Smith-|Jones."],
         "An X-Ray of ANGLO-SAXON law by Mr Smith-Jones."),
        (["A well-|known case.", "It is well-known."],
         "A well-known case.\n\nIt is well-known."),
        # also between two English words that are none together, unless the document joins them
        (["The light-|house and the league-|wide dues."],
         "The lighthouse and the league-wide dues."),
        (["The fore-|shore is his.", "A foreshore."], "The foreshore is his.\n\nA foreshore."),
        (["A consti-", "tution."], "A consti-\ntution."),
        # a heading below a short paragraph is a paragraph of its own
        (["Article 5.|The harbour belongs to the town of Northport.|Article 6.|||"
          "Ships that come by night wait for a pilot at the mole, unless the harbour master|"
          "has told them otherwise by lamp, and pay for him as the board has laid down in its|"
          "rules, which the master keeps, and which he shows to whoever asks for them by day,|"
          "on the quay."],
         "Article 5.\n\nThe harbour belongs to the town of Northport.\n\nArticle 6.\n\n"
         "Ships that come by night wait for a pilot at the mole, unless the harbour master "
         "has told them otherwise by lamp, and pay for him as the board has laid down in its "
         "rules, which the master keeps, and which he shows to whoever asks for them by day, "
         "on the quay."),
        # so is a speech
        (["Hon. Speaker: I am told that you hold a brief for the Chairman.|"
          "Hon. (Dr) Ann Hay (Northport, AB): Yes, Hon. Speaker, I beg to.|"
          "The Bill is on the harbours of the north and on their upkeep as|"
          "well. I am told of one more matter by the Minister. It is this.|"
          "Hon. Members: Yes."],
         "Hon. Speaker: I am told that you hold a brief for the Chairman.\n\n"
         "Hon. (Dr) Ann Hay (Northport, AB): Yes, Hon. Speaker, I beg to. "
         "The Bill is on the harbours of the north and on their upkeep as "
         "well. I am told of one more matter by the Minister. It is this.\n\n"
         "Hon. Members: Yes."),
        # a list and the end of a sentence are no headings
        (["The master has three books, which he keeps in order:|1. Lamps|2. Tides|3. Buoys"],
         "The master has three books, which he keeps in order:\n1. Lamps\n2. Tides\n3. Buoys"),
        (["The board may close the harbour, as it is told to by the words of|Article 5.|It may"],
         "The board may close the harbour, as it is told to by the words of Article 5.\nIt may"),
        (["The master keeps his books in order, by day and by night:|4. Admitted.|5. Denied."],
         "The master keeps his books in order, by day and by night:\n4. Admitted.\n5. Denied."),
    ],
)  # fmt: skip
def test_lines_become_paragraphs(draft: Read, pages: list[str], text: str) -> None:
    """`|` is the end of a line, `||` a gap."""
    read = draft(pdf([page.split("|") for page in pages]))
    assert read.text == text
    for start, page in zip(read.pages, pages, strict=True):
        assert read.text[start:].startswith(page.split("|")[0][:6])


@pytest.mark.parametrize(
    "heading", ["1. Introduction", "2.1 Of lamps", "II. THE LAW", "Article 5", "Section 12 - Lamps"]
)
def test_a_numbered_heading_is_a_paragraph_of_its_own(draft: Read, heading: str) -> None:
    lines = ["The harbour belongs to the town, which keeps its moles and quays.", heading]
    lines += ["Ships that come by night wait for a pilot at the mole, as the town says."]
    assert draft(pdf([lines])).text == "\n\n".join(lines)


def test_heads_and_feet_that_run_on_are_read_once(draft: Read) -> None:
    bodies = ["Ships came in the spring and", "went again with the autumn.", "Nobody wrote of it."]
    pages = [
        ["Harbour Board", "", "", body, "", "", f"- {number} -"]
        for number, body in enumerate(bodies, start=7)
    ]
    read = draft(pdf(pages))
    assert read.text == (
        "Harbour Board\nShips came in the spring and\nwent again with the autumn.\n\n"
        "Nobody wrote of it."
    )
    assert [read.text[start:][:5] for start in read.pages] == ["Harbo", "went ", "Nobod"]


def test_a_line_that_begins_with_the_bookmark_is_its_heading(draft: Read) -> None:
    page = (
        "Article 12. Of tides.|||Text of two|short lines.|||Article 1 bis. Of buoys.|||"
        "Article 1. Of lamps.|||The end|of it."
    )
    read = draft(pdf([page.split("|")], [("Article 1", 0, 0)]))
    assert headings(read) == [("Article 1. Of lamps.", "Article 1. Of lamps.")]


def test_prose_that_begins_with_the_bookmark_does_not_name_the_section(draft: Read) -> None:
    prose = "Harbours: they shelter ships from the sea, and|from the wind, and from whoever|comes."
    page = f"Text of two|short lines.|||{prose}|||The end|of it."
    ((first, section),) = headings(draft(pdf([page.split("|")], [("Harbours", 0, 0)])))
    assert (first[:9], section) == ("Harbours:", "Harbours")


def test_a_superscript_does_not_part_paragraphs(draft: Read) -> None:
    canvas = Canvas(stream := BytesIO())
    canvas.drawString(72, 700, "The lights of the harbour were moved,")
    canvas.drawString(72, 686, "as the pilots had asked")
    canvas.drawString(72, 672, "for years.")
    canvas.setFont("Helvetica", 7)
    canvas.drawString(60, 690, "1")
    canvas.save()
    assert "\n\n" not in draft(stream.getvalue()).text


def test_a_line_that_stands_further_in_begins_a_paragraph(draft: Read) -> None:
    lines = [
        (84.0, "The harbour of Northport belongs to the"),
        (72.0, "town, which keeps its moles and its quays, as"),
        (72.0, "the charter says, in good order for all ships."),
        (84.0, "Ships that come by night wait for a pilot"),
        (72.0, "at the mole."),
        (84.0, "No ship sails unlit."),
        (84.0, "The master of the harbour keeps the book"),
        (72.0, "of lamps, and shows it to whoever asks."),
    ]
    assert draft(drawing(below(lines))).text.split("\n\n") == [
        "The harbour of Northport belongs to the town, which keeps its moles and its quays, as the "
        "charter says, in good order for all ships.",
        "Ships that come by night wait for a pilot at the mole.",
        "No ship sails unlit.",
        "The master of the harbour keeps the book of lamps, and shows it to whoever asks.",
    ]


CENTRED = [30, 34, 38, 33, 29, 36, 31, 35, 28, 37]


@pytest.mark.parametrize(
    "lines",
    [
        # below the first of its entry a line that stands further in goes on
        [(72.0, "Anders, B., The lamps of Northport and of the"),
         (90.0, "Southern Moles, with plans and drawings, Hill"),
         (72.0, "Brand, C., On tides and on the men who took to"),
         (90.0, "Measuring them by hand, from 1790 to the days"),
         (72.0, "Carver, D., Of buoys, bells and other signs for"),
         (90.0, "Pilots, a report to the board, second edition")],
        [(300 - 2.75 * width, "A" + "n" * (width - 1)) for width in CENTRED],
    ],
    ids=["entries", "centred"],
)  # fmt: skip
def test_lines_of_entries_and_centred_ones_begin_no_paragraphs(
    draft: Read, lines: list[tuple[float, str]]
) -> None:
    assert "\n\n" not in draft(drawing(below(lines))).text


def test_each_part_of_a_paragraph_is_as_wide_as_its_column(draft: Read) -> None:
    left = ["The harbour of Northport belongs", "to the town, which keeps its moles"]
    left += ["and its quays"]
    right = ["in good order. Ships that come in", "by night wait for a pilot at the", "mole."]
    page = below([(72, text) for text in left]) + below([(330, text) for text in right])
    assert draft(drawing(page)).text == (
        "The harbour of Northport belongs to the town, which keeps its moles and its quays\n"
        "in good order. Ships that come in by night wait for a pilot at the mole."
    )


WORDS = "the board may close the harbour, and open it by day"


@pytest.mark.parametrize(("first", "kept"), [(1, False), (5, True)])
def test_numbers_that_count_the_lines_of_a_pleading_are_left_out(
    draft: Read, first: int, kept: bool
) -> None:
    numbers = [(60, 700 - 24 * line, str(first + line)) for line in range(25)]
    text = draft(drawing([*numbers, (90, 700, "The court sat."), (300, 80, "1")])).text
    assert ("20" in text.split()) is kept
    assert {"sat.", "1"} <= set(text.split())


@pytest.mark.parametrize(("left", "counted"), [(40.0, True), (520.0, True), (76.0, False)])
@pytest.mark.parametrize("at_once", [True, False])
def test_numbers_that_count_every_fifth_line_are_left_out(
    draft: Read, left: float, counted: bool, at_once: bool
) -> None:
    """Drawn with their lines or after them, numbers are no text outside of it."""
    pages = []
    for last in (17, 6):
        lines: list[Line] = [(72, 700 - 16 * line, WORDS) for line in range(1, last + 1)]
        numbers: list[Line] = [(left, 700 - 16 * line, str(line)) for line in range(5, last + 1, 5)]
        both = lines + numbers
        pages.append(sorted(both, key=lambda line: -line[1]) if at_once else both)
    text = draft(drawing(*pages)).text
    assert any(character.isdecimal() for character in text) is not counted


def test_a_note_of_the_number_five_keeps_it_beside_pages_with_numbered_lines(draft: Read) -> None:
    lines: list[Line] = [(72, 700 - 16 * line, WORDS) for line in range(1, 18)]
    numbers: list[Line] = [(40, 700 - 16 * line, str(line)) for line in (5, 10, 15)]
    note: list[Line] = [(40, 400, "5"), (72, 400, "See the Harbour Act.")]
    text = draft(drawing(sorted(lines + numbers, key=lambda line: -line[1]), lines + note)).text
    assert "10" not in text.split()
    assert "5 See the Harbour Act." in text


TABLE = "years of age, and how many|men|women|boys|girls".split("|")


@pytest.mark.parametrize("at", [72, 300])
def test_a_table_that_counts_by_fives_keeps_its_numbers(draft: Read, at: float) -> None:
    cells: list[Line] = [(140, 700 - 14 * row, "metres of chain for a ship") for row in range(6)]
    counts: list[Line] = [(72, 700 - 14 * row, str(5 * row + 5)) for row in range(6)]
    rows = below([(110.0, word) for word in TABLE * 6])
    ages = [(at, rows[5 * n][1], str(5 * n + 5)) for n in range(6)]
    for page in (cells + counts, rows + ages):
        text = draft(drawing(sorted(page, key=lambda line: (-line[1], line[0])))).text
        assert {"5", "15", "30"} <= set(text.split())


LEFT = ["The survey of the estuary began in", "April. The surveyor Nils Berg meas-"]
LEFT += ["ured the depth each week, and his", "sister Marta drew the chart, as the"]
MIDDLE = ["board had told them. The channel had", "moved northward by forty metres in a"]
MIDDLE += ["year, and nobody had been told of the", "shoal. The harbour board then ordered"]
RIGHT = ["two new buoys and a bell, and had the", "old light mended. All of its cost was"]
RIGHT += ["borne by the guild of pilots, who had", "asked for it."]
IN_THREE = " ".join([*LEFT, *MIDDLE, *RIGHT]).replace("meas- ", "meas")
IN_TWO = " ".join([*LEFT, *MIDDLE]).replace("meas- ", "meas")
TITLE = "The estuary and its channel: a survey of its depths, with a chart, by the board"


def by_row(*columns: list[str], top: float = 650, lower: float = 0) -> list[Line]:
    """Columns of lines drawn row by row, each column `lower` than the one before."""
    rows = enumerate(zip(*columns, strict=True))
    return [
        (40 + 260 * column, top - 14 * row - lower * column, text)
        for row, texts in rows
        for column, text in enumerate(texts)
    ]


@pytest.mark.parametrize("lower", [0, 5])
def test_each_column_is_read_in_one_piece_though_drawn_row_by_row(
    draft: Read, lower: float
) -> None:
    page: list[Line] = [(40, 700, TITLE), *by_row(LEFT, MIDDLE, RIGHT, lower=lower)]
    assert draft(drawing(page)).text == f"{TITLE}\n\n{IN_THREE}"


def test_lines_over_all_columns_stay_between_what_is_above_and_below(draft: Read) -> None:
    above, below_ = by_row(LEFT, MIDDLE), by_row(MIDDLE, RIGHT, top=500)
    page: list[Line] = [(40, 700, TITLE), *above, (40, 550, "Fig. 1. " + TITLE), *below_]
    text = draft(drawing(page)).text
    places = [text.index(words) for words in (TITLE, "survey of the", "told them", "Fig. 1")]
    places += [text.rindex(words) for words in ("told them", "new buoys", "asked for it")]
    assert places == sorted(places)


ROWS = [
    # items with their numbers, a page of dialogue, an index, a table of contents, and tables
    [(str(n), MIDDLE[n % 4]) for n in range(8)],
    [(("ANNA", "KARL")[n % 2], MIDDLE[n % 4]) for n in range(8)],
    [(f"{LEFT[n % 4][:12]}, of the board", f"{n}, {3 * n}, 112") for n in range(8)],
    [(f"{n}. {MIDDLE[n % 4]}", str(9 * n)) for n in range(8)],
    [(name, "the depth in metres at low water") for name in ("Northport", "Ostby", "Holm", "Dyr")],
    [(f"Reports of {n} from the north", f"Kept by the master in {n}") for n in range(1890, 1898)],
]


@pytest.mark.parametrize("rows", ROWS)
def test_what_stands_side_by_side_without_being_prose_stays_in_its_rows(
    draft: Read, rows: list[tuple[str, str]]
) -> None:
    text = draft(drawing(by_row(*map(list, zip(*rows, strict=True))))).text.replace(" | ", " ")
    assert " ".join(text.split()) == " ".join(" ".join(row) for row in rows)


def test_a_table_drawn_cell_by_cell_keeps_its_order(draft: Read) -> None:
    cells = [(40.0, LEFT[:3]), (300.0, MIDDLE[:3]), (40.0, LEFT[1:]), (300.0, RIGHT[1:])]
    page = [
        line
        for number, (left, lines) in enumerate(cells)
        for line in below([(left, text) for text in lines], top=(700, 640)[number // 2])
    ]
    text = draft(drawing(page)).text
    places = [text.index(words) for words in ("survey of", "board had", "old light", "asked")]
    assert places == sorted(places)


PILOTS = ["The harbour of Northport belongs to the town, which keeps its moles", "and its quays."]
PILOTS += ["", "Ships that come by night wait for a pilot at the mole, unless the"]
PILOTS += ["harbour master has told them", "otherwise by lamp."]
NOTE = "Copied at the archive of Holm"


def turned(
    degrees: int, lines: Iterable[Line], rotate: int = 0, upright: Iterable[Line] = ()
) -> bytes:
    """A page whose lines are drawn turned to the left, and which is shown turned to the right."""
    canvas = Canvas(stream := BytesIO(), pageCompression=0, pagesize=(600, 600))
    canvas.setPageRotation(rotate)
    for left, height, text in upright:
        canvas.drawString(left, height, text)
    canvas.translate(300, 300)
    canvas.rotate(degrees)
    canvas.translate(-300, -300)
    for left, height, text in lines:
        canvas.drawString(left, height, text)
    canvas.save()
    return stream.getvalue()


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
@pytest.mark.parametrize("is_shown_turned", [True, False])
def test_a_turned_page_is_read_like_an_upright_one(
    draft: Read, degrees: int, is_shown_turned: bool
) -> None:
    lines = below([(72.0, text) for text in PILOTS], top=500)
    columns = by_row(LEFT, MIDDLE, top=380)
    data = turned(degrees, [*lines, *columns], rotate=degrees * is_shown_turned)
    paragraphs = [" ".join(PILOTS[:2]), " ".join(PILOTS[3:5]), PILOTS[5]]
    assert " ".join(draft(data).text.split()) == " ".join([*paragraphs, IN_TWO])
    assert draft(data).text == draft(turned(0, [*lines, *columns])).text


def test_a_turned_note_in_the_margin_interrupts_no_sentence(draft: Read) -> None:
    lines = below([(72.0, text) for text in PILOTS], top=500)
    whole, open_ = (
        draft(turned(90, [(200, 580, NOTE)], upright=page)).text.split("\n\n")
        for page in (lines, lines[:-1])
    )
    assert whole == [*open_[:1], "\n".join([open_[2], PILOTS[5]]), NOTE]
    assert open_[1:] == [NOTE, " ".join(PILOTS[3:5])]


def test_a_foot_beside_a_turned_table_runs_on_from_the_other_pages(draft: Read) -> None:
    canvas = Canvas(stream := BytesIO())
    for number in range(5):
        canvas.drawString(300, 30, str(number + 7))
        canvas.rotate(90 * (number == 2))
        canvas.translate(0, -600 * (number == 2))
        for left, height, text in by_row(*([word] * 6 for word in (f"Row{number}", "of figures"))):
            canvas.drawString(left, height / 2, text)
        canvas.showPage()
    canvas.save()
    read = draft(stream.getvalue())
    assert "9" not in read.text
    assert read.printed_pages == ("7", "8", "9", "10", "11")


def test_turned_names_of_axes_do_not_stand_below_the_number_of_a_page(draft: Read) -> None:
    canvas = Canvas(stream := BytesIO())
    for number in range(7, 11):
        for height, text in ((700, f"{PILOTS[0]} {number}."), (680, PILOTS[3]), (30, str(number))):
            canvas.drawString(72, height, text)
        canvas.rotate(90)
        for place in range(number % 2 * 5):
            canvas.drawString(300 + 60 * place, -40 - 15 * place, f"Axis {'abcde'[place]}")
        canvas.showPage()
    canvas.save()
    assert draft(stream.getvalue()).printed_pages == ("7", "8", "9", "10")


Run = tuple[float, float, float, str]
"""A text with its left end, its height and the size of its type."""


def in_sizes(*pages: Iterable[Run]) -> bytes:
    canvas = Canvas(stream := BytesIO(), pageCompression=0)
    for page in pages:
        for left, height, size, text in page:
            canvas.setFont("Helvetica", size)
            canvas.drawString(left, height, text)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def in_size(size: float, lines: Iterable[Line]) -> list[Run]:
    return [(left, height, size, text) for left, height, text in lines]


def with_raised(texts: Iterable[str], height: float) -> list[Run]:
    """A line of these texts, of which numbers alone are raised."""
    runs: list[Run] = []
    left = 72.0
    for text in texts:
        size, rise = (7, 3.6) if text[0].isdecimal() else (10, 0)
        left += 3 * (rise == 0)
        runs.append((left, height + rise, size, text))
        left += stringWidth(text, "Helvetica", size)
    return runs


CALLED = ["The pilots of Northport asked for a new light in the spring", "of that year. The board"]
CALLED[1] += " refused it, and the master wrote to"
GOES_ON = ["the town, which had paid for the old one, that no ship would", "come by night."]
NOTES = ["1 See the minutes of 1911, kept at Holm,", "with the chart.", "2 Ibid., p. 12."]


def test_notes_at_the_foot_interrupt_no_sentence_that_goes_on_over_the_page(draft: Read) -> None:
    first = [*with_raised([CALLED[0], "1"], 714), *in_size(10, [(72, 700, CALLED[1])])]
    first += in_size(8, below([(72, text) for text in NOTES], top=100))
    data = in_sizes(first, in_size(10, below([(72, text) for text in GOES_ON])))
    one, notes, rest = draft(data).text.split("\n\n", 2)
    assert one == "The pilots of Northport asked for a new light in the spring[1] of that year."
    assert " ".join(notes.split()) == " ".join(NOTES)
    assert rest == f"The board refused it, and the master wrote to\n{' '.join(GOES_ON)}"


def test_each_note_is_a_paragraph_of_its_own(draft: Read) -> None:
    page = [*with_raised([CALLED[0], "1", "and in the summer", "2"], 714)]
    notes = ["1 See the minutes of 1911, kept at Holm, with the chart of the harbour.", "2 Ibid."]
    page += in_size(8, below([(72, text) for text in notes], top=100))
    text = draft(in_sizes(page, in_size(10, below([(72, text) for text in PILOTS if text])))).text
    assert text.split("\n\n")[1:3] == notes


@pytest.mark.parametrize("again", range(5))
def test_a_note_below_two_columns_may_be_wider_than_one(draft: Read, again: int) -> None:
    """Drawn row by row; the width of a column is that of lines of its own type."""
    note = f"1 See the chart of 1911{' and again' * again}, kept in the archive of Holm."
    right = [*MIDDLE[:-1], f"{MIDDLE[-1]}."]
    page = [*in_size(10, by_row(LEFT, right)), *in_size(8, [(40, 80, note)])]
    text = draft(in_sizes(page)).text.replace("\n", " ")
    for column in (LEFT, right):
        assert " ".join(column).replace("meas- ", "meas") in text
    assert note in text


def test_the_number_of_a_note_is_no_part_of_the_word(draft: Read) -> None:
    texts = ["The tariff", "1", "of the year 1911", "12", "for 40 km", "2", "and 1914", "3,4"]
    assert draft(in_sizes(with_raised(texts, 700))).text == (
        "The tariff[1] of the year 1911[12] for 40 km² and 1914[3,4]"
    )


def test_numbers_a_little_higher_than_the_cell_before_keep_their_form(draft: Read) -> None:
    row: list[Run] = [(72, 700, 10, "Northport"), (130, 702, 10, "117,609"), (180, 700, 10, "10")]
    row.append((191.5, 703, 7, "-7"))
    assert draft(in_sizes(row)).text == "Northport 117,609 10-7"


HARBOURS = [
    ["Harbour", "Depth", "Dues in 1910"],
    ["Northport", "9 m", "12,400"],
    ["Holm", "7 m", "3,150"],
    ["Ostby and Dyr", "n.a.", "980"],
    ["Wick", "11 m", "40"],
]
READ = [
    "Harbour | Depth | Dues in 1910",
    "Harbour: Northport | Depth: 9 m | Dues in 1910: 12,400",
    "Harbour: Holm | Depth: 7 m | Dues in 1910: 3,150",
    "Harbour: Ostby and Dyr | Depth: n.a. | Dues in 1910: 980",
    "Harbour: Wick | Depth: 11 m | Dues in 1910: 40",
]
ABOVE: Line = (72, 640, "The board wrote down how deep each harbour is, and what it was paid.")


def table(rows: Iterable[Iterable[str]], top: float = 600) -> list[Line]:
    """Cells below each other, from the top row on; an empty one is not drawn."""
    return [
        (72 + 150 * column, top - 14 * row, text)
        for row, cells in enumerate(rows)
        for column, text in enumerate(cells)
        if text
    ]


@pytest.mark.parametrize("by", ["row", "column"])
def test_a_table_is_read_row_by_row_behind_its_heads(draft: Read, by: str) -> None:
    cells = table(HARBOURS)
    cells = sorted(cells) if by == "column" else cells
    text = draft(drawing([ABOVE, *cells, (72, 500, "So it was.")])).text
    assert text == "\n\n".join([ABOVE[2], "\n".join(READ), "So it was."])


@pytest.mark.parametrize(
    ("rows", "read"),
    [
        # heads of two lines, and units
        ([["", "Depth at", "Dues"], ["", "low water", "(000)"], *HARBOURS[1:]],
         ["Depth at | Dues", "low water | (000)",
          "Northport | Depth at low water: 9 m | Dues (000): 12,400",
          "Holm | Depth at low water: 7 m | Dues (000): 3,150"]),
        # years above figures might be figures
        ([["Harbour", "1900", "1910"], *HARBOURS[1:]],
         ["Harbour | 1900 | 1910", "Northport | 9 m | 12,400", "Holm | 7 m | 3,150"]),
        # what has no head has none; what stands alone in its row neither
        (HARBOURS[1:], ["Northport | 9 m | 12,400", "Holm | 7 m | 3,150"]),
        ([*HARBOURS[:2], ["In the south"], *HARBOURS[2:]],
         [*READ[:2], "In the south", READ[2]]),
        # further heads end those above
        ([*HARBOURS[:2], ["Harbour", "Boats", "Dues in 1912"], *HARBOURS[2:]],
         [*READ[:2], "Harbour | Boats | Dues in 1912", "Holm | 7 m | 3,150"]),
        # one above several columns makes them unsure
        ([["", "", "In all"], *HARBOURS],
         ["Harbour | Depth | Dues in 1910", "Northport | 9 m | 12,400"]),
        # a name with its figure is a row, be it one of two
        ([["Northport", "", "9"], ["Holm", "", "7"]], ["Northport 9", "Holm 7"]),
    ],
)  # fmt: skip
def test_heads_that_are_not_sure_are_not_repeated(
    draft: Read, rows: list[list[str]], read: list[str]
) -> None:
    assert "\n".join(read) in draft(drawing([ABOVE, *table(rows)])).text


def test_a_cell_of_several_lines_is_one(draft: Read) -> None:
    rows = [
        ["Northport", "the depth at low tide", "9 m"],
        ["", "as it was in the har-", ""],
        ["", "bour itself.", ""],
        ["Holm", "It was taken by him", "7 m"],
        ["Wick", "It was never taken", "3 m"],
        ["Dyr", "It is not known", "2 m"],
    ]
    assert draft(drawing([ABOVE, *table(rows)])).text.split("\n")[2:4] == [
        "Northport | the depth at low tide as it was in the harbour itself. | 9 m",
        "Holm | It was taken by him | 7 m",
    ]


def test_prose_beside_a_table_is_none_of_it(draft: Read) -> None:
    prose: list[Line] = below([(72, text) for text in [*LEFT, *MIDDLE]], top=600)
    cells = [(left + 228, height, text) for left, height, text in table(HARBOURS)]
    read = draft(drawing([*prose, *cells])).text
    assert "\n".join(READ) in read
    assert IN_TWO in " ".join(read.split())


def test_notes_stand_behind_a_table_at_the_end_of_a_page(draft: Read) -> None:
    page = [*with_raised([CALLED[0], "1"], 714), *in_size(10, table(HARBOURS))]
    page += in_size(8, [(72, 100, "1 Ibid., p. 12.")])
    data = in_sizes(page, in_size(10, below([(72, text) for text in PILOTS if text])))
    assert draft(data).text.split("\n\n")[1:3] == ["\n".join(READ), "1 Ibid., p. 12."]


def test_rows_that_stand_on_several_pages_stay_on_each(draft: Read) -> None:
    pages = [
        [*table(HARBOURS, top=700), *below([(72, f"{word} of it.")], top=400)]
        for word in ("All", "Much", "None")
    ]
    text = draft(drawing(*pages)).text
    assert text.count("Dues in 1910: 12,400") == 3
    assert text.count("Harbour | Depth") == 3


def from_right(lines: Iterable[Line]) -> bytes:
    """A page like that of `drawing` in a mirror; its small letters are Hebrew ones."""
    canvas = Canvas(stream := BytesIO(), pageCompression=0)
    for left, height, text in lines:
        words = [word if word[0].isdecimal() else word[::-1] for word in text.split()]
        canvas.drawRightString(600 - left, height, " ".join(reversed(words)))
    canvas.save()
    names = b" ".join(b"/uni%04X" % letter for letter in HEBREW.values())
    encoding = b"/Encoding << /Differences [97 %s] >>" % names
    return stream.getvalue().replace(b"/Encoding /WinAnsiEncoding", encoding)


HEBREW = {letter: 0x5D0 + number for number, letter in enumerate(range(ord("a"), ord("z") + 1))}


@pytest.mark.parametrize("by", ["row", "column"])
def test_a_table_that_runs_from_right_to_left_begins_at_the_right(draft: Read, by: str) -> None:
    """So do lines of prose, which become one where they are full."""
    cells = table([[cell.lower() for cell in row] for row in HARBOURS])
    cells = sorted(cells) if by == "column" else cells
    prose = [text.lower().replace(",", "") for text in PILOTS[:2]]
    page = [*below([(72.0, text) for text in prose], top=680), *cells]
    read = [" ".join(prose), "\n".join(READ).lower()]
    assert draft(from_right(page)).text == "\n\n".join(read).translate(HEBREW)


def test_a_row_of_too_many_cells_is_read_as_it_stands(draft: Read) -> None:
    cells = [(5.0 * column, 700.0 - 4 * row, 1.5, "7") for row in range(3) for column in range(110)]
    assert draft(in_sizes(cells)).text.count("7") == 330


SIDES = [70.0, 160.0, 260.0, 330.0]
HEIGHTS = [612.0, 596.0, 554.0, 526.0, 484.0]
LONG = ["The depth at low", "tide as it was in", "the harbour"]
WRITTEN: list[Line] = [
    (72, 600, "Harbour"), (170, 600, "Words"), (270, 600, "Depth"),
    (72, 570, "Northport"), *below([(165, text) for text in LONG], top=584), (270, 570, "9 m"),
    (72, 542, "Ostby and"), (72, 530, "Dyr"), (170, 536, "None"), (270, 536, "7 m"),
    (72, 500, "Wick"), *below([(165, text) for text in LONG], top=514), (270, 500, "3 m"),
]  # fmt: skip
PARTED = [
    "Harbour | Words | Depth",
    f"Harbour: Northport | Words: {' '.join(LONG)} | Depth: 9 m",
    "Harbour: Ostby and Dyr | Words: None | Depth: 7 m",
    f"Harbour: Wick | Words: {' '.join(LONG)} | Depth: 3 m",
]
Draw = Callable[[Canvas], object]


def ruled(lines: Iterable[Line], draw: Draw, size: float = 10) -> bytes:
    canvas = Canvas(stream := BytesIO(), pageCompression=0)
    canvas.setFont("Helvetica", size)
    draw(canvas)
    for left, height, text in lines:
        canvas.drawString(left, height, text)
    canvas.save()
    return stream.getvalue()


def boxes(canvas: Canvas) -> None:
    for left, right in pairwise(SIDES):
        for top, bottom in pairwise(HEIGHTS):
            canvas.rect(left, bottom, right - left, top - bottom)


def thin_areas(canvas: Canvas) -> None:
    for height in HEIGHTS:
        canvas.rect(SIDES[0], height, SIDES[-1] - SIDES[0], 0.5, stroke=0, fill=1)
    for side in SIDES:
        canvas.rect(side, HEIGHTS[-1], 0.5, HEIGHTS[0] - HEIGHTS[-1], stroke=0, fill=1)


def without_a_frame(canvas: Canvas) -> None:
    canvas.lines([(SIDES[0], height, SIDES[-1], height) for height in HEIGHTS])
    canvas.lines([(side, HEIGHTS[0], side, HEIGHTS[-1]) for side in SIDES[1:-1]])


@pytest.mark.parametrize("draw", [boxes, thin_areas, without_a_frame])
@pytest.mark.parametrize("by", ["row", "column"])
def test_rules_decide_what_a_cell_is(draft: Read, draw: Draw, by: str) -> None:
    cells = sorted(WRITTEN) if by == "column" else WRITTEN
    assert draft(ruled([ABOVE, *cells], draw)).text == "\n\n".join([ABOVE[2], "\n".join(PARTED)])


def test_a_cell_that_spans_rows_or_columns_stands_in_each(draft: Read) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.grid([70, 160, 230, 300], [612, 596])
        canvas.lines([(160, 580, 300, 580), (70, 564, 300, 564), (160, 548, 300, 548)])
        canvas.lines([(70, 532, 300, 532), (70, 612, 70, 532), (160, 612, 160, 532)])
        canvas.lines([(230, 596, 230, 532), (300, 612, 300, 532)])

    cells: list[Line] = [(72, 600, "Harbour"), (165, 600, "Depth"), (72, 576, "Northport")]
    cells += [(165, 584, "low"), (240, 584, "high"), (165, 568, "7"), (240, 568, "9")]
    cells += [(72, 544, "Wick"), (165, 552, "2"), (240, 552, "3"), (165, 536, "4"), (240, 536, "8")]
    assert draft(ruled(cells, draw)).text.split("\n")[1:] == [
        "Northport | low | high", "Northport | 7 | 9", "Wick | 2 | 3", "Wick | 4 | 8"
    ]  # fmt: skip


def test_columns_nearer_than_words_are_parted_by_the_rule_between_them(draft: Read) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.grid([70, 121, 200, 260], [612, 598, 584, 570, 556])

    cells = [
        (left, 602 - 14 * row, text)
        for row in range(4)
        for left, text in ((72.0, "Northport"), (123.0, f"Ostby {'abcd'[row]}"), (202.0, f"{row}9"))
    ]
    text = draft(ruled(cells, draw, size=11)).text
    assert text.split("\n") == [f"Northport | Ostby {'abcd'[row]} | {row}9" for row in range(4)]


def test_rules_between_columns_alone_part_no_rows(draft: Read) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.grid([70, 210, 360, 440], [614, 595, 530])

    text = draft(ruled([ABOVE, *table(HARBOURS)], draw)).text
    assert text == "\n\n".join([ABOVE[2], "\n".join(READ)])


@pytest.mark.parametrize("is_framed", [True, False])
def test_rules_of_a_drawing_or_a_page_make_no_table(draft: Read, is_framed: bool) -> None:
    def draw(canvas: Canvas) -> None:
        if is_framed:
            canvas.grid([30, 290, 560], [720, 680, 300])
        else:  # boxes that lines join
            canvas.rect(70, 590, 80, 30)
            canvas.rect(200, 560, 80, 30)
            canvas.lines([(150, 600, 240, 600), (240, 600, 240, 590), (240, 560, 240, 500)])
            canvas.rect(200, 470, 80, 30)

    names: list[Line] = [(75, 600, "Northport"), (205, 570, "Holm"), (205, 480, "Wick")]
    columns = [*by_row(LEFT * 6, MIDDLE * 6), (40, 700, "Of the estuary"), (300, 700, "Of buoys")]
    assert " | " not in draft(ruled(columns if is_framed else names, draw)).text


@pytest.mark.parametrize("mark", ["1 ", "* ", ""])
def test_a_note_between_columns_that_nobody_calls_stands_behind_them(
    draft: Read, mark: str
) -> None:
    """Without a number or sign it is one if it interrupts a sentence."""
    note = f"{mark}See the chart of 1911, kept at Holm."
    right = [MIDDLE[0], MIDDLE[1], MIDDLE[2], "shoal before that year."]
    page = in_size(10, below([(40, text) for text in LEFT], top=650))
    page += in_size(8, [(40, 560, note)])
    page += in_size(10, below([(300, text) for text in right], top=650))
    prose = " ".join([*LEFT, *right]).replace("meas- ", "meas")
    assert draft(in_sizes(page)).text == f"{prose}\n\n{note}"
