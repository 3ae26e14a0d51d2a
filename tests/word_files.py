"""Word files made of a few elements, and what is read of them."""

import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import docx
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from atlas_search.readers import Draft
from atlas_search.readers.docx import DocxReader
from tests.drafts import only_draft, only_reason

W = nsdecls("w")
FOOTNOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"


def saved(write: Callable[[Document], object]) -> bytes:
    document = docx.Document()
    write(document)
    document.save(stream := BytesIO())
    return stream.getvalue()


def changed(data: bytes, parts: Mapping[str, bytes]) -> bytes:
    """The same file with some of its parts replaced or added, or left out if empty."""
    with zipfile.ZipFile(BytesIO(data)) as before:
        contents = {name: before.read(name) for name in before.namelist()} | parts
    with zipfile.ZipFile(stream := BytesIO(), "w", zipfile.ZIP_DEFLATED) as after:
        for name, content in contents.items():
            if content:
                after.writestr(name, content)
    return stream.getvalue()


def paragraphs(*inner: str) -> Callable[[Document], object]:
    """Writes paragraphs that hold this WordprocessingML."""

    def write(document: Document) -> None:
        for xml in inner:
            body(document).insert(-1, parse_xml(f"<w:p {W}>{xml}</w:p>"))

    return write


def body(document: Document) -> list:
    return document.element.body


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


RENDERED = "<w:r><w:lastRenderedPageBreak/></w:r>"
BREAK = '<w:r><w:br w:type="page"/></w:r>'


def written(folder: Path, data: bytes) -> Path:
    path = folder / "paper.docx"
    path.write_bytes(data)
    return path


def draft(folder: Path, source: bytes | Callable[[Document], object]) -> Draft:
    data = source if isinstance(source, bytes) else saved(source)
    return only_draft(DocxReader().read(written(folder, data), ""))


def reason(folder: Path, data: bytes) -> str:
    return only_reason(DocxReader().read(written(folder, data), ""))
