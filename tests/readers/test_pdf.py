"""PDF files: what they state, their pages, numbers and bookmarks, scans and damage."""

import shutil
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from atlas_search.core.errors import ConfigurationError
from atlas_search.readers import Draft
from atlas_search.readers.files import files_reader
from atlas_search.readers.pdf import PdfReader, pdf_reader
from tests.pdf_pages import Entry, pdf
from tests.readers.conftest import Reads
from tests.readers.drafts import headings, only_draft, only_reason, pages
from tests.samples.pdf_demo import write_demo

Read = Callable[[bytes], Draft]


@pytest.fixture
def draft(reads: Reads) -> Read:
    return lambda data: only_draft(reads(data, "paper.pdf"))


def drawing(draw: Callable[[Canvas], object], **options: object) -> bytes:
    canvas = Canvas(stream := BytesIO(), pageCompression=0, **options)
    draw(canvas)
    canvas.save()
    return stream.getvalue()


def with_bytes(data: bytes, old: bytes, new: bytes) -> bytes:
    """A copy of the file with something else in a place of the same length."""
    assert old in data
    return data.replace(old, new.ljust(len(old)))


def test_text_outside_the_visible_page_is_left_out(draft: Read) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Visible.")
        canvas.drawString(72, 20, "proof 3 of 12 March")

    assert draft(drawing(draw, cropBox=(50, 50, 500, 750))).text == "Visible."


@pytest.mark.parametrize(
    ("labels", "printed"),
    [
        ([(0, "ROMAN_LOWER", "", 12), (1, "ARABIC", "", 1)], ("xii", "1", "2")),
        ([(0, "ARABIC", "A-", 7)], ("A-7", "A-8", "A-9")),
        # numbers that only count the pages are not kept
        ([(0, "ARABIC", "", 1)], ()),
        ([], ()),
    ],
)
def test_the_numbers_on_the_pages_are_kept_beside_those_of_the_file(
    draft: Read, labels: Sequence[tuple[int, str, str, int]], printed: tuple[str, ...]
) -> None:
    """Pages are numbered from one on in a style, with a prefix and a start."""

    def draw(canvas: Canvas) -> None:
        for page, style, prefix, start in labels:
            canvas.addPageLabel(page, style=style, start=start, prefix=prefix or None)
        for text in ("A preface.", "Gulls fly.", "Terns fly."):
            canvas.drawString(72, 700, text)
            canvas.showPage()

    read = draft(drawing(draw))
    assert read.printed_pages == printed
    assert read.text[read.pages[1] :].startswith("Gulls")


def test_labels_that_the_numbers_on_the_pages_belie_are_not_kept(draft: Read) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.addPageLabel(0, style="ARABIC", start=0)
        for number in range(215, 219):
            canvas.drawString(72, 750, f"Of ships {number}")
            canvas.drawString(72, 700, f"Gulls {'fly ' * (number - 214)}.")
            canvas.showPage()

    assert draft(drawing(draw)).printed_pages == ("215", "216", "217", "218")


def test_a_cover_is_not_the_page_whose_label_it_shares(draft: Read) -> None:
    def draw(canvas: Canvas) -> None:
        for page, start in ((0, 1), (1, 3), (2, 1)):
            canvas.addPageLabel(page, style="ARABIC", start=start)
        for text in ("Of ships", "By A. Pilot", *(f"Of ships {n}" for n in (1, 2, 3, 4))):
            canvas.drawString(72, 750, text)
            canvas.drawString(72, 700, f"Gulls {'fly ' * len(text)}.")
            canvas.showPage()

    assert draft(drawing(draw)).printed_pages == ("", "", "1", "2", "3", "4")


