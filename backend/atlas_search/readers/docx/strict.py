"""Word's "Strict Open XML Document" as the usual kind, which alone python-docx can open."""

import re
from io import BytesIO
from zipfile import ZipFile

from atlas_search.readers.archive import part

_RELATIONS = "_rels/.rels"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_USUAL = rb"http://schemas.openxmlformats.org/\1/2006/"
"""The elements are the same, in other namespaces (ISO/IEC 29500-1 and 29500-4)."""


def is_strict(archive: ZipFile) -> bool:
    """Whether the file is of the strict kind. Raises BadArchive."""
    return (
        _RELATIONS in archive.namelist() and _STRICT.search(part(archive, _RELATIONS)) is not None
    )


def usual_kind(archive: ZipFile) -> BytesIO:
    """The file with the usual namespaces. Raises BadArchive."""
    usual = BytesIO()
    with ZipFile(usual, "w") as written:
        for name in archive.namelist():
            content = part(archive, name)
            if name.endswith((".xml", ".rels")):
                content = _STRICT.sub(_USUAL, content)
            written.writestr(name, content)
    usual.seek(0)
    return usual
