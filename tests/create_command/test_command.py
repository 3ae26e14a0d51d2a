"""`atlas create <type>`: what it offers, what it says and writes, and how it refuses."""

import inspect
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from typer.models import OptionInfo
from typer.testing import CliRunner

from atlas_search.cli.create import COMMANDS
from atlas_search.cli.main import app
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from tests.create_command.conftest import Atlas
from tests.hash_embedder import HashEmbedder
from tests.places import ROOT
from tests.tiny import write_sources

SHARED = (
    "collection splitter chunk_size chunk_overlap chunk_unit across_pages across_sections corpora "
    "corpus_field corpus rename encoding language if_missing force every_file strict report"
).split()
OWN = {
    "files": [],
    "txt": [],
    "pdf": [],
    "html": ["whole_page", "contact", "delay", "refresh", "allow_private"],
    "xml": ["normalised", "documents_at"],
    "csv": [
        *("text_column", "id_column", "title_column", "metadata_columns", "rename"),
        *("delimiter", "quotes"),
    ],
    "jsonl": ["text_column", "id_column", "title_column", "metadata_columns", "rename"],
    "docx": [],
    "epub": [],
    "beir": [],
    "chroma": ["from_collection"],
}


def helps(kind: str) -> dict[str, str]:
    """The help of every option of a command."""
    hints = get_type_hints(COMMANDS[kind], include_extras=True)
    options = {
        name: [extra for extra in get_args(hints[name]) if isinstance(extra, OptionInfo)]
        for name in inspect.signature(COMMANDS[kind]).parameters
    }
    return {name: str(found[0].help) for name, found in options.items() if found}


def test_every_type_has_its_options_and_the_shared_ones() -> None:
    found = {kind: list(helps(kind)) for kind in COMMANDS}
    shared = {kind: [name for name in SHARED if name not in own] for kind, own in OWN.items()}
    assert found == {kind: [*shared[kind], *own] for kind, own in OWN.items()}


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_help_of_a_type_shows_every_option_with_its_whole_help(kind: str) -> None:
    """What stands in brackets is no markup."""
    result = CliRunner().invoke(app, ["create", kind, "--help"], env={"COLUMNS": "600"})
    assert result.exit_code == 0
    said = " ".join(result.output.split())
    assert [name for name in helps(kind) if f"--{name.replace('_', '-')} " not in said] == []
    missing = [text for text in helps(kind).values() if " ".join(text.split()) not in said]
    assert missing == []
    description = " ".join(str(COMMANDS[kind].__doc__).split())
    assert description in said


def test_the_help_of_looking_after_collections_is_whole() -> None:
    for command, text in (
        ("verify", "Name of a collection (default: the configured one)"),
        ("rollback", "The version (default: the one before the live one)"),
    ):
        result = CliRunner().invoke(app, ["store", command, "--help"], env={"COLUMNS": "600"})
        assert text in " ".join(result.output.split())


def test_every_type_is_listed_with_what_it_is_for() -> None:
    result = CliRunner().invoke(app, ["create", "--help"], env={"COLUMNS": "300"})
    for kind, command in COMMANDS.items():
        first = " ".join(str(command.__doc__).split("\n\n")[0].split())
        assert f"{kind} {first[:40]}" in " ".join(result.output.replace("│", " ").split())


