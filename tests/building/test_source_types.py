"""Promises that hold for every source type: each kind of file through the real build."""

import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.building.flow import BuildReport
from atlas_search.cli.create import COMMANDS
from atlas_search.language.text import content_words, words
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.source_builds import (
    SUFFIXES,
    build_from,
    documents,
    passages_of,
    remarks,
    sources_of,
    stored,
    write_good,
)
from tests.source_files import good_files, write_files

EXPECTED = tomllib.loads(Path(__file__).with_name("source_types.toml").read_text("utf-8"))
"""Documents of each type by their ids."""

KINDS = sorted(COMMANDS)
pytestmark = pytest.mark.usefixtures("read_here")
assert set(KINDS) == {*EXPECTED, "files"}


def write_changed(kind: str, root: Path) -> None:
    """Write the one file again that says how many ships there are."""
    if kind == "chroma":
        write_good(kind, root, "Eleven")
    else:
        name, content = next(iter(good_files(kind, "Eleven").items()))
        write_files(root, {name: content})


@dataclass(frozen=True)
class Built:
    """A collection of the good files of one type, built once; sections part its passages."""

    kind: str
    root: Path
    folder: Path
    report: BuildReport
    store: EmbeddedStore


STRUCTURAL = chunking("structural")


@pytest.fixture(scope="module", params=KINDS)
def built(
    read_here: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Built]:
    kind = request.param
    root = tmp_path_factory.mktemp(kind)
    write_good(kind, root / "sources")
    report = build_from(kind, root / "c", sources_of(kind, root / "sources"), STRUCTURAL)
    store = EmbeddedStore(root / "c")
    yield Built(kind, root / "sources", root / "c", report, store)
    store.close()


def expected_of(kind: str) -> dict[str, Any]:
    if kind != "files":
        return EXPECTED[kind]
    # the speeches of the table and those of the JSON file claim the same ids
    every = {id_: each for suffix in SUFFIXES for id_, each in EXPECTED[suffix].items()}
    return {id_: each for id_, each in every.items() if id_ not in ("town.s-1", "town.s-2")}


def test_titles_metadata_pages_sections_and_speakers_are_read(built: Built) -> None:
    for id_, expected in expected_of(built.kind).items():
        document, passages = built.store.document(id_), built.store.document_passages(id_)
        metadata = {n: [*v] if isinstance(v, tuple) else v for n, v in document.metadata.items()}
        places = [[p.page, p.section, p.speaker] for p in passages]
        assert document.title == expected["title"]
        assert expected.get("metadata", {}).items() <= metadata.items()
        assert places == expected.get("places", [[1, "", ""]])
    assert sum(documents(built.report).values()) == built.report.manifest.documents


def test_every_passage_is_its_span_and_has_an_id_of_its_own(built: Built) -> None:
    passages = passages_of(built.store)
    for passage in passages:
        text = built.store.document(passage.document_id).text
        assert passage.text == text[passage.start : passage.end]
        assert built.store.passage(passage.id) == passage
    assert len({passage.id for passage in passages}) == len(passages)


def test_every_passage_is_found_by_its_vector_and_by_its_words(built: Built) -> None:
    for passage in passages_of(built.store):
        vector = HashEmbedder().embed_query(passage.embedded)
        hits = built.store.nearest(passage.corpus, vector, 1, None)
        assert built.store.passages(hits.rows.tolist())[0].text == passage.text
        assert hits.scores[0] == pytest.approx(1.0, abs=1e-3)
        terms = [word.term for word in content_words(words(passage.text))]
        assert passage.row in built.store.matching(passage.corpus, terms, 3, None).rows


def test_a_second_build_reads_nothing_and_changes_nothing(built: Built) -> None:
    again = build_from(built.kind, built.folder, sources_of(built.kind, built.root), STRUCTURAL)
    assert (again.unchanged, again.read, again.embedded) == (True, 0, 0)
    assert again.manifest == built.report.manifest
    assert again.files == built.report.files


def test_the_same_files_elsewhere_give_the_same_passages_and_only_changes_are_read_again(
    built: Built, tmp_path: Path
) -> None:
    root, folder = tmp_path / "another [place] 100%", tmp_path / "c"
    shutil.copytree(built.root, root)
    build_from(built.kind, folder, sources_of(built.kind, root), STRUCTURAL)
    before = stored(folder)
    assert before == passages_of(built.store)
    write_changed(built.kind, root)
    report = build_from(built.kind, folder, sources_of(built.kind, root), STRUCTURAL)
    (changed,) = {p.text for p in stored(folder)} - {p.text for p in before}
    assert "Eleven ships" in changed
    assert (report.changes.changed, report.changes.added, report.changes.removed) == (1, 0, 0)
    assert (report.read, report.embedded) == (1, 0 if built.kind == "chroma" else 1)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chroma"])
def test_a_file_that_vanishes_after_it_was_listed_is_reported(kind: str, tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good(kind, root)
    sources = sources_of(kind, root)
    (root / sources.files[0].name).unlink()
    report = build_from(kind, tmp_path / "c", sources)
    assert "No such file" in remarks(report)[sources.files[0].name]
    assert documents(report)[sources.files[0].name] == 0
    assert report.manifest.documents == sum(documents(report).values()) > 0
