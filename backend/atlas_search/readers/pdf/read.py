"""Reading PDF files: one document a file, its pages exactly those of the file."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from ctypes import c_ushort
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.markup import plain
from atlas_search.readers.page_labels import labels_of_pages
from atlas_search.readers.titles import title_of_file

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfiumError

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
"""What programs write where nobody said anything."""

_DATE = re.compile(r"(?:D:)?([0-9]{4})([0-9]{2})?([0-9]{2})?")
_UNKNOWN = re.compile("[\ufffd\ue000-\uf8ff]")  # replaced, or of a font's private use
_TAIL = 1024
_NAMED = 5
_HOPELESS = 1000  # pages in a row that cannot be loaded: no more are tried


@dataclass(frozen=True)
class PdfReader:
    """Reads PDFs. Page 1 is the first of the file; the number that is printed on it is kept beside
    that, if the file states it.

    A gap, an indent or a numbered heading begins a paragraph; other line ends that mean something
    are those of the print. A word broken by one is joined before it. Heads and feet that
    run on from page to page are read once. Sections come from the outline. What is filled into
    forms or attached is not read. pdfium is not thread-safe: read in one thread of a process only.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".pdf"})
    options: ClassVar[Mapping[str, object]] = {"version": 4}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of the file; a PDF states its own encoding."""
        yield _read(path)


def pdf_reader() -> PdfReader:
    """Build a collection from PDF files; page numbers are kept."""
    return PdfReader()


def _read(path: Path) -> Read:
    # 60 ms to import, which a command that reads no PDF should not wait for
    from pypdfium2 import PdfDocument, PdfiumError

    path.stat()  # of a missing file pypdfium2 would say only the path
    try:
        document = PdfDocument(path)
    except PdfiumError as error:
        return Skipped(_reason(path, error))
    with document:
        return _draft(document)


def _draft(document: "PdfDocument") -> Read:
    from atlas_search.readers.pdf.hyphens import mend
    from atlas_search.readers.pdf.outline import outline_sections

    texts, unreadable = _pages(document)
    if not any(texts):
        return Skipped(_without_text(len(texts), unreadable))
    text, pages = _join(mend(texts))
    metadata = _metadata(document)
    return Draft(
        text=text,
        title=title_of_file(metadata.get("title", "")),
        metadata=metadata,
        pages=pages,
        segments=outline_sections(document, text, pages),
        remark=_remark(texts, unreadable),
        printed_pages=labels_of_pages([_label(document, page) for page in range(len(texts))]),
    )


def _pages(document: "PdfDocument") -> tuple[list[str], list[int]]:
    """The text of each page, and the numbers of those that pdfium could not load."""
    from pypdfium2 import PdfiumError

    from atlas_search.readers.pdf.margin import without_line_numbers
    from atlas_search.readers.pdf.page import Line, printed_lines, without_running_lines
    from atlas_search.readers.pdf.paragraphs import page_text

    pages: list[list[Line]] = []
    unreadable = []
    for index in range(len(document)):
        try:
            page = document[index]
            pages.append(printed_lines(page))
            page.close()
        except PdfiumError:
            pages.append([])
            unreadable.append(index + 1)
            # a tree of pages that holds itself can name a million that are none
            if len(unreadable) >= _HOPELESS and unreadable[-_HOPELESS] == index + 2 - _HOPELESS:
                break
    printed = without_running_lines(without_line_numbers(pages))
    return [page_text(lines) for lines in printed], unreadable


def _label(document: "PdfDocument", page: int) -> str:
    """The number of a page, counted from 0, as the file states it; empty if it does not."""
    with suppress(UnicodeDecodeError):
        return " ".join(plain(document.get_page_label(page)).split())
    return ""


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


def _metadata(document: "PdfDocument") -> dict[str, str]:
    found = {name: _value(document, key) for name, key in _FIELDS.items()}
    for name in ("created", "modified"):
        found[name] = _day(found[name])
    found["language"] = _language(document)
    return {name: value for name, value in found.items() if value and value.lower() not in _UNSET}


def _value(document: "PdfDocument", key: str) -> str:
    with suppress(UnicodeDecodeError):
        return " ".join(plain(document.get_metadata_value(key)).split())
    return ""


def _language(document: "PdfDocument") -> str:
    import pypdfium2.raw as pdfium

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


def _remark(texts: Sequence[str], unreadable: Sequence[int]) -> str:
    without = {n for n, text in enumerate(texts, 1) if not text}
    empty = sorted(without.difference(unreadable))
    unknown = sum(len(_UNKNOWN.findall(text)) for text in texts)
    remarks = []
    if unreadable:
        remarks.append(f"{_count(unreadable, texts)} cannot be read: the file is damaged")
    if empty:
        remarks.append(f"{_count(empty, texts)} without text: if they are scans, run OCR first")
    if unknown * 100 > sum(map(len, texts)):
        remarks.append(f"{unknown} characters are unknown: its fonts do not name them; run OCR")
    return "; ".join(remarks)


def _count(numbers: Sequence[int], texts: Sequence[str]) -> str:
    """`2 of 9 pages (4, 7)`."""
    few = ", ".join(map(str, numbers[:_NAMED]))
    return f"{len(numbers)} of {len(texts)} pages ({few}{', ...' * (len(numbers) > _NAMED)})"


def _without_text(pages: int, unreadable: Sequence[int]) -> str:
    if len(unreadable) == pages:
        return "none of its pages can be read: the file is damaged; get it again"
    without = "its only page has no text" if pages == 1 else f"{pages} pages without text"
    return f"{without}, as in a scan; run OCR (e.g. `ocrmypdf`) first"


def _reason(path: Path, error: "PdfiumError") -> str:
    import pypdfium2.raw as pdfium

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
    """Whether pdfium itself opens a file that pypdfium2 refused: then only pages are missing.

    The error code does not tell: it is still that of whichever file failed before.
    """
    import pypdfium2.raw as pdfium

    document = pdfium.FPDF_LoadDocument(os.fsencode(path), None)
    if document:
        pdfium.FPDF_CloseDocument(document)
    return bool(document)
