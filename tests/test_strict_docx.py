"""Word files saved as "Strict Open XML Document"."""

import re
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import docx

from atlas_search.core.domain import Segment
from atlas_search.readers.docx import DocxReader
from tests.drafts import only_draft

_USUAL = re.compile(rb"http://schemas\.openxmlformats\.org/(?!package)(\w+)/2006/")


def strict(data: bytes) -> bytes:
    """A Word file with the namespaces that Word writes for the strict kind."""
    with ZipFile(BytesIO(data)) as usual, ZipFile(stream := BytesIO(), "w") as written:
        for name in usual.namelist():
            content = _USUAL.sub(rb"http://purl.oclc.org/ooxml/\1/", usual.read(name))
            written.writestr(name, content)
    return stream.getvalue()


def test_a_file_of_the_strict_kind_is_read_as_any_other(tmp_path: Path) -> None:
    document = docx.Document()
    document.core_properties.title = "Minutes"
    document.add_heading("Harbour", level=1)
    document.add_paragraph("Twelve ships were counted.")
    document.save(stream := BytesIO())
    path = tmp_path / "minutes.docx"
    path.write_bytes(strict(stream.getvalue()))
    draft = only_draft(DocxReader().read(path, ""))
    assert draft.text == "Harbour\n\nTwelve ships were counted."
    assert draft.segments == (Segment(0, "Harbour"),)
    assert draft.metadata["title"] == "Minutes"
