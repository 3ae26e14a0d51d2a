"""What repeats one thing is read in time that grows with its length, not with its square."""

from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from atlas_search.answer.conflicts import read
from atlas_search.answer.quotes.scores import names_missing
from atlas_search.building.chunking import chunking, line_starts, passage_spans
from atlas_search.core.domain import Document, Segment
from atlas_search.documents.export import export
from atlas_search.language.english import quantities
from atlas_search.language.text import TextSpan, sentences, words
from atlas_search.readers import Draft
from atlas_search.readers.docx import Body, Paragraph, Text
from atlas_search.readers.docx_styles import W, styles_of
from atlas_search.readers.epub import _lists, _titles, chapter_of
from atlas_search.readers.law.persons import spoken, without_title
from atlas_search.readers.markup import Heading
from atlas_search.readers.metadata import name_of
from atlas_search.readers.pdf import PrintedLine, _heading, _headings, mend
from atlas_search.readers.pdf_paragraphs import page_text
from atlas_search.readers.pdf_picture import _aligned
from atlas_search.readers.print import running_lines
from atlas_search.readers.speech_openings import openings
from atlas_search.readers.tables import Columns, Record, drafts
from atlas_search.readers.text import without_comments
from atlas_search.readers.titles import clean_title
from atlas_search.readers.xml.parse import parse
from atlas_search.readers.xml.read import XmlReader
from tests.cuts import document
from tests.exporting import BASE, answer
from tests.growth import grows_evenly
from tests.truth.passages import passage


@pytest.mark.parametrize("amount", ["1 day ", "1954 ", "5 days 1954 ", "$5 ", "20% ", "aged 5 "])
def test_a_row_of_amounts(amount: str) -> None:
    assert grows_evenly(quantities, lambda size: amount * size, 300)


@pytest.mark.parametrize("line", ["# It is so.\n\n", "# Ab\nIt is so.\n\n", "It is so.\n"])
def test_a_document_of_sections(line: str) -> None:
    """The last one has sections whose names stand nowhere, and no blank lines."""

    def made(size: int) -> Document:
        starts = range(0, size * len(line), len(line))
        return document(line * size, (0,), *(Segment(at, f"It is {at % 7} so.") for at in starts))

    whole = chunking("structural", 1000, 0)
    assert grows_evenly(lambda of: passage_spans(of, whole, None), made, 1_000)


def test_a_document_of_headings_alone() -> None:
    def made(size: int) -> Document:
        starts = range(0, size * len("# Ab\n\n"), len("# Ab\n\n"))
        sections = (Segment(at, ("Ab", "Ab > Ab")[at % 2]) for at in starts)
        return document("# Ab\n\n" * size, (0,), *sections)

    whole = chunking("structural", 1000, 0)
    assert grows_evenly(lambda of: passage_spans(of, whole, None), made, 1_000)


def test_a_long_title_above_many_passages() -> None:
    part = f"Wool\n\n{'Sheep give wool. ' * 6}\n\n"

    def made(count: int) -> Document:
        sections = (Segment(at, "Wool") for at in range(0, count * len(part), len(part)))
        return replace(document(part * count, (0,), *sections), title="wool " * 4 * count)

    cut = chunking("paragraph", 100, 0)
    assert grows_evenly(lambda of: passage_spans(of, cut, None), made, 250)


@pytest.mark.parametrize("piece", [" ", "\t", "-", "- ", "|-", ":", "|"])
def test_a_line_that_begins_as_the_rule_of_a_table(piece: str) -> None:
    def starts(text: str) -> list[int]:
        return list(line_starts(text, TextSpan(0, len(text))))

    assert grows_evenly(starts, lambda size: f"{piece * size}a\n\nIt is so.", 20_000)


@pytest.mark.parametrize("piece", ["```\na\n```\n<!-- b -->\n", "<!-- b -->", "<!--", "-->", "`"])
def test_comments_between_blocks_of_code(piece: str) -> None:
    assert grows_evenly(without_comments, lambda size: piece * size, 1_000)


