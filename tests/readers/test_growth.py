"""Texts and files that repeat one thing are read in time that grows with its length alone.

Each case was once an attack on one function: files and questions of many readers and rooms.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import TypeVar

import pytest
from lxml import etree

from atlas_search.answer.conflicts import read as read_statement
from atlas_search.answer.quotes.scores import names_missing
from atlas_search.building.chunking import chunking, line_starts, passage_spans
from atlas_search.core.domain import Document, Passage, Segment
from atlas_search.documents.export import export
from atlas_search.language.english import quantities
from atlas_search.language.text import TextSpan, sentences, words
from atlas_search.readers.docx import Body, Paragraph, Text
from atlas_search.readers.docx_styles import W, styles_of
from atlas_search.readers.epub import chapter_of
from atlas_search.readers.files import files_reader
from atlas_search.readers.law.persons import spoken, without_title
from atlas_search.readers.metadata import name_of
from atlas_search.readers.pdf import _heading, mend
from atlas_search.readers.pdf_lines import PrintedLine
from atlas_search.readers.pdf_paragraphs import page_text
from atlas_search.readers.pdf_picture import _aligned
from atlas_search.readers.print import running_lines, without_line_numbers
from atlas_search.readers.records.bib import _NAMING, _paths
from atlas_search.readers.speech_openings import openings
from atlas_search.readers.speeches import with_speeches
from atlas_search.readers.text import without_comments
from atlas_search.readers.titles import clean_title
from atlas_search.readers.xml.parse import parse
from tests.exporting import BASE, answer
from tests.pdf_pages import pdf

pytestmark = pytest.mark.thorough

TRIES = 4  # of a ratio that is too high: something else may have run beside it
MOST = 9.0
"""Times as long as for a quarter: in proportion it is 4, with the square 16."""

T = TypeVar("T")


def grows_evenly(read: Callable[[T], object], make: Callable[[int], T], size: int) -> bool:
    """Tell if `read` takes time in proportion to the size of what it is given.

    Of `size` and of four times that something is made; to read the first should take 5 ms or more.
    """
    short, long = make(size), make(4 * size)
    return any(seconds(read, long) <= MOST * seconds(read, short) for _ in range(TRIES))


def seconds(read: Callable[[T], object], given: T) -> float:
    started = process_time()
    read(given)
    return process_time() - started


def starts(text: str) -> list[int]:
    return list(line_starts(text, TextSpan(0, len(text))))


def missing(question: str) -> object:
    text = "Nothing is held."
    place = (0, f"a.b:0-{len(text)}", "a.b", "a", "", text, 0, len(text), 1, 1)
    return names_missing(question, [Passage(*place, "", "", "", "", {})])


def comparison(text: str) -> object:
    point = {"text": text, "citations": []}
    return export(
        [answer(comparison={"answers": [], "agreements": [point], "differences": []})],
        "markdown",
        BASE,
    )


def person(name: str) -> object:
    return spoken(name), without_title(name)


def files_of_a_list(text: str) -> object:
    return [*_paths(text)], _NAMING.search(text.encode())


def speeches(text: str) -> object:
    return with_speeches("Mr Hay: I rise.\n\nMs Roe: I too.\n\n" * 4 + text, ())


TEXTS: dict[str, tuple[Callable[[str], object], str, list[str], int]] = {
    "amounts": (
        quantities, "{}", ["1 day ", "1954 ", "5 days 1954 ", "$5 ", "20% ", "aged 5 "], 300),
    "rule of a table": (
        starts, "{}a\n\nIt is so.", [" ", "\t", "-", "- ", "|-", ":", "|"], 20_000),
    "comments": (
        without_comments, "{}",
        ["```\na\n```\n<!-- b -->\n", "<!-- b -->", "<!--", "-->", "`"], 1_000),
    "running lines": (
        lambda line: running_lines([[line]] * 4), "{}", ["1 ", "1", "a ", " ", "a 1 "], 10_000),
    "word": (
        words, "a{}z", ["\u00ad", "\u200d", "\u0301", "-\n", "a-\n", "_", "'a", "aA"], 5_000),
    "comparison": (comparison, "{}", [" ", "\n", "[a ", "[a p1] "], 4_000),
    "names": (
        missing, "{}", ["Q. ", "Ab v. ", "A v B ", "Mr Ab ", "Section 1 ", "he Ab "], 300),
    "sentences": (
        sentences, "{}", ["“a ", "It. ", "94 Stat. 5 Pub. L. No. 3 "], 8_000),
    # a line is read in windows, within which a mark that never closes takes longer
    "windows": (sentences, "{}", ["`", "中。"], 25_000),
    "statement": (read_statement.__wrapped__, "{}", ["$1 ", "1999 ", "Mr A "], 500),
    "printed page": (lambda text: _aligned(text, "It is so."), "{}", ["a"], 5_000),
    "person": (person, "hon{}z", [" ", "hon ", "hon. ", "the ", "rt ", ". ", "mr "], 10_000),
    "untitled person": (person, "x{}z", [" ", "hon ", "hon. ", "the ", "rt ", ". "], 10_000),
    "blanks in a Word file": (
        lambda text: Text().write([Paragraph(text)]), "a{}z", [" ", "\n", " \n"], 40_000),
    "column": (name_of, "a{}z", [" "], 100_000),
    "brackets": (lambda text: mend([text]), "a\x02\n{}a", [")"], 100_000),
    "title": (clean_title, "It is so {}", ["{{", "{%", "<%", "<?", "<!"], 2_000),
    "files of a list": (
        files_of_a_list, "{}", ["\n", " ", "file ", "file", "\\", ":", ";", "a:", "L1 "], 100_000),
    "line numbers": (
        without_line_numbers, "{}", ["1 a\n", "5\n", " ", " 1", "1", "5    x    5\n", "\f"], 8_000),
    "speeches": (
        speeches, "{}",
        ["Mr. ", "Mr. A\n", "The ", "A: ", "A:\n", "(", "Mr Hay (", "Mr Hay (x\n", "**Mr A",
         "STATEMENT OF A\n", "Q.\n", "BY MR. A\n", "ANN HAY\n", "Mr HAY —\n", "\n", " ",
         "Dear Sir:\n", "4 May 1862\n", "4 May 1862 ", "May 4, 1862\nMr Hay: I.\n", "my dear ",
         "DR HAY -- I.\n", "DR HAY --", "DR HAY -", "Ann Hay: it is so.\n", "THE END\n\n",
         "  Mr. Hay. Yes.\n", "Mr X ((a)(b)(c)(d)(e)\n"], 2_000),
}  # fmt: skip
"""Functions, and texts of which a piece is repeated so many times."""


def repetitions() -> Iterator[object]:
    for name, (read, text, pieces, size) in TEXTS.items():
        for piece in pieces:
            yield pytest.param(read, text, piece, size, id=f"{name} {piece!r}")


@pytest.mark.parametrize(("read", "text", "piece", "size"), [*repetitions()])
def test_a_text_that_repeats_a_piece(
    read: Callable[[str], object], text: str, piece: str, size: int
) -> None:
    assert grows_evenly(read, lambda count: text.replace("{}", piece * count), size)


def test_the_sentences_of_a_long_line_are_those_of_its_parts() -> None:
    """It has several windows, and one sentence that is longer than any of them."""
    long = f"It is {'so and ' * 4_000}so."
    line = " ".join(["It is so."] * 3_000 + [long] + ["It was so."] * 3_000)
    result = [line[start:end] for start, end in sentences(line)]
    assert result == ["It is so."] * 3_000 + [long] + ["It was so."] * 3_000


def document(text: str, segments: Iterator[Segment], title: str = "Title") -> Document:
    return Document("d", "c", title, text, {}, "c/d.txt", (0,), tuple(segments))


@pytest.mark.parametrize(
    ("line", "sections"),
    [
        ("# It is so.\n\n", ("It is {} so.",)),
        ("# Ab\nIt is so.\n\n", ("It is {} so.",)),
        ("It is so.\n", ("It is {} so.",)),  # of sections whose names stand nowhere
        ("# Ab\n\n", ("Ab", "Ab > Ab")),
    ],
)
def test_a_document_of_sections(line: str, sections: tuple[str, ...]) -> None:
    def made(size: int) -> Document:
        names = (sections[at % len(sections)].format(at % 7) for at in range(size))
        return document(
            line * size, (Segment(at * len(line), name) for at, name in enumerate(names))
        )

    whole = chunking("structural", 1000, 0)
    assert grows_evenly(lambda of: passage_spans(of, whole, None), made, 1_000)


def test_a_long_title_above_many_passages() -> None:
    part = f"Wool\n\n{'Sheep give wool. ' * 6}\n\n"

    def made(count: int) -> Document:
        sections = (Segment(at, "Wool") for at in range(0, count * len(part), len(part)))
        return replace(document(part * count, sections), title="wool " * 4 * count)

    cut = chunking("paragraph", 100, 0)
    assert grows_evenly(lambda of: passage_spans(of, cut, None), made, 250)


@pytest.mark.parametrize("dots", [". ", ".. ", ": . ", "– "])
def test_a_bookmark_with_dots_before_its_page(dots: str) -> None:
    def start(size: int) -> int:
        line = f"Chapter 1 {'.' * 3 * size} 6"
        return _heading(line, f"Chapter 1 {dots * size}5", 1, 0, len(line)).start

    assert grows_evenly(start, lambda size: size, 60)


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("A . . 5", {"A .... 5", "A. .5"}),
        ("A .. 5", {"A .... 5"}),
        ("A . :", {"A . :"}),
        ("A – b", {"A:–:b"}),
    ],
)
def test_a_bookmark_is_found_by_all_its_dots_in_their_order(title: str, lines: set[str]) -> None:
    every = ("A .... 5", "A. .5", "A . :", "A:–:b")
    assert {e for e in every if _heading(f"Ab\n{e}", title, 1, 0, len(e) + 3).start == 3} == lines


@pytest.mark.parametrize("capitals", ["A", "A ", "AB-"])
def test_lines_in_capitals_before_an_examiner(capitals: str) -> None:
    def made(size: int) -> str:
        return f"{capitals * (size // len(capitals))}By D\n" * 40

    assert grows_evenly(lambda text: list(openings(text)), made, 75)


def word(content: str) -> etree._Element:
    """A part of a Word file, without the prefixes of its names."""
    return etree.fromstring(f'<none xmlns="{W[1:-1]}" xmlns:w="{W[1:-1]}">{content}</none>')


def styles(size: int) -> etree._Element:
    """Each is based on the next."""
    style = '<style w:type="paragraph" w:styleId="{}"><basedOn w:val="{}"/></style>'
    return word("".join(style.format(n, n + 1) for n in range(size)))


def lists(size: int) -> etree._Element:
    levels = '<lvl w:ilvl="1"><numFmt w:val="decimal"/></lvl>' * size
    each = "".join(f'<num w:numId="{n}"><abstractNumId w:val="1"/></num>' for n in range(size))
    return word(f'<abstractNum w:abstractNumId="1">{levels}</abstractNum>{each}')


def row(size: int) -> etree._Element:
    return word(f"<tbl><tr>{'<tc><p/></tc>' * size}</tr></tbl>")


def broken_word(size: int) -> etree._Element:
    """One long word in which pages begin."""
    piece = "a" * 300 + "<a role='doc-pagebreak' title='1'/>"
    return etree.fromstring(f"<p>{piece * size}</p>")


def steps(size: int) -> list[PrintedLine]:
    """Lines that all begin elsewhere, two by two as short paragraphs."""
    return [
        PrintedLine(
            "It is so and so and so on", -20.0 * n - 15 * (n // 2), 40.0 * n, 40.0 * n + 90, False
        )
        for n in range(size)
    ]


def attributes(size: int) -> bytes:
    names = " ".join(f"B{number}='c'" for number in range(size))
    return f"<a {names}>d</a>".encode()


@pytest.mark.parametrize(
    ("read", "make", "size"),
    [
        (lambda part: styles_of(part, word("")), styles, 300),
        (lambda part: styles_of(word(""), part), lists, 400),
        (lambda part: list(Body(styles_of(word(""), word(""))).paragraphs(part)), row, 15_000),
        (lambda part: chapter_of(part, {}), broken_word, 3_000),
        (page_text, steps, 1_500),
        # with more, the longer list alone no longer fits the processor's cache
        (lambda data: parse(data, ""), attributes, 5_000),
    ],
    ids=["styles", "lists", "row", "pages", "lines", "attributes"],
)
def test_a_file_of_one_thing(
    read: Callable[[object], object], make: Callable[[int], object], size: int
) -> None:
    assert grows_evenly(read, make, size)


TEI = "<TEI><teiHeader/><text><body>{}</body></text></TEI>"
AUSTRALIA = "<hansard><chamber.xscript><debate>{}</debate></chamber.xscript></hansard>"


@pytest.mark.parametrize(
    ("file", "long", "piece"),
    [
        (TEI.format("<p><choice>{}{}</choice></p>"), "", "<reg>a</reg>"),
        (TEI.format("<p><app>{}{}</app></p>"), "", "<rdg>a</rdg>"),
        (TEI.format("<div><head>{}</head>{}</div>"), "ab " * 10,
         "<div><head>c</head><p>a</p></div>"),
        ("<TEI><teiHeader><person id='a'><persName>{}</persName></person></teiHeader>"
         "<text><body>{}</body></text></TEI>", "ab " * 10, "<u who='#a #b'>c</u>"),
        ("<publicwhip><major-heading>{}</major-heading>{}</publicwhip>", "ab " * 10,
         "<minor-heading>a</minor-heading><speech>b</speech>"),
        ("<hansard><housecommons>{}{}</housecommons></hansard>", "",
         "<writtenanswers><p>a</p></writtenanswers>"),
        ("<hansard><housecommons><date>{}</date>{}</housecommons></hansard>", "ab " * 10,
         "<writtenanswers><p>a</p></writtenanswers>"),
        (AUSTRALIA.format("<speech>{}{}</speech>"), "", "<talker/><p>a</p>"),
        (AUSTRALIA.format("<debateinfo><title>{}</title></debateinfo>{}"), "ab " * 20,
         '<p class="HPS-Debate">c</p>'),
        ("<akomaNtoso><act><body><section>{}{}</section></body></act></akomaNtoso>", "<num>1</num>",
         "<subsection><num>(1)</num><p>a</p></subsection>"),
    ],
)  # fmt: skip
def test_an_xml_file_of_one_thing(tmp_path: Path, file: str, long: str, piece: str) -> None:
    """`long` is as long as all pieces together, but for a number, which is there once."""

    def made(size: int) -> Path:
        path = tmp_path / f"{size}.xml"
        once = long if long.startswith("<num>") else long * size
        path.write_text(file.format(once, piece * size))
        return path

    assert grows_evenly(read_file, made, 2_000)


def read_file(path: Path) -> object:
    return list(files_reader().read(path, ""))


def test_bookmarks_of_one_page_that_has_none_of_their_titles(tmp_path: Path) -> None:
    def made(size: int) -> Path:
        path = tmp_path / f"{size}.pdf"
        page = ["It is so. Ab" for _ in range(size // 4)]
        path.write_bytes(pdf([page], [("It was so", 0, 0)] * size))
        return path

    assert grows_evenly(read_file, made, 160)