def test_what_the_file_states_is_metadata(draft: Read) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setTitle("How a harbour works")
        canvas.setAuthor("A. Pilot; B. Keeper")
        canvas.setSubject("Harbours")
        canvas.setKeywords("lights, tides")
        canvas.setCreator("Typesetter 1")
        canvas.drawString(72, 700, "Text.")

    read = draft(drawing(draw, invariant=1, lang="en-GB"))
    assert read.title == "How a harbour works"
    assert read.metadata == {
        "title": "How a harbour works",
        "author": "A. Pilot; B. Keeper",
        "subject": "Harbours",
        "tags": "lights, tides",
        "creator": "Typesetter 1",
        "created": "2000-01-01",
        "modified": "2000-01-01",
        "language": "en-GB",
    }
    plain = draft(pdf([["Text."]]))  # what programs write for nothing is no metadata
    assert (plain.title, set(plain.metadata)) == ("", {"created", "modified"})


@pytest.mark.parametrize(
    ("written", "day"),
    [
        (b"D:20190304101500+01'00'", "2019-03-04"),
        (b"20190304", "2019-03-04"),
        (b"D:201903", "2019-03"),
        (b"D:2019", "2019"),
        (b"D:20191399000000+00'00'", None),
        (b"4 March 2019", None),
    ],
)
def test_a_creation_date_is_written_as_iso(draft: Read, written: bytes, day: str | None) -> None:
    data = with_bytes(pdf([["Text."]], invariant=1), b"D:20000101000000+00'00'", written)
    assert draft(data).metadata.get("created") == day


@pytest.mark.parametrize(
    ("pages", "outline", "expected"),
    [
        # sections begin at the line that has the bookmark, and are named as it is
        ([["Preface", "x"], ["1 Harbours", "Text.", "1.1 Lights", "More.", "2.Tides", "End."]],
         [("Harbours", 1, 0), ("Lights", 1, 1), ("2. Tides", 1, 0)],
         [("1 Harbours", "1 Harbours"), ("1.1 Lights", "1 Harbours > 1.1 Lights"),
          ("2.Tides", "2.Tides")]),
        # a title within a sentence is not the heading
        ([["Lights are old.", "Lights", "They burn."]], [("Lights", 0, 0)],
         [("Lights", "Lights")]),
        # one whose title is on no line begins with its page
        ([["Preface."], ["Of harbours."]], [("Harbours", 1, 0)], [("Of harbours.", "Harbours")]),
        # one of pages without text at the end is left out
        ([["One."], []], [("One", 0, 0), ("Plates", 1, 0)], [("One.", "One.")]),
    ],
)  # fmt: skip
def test_sections_are_those_of_the_bookmarks(
    draft: Read, pages: list[list[str]], outline: list[Entry], expected: list[tuple[str, str]]
) -> None:
    assert headings(draft(pdf(pages, outline))) == expected


def test_a_bookmark_without_a_page_begins_with_the_one_below_it(draft: Read) -> None:
    data = pdf([["Preface."], ["Lights", "burn."]], [("Part 1", 1, 0), ("Lights", 1, 1)])
    target = b"/Dest [ 4 0 R /Fit ] /First"
    read = draft(with_bytes(data, target, b"/First".rjust(len(target))))
    assert headings(read) == [("Lights", "Part 1 > Lights")]
    assert read.segments[0].start == read.pages[1]


def test_pages_without_text_are_counted_and_keep_their_numbers(draft: Read) -> None:
    read = draft(pdf([["One."], [], ["Three."], []]))
    assert read.text == "One.\n\nThree."
    assert read.pages == (0, 4, 6, 12)
    assert read.remark == "2 of 4 pages (2, 4) without text: if they are scans, run OCR first"
    assert draft(pdf([[], ["Two."]])).pages == (0, 0)


def test_a_page_that_cannot_be_loaded_is_remarked(draft: Read) -> None:
    data = pdf([["One."], ["Two."]])
    read = draft(with_bytes(data, b"/Kids [ 3 0 R 4 0 R ]", b"/Kids [ 3 0 R 99 0 R]"))
    assert read.text == "One."
    assert read.remark == "1 of 2 pages (2) cannot be read: the file is damaged"