@pytest.mark.parametrize("piece", ["1 ", "1", "a ", " ", "a 1 "])
def test_a_long_line_at_the_top_of_each_page(piece: str) -> None:
    assert grows_evenly(running_lines, lambda size: [[piece * size]] * 4, 10_000)


@pytest.mark.parametrize("piece", ["\u00ad", "\u200d", "\u0301", "-\n", "a-\n", "_", "'a", "aA"])
def test_a_word_without_an_end(piece: str) -> None:
    assert grows_evenly(words, lambda size: f"a{piece * size}z", 5_000)


@pytest.mark.parametrize("piece", [" ", "\n", "[a ", "[a p1] "])
def test_a_point_of_a_comparison(piece: str) -> None:
    def made(size: int) -> dict[str, object]:
        point = {"text": piece * size, "citations": []}
        return answer(comparison={"answers": [], "agreements": [point], "differences": []})

    assert grows_evenly(lambda of: export([of], "markdown", BASE), made, 4_000)


@pytest.mark.parametrize("name", ["Q. ", "Ab v. ", "A v B ", "Mr Ab ", "Section 1 ", "he Ab "])
def test_a_question_of_names(name: str) -> None:
    held = [passage("Nothing is held.")]
    assert grows_evenly(lambda asked: names_missing(asked, held), lambda size: name * size, 300)


