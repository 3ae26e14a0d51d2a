"""Reading PDF files: one document a file, its pages exactly those of the file."""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from ctypes import c_ushort
from dataclasses import dataclass
from datetime import date
from itertools import chain, groupby, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, NamedTuple

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError, PdfPage

from atlas_search.core.domain import Segment
from atlas_search.language.text import term_of
from atlas_search.language.word_pieces import is_english
from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.markup import Heading, plain, sections
from atlas_search.readers.pdf_lines import BELOW, printed_lines
from atlas_search.readers.pdf_paragraphs import page_text, usual_size, without_line_numbers
from atlas_search.readers.print import (
    BREAK,
    BROKEN,
    PrintedLine,
    labels_of_pages,
    printed_numbers,
    running_lines,
)
from atlas_search.readers.tesseract import Ocr, RecognisedWord, recognise, require_tesseract
from atlas_search.readers.titles import title_of_file


def without_running_lines(pages: Sequence[Sequence[PrintedLine]]) -> list[list[PrintedLine]]:
    """The lines of all pages without running heads and feet; rows of tables stay."""
    from_top = list(map(_from_top, pages))
    texts = [[line.text * (line.row in ("", line.text)) for line in page] for page in from_top]
    running = running_lines(texts)
    dropped = {
        id(page[number])
        for page, numbers in zip(from_top, running, strict=True)
        for number in numbers
    }
    return [[line for line in page if id(line) not in dropped] for page in pages]


def _from_top(page: Sequence[PrintedLine]) -> list[PrintedLine]:
    """The lines with text from top to bottom."""
    filled = (line for line in page if line.text)
    return sorted(filled, key=lambda line: (-line.height, line.left))


_WORD = re.compile(r"\w+(?:-\w+)*")
_MARK = f"{BROKEN}\n"
_SHORTEST_HALF = 4  # letters: `over` and `all` are words, too, in what was one


def mend(pages: Sequence[str]) -> list[str]:
    """`pages` with each word that BROKEN marks made whole, on one line with what follows.

    The hyphen goes unless the next line begins with a capital, the document writes the word with
    its hyphen elsewhere and never without, or both halves are English words and the whole is none.
    """
    if not any(BROKEN in page for page in pages):
        return list(pages)
    words = {word for page in pages for word in _WORD.findall(page.lower())}
    return [_mend_page(page, words) for page in pages]


def _mend_page(page: str, words: Collection[str]) -> str:
    parts = page.split(_MARK)
    pieces = [parts[0]]
    for before, after in pairwise(parts):
        # neither the end of a paragraph nor the next row of a table is put on that line
        rest = re.match(r"(\S*)(\s(?!\s|.* \| ))?", after)
        assert rest is not None
        pieces.append("-" if _keeps_hyphen(before.split()[-1], rest[1], words) else "")
        pieces.append(f"{rest[1]}{' ' * bool(rest[2])}{after[rest.end() :]}")
    return "".join(pieces)


def _keeps_hyphen(left: str, right: str, words: Collection[str]) -> bool:
    left, right = re.sub(r"^\W+", "", left), re.sub(r"(?<!\W)\W+$", "", right)
    if right[:1].isupper() and not (left.isupper() and right.isupper()):
        return True
    whole = f"{left}{right}".lower()
    if whole in words:
        return False
    return f"{left}-{right}".lower() in words or (
        min(len(left), len(right)) >= _SHORTEST_HALF
        and all(is_english(term_of(half)) for half in (left, right))
        and not is_english(term_of(whole))
    )


_POINTS = ".:–—"
_BETWEEN = rf"[{_POINTS}\s]*"  # bookmarks and print part a number from its heading in other ways
_NUMBER = r"^(?:[\dIVXLC.()§]+[ ]+)?"
_AHEAD = 50_000
"""Characters of a page in which a bookmark looks for its line, from that of the one before: a file
can have thousands of bookmarks for one page without an end."""

_LONGEST = 120
"""Characters of a line that begins with the title of a bookmark and is all the heading there is."""


def outline_sections(document: PdfDocument, text: str, pages: Sequence[int]) -> tuple[Segment, ...]:
    """A section for each bookmark, from the line of its page that has its title.

    It is named as that line has it, with its number. Where no line is the title, the first that
    begins with it counts, and names it if nothing else is in its paragraph; else the section begins
    with the page or at the bookmark before on that page.
    """
    return sections(_headings(_bookmarks(document, len(pages)), text, [*pages, len(text)]))