def test_encryption_without_a_password_to_open_is_read(draft: Read) -> None:
    data = pdf([["Open."]], encrypt=StandardEncryption("", "owner", canCopy=0))
    assert draft(data).text == "Open."


def scan(canvas: Canvas) -> None:
    for _ in range(3):
        canvas.drawInlineImage(Image.new("RGB", (40, 40), "grey"), 72, 600)
        canvas.showPage()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (drawing(scan), "3 pages without text, as in a scan; run OCR first (`ocrmypdf`, or "
         "`atlas create files --ocr eng`)"),
        (b"%PDF-1.4\nnothing\n%%EOF",
         "it is damaged; open it in a PDF program and save it anew, or get it again"),
        (with_bytes(pdf([["One."]]), b"/Count 1 /Kids [ 3 0 R ]", b"/Count 0 /Kids [ ]"),
         "it has no pages"),
    ],
    ids=["scan", "damaged", "no pages"],
)  # fmt: skip
def test_a_file_that_cannot_be_read_says_why(reads: Reads, data: bytes, reason: str) -> None:
    assert only_reason(reads(data, "paper.pdf")) == reason


def test_the_demo_is_two_corpora_of_two_pages_each_and_always_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_demo(tmp_path / name)
    paths = sorted((tmp_path / "a").rglob("*.pdf"))
    assert [path.parent.name for path in paths] == ["harbour", "railway"]
    for path in paths:
        read = only_draft(PdfReader().read(path, ""))
        assert len(read.pages) == 2
        assert read.title
        assert len(read.segments) > 2
        again = tmp_path / "b" / path.relative_to(tmp_path / "a")
        assert path.read_bytes() == again.read_bytes()


def page_of(*lines: str) -> Image.Image:
    image = Image.new("RGB", (1240, 1754), "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((120, 150 + 60 * number), line, "black", ImageFont.load_default(36))
    return image


def scanned(canvas: Canvas) -> None:
    """A page of text, one with a picture of a text, and an empty one."""
    canvas.drawString(72, 700, "Printed by the board.")
    canvas.showPage()
    image = page_of(
        "The harbour of Northport be-", "longs to the town.", "", "", "Ships wait here."
    )
    canvas.drawInlineImage(image, 0, 0, 595, 842)
    canvas.showPage()
    canvas.showPage()


@pytest.mark.skipif(not shutil.which("tesseract"), reason="the program tesseract is not installed")
def test_scanned_pages_are_read_by_tesseract_where_it_is_asked_for(reads: Reads) -> None:
    read = only_draft(reads(drawing(scanned), "scan.pdf", pdf_reader(ocr="eng")))
    texts = ["Printed by the board.", "The harbour of Northport belongs to the town."]
    assert pages(read) == [texts[0], f"{texts[1]}\n\nShips wait here.", ""]
    confidence = read.metadata["ocr_confidence"]
    assert isinstance(confidence, float)
    assert 0.5 < confidence <= 1
    assert read.remark == (
        "1 of 3 pages (2) read by Tesseract (eng); "
        "1 of 3 pages (3) without text, and Tesseract found none"
    )
    without = only_draft(reads(drawing(scanned), "scan.pdf"))
    assert without.text == texts[0]
    assert "ocr_confidence" not in without.metadata


@pytest.mark.skipif(not shutil.which("tesseract"), reason="the program tesseract is not installed")
@pytest.mark.parametrize("reader", [pdf_reader, files_reader])
def test_a_language_that_tesseract_lacks_is_an_error(reader: Callable[..., object]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        reader(ocr="eng+tlh")
    assert str(refused.value).startswith("--ocr eng+tlh: tesseract has no language tlh. It has ")


@pytest.mark.parametrize("reader", [pdf_reader, files_reader])
def test_without_tesseract_nothing_is_built(
    reader: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigurationError) as refused:
        reader(ocr="eng")
    assert str(refused.value) == (
        "--ocr eng needs the program tesseract, not installed here. Install it "
        "(`apt install tesseract-ocr`, `brew install tesseract`) or leave out --ocr."
    )
    assert reader()