@pytest.mark.parametrize("kind", COMMANDS)
def test_every_type_is_a_script_too(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = ROOT / "create" / kind / f"create_{kind}_store.py"
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(sys, "argv", [str(script), "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    said = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    options = [*SHARED, *OWN[kind]]
    assert [o for o in options if f"--{o.replace('_', '-')} " not in said] == []


def test_a_table_is_built_with_the_real_model_and_reported(
    tables: Path, tmp_path: Path, atlas: Atlas
) -> None:
    readable = tmp_path / "create" / "csv" / "output" / "command_test.txt"
    arguments = ("csv", tables, "--collection", "command_test", "--corpus", "ships")
    code, said, told = atlas(*arguments, "--report", tmp_path / "report.json")
    assert (code, said) == (0, "")
    lines = dict(line.split("=", 1) for line in readable.read_text().splitlines())
    manifest = Manifest.read(tmp_path / "stores" / "command_test")
    for stage in ("Reading files", "Embedding passages", "Writing the vector index"):
        assert stage in told
    assert "Documents: 2 added, 0 changed, 0 unchanged, 0 removed." in told
    assert f"Version {manifest.version} is live: 1 file read, 2 passages embedded" in told
    assert f"Manifest: {readable} and manifest.json" in told.replace("\n", " ")
    assert lines["COLLECTION"] == "command_test"
    assert lines["VERSION"] == manifest.version
    assert lines["MULTI_CORPUS_METADATA"] == "ships"
    assert lines["CORPUS_ships_DOCUMENTS"] == lines["DOCUMENTS"] == lines["PASSAGES"] == "2"
    assert lines["FIELD_port"] == "text,documents:2,values:2"
    assert lines["SOURCE_CSV_SPLITTER"] == "recursive"
    assert lines["EMBEDDING_DIMENSION"] == "384"
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["manifest"] == manifest.model_dump(mode="json")
    assert report["files"] == [
        {
            "source": "ships.csv",
            "documents": 2,
            "passages": 2,
            "remarks": [],
            "refused": False,
            "refused_records": 0,
        }
    ]
    assert report["changes"] == {"added": 2, "changed": 0, "unchanged": 0, "removed": 0}
    assert (report["read"], report["embedded"], report["unchanged"]) == (1, 2, False)


def test_the_script_goes_on_where_the_command_was(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    """Also from another folder; the script has the real model, so it embeds all again."""
    assert atlas("txt", farm, "--collection", "script_test")[0] == 0
    script = ROOT / "create" / "txt" / "create_txt_store.py"
    done = subprocess.run(
        [sys.executable, script, "source", "--collection", "script_test", "--every-file"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "ATLAS_MODEL_DIRECTORY": os.environ["ATLAS_MODEL_DIRECTORY"],
            "CHROMA_PERSIST_DIRECTORY": "stores",
            "COLUMNS": "200",
        },
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "Documents: 0 added, 0 changed, 3 unchanged, 0 removed." in done.stderr
    assert "0 files read, 3 passages embedded" in done.stderr
    assert "farm/cows.txt" in done.stderr
    readable = tmp_path / "stores" / "script_test" / "txt.txt"
    assert readable.read_text("utf-8").startswith("COLLECTION=script_test\n")
    assert Manifest.read(tmp_path / "stores" / "script_test").documents == 3
    assert len(list((tmp_path / "stores").iterdir())) == 1


def test_a_collection_outside_of_the_checkout_has_its_readable_manifest_beside_it(
    farm: Path,
    tmp_path: Path,
    hashes: HashEmbedder,
    atlas: Atlas,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checkout = tmp_path / "checkout"
    monkeypatch.setattr("atlas_search.cli.create.checkout", lambda: checkout)
    assert atlas("txt", farm, "--collection", "c")[0] == 0
    readable = tmp_path / "stores" / "c" / "txt.txt"
    assert "COLLECTION=c\n" in readable.read_text("utf-8")
    assert not checkout.exists()


def test_a_store_that_a_checkout_links_to_is_the_checkouts(
    farm: Path,
    tmp_path: Path,
    hashes: HashEmbedder,
    atlas: Atlas,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "data").symlink_to(tmp_path / "large", target_is_directory=True)
    (tmp_path / "large").mkdir()
    monkeypatch.setattr("atlas_search.cli.create.checkout", lambda: checkout)
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(checkout / "data"))
    assert atlas("txt", farm, "--collection", "c")[0] == 0
    assert (checkout / "create" / "txt" / "output" / "c.txt").exists()


def test_the_same_command_again_changes_nothing(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    atlas("txt", farm, "--collection", "c")
    version = Manifest.read(tmp_path / "stores" / "c").version
    code, _, told = atlas("txt", farm, "--collection", "c")
    assert code == 0
    assert "Documents: 0 added, 0 changed, 3 unchanged, 0 removed." in told
    assert f"Nothing has changed; version {version} stays live." in told


def test_remarks_are_listed_and_all_files_on_demand(
    farm: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    (farm / "farm" / "picture.png").write_bytes(b"\x89PNG")
    (farm / "farm" / "odd [bold].txt").write_text(" ")
    _, _, told = atlas("txt", farm, "--collection", "c")
    assert "farm/picture.png" in told
    assert "not a .markdown or .md or .txt file" in told
    assert "farm/odd [bold].txt" in told
    assert "farm/cows.txt" not in told
    _, _, told = atlas("txt", farm, "--collection", "c", "--every-file")
    assert "farm/cows.txt" in told


def test_fields_of_a_text_file_are_renamed(
    tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    note = "---\nheadline: On sheep\nwhen: 1901\n---\nWool."
    source = write_sources(tmp_path / "source", {"farm/sheep.txt": note})
    rename = ("--rename", "headline=title,when=date")
    code, _, told = atlas("txt", source, "--collection", "c", *rename)
    assert code == 0, told
    assert Manifest.read(tmp_path / "stores" / "c").origins["txt"].arguments["rename"] == rename[1]
    store = EmbeddedStore(tmp_path / "stores" / "c")
    document = store.document("farm.sheep")
    store.close()
    assert (document.title, document.metadata["date"]) == ("On sheep", "1901")
    code, _, told = atlas("txt", source, "--collection", "c", "--rename", "headline")
    assert code == 1
    assert "give `old=new`" in told


def test_columns_that_change_their_names_change_them_once(
    tables: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    rename = ("--rename", "title=port,port=title")
    code, _, told = atlas("csv", tables, "--collection", "c", "--corpus", "ships", *rename)
    assert code == 0, told
    store = EmbeddedStore(tmp_path / "stores" / "c")
    document = store.document("ships.1")
    store.close()
    assert (document.title, document.metadata["port"]) == ("Leith", "On ships")


def test_the_arguments_are_kept_so_that_they_hold_from_any_folder(
    tables: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, told = atlas(
        *("csv", "tables", "--collection", "c", "--corpus-field", "port", "--no-quotes"),
        *("--splitter", "fixed", "--chunk-size", "500", "--metadata-columns", "port"),
    )
    assert code == 0, told
    origin = Manifest.read(tmp_path / "stores" / "c").origins["csv"]
    kept = {name: value for name, value in origin.arguments.items() if value not in (None, "")}
    assert kept == {
        "source": [str(tables)],
        "splitter": "fixed",
        "chunk_size": 500,
        "chunk_unit": "characters",
        "across_pages": False,
        "across_sections": False,
        "corpus_field": "port",
        "title_column": "title",
        "metadata_columns": "port",
        "quotes": False,
    }
    assert (origin.splitter, origin.size, origin.overlap) == ("fixed", 500, 75)
    assert [c.id for c in Manifest.read(tmp_path / "stores" / "c").corpora] == ["Hull", "Leith"]


def test_a_mapping_in_the_source_is_found_and_another_can_be_given(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    seen = []
    for name, given in (("corpora.toml", []), ("mine.toml", ["--corpora", farm / "mine.toml"])):
        (farm / name).write_text(f'[[corpus]]\nid = "{name[:4]}"\ninclude = ["**/*.*"]\n')
        atlas("files", farm, "--collection", "c", *given)
        seen += [c.id for c in Manifest.read(tmp_path / "stores" / "c").corpora]
    assert seen == ["corp", "mine"]


def test_one_corpus_goes_before_a_mapping_in_the_source(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, atlas: Atlas
) -> None:
    (farm / "corpora.toml").write_text('[[corpus]]\nid = "a"\ninclude = ["**"]\n')
    atlas("txt", farm, "--collection", "c", "--corpus", "all_texts")
    store = EmbeddedStore(tmp_path / "stores" / "c")
    assert [corpus.id for corpus in store.corpora] == ["all_texts"]
    assert store.document("all_texts.farm.cows").source == "farm/cows.txt"
    store.close()
