"""Sources written for one test, sites to fetch from, and what is read of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from atlas_search.readers import Draft, Read, Reader
from atlas_search.readers.files import files_reader
from atlas_search.readers.xml.read import XmlReader
from tests.readers.drafts import only_draft
from tests.readers.sites import Folder, Site, serving

Reads = Callable[..., list[Read]]


@pytest.fixture
def reads(tmp_path: Path) -> Reads:
    """A function that reads one file of this content: `reads("a,b", "a.csv")`."""

    def read(
        content: str | bytes, name: str, reader: Reader | None = None, encoding: str = ""
    ) -> list[Read]:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return list((reader or files_reader()).read(path, encoding))

    return read


@pytest.fixture
def read_xml(reads: Reads) -> Reads:
    """A function that reads one XML file, with settings of its reader."""

    def read(content: str | bytes, encoding: str = "", **settings: object) -> list[Read]:
        return reads(content, "source.xml", XmlReader(**settings), encoding)  # type: ignore[arg-type]

    return read


@pytest.fixture
def xml(read_xml: Reads) -> Callable[..., Draft]:
    """A function that reads the one document of an XML file."""
    return lambda content, **settings: only_draft(read_xml(content, **settings))


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as opened:
        yield opened


@pytest.fixture
def other_site() -> Iterator[Site]:
    with serving(Site()) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)
