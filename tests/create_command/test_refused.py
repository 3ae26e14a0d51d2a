"""What `atlas create` refuses: files, records and arguments."""

import json
from pathlib import Path

import pytest

from atlas_search.stores.manifest import Manifest
from tests.create_command.conftest import TABLE, Atlas
from tests.hash_embedder import HashEmbedder


def test_refused_files_stand_last_and_apart_from_remarks(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    (farm / "farm" / "picture.png").write_bytes(b"\x89PNG")
    (farm / "farm" / "empty.txt").write_text(" ")
    for again in range(2):
        code, _, told = atlas(
            "txt", farm, "--collection", "c", "--report", tmp_path / f"{again}.json"
        )
        assert code == 0
        *_, file, counts = told.strip().splitlines()
        assert file == "Refused: farm/empty.txt: it holds no text"
        assert counts == "Refused: 1 file gave no document. The rest is built."
        files = json.loads((tmp_path / f"{again}.json").read_text("utf-8"))["files"]
        assert [file["source"] for file in files if file["refused"]] == ["farm/empty.txt"]
    readable = (tmp_path / "create" / "txt" / "output" / "c.txt").read_text("utf-8")
    assert "REFUSED_FILES=1\nREFUSED_RECORDS=0\n" in readable


def test_a_strict_command_builds_and_ends_with_status_3_if_a_file_is_refused(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    (farm / "farm" / "picture.png").write_bytes(b"\x89PNG")
    assert atlas("txt", farm, "--collection", "c", "--strict")[0] == 0
    (farm / "farm" / "empty.txt").write_text("")
    assert atlas("txt", farm, "--collection", "c", "--strict")[0] == 3
    manifest = Manifest.read(tmp_path / "stores" / "c")
    assert manifest.documents == 3
    assert "strict" not in manifest.origins["txt"].arguments


def test_refused_records_are_counted_apart(
    tables: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    (tables / "port.csv").write_text(f"{TABLE}3,,,Hull\n4,,,Hull\n", "utf-8")
    code, _, told = atlas(
        *("csv", tables, "--collection", "c", "--corpus-field", "port", "--strict"),
    )
    assert code == 3, told
    assert told.strip().endswith("Refused: 2 records of other files gave none. The rest is built.")
    readable = (tmp_path / "create" / "csv" / "output" / "c.txt").read_text("utf-8")
    assert "REFUSED_FILES=0\nREFUSED_RECORDS=2\n" in readable


REFUSED: dict[str, tuple[list[str], str]] = {
    "two ways": (
        ["{farm}", "--corpus", "a", "--corpus-field", "b"],
        "--corpora, --corpus-field and --corpus exclude each other. Give one.",
    ),
    "mapping and corpus": (
        ["{farm}", "--corpus", "a", "--corpora", "x.toml"],
        "--corpora, --corpus-field and --corpus exclude each other. Give one.",
    ),
    "tiny chunks": (["{farm}", "--chunk-size", "10"], "--chunk-size 10: give 50 to 20000 char"),
    "much overlap": (
        ["{farm}", "--chunk-overlap", "501"],
        "--chunk-overlap 501: give 0 to half the chunk size (1000).",
    ),
    "whole and size": (
        ["{farm}", "--splitter", "whole", "--chunk-size", "100"],
        "--chunk-size 100: whole documents are not cut; leave it out.",
    ),
    "no source": (["{tmp}/nowhere"], "nowhere does not exist. Give a file or a folder"),
    "empty folder": (["{tmp}/empty"], "has no sub-folder. Put each corpus into a folder of its"),
    "empty folder for a corpus": (
        ["{tmp}/empty", "--corpus", "a"],
        "There is nothing to build: no source file gave a document (there is no file of this kind)",
    ),
    "file without corpus": (["{farm}/farm/cows.txt"], "cows.txt is not a folder. Give a folder"),
    "bad corpus": (["{farm}", "--corpus", "a b"], "--corpus: 'a b' cannot be a corpus id."),
    "no mapping": (["{farm}", "--corpora", "{tmp}/x.toml"], "x.toml cannot be read: No such file"),
    "mapping for a file": (
        ["{farm}/farm/cows.txt", "--corpora", "{tmp}/x.toml"],
        "give one folder as the source.",
    ),
    "field nobody has": (["{farm}", "--corpus-field", "none"], "it has no metadata field `none`"),
    "encoding nobody knows": (["{farm}", "--encoding", "utf-99"], "utf-99"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_with_a_message(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas, name: str
) -> None:
    (tmp_path / "empty").mkdir()
    arguments, message = REFUSED[name]
    filled = [argument.format(farm=farm, tmp=tmp_path) for argument in arguments]
    code, said, told = atlas("txt", *filled, "--collection", "c")
    assert (code, said) == (1, "")
    assert message in " ".join(told.split())
    assert "Traceback" not in told
    assert not (tmp_path / "stores" / "c" / "manifest.json").exists()
    assert hashes.embedded == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["txt", "--collection", "c"],
        ["txt", "."],
        ["txt", ".", "--collection", "c", "--splitter", "magic"],
        ["txt", ".", "--collection", "c", "--chunk-size", "many"],
        ["txt", ".", "--collection", "c", "--colour", "red"],
        ["word", ".", "--collection", "c"],
    ],
    ids="source collection splitter number option type".split(),
)
def test_what_the_command_does_not_understand_ends_with_status_2(
    atlas: Atlas, arguments: list[str]
) -> None:
    code, said, told = atlas(*arguments)
    assert (code, said) == (2, "")
    assert "Usage: " in told


def test_a_collection_name_that_leads_elsewhere_is_refused(farm: Path, atlas: Atlas) -> None:
    code, _, told = atlas("txt", farm, "--collection", "../c")
    assert code == 1
    assert "'../c'" in told


def test_options_of_a_type_that_contradict_are_refused(tables: Path, atlas: Atlas) -> None:
    code, _, told = atlas("csv", tables, "--collection", "c", "--delimiter", "ab")
    assert code == 1
    assert "--delimiter ab: give one character, or `tab`." in told


def test_two_ways_to_a_corpus_are_refused_for_chroma_too(tmp_path: Path, atlas: Atlas) -> None:
    (tmp_path / "chroma").mkdir()
    (tmp_path / "chroma" / "chroma.sqlite3").touch()
    arguments = ("chroma", tmp_path / "chroma", "--collection", "c")
    for more in (("--corpus", "a", "--corpus-field", "b"), ("--corpora", tmp_path / "x.toml")):
        code, _, told = atlas(*arguments, *more)
        assert code == 1
        assert "--corpora" in told


def test_a_report_that_cannot_be_written_is_said_before_anything_is_built(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    code, _, told = atlas("txt", farm, "--collection", "c", "--report", tmp_path / "no" / "r.json")
    assert code == 1
    assert str(tmp_path / "no") in told
    assert hashes.embedded == 0


def test_a_failing_build_says_nothing_of_a_manifest(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    atlas("txt", tmp_path / "nowhere", "--collection", "c", "--report", tmp_path / "r.json")
    assert not (tmp_path / "create").exists()
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize("more", [[], ["--if-missing"]])
def test_an_empty_name_is_not_that_of_the_configured_collection(
    farm: Path, atlas: Atlas, hashes: HashEmbedder, more: list[str]
) -> None:
    code, said, told = atlas("txt", farm, "--collection", "", *more)
    assert (code, said, hashes.embedded) == (1, "", 0)
    assert "--collection is empty. Give the collection a name." in told