@pytest.mark.parametrize("piece", ["`", "“a ", "中。", "It. "])
def test_a_line_of_marks_that_open_and_never_close(piece: str) -> None:
    assert grows_evenly(sentences, lambda size: piece * (size // len(piece)), 25_000)


def test_the_sentences_of_a_long_line_are_those_of_its_parts() -> None:
    """It has several windows, and one sentence that is longer than any of them."""
    long = f"It is {'so and ' * 4_000}so."
    line = " ".join(["It is so."] * 3_000 + [long] + ["It was so."] * 3_000)
    said = [line[start:end] for start, end in sentences(line)]
    assert said == ["It is so."] * 3_000 + [long] + ["It was so."] * 3_000


@pytest.mark.parametrize("amount", ["$1 ", "1999 ", "Mr A "])
def test_a_statement_of_amounts(amount: str) -> None:
    assert grows_evenly(read.__wrapped__, lambda size: amount * size, 500)


@pytest.mark.parametrize("dots", [". ", ".. ", ": . ", "– "])
def test_a_bookmark_with_dots_before_its_page(dots: str) -> None:
    def found(size: int) -> int:
        line = f"Chapter 1 {'.' * 3 * size} 6"
        return _heading(line, f"Chapter 1 {dots * size}5", 1, 0, len(line)).start

    assert grows_evenly(found, lambda size: size, 60)


@pytest.mark.parametrize("title", ["A . . 5", "A .. 5", "A . :", "A – b"])
@pytest.mark.parametrize("line", ["A .... 5", "A. .5", "A . :", "A:–:b"])
def test_a_bookmark_is_found_by_its_dots(title: str, line: str) -> None:
    """Whether all of its dots are in the line, in their order."""
    found = _heading(f"Ab\n{line}", title, 1, 0, len(line) + 3).start
    expected = {
        "A . . 5": ("A .... 5", "A. .5"),
        "A .. 5": ("A .... 5",),
        "A . :": ("A . :",),
        "A – b": ("A:–:b",),
    }
    assert (found == 3) == (line in expected[title])


def test_characters_that_a_printed_page_lacks() -> None:
    assert grows_evenly(lambda text: _aligned(text, "It is so."), lambda size: "a" * size, 5_000)


@pytest.mark.parametrize("capitals", ["A", "A ", "AB-"])
def test_lines_in_capitals_before_an_examiner(capitals: str) -> None:
    def made(size: int) -> str:
        return f"{capitals * (size // len(capitals))}By D\n" * 40

    assert grows_evenly(lambda text: list(openings(text)), made, 75)


@pytest.mark.parametrize("piece", [" ", "hon ", "hon. ", "the ", "rt ", ". ", "mr "])
def test_the_name_of_a_person_with_many_blanks(piece: str) -> None:
    def forms(name: str) -> tuple[str, str]:
        return spoken(name), without_title(name)

    assert grows_evenly(forms, lambda size: f"hon{piece * size}z", 10_000)
    assert grows_evenly(forms, lambda size: f"x{piece * size}z", 10_000)


@pytest.mark.parametrize("piece", [" ", "\n", " \n"])
def test_a_paragraph_of_blanks_in_a_word_file(piece: str) -> None:
    def write(text: str) -> None:
        Text().write([Paragraph(text)])

    assert grows_evenly(write, lambda size: f"a{piece * size}z", 40_000)


def test_a_column_whose_name_is_blanks() -> None:
    assert grows_evenly(name_of, lambda size: f"a{' ' * size}z", 100_000)


def test_a_word_of_brackets_that_a_line_breaks() -> None:
    assert grows_evenly(mend, lambda size: [f"a\x02\n{')' * size}a"], 100_000)


@pytest.mark.parametrize("piece", ["{{", "{%", "<%", "<?", "<!"])
def test_a_title_of_tags_that_never_close(piece: str) -> None:
    assert grows_evenly(clean_title, lambda size: f"It is so {piece * size}", 2_000)


def word(content: str) -> etree._Element:
    """A part of a Word file, without the prefixes of its names."""
    return etree.fromstring(f'<none xmlns="{W[1:-1]}" xmlns:w="{W[1:-1]}">{content}</none>')


def test_a_note_of_a_word_file_that_many_words_refer_to() -> None:
    reference = '<r><t>a</t><footnoteReference w:id="1"/></r>'
    body = Body(styles_of(word(""), word("")))
    paragraphs = list(body.paragraphs(word(f"<p>{reference * 3}</p>")))
    assert [paragraph.text for paragraph in paragraphs] == ["a[1]a[1]a[1]"]
    assert body.notes == {("footnote", "1"): 1}


def test_styles_of_a_word_file_each_based_on_the_next() -> None:
    def made(size: int) -> etree._Element:
        return word(
            "".join(
                f'<style w:type="paragraph" w:styleId="{n}"><basedOn w:val="{n + 1}"/></style>'
                for n in range(size)
            )
        )

    assert grows_evenly(lambda styles: styles_of(styles, word("")), made, 300)


def test_many_lists_of_a_word_file_with_many_levels() -> None:
    def made(size: int) -> etree._Element:
        levels = '<lvl w:ilvl="1"><numFmt w:val="decimal"/></lvl>' * size
        lists = "".join(f'<num w:numId="{n}"><abstractNumId w:val="1"/></num>' for n in range(size))
        return word(f'<abstractNum w:abstractNumId="1">{levels}</abstractNum>{lists}')

    assert grows_evenly(lambda numbering: styles_of(word(""), numbering), made, 400)


def test_a_wide_row_of_a_word_file() -> None:
    def made(size: int) -> etree._Element:
        return word(f"<tbl><tr>{'<tc><p/></tc>' * size}</tr></tbl>")

    body = Body(styles_of(word(""), word("")))
    assert grows_evenly(lambda table: list(body.paragraphs(table)), made, 15_000)


def test_tables_of_contents_inside_each_other() -> None:
    """Only the outermost is read, with all that is in it."""
    begin = "<nav xmlns:epub='http://www.idpf.org/2007/ops' epub:type='toc'>"
    entry = "<ol><li><a href='a'>A</a></li></ol>"
    table = etree.fromstring(f"<body>{begin * 50}{entry}{'</nav>' * 50}</body>")
    assert _lists(table) == [table[0]]
    assert _titles(table, "") == {"a": ("A",)}


def test_pages_that_begin_inside_one_long_word() -> None:
    def made(size: int) -> etree._Element:
        piece = "a" * 300 + "<a role='doc-pagebreak' title='1'/>"
        return etree.fromstring(f"<p>{piece * size}</p>")

    assert grows_evenly(lambda root: chapter_of(root, {}), made, 3_000)


TEI = "<TEI><teiHeader/><text><body>{}</body></text></TEI>"
AUSTRALIA = "<hansard><chamber.xscript><debate>{}</debate></chamber.xscript></hansard>"


@pytest.mark.parametrize(
    ("file", "long", "piece"),
    [
        (TEI.format("<p><choice>{}{}</choice></p>"), "", "<reg>a</reg>"),
        (TEI.format("<p><app>{}{}</app></p>"), "", "<rdg>a</rdg>"),
        (
            TEI.format("<div><head>{}</head>{}</div>"),
            "ab " * 10,
            "<div><head>c</head><p>a</p></div>",
        ),
        (
            "<TEI><teiHeader><person id='a'><persName>{}</persName></person></teiHeader>"
            "<text><body>{}</body></text></TEI>",
            "ab " * 10,
            "<u who='#a #b'>c</u>",
        ),
        (
            "<publicwhip><major-heading>{}</major-heading>{}</publicwhip>",
            "ab " * 10,
            "<minor-heading>a</minor-heading><speech>b</speech>",
        ),
        (
            "<hansard><housecommons>{}{}</housecommons></hansard>",
            "",
            "<writtenanswers><p>a</p></writtenanswers>",
        ),
        (
            "<hansard><housecommons><date>{}</date>{}</housecommons></hansard>",
            "ab " * 10,
            "<writtenanswers><p>a</p></writtenanswers>",
        ),
        (AUSTRALIA.format("<speech>{}{}</speech>"), "", "<talker/><p>a</p>"),
        (
            AUSTRALIA.format("<debateinfo><title>{}</title></debateinfo>{}"),
            "ab " * 20,
            '<p class="HPS-Debate">c</p>',
        ),
        (
            "<akomaNtoso><act><body><section>{}{}</section></body></act></akomaNtoso>",
            "<num>1</num>",
            "<subsection><num>(1)</num><p>a</p></subsection>",
        ),
    ],
)
def test_an_xml_file_of_one_thing(tmp_path: Path, file: str, long: str, piece: str) -> None:
    """`long` is as long as all pieces together, but for a number, which is there once."""

    def made(size: int) -> Path:
        path = tmp_path / f"{size}.xml"
        once = long if long.startswith("<num>") else long * size
        path.write_text(file.format(once, piece * size))
        return path

    assert grows_evenly(lambda path: list(XmlReader().read(path, "")), made, 2_000)


def test_bookmarks_of_one_page_that_has_none_of_their_titles() -> None:
    def found(text: str) -> list[Heading]:
        return list(_headings([(0, 1, "It was so")] * (len(text) // 100), text, [0, len(text)]))

    assert grows_evenly(found, lambda size: "It is so. Ab\n" * size, 10_000)


def test_lines_that_all_begin_elsewhere() -> None:
    """Two by two, as short paragraphs."""

    def made(size: int) -> list[PrintedLine]:
        return [
            PrintedLine(
                "It is so and so and so on",
                -20.0 * n - 15 * (n // 2),
                40.0 * n,
                40.0 * n + 90,
                False,
            )
            for n in range(size)
        ]

    assert grows_evenly(page_text, made, 1_500)


def test_a_record_of_long_headings() -> None:
    record = Record("", "line 1", {"text": "a", "section": "ab " * 5_000, "speaker": "c" * 9_000})
    (read,) = drafts([record], Columns())
    assert isinstance(read, Draft)
    (segment,) = read.segments
    assert len(segment.section) == len(segment.speaker) == 1_000


def test_an_xml_element_of_many_attributes() -> None:
    def made(size: int) -> bytes:
        attributes = " ".join(f"B{number}='c'" for number in range(size))
        return f"<a {attributes}>d</a>".encode()

    # with fewer, the longer list alone no longer fits the processor's cache
    assert grows_evenly(lambda data: parse(data, ""), made, 20_000)