def _headings(
    bookmarks: Sequence[tuple[int, int, str]], text: str, pages: Sequence[int]
) -> Iterator[Heading]:
    last = Heading(-1, 0, "")
    for page, level, title in bookmarks:
        begin, end = pages[page], pages[page + 1]
        begin = last.start if begin <= last.start < end else begin
        if begin < len(text):  # or no page has text from there on
            last = _heading(text, title, level, begin, min(end, begin + _AHEAD))
            yield last


def _heading(text: str, title: str, level: int, begin: int, end: int) -> Heading:
    words = _title_words(title)
    own = re.compile(rf"{_NUMBER}{words}[{_POINTS}]*$", re.MULTILINE | re.IGNORECASE)
    longer = re.compile(rf"{_NUMBER}{words}[{_POINTS}\u2003].*$", re.MULTILINE | re.IGNORECASE)
    match = own.search(text, begin, end) or longer.search(text, begin, end)
    if not match:
        return Heading(begin, level, title)
    line = " ".join(match[0].split())
    stands_alone = text[match.end() : match.end() + 2] in ("\n\n", "")
    is_name = match.re is own or (stands_alone and len(line) <= _LONGEST)
    return Heading(match.start(), level, line if is_name else title)


def _title_words(title: str) -> str:
    """The pattern of a title.

    Of several places for a word of points alone the first is taken, unless nothing comes behind it:
    to try all of them, for each of many dots, takes time that doubles with each dot.
    """
    first, *others = [word.rstrip(_POINTS) or word for word in title.split()]
    pattern = re.escape(first)
    for number, word in enumerate(others, start=1):
        is_sure = not word.strip(_POINTS) and number < len(others)
        between = f"{_BETWEEN}{'?' * is_sure}{re.escape(word)}"
        pattern += f"(?>{between})" if is_sure else between
    return pattern


def _bookmarks(document: PdfDocument, pages: int) -> list[tuple[int, int, str]]:
    """Page index, level and title; one without a page of its own has that of the next."""
    bookmarks: list[tuple[int, int, str]] = []
    page = pages
    for bookmark in reversed(list(document.get_toc())):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        page = page if index is None else int(index)
        title = title_of_file(_stated(bookmark.get_title))
        if title and page < pages:
            bookmarks.append((page, bookmark.level, title))
    return bookmarks[::-1]


_FIELDS = {
    "title": "Title",
    "author": "Author",
    "subject": "Subject",
    "tags": "Keywords",
    "creator": "Creator",
    "created": "CreationDate",
    "modified": "ModDate",
}
_UNSET = {"untitled", "anonymous", "unspecified", "(anonymous)", "(unspecified)"}
"""Values that programs write where nobody stated any."""

_DATE = re.compile(r"(?:D:)?([0-9]{4})([0-9]{2})?([0-9]{2})?")
_UNKNOWN = re.compile("[\ufffd\ue000-\uf8ff]")  # replaced, or of a font's private use
_TAIL = 1024
_NAMED = 5
_INCH = 72  # points
_DPI = 250  # at which A4 has the most pixels that a picture may have
_HOPELESS = 1000  # pages in a row that cannot be loaded: no more are tried


