"""What every reader makes of the sample files: each field of each draft."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from atlas_search.readers import Read, Reader
from atlas_search.readers.files import files_reader
from tests.broken_files import BROKEN
from tests.conftest import SAMPLES
from tests.faces.plain import cut_all, plain
from tests.faces.world import Face
from tests.places import ROOT
from tests.source_builds import reader_of, sources_of, write_good
from tests.source_files import good_files, write_files

XML = ROOT / "tests" / "data" / "xml"
FORMATS = "txt pdf html xml csv jsonl docx epub pptx xlsx odt rtf mail marc bib".split()
FOLDERS = ("zotero", "oai", "iiif", "beir", "chroma")
"""Readers of whole folders."""


def faces() -> dict[str, Face]:
    samples = {
        f"drafts/samples/{path.parent.name}/{path.name}.json": _of(path)
        for path in sorted(SAMPLES.glob("*/*"))
        if path.is_file()
    }
    xml = {f"drafts/xml/{path.name}.json": _of(path) for path in sorted(XML.glob("*.xml"))}
    good = {
        f"drafts/good-{kind}.json": _made(lambda kind=kind: good_files(kind)) for kind in FORMATS
    }
    broken = {
        f"drafts/broken-{kind}.json": _made(
            lambda make=make: {name: content for name, (content, _) in make().items()}
        )
        for kind, make in BROKEN.items()
    }
    folders = {f"drafts/good-{kind}.json": _folder(kind) for kind in FOLDERS}
    return samples | xml | good | broken | folders


def _of(path: Path) -> Face:
    return lambda world: world.plain(_read(files_reader(), path), frozenset())


def _made(make: Callable[[], Mapping[str, bytes]]) -> Face:
    def read(folder: Path) -> object:
        files, reader = make(), files_reader()
        write_files(folder, files)
        return {
            name: _read(reader, folder / name)
            if name.lower().endswith(tuple(reader.suffixes))
            else "no reader"
            for name in files
        }

    return _within(read)


def _folder(kind: str) -> Face:
    def read(folder: Path) -> object:
        write_good(kind, folder)
        reader = reader_of(kind)
        files = sources_of(kind, folder).files
        return {file.name: _read(reader, file.path) for file in files}

    return _within(read)


def _within(read: Callable[[Path], object]) -> Face:
    """A face of what is read in a folder made for it."""

    def seen(_: object) -> object:
        with TemporaryDirectory() as folder:
            return plain(read(Path(folder)), {folder: "FOLDER"}, frozenset())

    return seen


def _read(reader: Reader, path: Path) -> list[Any]:
    return [cut_all({"is": type(each).__name__, **asdict(each)}) for each in _all(reader, path)]


def _all(reader: Reader, path: Path) -> Iterator[Read]:
    yield from reader.read(path, "")
