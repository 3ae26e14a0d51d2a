"""Zip containers, such as Word and EPUB files are, that may be damaged or hostile."""

import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EINVAL
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

if TYPE_CHECKING:  # a server takes ZIP files without the readers of XML
    from lxml import etree


MAX_BYTES = 500_000_000
"""Unpacked bytes of all parts together."""

MAX_RATIO = 200
"""Unpacked bytes for each byte of the file; text comes to 20."""

SMALL = 10_000_000
"""Unpacked bytes that are harmless at any ratio."""

_WHOLE_AGAIN = "get the whole file again"
_DAMAGE = (
    BadZipFile,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    lzma.LZMAError,
    zlib.error,
)


class BadArchive(ValueError):
    """The file cannot be opened as a container, or a part not read. Says why and what to do."""


@contextmanager
def open_archive(path: Path, kind: str) -> Iterator[ZipFile]:
    """The zip file at `path`, a `kind` of file; raises BadArchive, or OSError."""
    if not path.stat().st_size:
        raise BadArchive("the file is empty")
    try:
        archive = ZipFile(path)
    except Exception as error:
        if not is_damage(error):
            raise
        raise BadArchive(_reason(path, kind)) from error
    with archive:
        refuse_bombs(archive, path.stat().st_size)
        yield archive


def part(archive: ZipFile, name: str) -> bytes:
    """The bytes of one part; raises BadArchive if it is missing or damaged."""
    try:
        return archive.read(name)
    except KeyError as error:
        raise BadArchive(f"its part {name} is missing; {_WHOLE_AGAIN}") from error
    except Exception as error:
        if not is_damage(error):
            raise
        raise BadArchive(f"its part {name} is damaged ({error}); {_WHOLE_AGAIN}") from error


def is_damage(error: Exception) -> bool:
    """Say if reading a zip file failed for what is in it, and not for want of access to it.

    An offset that leads to before the file is an OSError too.
    """
    return isinstance(error, _DAMAGE) or getattr(error, "errno", None) == EINVAL


def xml_part(archive: ZipFile, name: str) -> "etree._Element":
    """The tree of one part; raises BadArchive. Nothing outside the part is read."""
    from lxml import etree

    try:
        return etree.fromstring(part(archive, name), xml_parser())
    except etree.XMLSyntaxError as error:
        raise BadArchive(
            f"its part {name} is not valid XML: {error.msg}; {_WHOLE_AGAIN}"
        ) from error


def xml_parser() -> "etree.XMLParser":
    """One that opens no other file, expands no entity and refuses more than 256 levels."""
    from lxml import etree

    return etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)


def refuse_bombs(archive: ZipFile, size: int) -> None:
    """Raise BadArchive for what would unpack to very much of `size` bytes, or is encrypted."""
    parts = archive.infolist()
    unpacked = sum(entry.file_size for entry in parts)
    if unpacked > MAX_BYTES or unpacked > max(SMALL, size * MAX_RATIO):
        raise BadArchive(
            f"it would unpack to {unpacked:,} bytes, more than {MAX_BYTES:,} or {MAX_RATIO} times "
            "its size; if that is no attack, split it or make its pictures smaller"
        )
    if any(entry.flag_bits & 1 for entry in parts):
        raise BadArchive("it is encrypted; get a copy without a password")


_OLE = bytes.fromhex("D0CF11E0A1B11AE1")


def _reason(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        head = file.read(len(_OLE))
    if head.startswith(b"PK\x03\x04"):
        return f"it breaks off before its end or is damaged; {_WHOLE_AGAIN}"
    suffix, program = path.suffix.lower(), kind.split()[-1]
    if head == _OLE and suffix.endswith("x"):  # .docx, .pptx or .xlsx
        if "EncryptedPackage".encode("utf-16-le") in path.read_bytes():
            return f"it is encrypted; remove the password in {program} and save it anew"
        return (
            f"it is {kind} file of the old kind ({suffix[:-1]}); save it as {suffix} in {program} "
            "or LibreOffice"
        )
    return f"it is not {kind} file, whatever its name says"
