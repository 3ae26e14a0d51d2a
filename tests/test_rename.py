"""Metadata fields under other names: `--rename`, for every type of source."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.building.prepare import VERSION, Preparation, prepare
from atlas_search.building.sources import by_folder
from atlas_search.core.domain import Document
from atlas_search.language.text import ANALYSER_VERSION
from atlas_search.stores.staged import StagedDocument
from tests.source_builds import reader_of
from tests.source_files import MAKERS, good_files, write_files

NOTE = "---\nheadline: On sheep\nWrittenBy: A. Shepherd\nwhen: 1901\ndate: 1950\n---\nWool."


def documents(kind: str, root: Path, **rename: str) -> list[Document]:
    reader = reader_of(kind)
    cut = chunking(splitter="whole")
    preparation = Preparation(kind, reader, cut, lambda _: [], "", rename=rename)
    files = by_folder([root], reader.suffixes, "").files
    prepared = (each for file in files for each in prepare(preparation, file))
    return [each.document for each in prepared if isinstance(each, StagedDocument)]


def note(root: Path, **rename: str) -> Document:
    write_files(root, {"farm/sheep.txt": NOTE.encode()})
    (found,) = documents("txt", root, **rename)
    return found


@pytest.mark.parametrize("kind", MAKERS)
def test_the_fields_of_every_type_can_be_renamed(kind: str, tmp_path: Path) -> None:
    write_files(tmp_path, good_files(kind))
    before = [document.metadata for document in documents(kind, tmp_path)]
    old = next(name for found in before for name in found if name not in {"title", "content_type"})
    after = [document.metadata for document in documents(kind, tmp_path, **{old: "found"})]
    assert [found.get("found") for found in after] == [found.get(old) for found in before]
    assert any("found" in found for found in after)
    assert not any(old in found for found in after)


def test_names_are_written_in_any_way(tmp_path: Path) -> None:
    assert note(tmp_path, written_by="author").metadata["author"] == "A. Shepherd"


def test_what_is_renamed_takes_the_place_of_a_field_of_that_name(tmp_path: Path) -> None:
    found = note(tmp_path, when="date")
    assert found.metadata["date"] == "1901"
    assert "when" not in found.metadata


def test_names_can_change_places(tmp_path: Path) -> None:
    found = note(tmp_path, when="date", date="when").metadata
    assert (found["date"], found["when"]) == ("1901", 1950)


def test_another_field_can_be_the_title(tmp_path: Path) -> None:
    assert note(tmp_path).title == "Wool."
    assert note(tmp_path, headline="title").title == "On sheep"


def test_other_names_are_another_fingerprint(tmp_path: Path) -> None:
    write_files(tmp_path, {"farm/sheep.txt": NOTE.encode()})
    reader = reader_of("txt")
    (file,) = by_folder([tmp_path], reader.suffixes, "").files
    told = [
        Preparation("txt", reader, chunking(), lambda _: [], "", rename=rename).fingerprint(file)
        for rename in ({}, {"when": "date"}, {"when": "day"})
    ]
    assert len(set(told)) == 3


def test_a_fingerprint_is_that_of_all_that_is_said_and_of_the_bytes(tmp_path: Path) -> None:
    write_files(tmp_path, {"farm/sheep.txt": NOTE.encode()})
    reader, cut = reader_of("txt"), chunking()
    (file,) = by_folder([tmp_path], reader.suffixes, "").files
    said = [VERSION, ANALYSER_VERSION, reader.options, asdict(cut), "", file.stem, {"when": "date"}]
    said.append(asdict(file.rule) | {"language": "en"})
    told = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode())
    told.update(hashlib.sha256(NOTE.encode()).digest())
    made = Preparation("txt", reader, cut, lambda _: [], "", rename={"when": "date"})
    assert made.fingerprint(file) == told.digest() == made.fingerprint(file)