@dataclass(frozen=True)
class PdfReader:
    """Reads PDFs. Page 1 is the first of the file; the number that is printed on it is kept beside
    that, if the file states it, or heads and feet bear it.

    A gap, an indent or a numbered heading begins a paragraph; other line ends that mean something
    are those of the print. A word broken by one is joined before it. Each row of a table is a
    line, `Port: Northport | Depth: 9 m`, with heads where they are sure. Heads and feet that run on
    from page to page are read once. Sections come from the outline. What is filled into
    forms or attached is not read. pdfium is not thread-safe: read in one thread of a process only.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".pdf"})
    ocr: str = ""

    @property
    def options(self) -> Mapping[str, object]:
        """Its version, and the languages in which Tesseract reads scans, if it does."""
        return {"version": 8, **({"ocr": self.ocr} if self.ocr else {})}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        yield _read(path, self.ocr)


def pdf_reader(ocr: Ocr = "") -> PdfReader:
    """Build a collection from PDF files; page numbers are kept."""
    if ocr:
        require_tesseract(ocr)
    return PdfReader(ocr)


def _read(path: Path, ocr: str) -> Read:
    path.stat()  # of a missing file pypdfium2 would say only the path
    try:
        document = PdfDocument(path)
    except PdfiumError as error:
        return Skipped(_reason(path, error))
    with document:
        return _draft(document, ocr)


def _printed(labels: Sequence[str], numbers: Sequence[str]) -> Sequence[str]:
    """The labels that the file states, unless the numbers on its pages are others.

    Beside such numbers a label of several pages says nothing of those without: `1` of a cover.
    """
    stated = labels_of_pages(labels)
    both = [label == number for label, number in zip(stated, numbers, strict=False) if number]
    if not stated or 2 * sum(both) < len(both):
        return numbers
    pages = Counter(stated if both else ())
    return [
        number or label * (pages[label] < 2) for label, number in zip(stated, numbers, strict=True)
    ]


class _Pages(NamedTuple):
    """The text of each page and the numbers printed on them, the numbers of those that could not be
    loaded, and the confidences of the words of each that Tesseract read."""

    texts: Sequence[str]
    printed: Sequence[str]
    unreadable: Sequence[int]
    recognised: Mapping[int, Sequence[float]]


def _draft(document: PdfDocument, ocr: str) -> Read:
    read = _pages(document, ocr)
    if not any(read.texts):
        return Skipped(_without_text(len(read.texts), read.unreadable, ocr))
    text, pages = _join(mend(read.texts))
    metadata: dict[str, object] = {**_metadata(document)}
    title = title_of_file(str(metadata.get("title", "")))
    if confidences := list(chain(*read.recognised.values())):
        metadata["ocr_confidence"] = round(fmean(confidences), 3)
    labels = [_stated(document.get_page_label, page) for page in range(len(pages))]
    return Draft(
        text=text,
        title=title,
        metadata=metadata,
        pages=pages,
        segments=outline_sections(document, text, pages),
        remark=_remark(read, ocr),
        printed_pages=labels_of_pages(_printed(labels, read.printed)),
    )


def _pages(document: PdfDocument, ocr: str) -> _Pages:
    pages: list[list[PrintedLine]] = []
    unreadable = []
    recognised = {}
    for index in range(len(document)):
        try:
            page = document[index]
            lines = printed_lines(page)
            if ocr and not any(line.text for line in lines):
                words, scale = _words(page, ocr)
                lines = _recognised_lines(words, scale)
                recognised[index + 1] = [word.confidence for word in words]
            pages.append(lines)
            page.close()
        except (PdfiumError, ValueError):  # or it has no size
            pages.append([])
            unreadable.append(index + 1)
            # a tree of pages that holds itself can name a million that are none
            if len(unreadable) >= _HOPELESS and unreadable[-_HOPELESS] == index + 2 - _HOPELESS:
                break
    unnumbered = without_line_numbers(pages)
    upright = (
        (line for line in _from_top(page) if line.height > -BELOW / 2) for page in unnumbered
    )
    numbers = printed_numbers([[line.text for line in page] for page in upright])
    printed = without_running_lines(unnumbered)
    size = usual_size(printed)
    texts = [page_text(lines, size) for lines in printed]
    return _Pages(texts, numbers, unreadable, {n: of for n, of in recognised.items() if of})


def _words(page: PdfPage, ocr: str) -> tuple[Sequence[RecognisedWord], float]:
    """The words that Tesseract finds on a page, and the points that one of their pixels is."""
    from atlas_search.readers.pdf_picture import picture

    image = picture(page, round(page.get_width() * _DPI / _INCH))
    points = page.get_width() / int.from_bytes(image[16:20], "big")  # of a PNG that is its width
    return recognise(image, ocr, round(_INCH / points)), points


def _recognised_lines(words: Sequence[RecognisedWord], scale: float) -> list[PrintedLine]:
    """The lines of a recognised page, with a blank one between paragraphs."""
    lines: list[PrintedLine] = []
    for _, of in groupby(words, key=lambda word: word.line[:-1]):
        lines += [PrintedLine("", 0.0, 0.0, 0.0, broken=False)] if lines else []
        for _, line in groupby(of, key=lambda word: word.line):
            own = list(line)
            text = " ".join(word.text for word in own)
            # most words end at the base, some below it
            base = -scale * sorted(word.bottom for word in own)[len(own) // 4]
            left, right = scale * own[0].left, scale * own[-1].right
            broken = BREAK.search(text) is not None and own[-1] is not words[-1]
            text = text[:-1] if broken else text
            lines.append(PrintedLine(text, base, left, right, broken, left, right))
    return lines


def _join(texts: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The whole text, and where pages begin. A sentence may go on in the next page."""
    pieces: list[str] = []
    starts: list[int] = []
    length = 0
    for text in texts:
        if text and length:
            goes_on = text[0].islower() and pieces[-1][-1] not in '.!?:;"”’)'
            pieces.append("\n" if goes_on else "\n\n")
            length += len(pieces[-1])
        starts.append(length)
        if text:
            pieces.append(text)
        length += len(text)
    return "".join(pieces), (0, *starts[1:])


