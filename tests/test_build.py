"""Building from a folder of text files: repeatable, atomic, and clear about what it left out."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock

from atlas_search.building.chunking import chunking
from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.sources import by_folder
from atlas_search.cli.create import write_readable
from atlas_search.core.errors import ConfigurationError, DamagedStore, SourceError
from atlas_search.core.settings import load_settings
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.readers.text import TxtReader
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.filters import Range
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import remove_old
from tests.places import ROOT

ARTICLE = """---
title: On sheep
date: 1901
author: A. Shepherd
tags: [sheep, wool]
---
Sheep give wool. Wool is spun.

Lambs are born in spring.
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    for path, content in {
        "farm/sheep.md": ARTICLE,
        "farm/2019/Cow Report.txt": "Cows give milk. " * 100,
        "town/trade.txt": "Merchants sell cloth.\fPage two speaks of silk.",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")
    return root


def build_from(
    source: Path, folder: Path, embedder: LocalEmbedder, *, force: bool = False, **cut
) -> BuildReport:
    reader = TxtReader()
    return build(
        folder,
        by_folder([source], reader.suffixes, ""),
        reader,
        embedder,
        BuildOptions(folder.name, "txt", chunking(**cut), force),
        lambda *_: None,
    )


def ids(folder: Path) -> list[str]:
    store = EmbeddedStore(folder)
    try:
        return store.passage_ids(range(store.manifest.passages))
    finally:
        store.close()


def test_documents_metadata_and_pages_are_read(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    build_from(source, tmp_path / "c", embedder)
    store = EmbeddedStore(tmp_path / "c")
    sheep = store.document("farm.sheep")
    assert sheep.title == "On sheep"
    assert sheep.metadata["tags"] == ("sheep", "wool")
    assert sheep.text.startswith("Sheep give wool.")
    trade = store.document("town.trade")
    assert trade.title == "Merchants sell cloth."
    assert trade.pages == (0, trade.text.index("Page two"))
    store.close()


def test_the_same_files_and_settings_give_the_same_passage_ids(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    build_from(source, tmp_path / "one", embedder)
    build_from(source, tmp_path / "two", embedder)
    assert ids(tmp_path / "one") == ids(tmp_path / "two")
    assert "farm.2019.Cow-Report:0-991" in ids(tmp_path / "one")


def test_files_whose_ids_would_be_equal_get_different_ones(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    (source / "farm" / "sheep.txt").write_text("Another text on sheep.")
    build_from(source, tmp_path / "c", embedder)
    documents = {id_.partition(":")[0] for id_ in ids(tmp_path / "c")}
    assert len([id_ for id_ in documents if id_.startswith("farm.sheep-")]) == 2


def test_a_second_build_of_the_same_files_does_nothing(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    first = build_from(source, tmp_path / "c", embedder)
    second = build_from(source, tmp_path / "c", embedder)
    assert not first.unchanged
    assert second.unchanged
    assert second.manifest == first.manifest


def test_only_new_texts_are_embedded(source: Path, tmp_path: Path, embedder: LocalEmbedder) -> None:
    build_from(source, tmp_path / "c", embedder)
    (source / "town" / "new.txt").write_text("A new text about ships.")
    again = build_from(source, tmp_path / "c", embedder)
    assert again.embedded == 1
    assert "town.new:0-23" in ids(tmp_path / "c")


def test_the_manifest_points_at_the_live_version_and_the_one_before_stays(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    versions = [
        build_from(source, tmp_path / "c", embedder, force=True).manifest.version for _ in range(3)
    ]
    assert Manifest.read(tmp_path / "c").version == versions[-1]
    kept = sorted(path.name for path in (tmp_path / "c").iterdir() if path.is_dir())
    assert kept == versions[-2:]


def test_a_build_that_fails_leaves_the_live_version_alone(
    source: Path, tmp_path: Path, embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = build_from(source, tmp_path / "c", embedder).manifest
    (source / "town" / "new.txt").write_text("A new text about ships.")

    def broken(*_: object) -> int:
        raise OSError("disk full")

    monkeypatch.setattr("atlas_search.building.go_live.write_index", broken)
    with pytest.raises(OSError, match="disk full"):
        build_from(source, tmp_path / "c", embedder)
    assert Manifest.read(tmp_path / "c") == live
    assert len(ids(tmp_path / "c")) == live.passages
    monkeypatch.undo()
    assert build_from(source, tmp_path / "c", embedder).embedded == 0  # the cache kept its work
    assert not list((tmp_path / "c").glob(".*.partial"))


def test_a_build_that_is_interrupted_leaves_no_half_version(
    source: Path, tmp_path: Path, embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("atlas_search.building.go_live.write_index", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_from(source, tmp_path / "c", embedder)
    assert not list((tmp_path / "c").glob(".*.partial"))


def test_two_builds_of_one_collection_cannot_run_at_once(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    with (
        FileLock(folder / ".build.lock"),
        pytest.raises(SourceError, match="Another build of c is running"),
    ):
        build_from(source, folder, embedder)


def test_files_that_cannot_be_read_are_reported(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    (source / "town" / "empty.txt").write_text(" \n")
    (source / "town" / "latin.txt").write_bytes("Café".encode("latin-1"))
    (source / "town" / "broken.md").write_text("---\ntitle: [\n---\ntext")
    (source / "town" / "picture.png").write_bytes(b"\x89PNG")
    report = build_from(source, tmp_path / "c", embedder)
    reasons = {file.source: file.remarks[0] for file in report.files if file.remarks}
    assert reasons.pop("town/broken.md").startswith("its front matter is not valid YAML")
    assert reasons.pop("town/latin.txt").startswith("not UTF-8 at byte 3; it looks like cp1252")
    assert reasons == {
        "town/empty.txt": "it holds no text",
        "town/picture.png": "not a .markdown or .md or .txt file",
    }
    assert sum(file.passages for file in report.files) == report.manifest.passages


def test_a_folder_without_corpora_is_refused(tmp_path: Path, embedder: LocalEmbedder) -> None:
    (tmp_path / "flat").mkdir()
    for folder, message in (
        (tmp_path / "flat", "no sub-folder"),
        (tmp_path / "none", "not a folder"),
    ):
        with pytest.raises(SourceError, match=message):
            build_from(folder, tmp_path / "c", embedder)


def test_corpora_without_a_single_text_are_refused(tmp_path: Path, embedder: LocalEmbedder) -> None:
    (tmp_path / "source" / "empty").mkdir(parents=True)
    with pytest.raises(SourceError, match="nothing to build"):
        build_from(tmp_path / "source", tmp_path / "c", embedder)


@pytest.mark.parametrize("options", [{"size": 10}, {"size": 100, "overlap": 60}, {"overlap": -1}])
def test_contradictory_sizes_are_refused(
    source: Path, tmp_path: Path, embedder: LocalEmbedder, options: dict[str, int]
) -> None:
    with pytest.raises(SourceError, match="--chunk-"):
        build_from(source, tmp_path / "c", embedder, **options)


def test_texts_no_store_has_seen_survive(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    odd = "Null \x00 byte, emoji 👩‍⚖️, surrogate-free 𝔘nicode, RTL שלום, combining e\u0301. " * 20
    (source / "town" / "odd.txt").write_text(odd, encoding="utf-8")
    build_from(source, tmp_path / "c", embedder)
    store = EmbeddedStore(tmp_path / "c")
    text = store.document("town.odd").text
    for passage in store.document_passages("town.odd"):
        assert text[passage.start : passage.end] == passage.text
    store.close()


def test_the_readable_manifest_holds_the_statistics(tmp_path: Path, demo: BuildReport) -> None:
    write_readable(tmp_path / "demo.txt", demo)
    lines = dict(line.split("=", 1) for line in (tmp_path / "demo.txt").read_text().splitlines())
    assert lines["SOURCE_FILES_CHUNK_SIZE"] == "1000"
    assert lines["SOURCE_FILES_CHUNK_OVERLAP"] == "100"
    assert lines["CORPUS_legislation_nz_DOCUMENTS"] == "13"
    assert lines["EMBEDDING_MODEL"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert lines["PASSAGES"] == str(demo.manifest.passages)


def test_the_script_fails_with_a_message(tmp_path: Path) -> None:
    script = ROOT / "create" / "txt" / "create_txt_store.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path / "nowhere", "--collection", "x"],
        capture_output=True,
        text=True,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "ATLAS_MODEL_DIRECTORY": os.environ["ATLAS_MODEL_DIRECTORY"],
        },
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1
    assert "does not exist" in " ".join(done.stderr.split())


def test_versions_other_than_the_kept_ones_are_removed_and_nothing_else(tmp_path: Path) -> None:
    versions = [f"2026010{day}T000000.000000-0123abcd" for day in range(1, 5)]
    others = ["2019 interviews", "20260101", f".{versions[0]}.partial.txt", "other"]
    for name in (*versions, f".{versions[3]}.partial", *others):
        (tmp_path / name).mkdir()
    remove_old(tmp_path, {versions[0], versions[2]})
    assert {path.name for path in tmp_path.iterdir()} == {versions[0], versions[2], *others}


@pytest.mark.parametrize("name", [".", "..", "../x", "a/b", "", ".hidden", "a..b"])
def test_a_collection_name_cannot_lead_out_of_its_folder(name: str) -> None:
    with pytest.raises(ConfigurationError, match="CHROMA_COLLECTION_NAME"):
        load_settings(chroma_collection_name=name)


def test_a_build_replaces_a_manifest_of_another_schema(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    build_from(source, tmp_path / "c", embedder)
    (tmp_path / "c" / "manifest.json").write_text('{"schema_version": 1}')
    again = build_from(source, tmp_path / "c", embedder)
    assert len(ids(tmp_path / "c")) == again.manifest.passages


def test_what_can_only_be_made_anew_is_with_force(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    """Without a version that is whole there is nothing to lose."""
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "manifest.json").write_text("garbage")
    with pytest.raises(DamagedStore, match="not valid JSON"):
        build_from(source, tmp_path / "c", embedder)
    assert build_from(source, tmp_path / "c", embedder, force=True).manifest.documents == 3


def test_a_damaged_staging_area_is_set_aside(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "staging.sqlite").write_bytes(b"not a database " * 100)
    assert build_from(source, tmp_path / "c", embedder).manifest.documents == 3
    assert (tmp_path / "c" / "staging.sqlite.damaged").exists()


def test_an_open_store_outlives_later_builds(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    build_from(source, tmp_path / "c", embedder)
    served = EmbeddedStore(tmp_path / "c")
    for _ in range(2):
        build_from(source, tmp_path / "c", embedder, force=True)
    with ThreadPoolExecutor(4) as executor:
        found = list(executor.map(lambda _: served.document("farm.sheep").title, range(8)))
    assert found == ["On sheep"] * 8
    served.close()


def test_years_numbers_and_truth_values_in_front_matter_can_be_found(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    front = "---\ntitle: 1984\ndate: 1957\nseats: 120\ntags: [2020]\nopen: true\n---\nA text."
    (source / "town" / "numbers.txt").write_text(front)
    build_from(source, tmp_path / "c", embedder)
    store = EmbeddedStore(tmp_path / "c")
    document = store.document("town.numbers")
    assert document.title == "1984"
    assert document.metadata["date"] == "1957"
    found = {
        field: len(store.scope({field: condition}).documents)
        for field, condition in {
            "date": Range(first_day="1957-01-01", last_day="1957-12-31"),
            "seats": Range(low=100, high=120),
            "tags": ("2020",),
            "open": ("true",),
        }.items()
    }
    assert found == {"date": 1, "seats": 1, "tags": 1, "open": 1}
    assert len(store.scope({"seats": Range(low=121)}).documents) == 0
    assert len(store.scope({"title": Range(low=0)}).documents) == 0
    store.close()


@pytest.mark.parametrize("front", ["date: 1957-02-30", "just words", "a: [", "n: " + "9" * 400])
def test_front_matter_that_makes_no_sense_never_stops_a_build(
    source: Path, tmp_path: Path, embedder: LocalEmbedder, front: str
) -> None:
    (source / "town" / "odd.txt").write_text(f"---\n{front}\n---\nA text.")
    report = build_from(source, tmp_path / "c", embedder)
    (odd,) = [file for file in report.files if file.source == "town/odd.txt"]
    assert odd.passages == 1 or "not valid YAML" in odd.remarks[0]


def test_a_text_that_begins_like_json_is_a_text(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    (source / "town" / "braces.txt").write_text("{ curly } beginnings are fine.")
    report = build_from(source, tmp_path / "c", embedder)
    assert not [file for file in report.files if file.remarks]


def test_no_passage_crosses_a_page(source: Path, tmp_path: Path, embedder: LocalEmbedder) -> None:
    (source / "town" / "pages.txt").write_text("\fPage two.\fPage three, about the quagga.")
    build_from(source, tmp_path / "c", embedder)
    store = EmbeddedStore(tmp_path / "c")
    pages = {passage.text: passage.page for passage in store.document_passages("town.pages")}
    assert pages == {"Page two.": 2, "Page three, about the quagga.": 3}
    store.close()


@pytest.mark.parametrize("name", ["town_", "all", "ein ort", "-x"])
def test_a_corpus_name_that_could_not_be_served_is_refused_at_once(
    source: Path, tmp_path: Path, embedder: LocalEmbedder, name: str
) -> None:
    (source / name).mkdir()
    with pytest.raises(SourceError, match="Rename it"):
        build_from(source, tmp_path / "c", embedder)


def test_hidden_folders_are_left_out(source: Path, tmp_path: Path, embedder: LocalEmbedder) -> None:
    (source / "town" / ".git").mkdir()
    (source / "town" / ".git" / "description.txt").write_text("Not a source.")
    report = build_from(source, tmp_path / "c", embedder)
    assert not [file for file in report.files if ".git" in file.source]


def test_files_outside_the_corpora_are_reported(
    source: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    (source / "stray.txt").write_text("A text in no corpus.")
    report = build_from(source, tmp_path / "c", embedder)
    (stray,) = [file for file in report.files if file.source == "stray.txt"]
    assert stray.remarks[0] == "outside the folders of the corpora"
