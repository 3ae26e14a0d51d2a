"""XML files written for one test."""

from pathlib import Path

import pytest

from atlas_search.readers import Draft, Read
from tests.xml.xml_drafts import HEAD, reads


@pytest.fixture
def read_bytes(tmp_path: Path):
    def read(content: bytes, encoding: str = "", **settings: object) -> list[Read]:
        path = tmp_path / "source.xml"
        path.write_bytes(content)
        return reads(path, encoding, **settings)

    return read


@pytest.fixture
def tei(read_bytes):
    """A function that reads one TEI text with this body."""

    def read(body: str, **settings: object) -> Draft:
        xml = f'<TEI xmlns="http://www.tei-c.org/ns/1.0">{HEAD}<text>{body}</text></TEI>'
        (draft,) = read_bytes(xml.encode(), **settings)
        assert isinstance(draft, Draft), draft
        return draft

    return read


@pytest.fixture
def law(read_bytes):
    """A function that reads one law."""

    def read(xml: str) -> Draft:
        (draft,) = read_bytes(xml.encode())
        assert isinstance(draft, Draft), draft
        return draft

    return read