def _metadata(document: PdfDocument) -> dict[str, str]:
    fields = {name: _stated(document.get_metadata_value, key) for name, key in _FIELDS.items()}
    for name in ("created", "modified"):
        fields[name] = _day(fields[name])
    fields["language"] = _language(document)
    return {name: value for name, value in fields.items() if value and value.lower() not in _UNSET}


def _stated(read: Callable[..., str], *of: Any) -> str:
    """Read a statement of the file on one line; empty if it cannot be decoded."""
    with suppress(UnicodeDecodeError):
        return " ".join(plain(read(*of)).split())
    return ""


def _language(document: PdfDocument) -> str:
    size = pdfium.FPDFCatalog_GetLanguage(document, None, 0) // 2
    buffer = (c_ushort * size)()
    pdfium.FPDFCatalog_GetLanguage(document, buffer, 2 * size)
    return "".join(map(chr, buffer[: max(0, size - 1)])).strip()


def _day(written: str) -> str:
    """`D:20190304101500Z` as `2019-03-04`, `D:2019` as `2019`; empty if it is no date."""
    match = _DATE.match(written)
    if not match:
        return ""
    year, month, day = match.groups()
    with suppress(ValueError):
        whole = date(int(year), int(month or 1), int(day or 1)).isoformat()
        return whole[: 10 if day else 7 if month else 4]
    return ""


def _remark(pages: _Pages, ocr: str) -> str:
    texts, unreadable = pages.texts, pages.unreadable
    without = {n for n, text in enumerate(texts, 1) if not text}
    empty = sorted(without.difference(unreadable))
    unknown = sum(len(_UNKNOWN.findall(text)) for text in texts)
    remarks = []
    if pages.recognised:
        remarks.append(f"{_count(list(pages.recognised), texts)} read by Tesseract ({ocr})")
    if unreadable:
        remarks.append(f"{_count(unreadable, texts)} cannot be read: the file is damaged")
    if empty:
        advice = ", and Tesseract found none" if ocr else ": if they are scans, run OCR first"
        remarks.append(f"{_count(empty, texts)} without text{advice}")
    if unknown * 100 > sum(map(len, texts)):
        remarks.append(f"{unknown} characters are unknown: its fonts do not name them; run OCR")
    return "; ".join(remarks)


def _count(numbers: Sequence[int], texts: Sequence[str]) -> str:
    """`2 of 9 pages (4, 7)`."""
    few = ", ".join(map(str, numbers[:_NAMED]))
    return f"{len(numbers)} of {len(texts)} pages ({few}{', ...' * (len(numbers) > _NAMED)})"


def _without_text(pages: int, unreadable: Sequence[int], ocr: str) -> str:
    if len(unreadable) == pages:
        return "none of its pages can be read: the file is damaged; get it again"
    without = "its only page has no text" if pages == 1 else f"{pages} pages without text"
    if ocr:
        return f"{without}, and Tesseract ({ocr}) found none"
    return f"{without}, as in a scan; run OCR first (`ocrmypdf`, or `atlas create files --ocr eng`)"


def _reason(path: Path, error: PdfiumError) -> str:
    if _opens(path):
        return "it has no pages"
    if error.err_code == pdfium.FPDF_ERR_PASSWORD:
        return "it is encrypted; remove the password, for instance with `qpdf --decrypt`"
    if error.err_code == pdfium.FPDF_ERR_SECURITY:
        return "it is encrypted in a way that pdfium does not know; get a copy without protection"
    with path.open("rb") as file:
        head, size = file.read(_TAIL), path.stat().st_size
        file.seek(max(0, size - _TAIL))
        tail = file.read()
    if not size:
        return "the file is empty"
    if b"%PDF-" not in head:
        return "it is not a PDF, whatever its name says"
    if b"%%EOF" not in tail:
        return "it breaks off before its end; get the whole file again"
    return "it is damaged; open it in a PDF program and save it anew, or get it again"


def _opens(path: Path) -> bool:
    """Say if pdfium itself opens a file that pypdfium2 refused: then only pages are missing.

    The error code does not tell: it is still that of whichever file failed before.
    """
    document = pdfium.FPDF_LoadDocument(os.fsencode(path), None)
    if document:
        pdfium.FPDF_CloseDocument(document)
    return bool(document)
