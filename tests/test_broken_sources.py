"""Broken files of every kind: named, and never in the way of the good ones."""

import shutil
from pathlib import Path

import pytest

from atlas_search.core.errors import SourceError
from tests.broken_files import BROKEN, RANDOM
from tests.source_builds import build_from, chroma_sources, documents, remarks, sources_of, stored
from tests.source_files import good_files, lines_of, write_files


@pytest.mark.parametrize("kind", [*BROKEN, "files"])
def test_broken_files_are_named_and_never_stop_the_good_ones(kind: str, tmp_path: Path) -> None:
    good = good_files(kind)
    kinds = BROKEN if kind == "files" else [kind]
    broken = {f"town/{name}": file for each in kinds for name, file in BROKEN[each]().items()}
    write_files(tmp_path / "sources", good)
    write_files(tmp_path / "sources", {name: content for name, (content, _) in broken.items()})
    report = build_from(kind, tmp_path / "c", sources_of(kind, tmp_path / "sources"))
    found, counts = remarks(report), documents(report)
    unexpected = {
        name: found[name]
        for name, (_, reason) in broken.items()
        if reason not in found[name] or not (reason or counts[name])
    }
    assert unexpected == {}
    assert all(counts[name] for name in good)
    texts = " ".join(passage.text for passage in stored(tmp_path / "c"))
    assert "lollol" not in texts
    assert "root:" not in texts


def test_a_broken_corpus_of_a_benchmark_never_stops_the_others(tmp_path: Path) -> None:
    broken = {
        "latin/corpus.jsonl": '{"_id": "1", "text": "Café"}'.encode("latin-1"),
        "cut/corpus.jsonl": b'{"_id": "1", "te',
        "twice/docs.jsonl": lines_of({"_id": "1", "text": "a"}, {"_id": "1", "text": "b"}),
        "no-text/corpus.jsonl": lines_of({"_id": "1", "title": "Only a title"}),
        "other/corpus.json": b"[]",
    }
    write_files(tmp_path / "sources", good_files("beir") | broken)
    report = build_from("beir", tmp_path / "c", sources_of("beir", tmp_path / "sources"))
    found = remarks(report)
    assert "not UTF-8 at byte 25" in found["latin/corpus.jsonl"]
    assert "not JSON" in found["cut/corpus.jsonl"]
    assert "duplicate id '1', first at line 1" in found["twice/docs.jsonl"]
    assert "no field `text`" in found["no-text/corpus.jsonl"]
    assert found["other/corpus.json"] == "not a corpus.jsonl or docs.jsonl file"
    assert report.manifest.documents == 4


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("broken", "cannot be opened as a Chroma folder"),
        ("empty", "has 0 collections"),
        ("gone", "No such file"),
    ],
)
def test_a_chroma_folder_that_cannot_be_opened_is_refused(
    tmp_path: Path, name: str, reason: str
) -> None:
    garbage = {"broken": RANDOM, "empty": b"", "gone": b""}
    write_files(tmp_path, {f"{folder}/chroma.sqlite3": c for folder, c in garbage.items()})
    sources = chroma_sources(tmp_path, name)
    shutil.rmtree(tmp_path / "gone")
    with pytest.raises(SourceError, match=reason):
        build_from("chroma", tmp_path / "c", sources)


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [
        ("jsonl", "town/empty.jsonl", b""),
        ("csv", "town/header only.csv", b"id,text\n"),
        ("jsonl", "town/no records.json", b"[]"),
        ("beir", "town/corpus.jsonl", b"\n"),
    ],
)
def test_a_file_without_records_says_so(
    tmp_path: Path, kind: str, name: str, content: bytes
) -> None:
    write_files(tmp_path / "sources", good_files(kind) | {name: content})
    report = build_from(kind, tmp_path / "c", sources_of(kind, tmp_path / "sources"))
    assert documents(report)[name] == 0
    assert remarks(report)[name]
