"""Broken files of every kind, named and never in the way of the good ones, and large ones."""

import shutil
from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.core.errors import SourceError
from atlas_search.readers.files import READERS
from tests.broken_files import BROKEN, RANDOM, WRAPS
from tests.source_builds import build_from, chroma_sources, documents, remarks, sources_of, stored
from tests.source_files import good_files, lines_of, write_files


@pytest.mark.parametrize(
    "kind", ["files", *(pytest.param(kind, marks=pytest.mark.thorough) for kind in BROKEN)]
)
def test_broken_files_are_named_and_never_stop_the_good_ones(kind: str, tmp_path: Path) -> None:
    """The kind `files` has those of all others."""
    good = good_files(kind)
    kinds = BROKEN if kind == "files" else [kind]
    broken = {f"town/{name}": file for each in kinds for name, file in BROKEN[each]().items()}
    write_files(tmp_path / "sources", good)
    write_files(tmp_path / "sources", {name: content for name, (content, _) in broken.items()})
    report = build_from(kind, tmp_path / "c", sources_of(kind, tmp_path / "sources"))
    notes, counts = remarks(report), documents(report)
    unexpected = {
        name: notes[name]
        for name, (_, reason) in broken.items()
        if reason not in notes[name] or not (reason or counts[name])
    }
    assert unexpected == {}
    assert all(counts[name] for name in good)
    texts = " ".join(passage.text for passage in stored(tmp_path / "c"))
    assert "lollol" not in texts
    assert "root:" not in texts


def test_a_broken_corpus_of_a_benchmark_never_stops_the_others(tmp_path: Path) -> None:
    broken = {
        "latin/corpus.jsonl": ('{"_id": "1", "text": "Café"}'.encode("latin-1"),
                               "not UTF-8 at byte 25"),
        "cut/corpus.jsonl": (b'{"_id": "1", "te', "not JSON"),
        "twice/docs.jsonl": (lines_of({"_id": "1", "text": "a"}, {"_id": "1", "text": "b"}),
                             "duplicate id '1', first at line 1"),
        "no-text/corpus.jsonl": (lines_of({"_id": "1", "title": "Only a title"}),
                                 "no field `text`"),
        "other/corpus.json": (b"[]", "not a corpus.jsonl or docs.jsonl file"),
    }  # fmt: skip
    files = {name: content for name, (content, _) in broken.items()}
    write_files(tmp_path / "sources", good_files("beir") | files)
    report = build_from("beir", tmp_path / "c", sources_of("beir", tmp_path / "sources"))
    notes = remarks(report)
    assert all(reason in notes[name] for name, (_, reason) in broken.items())
    assert report.manifest.documents == 4


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (RANDOM, "cannot be opened as a Chroma folder"),
        (b"", "has 0 collections"),
        (None, "No such file"),
    ],
    ids=["broken", "empty", "gone"],
)
def test_a_chroma_folder_that_cannot_be_opened_is_refused(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    write_files(tmp_path, {"old/chroma.sqlite3": content or b""})
    sources = chroma_sources(tmp_path, "old")
    if content is None:
        shutil.rmtree(tmp_path / "old")
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


@pytest.mark.parametrize("kind", BROKEN)
def test_a_missing_file_is_an_os_error_for_the_build_to_report(kind: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        list(READERS.load(kind, "a test")().read(tmp_path / f"nowhere.{kind}", ""))


@pytest.mark.thorough
def test_a_thousand_small_files_are_a_thousand_documents(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_files(root, {f"town/{n // 100}/{n}.txt": f"Letter {n}.".encode() for n in range(1000)})
    report = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert report.manifest.documents == report.read == report.embedded == 1000
    again = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert (again.unchanged, again.read) == (True, 0)
    assert stored(tmp_path / "c")[-1].text == "Letter 999."


@pytest.mark.thorough
def test_a_line_of_twenty_megabytes_is_read_to_its_end(tmp_path: Path) -> None:
    line = "It begins " + "-" * 20_000_000 + " and ends."
    kinds = ("txt", "csv", "jsonl", "html")
    content = {f"town/{kind}.{kind}": WRAPS[kind].format(line).encode() for kind in kinds}
    write_files(tmp_path / "sources", content)
    sources = sources_of("files", tmp_path / "sources")
    build_from("files", tmp_path / "c", sources, chunking("whole"))
    assert [passage.text == line for passage in stored(tmp_path / "c")] == [True] * len(kinds)
