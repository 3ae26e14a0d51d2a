"""`atlas create <type>`: its options, what it builds, says and writes, and how it refuses."""

import inspect
import json
import os
import runpy
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from typer.models import OptionInfo
from typer.testing import CliRunner

from atlas_search import Atlas
from atlas_search.building.sources import zotero_sources
from atlas_search.cli.create import COMMANDS
from atlas_search.cli.main import app, main
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from tests.hash_embedder import HashEmbedder
from tests.places import ROOT
from tests.readers.sites import Answer, Site, serving
from tests.source_files import good_files, write_files
from tests.tiny import FARM, write_sources
from tests.zotero_server import zotero_server

TABLE = "id,title,text,port\n1,On ships,Ships carry wool to the port.,Leith\n2,,Cloth.,Hull\n"

Create = Callable[..., tuple[object, str, str]]
"""Runs `atlas create` with arguments: exit code, and both streams."""


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> HashEmbedder:
    """Stands in for the model."""
    model = HashEmbedder()
    monkeypatch.setattr("atlas_search.atlas.open_embedder", lambda _: model)
    return model


@pytest.fixture
def create(
    hashes: HashEmbedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Create:
    """Collections lie in `stores`; readable manifests in `create`."""
    monkeypatch.setenv("READ_WORKERS", "0")  # to start a process takes longer than to read
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "stores"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("atlas_search.cli.create.checkout", lambda: tmp_path)

    def run(*arguments: object) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["create", *map(str, arguments)])
        return (ended.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The collection `c`."""
    return tmp_path / "stores" / "c"


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "source", FARM)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "tables", {"ships.csv": TABLE})


# the options of every type

SHARED = (
    "collection splitter chunk_size chunk_overlap chunk_unit across_pages across_sections corpora "
    "corpus_field corpus rename encoding language engine engine_url if_missing force every_file "
    "strict report output"
).split()
OWN = {
    "files": ["text_column", "ocr"],
    "txt": [],
    "pdf": ["ocr"],
    "html": ["whole_page", "contact", "delay", "refresh", "allow_private"],
    "xml": ["normalised", "documents_at"],
    "csv": [
        *("text_column", "id_column", "title_column", "metadata_columns", "rename"),
        *("delimiter", "quotes"),
    ],
    "jsonl": ["text_column", "id_column", "title_column", "metadata_columns", "rename"],
    "docx": [],
    "epub": [],
    "pptx": [],
    "odt": [],
    "xlsx": ["text_column", "id_column", "title_column", "metadata_columns", "rename"],
    "rtf": [],
    "mail": [],
    "marc": [],
    "bib": [],
    "zotero": ["address", "library", "ocr"],
    "oai": [
        *("prefix", "set", "since", "until", "files", "contact", "delay", "refresh"),
        *("allow_private", "ocr"),
    ],
    "iiif": ["contact", "delay", "refresh", "allow_private"],
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
    return {name: str(extras[0].help) for name, extras in options.items() if extras}


def test_every_type_has_its_options_and_the_shared_ones() -> None:
    shared = {kind: [name for name in SHARED if name not in own] for kind, own in OWN.items()}
    assert {kind: list(helps(kind)) for kind in COMMANDS} == {
        kind: [*shared[kind], *own] for kind, own in OWN.items()
    }


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_help_of_a_type_shows_every_option_with_its_whole_help(kind: str) -> None:
    """Brackets in it are no markup."""
    result = CliRunner().invoke(app, ["create", kind, "--help"], env={"COLUMNS": "600"})
    assert result.exit_code == 0
    output = " ".join(result.output.split())
    assert [name for name in helps(kind) if f"--{name.replace('_', '-')} " not in output] == []
    missing = [text for text in helps(kind).values() if " ".join(text.split()) not in output]
    assert missing == []
    description = " ".join(str(COMMANDS[kind].__doc__).split())
    assert description in output


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
    output = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    options = [*SHARED, *OWN[kind]]
    assert [o for o in options if f"--{o.replace('_', '-')} " not in output] == []


# builds and reports


def test_a_table_is_built_and_reported(tables: Path, tmp_path: Path, create: Create) -> None:
    readable = tmp_path / "create" / "csv" / "output" / "command_test.txt"
    arguments = ("csv", tables, "--collection", "command_test", "--corpus", "ships")
    code, output, error = create(*arguments, "--report", tmp_path / "report.json")
    assert (code, output) == (0, "")
    lines = dict(line.split("=", 1) for line in readable.read_text().splitlines())
    manifest = Manifest.read(tmp_path / "stores" / "command_test")
    for stage in ("Reading files", "Embedding passages", "Writing documents"):
        assert stage in error
    assert "Documents: 2 added, 0 changed, 0 unchanged, 0 removed." in error
    assert f"Version {manifest.version} is live: 1 file read, 2 passages embedded" in error
    assert f"Manifest: {readable} and manifest.json" in error.replace("\n", " ")
    assert lines["COLLECTION"] == "command_test"
    assert lines["VERSION"] == manifest.version
    assert lines["MULTI_CORPUS_METADATA"] == "ships"
    assert lines["CORPUS_ships_DOCUMENTS"] == lines["DOCUMENTS"] == lines["PASSAGES"] == "2"
    assert lines["FIELD_port"] == "text,documents:2,values:2"
    assert (lines["SOURCE_CSV_SPLITTER"], lines["SOURCE_CSV_CHUNK_SIZE"]) == ("recursive", "1000")
    assert (lines["EMBEDDING_MODEL"], lines["EMBEDDING_DIMENSION"]) == ("hash", "32")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["manifest"] == manifest.model_dump(mode="json")
    assert report["files"] == [
        {"source": "ships.csv", "documents": 2, "passages": 2, "remarks": []}
        | {"refused": False, "refused_records": 0}
    ]
    assert report["changes"] == {"added": 2, "changed": 0, "unchanged": 0, "removed": 0}
    assert (report["read"], report["embedded"], report["unchanged"]) == (1, 2, False)


@pytest.mark.thorough
def test_the_script_goes_on_where_the_command_was(
    farm: Path, tmp_path: Path, create: Create
) -> None:
    """Also from another folder; the script has the real model, so it embeds all again.

    Where the store lies and its name are those of the environment and of `.env`. A copy of the
    script leaves the checkout clean.
    """
    assert create("txt", farm, "--collection", "script_test")[0] == 0
    script = tmp_path / "elsewhere" / "create" / "txt" / "create_txt_store.py"
    shutil.copytree(ROOT / "create" / "txt", script.parent, ignore=lambda *_: ["output"])
    (tmp_path / ".env").write_text("CHROMA_COLLECTION_NAME=script_test\n")
    done = subprocess.run(
        [sys.executable, script, "source", "--every-file"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(ROOT / "backend"),
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
    readable = script.parent / "output" / "script_test.txt"
    assert readable.read_text("utf-8").startswith("COLLECTION=script_test\n")
    manifest = Manifest.read(tmp_path / "stores" / "script_test")
    assert (manifest.documents, manifest.embedding.dimension) == (3, 384)
    assert len(list((tmp_path / "stores").iterdir())) == 1


def test_the_collection_may_be_named_by_the_settings_but_is_not_the_demo_unless_they_say_so(
    farm: Path, tmp_path: Path, create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, error = create("txt", farm)
    assert (code, error.strip()) == (
        1,
        "atlas: The collection has no name. Give --collection, or set CHROMA_COLLECTION_NAME.",
    )
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", "named")
    assert create("txt", farm, "--output", tmp_path / "lists")[0] == 0
    readable = (tmp_path / "lists" / "named.txt").read_text("utf-8")
    assert readable.startswith("COLLECTION=named\n")
    assert create("txt", farm, "--collection", "other")[0] == 0
    assert sorted(each.name for each in (tmp_path / "stores").iterdir()) == ["named", "other"]


def test_a_collection_outside_of_the_checkout_has_its_readable_manifest_beside_it(
    farm: Path, tmp_path: Path, create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that a checkout links to is the checkout's."""
    checkout = tmp_path / "checkout"
    monkeypatch.setattr("atlas_search.cli.create.checkout", lambda: checkout)
    assert create("txt", farm, "--collection", "c")[0] == 0
    assert "COLLECTION=c\n" in (tmp_path / "stores" / "c" / "txt.txt").read_text("utf-8")
    assert not checkout.exists()
    (tmp_path / "large").mkdir()
    checkout.mkdir()
    (checkout / "data").symlink_to(tmp_path / "large", target_is_directory=True)
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(checkout / "data"))
    assert create("txt", farm, "--collection", "c")[0] == 0
    assert (checkout / "create" / "txt" / "output" / "c.txt").exists()


def test_remarks_are_listed_and_all_files_on_demand(farm: Path, create: Create) -> None:
    (farm / "farm" / "picture.png").write_bytes(b"\x89PNG")
    (farm / "farm" / "odd [bold].txt").write_text(" ")
    _, _, error = create("txt", farm, "--collection", "c")
    assert "farm/picture.png" in error
    assert "not a .markdown or .md or .txt file" in error
    assert "farm/odd [bold].txt" in error
    assert "farm/cows.txt" not in error
    _, _, error = create("txt", farm, "--collection", "c", "--every-file")
    assert "farm/cows.txt" in error


def test_fields_of_a_text_file_are_renamed(tmp_path: Path, create: Create, folder: Path) -> None:
    note = "---\nheadline: On sheep\nwhen: 1901\n---\nWool."
    source = write_sources(tmp_path / "source", {"farm/sheep.txt": note})
    rename = ("--rename", "headline=title,when=date")
    code, _, error = create("txt", source, "--collection", "c", *rename)
    assert code == 0, error
    assert Manifest.read(folder).origins["txt"].arguments["rename"] == rename[1]
    with closing(EmbeddedStore(folder)) as store:
        document = store.document("farm.sheep")
    assert (document.title, document.metadata["date"]) == ("On sheep", "1901")


def test_columns_that_change_their_names_change_them_once(
    tables: Path, create: Create, folder: Path
) -> None:
    rename = ("--rename", "title=port,port=title")
    code, _, error = create("csv", tables, "--collection", "c", "--corpus", "ships", *rename)
    assert code == 0, error
    with closing(EmbeddedStore(folder)) as store:
        document = store.document("ships.1")
    assert (document.title, document.metadata["port"]) == ("Leith", "On ships")


def test_the_arguments_are_kept_so_that_they_hold_from_any_folder(
    tables: Path, tmp_path: Path, create: Create, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, error = create(
        *("csv", "tables", "--collection", "c", "--corpus-field", "port", "--no-quotes"),
        *("--splitter", "fixed", "--chunk-size", "500", "--metadata-columns", "port"),
    )
    assert code == 0, error
    origin = Manifest.read(folder).origins["csv"]
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
    assert [c.id for c in Manifest.read(folder).corpora] == ["Hull", "Leith"]


def test_a_flat_folder_is_one_corpus_of_its_name(
    tmp_path: Path, create: Create, folder: Path
) -> None:
    files = {"anna.txt": "Anna writes of hay.\n", "log.csv": "no,said\n1,The tide is high.\n"}
    source = write_sources(tmp_path / "Briefe 1866", files)
    line = ("files", source, "--collection", "c", "--text-column", "said")
    code, _, error = create(*line)
    assert code == 0, error
    assert "The corpus 'Briefe 1866' has the id Briefe_1866." in error
    (corpus,) = Manifest.read(folder).corpora
    assert (corpus.id, corpus.label, corpus.documents) == ("Briefe_1866", "Briefe 1866", 2)


def test_a_mapping_in_the_source_is_found_and_another_can_be_given(
    farm: Path, create: Create, folder: Path
) -> None:
    corpora = []
    for name, options in (("corpora.toml", []), ("mine.toml", ["--corpora", farm / "mine.toml"])):
        (farm / name).write_text(f'[[corpus]]\nid = "{name[:4]}"\ninclude = ["**/*.*"]\n')
        create("files", farm, "--collection", "c", *options)
        corpora += [c.id for c in Manifest.read(folder).corpora]
    assert corpora == ["corp", "mine"]


def test_one_corpus_goes_before_a_mapping_in_the_source(
    farm: Path, create: Create, folder: Path
) -> None:
    (farm / "corpora.toml").write_text('[[corpus]]\nid = "a"\ninclude = ["**"]\n')
    create("txt", farm, "--collection", "c", "--corpus", "all_texts")
    with closing(EmbeddedStore(folder)) as store:
        assert [corpus.id for corpus in store.corpora] == ["all_texts"]
        assert store.document("all_texts.farm.cows").source == "farm/cows.txt"


# files, records and arguments that are refused


def test_refused_files_stand_last_and_apart_from_remarks(
    farm: Path, tmp_path: Path, create: Create
) -> None:
    (farm / "farm" / "picture.png").write_bytes(b"\x89PNG")
    (farm / "farm" / "empty.txt").write_text(" ")
    for again in range(2):
        code, _, error = create(
            "txt", farm, "--collection", "c", "--report", tmp_path / f"{again}.json"
        )
        assert code == 0
        *_, file, counts = error.strip().splitlines()
        assert file == "Refused: farm/empty.txt: it holds no text"
        assert counts == "Refused: 1 file gave no document. The rest is built."
        files = json.loads((tmp_path / f"{again}.json").read_text("utf-8"))["files"]
        assert [file["source"] for file in files if file["refused"]] == ["farm/empty.txt"]
    readable = (tmp_path / "create" / "txt" / "output" / "c.txt").read_text("utf-8")
    assert "REFUSED_FILES=1\nREFUSED_RECORDS=0\n" in readable


def test_a_strict_command_builds_and_ends_with_status_3_if_a_file_is_refused(
    farm: Path, create: Create, folder: Path
) -> None:
    (farm / "farm" / "picture.png").write_bytes(b"\x89PNG")
    assert create("txt", farm, "--collection", "c", "--strict")[0] == 0
    (farm / "farm" / "empty.txt").write_text("")
    assert create("txt", farm, "--collection", "c", "--strict")[0] == 3
    manifest = Manifest.read(folder)
    assert manifest.documents == 3
    assert "strict" not in manifest.origins["txt"].arguments


def test_refused_records_are_counted_apart(
    tables: Path, tmp_path: Path, create: Create, folder: Path
) -> None:
    (tables / "port.csv").write_text(f"{TABLE}3,,,Hull\n4,,,Hull\n", "utf-8")
    code, _, error = create(
        *("csv", tables, "--collection", "c", "--corpus-field", "port", "--strict"),
    )
    assert code == 3, error
    assert error.strip().endswith("Refused: 2 records of other files gave none. The rest is built.")
    readable = (tmp_path / "create" / "csv" / "output" / "c.txt").read_text("utf-8")
    assert "REFUSED_FILES=0\nREFUSED_RECORDS=2\n" in readable


SHEET = (
    "\ufeffFile;Title;Author;Date;Box\r\n"
    "letters/anna.txt;Anna an Karl;Anna Roe;4 May 1866;12\r\n"
    "maps\\coast.txt;;;04/05/1866;\r\n"
    "letters/anna.txt;Again;;;\r\n"
    "letters/karl.txt;No such letter;;;\r\n"
    "too;short\r\n"
)
WRONG = (
    "line 3: '04/05/1866' is not a date: write 1866, 1860s, May 1866 or 1866-05-17, for instance",
    "line 4: 'letters/anna.txt' stands on line 2 already, which counts: take one of them out",
    "line 5: no source is called 'letters/karl.txt': write its name as in the folder of this "
    "table, with the ending",
    "line 6: 2 values, but the header names 5 columns",
)


@pytest.mark.parametrize("kind", ["files", "txt"])
def test_a_table_says_what_the_files_of_a_folder_are(
    tmp_path: Path, create: Create, folder: Path, kind: str
) -> None:
    source = write_sources(
        tmp_path / "archive",
        {
            "letters/anna.txt": "---\ntitle: Untitled\nplace: Ostby\n---\nDear Karl, the tide.",
            "maps/coast.txt": "---\ndate: 1870\n---\nA map of the coast.",
            "maps/metadata.csv": "filename,title\ncoast.txt,The coast\n",
        },
    )
    (source / "metadata.csv").write_text(SHEET, "utf-8", newline="")
    report = tmp_path / "report.json"
    code, _, error = create(kind, source, "--collection", "c", "--strict", "--report", report)
    assert code == 3
    assert error.strip().endswith("Refused: 4 records of other files gave none. The rest is built.")
    files = {each["source"]: each for each in json.loads(report.read_text("utf-8"))["files"]}
    assert tuple(files["metadata.csv"]["remarks"]) == WRONG
    assert "maps/metadata.csv" not in files
    with closing(EmbeddedStore(folder)) as store:
        anna, coast = store.document("letters.anna"), store.document("maps.coast")
    assert (anna.title, coast.title) == ("Anna an Karl", "The coast")
    said = {"author": "Anna Roe", "date": "4 May 1866", "box": "12", "place": "Ostby"}
    assert said.items() <= anna.metadata.items()
    assert coast.metadata["date"] == "1870"

    (source / "metadata.csv").write_text("file,author\nletters/anna.txt,Anna Hay\n", "utf-8")
    code, _, error = create(kind, source, "--collection", "c", "--strict")
    assert code == 0, error
    assert "1 changed, 1 unchanged" in error
    with closing(EmbeddedStore(folder)) as store:
        anna = store.document("letters.anna")
    assert (anna.title, anna.metadata["author"]) == ("Untitled", "Anna Hay")
    assert "box" not in anna.metadata


def test_a_table_of_metadata_beside_a_mapping_and_in_another_encoding(
    tmp_path: Path, create: Create, folder: Path
) -> None:
    toml = '[[corpus]]\nid = "a"\ninclude = ["deep/*.txt"]\n'
    source = write_sources(tmp_path / "s", {"deep/é.txt": "Hay.", "corpora.toml": toml})
    (source / "metadata.csv").write_bytes("file\ttitle\ndeep/e\u0301.txt\tHeu é\n".encode())
    assert create("files", source, "--collection", "c", "--strict")[0] == 0
    with closing(EmbeddedStore(folder)) as store:
        assert store.document("a.é").title == "Heu é"
    (source / "metadata.csv").write_bytes("file,title\ndeep/é.txt,Foin\n".encode("cp1252"))
    code, _, error = create("files", source, "--collection", "c", "--strict")
    assert code == 3
    assert "metadata.csv" in error
    assert "not UTF-8 at byte 16: save it as UTF-8, which Excel calls “CSV UTF-8”" in error


def test_a_table_says_in_which_encoding_a_file_is(
    tmp_path: Path, create: Create, folder: Path
) -> None:
    source = write_sources(tmp_path / "s", {"b.txt": "Hay.", "metadata.csv": "file,title\n"})
    (source / "a.txt").write_bytes("Письмо консула из Москвы.".encode("koi8_r"))
    code, _, error = create("files", source, "--collection", "c", "--strict")
    assert code == 3
    assert "koi8_r`, or write it into the column `encoding` of a `metadata.csv`" in error
    (source / "metadata.csv").write_text("file,encoding\na.txt,koi8-r\n", "utf-8")
    assert create("files", source, "--collection", "c", "--strict")[0] == 0
    with closing(EmbeddedStore(folder)) as store:
        document = store.document("s.a")
    assert document.title == "Письмо консула из Москвы."
    assert "encoding" not in document.metadata


def test_a_table_of_that_name_without_a_column_of_files_is_a_source(
    tmp_path: Path, create: Create, folder: Path
) -> None:
    source = write_sources(tmp_path / "s", {"metadata.csv": TABLE})
    assert create("files", source, "--collection", "c", "--strict")[0] == 0
    assert Manifest.read(folder).documents == 2


def test_a_list_of_literature_is_built_with_the_files_that_it_names(
    tmp_path: Path, create: Create, folder: Path
) -> None:
    source = write_sources(
        tmp_path / "s",
        {
            "papers/books.bib": "@book{a, title={Walls}, file={deep/a.txt}}\n"
            "@book{b, title={Ships}, abstract={Twelve ships.}}",
            "papers/deep/a.txt": "The wall is old.",
            "papers/other.txt": "Hay.",
            "papers/plain.json": '[{"text": "Wool.", "attachments": []}]',
        },
    )
    code, _, error = create("bib", source, "--collection", "c", "--strict", "--every-file")
    assert code == 0, error
    assert error.count("no list of literature names it") == 2
    with closing(EmbeddedStore(folder)) as store:
        assert store.document("papers.deep.a").title == "Walls"
        assert store.document("papers.b").text == "Twelve ships."
    assert Manifest.read(folder).documents == 2


def test_a_folder_that_zotero_exported_is_one_corpus(
    tmp_path: Path, create: Create, folder: Path
) -> None:
    files = {name.removeprefix("town/"): text for name, text in good_files("zotero").items()}
    write_files(tmp_path / "s", files)
    assert create("zotero", tmp_path / "s", "--collection", "c", "--strict")[0] == 0
    with closing(EmbeddedStore(folder)) as store:
        assert store.document("zotero.files.wall").title == "On walls"
    assert [each.id for each in Manifest.read(folder).corpora] == ["zotero"]


def test_what_is_fetched_can_be_built_again_from_any_folder(
    tmp_path: Path, create: Create, folder: Path
) -> None:
    """Addresses stay as they are; saved answers and manifests are files like others."""
    text = {"items": [{"motivation": "supplementing", "body": {"value": "Ships came."}}]}
    log = {"type": "Manifest", "label": "Log", "items": [{"annotations": [text]}]}
    with serving(Site()) as site:
        url = site.serves("/log//a", Answer(json.dumps(log).encode()))
        options = ("--collection", "c", "--allow-private", "127.0.0.1", "--strict")
        code, _, error = create("iiif", url, *options)
    assert code == 0, error
    arguments = Manifest.read(folder).origins["iiif"].arguments
    assert (arguments["source"], "refresh" in arguments) == ([url], False)
    with closing(EmbeddedStore(folder)) as store:
        assert [each.id for each in store.corpora] == ["iiif"]
    for kind in ("oai", "iiif"):
        write_files(tmp_path / kind, good_files(kind))
        code, _, error = create(kind, tmp_path / kind, "--collection", kind, "--strict")
        assert code == 0, error
    code, _, error = create("oai", "https://a.example", "https://b.example", "--collection", "d")
    assert code == 1
    assert "Give one base URL" in error


def test_a_running_zotero_is_asked_without_a_source(
    tmp_path: Path, create: Create, folder: Path
) -> None:
    item = {"key": "AAAA1111", "itemType": "book", "title": "Walls", "abstractNote": "Of walls."}
    with zotero_server() as zotero:
        zotero.shown["items"] = [item]
        options = ("--collection", "c", "--address", zotero.address, "--corpus", "books")
        assert create("zotero", *options)[0] == 0
        assert Manifest.read(folder).origins["zotero"].arguments["source"] == []
        zotero.allowed = False
        code, _, error = create("zotero", *options)
    assert code == 1
    assert "Allow it there, in Settings > Advanced" in error
    with closing(EmbeddedStore(folder)) as store:
        assert store.document("books.AAAA1111").text == "Of walls."
        assert stat.S_IMODE((folder / "zotero").stat().st_mode) == 0o700
    # and from Python
    with zotero_server() as zotero:
        zotero.shown["items"] = [item]
        locate = partial(zotero_sources, address=zotero.address)
        report = Atlas.build([], folder.parent / "d", kind="zotero", locate=locate)
    assert report.manifest.documents == 1


ONE_WAY = "Give only one of --corpora, --corpus-field and --corpus."
REFUSED = {
    "txt {farm} --corpus a --corpus-field b": ONE_WAY,
    "txt {farm} --corpus a --corpora x.toml": ONE_WAY,
    "chroma {tmp}/chroma --corpus a --corpus-field b": "--corpora",
    "chroma {tmp}/chroma --corpora {tmp}/x.toml": "--corpora",
    "zotero --corpora {tmp}/x.toml": "--corpora and --corpus-field are for folders; give --corpus.",
    "txt {farm} --chunk-size 10": "--chunk-size 10: give 50 to 20000 char",
    "txt {farm} --chunk-overlap 501": "--chunk-overlap 501: give 0 to half the chunk size (1000).",
    "txt {farm} --splitter whole --chunk-size 100": "--chunk-size 100: whole documents are",
    "txt {tmp}/nowhere": "nowhere does not exist. Give a file or a folder",
    "txt {tmp}/empty": "no source file gave a document (there is no file of this kind)",
    "txt {tmp}/empty --corpus a": "no source file gave a document (there is no file of this kind)",
    "txt {farm} --corpus 'a b'": "--corpus: 'a b' cannot be a corpus id.",
    "txt {farm} --corpora {tmp}/x.toml": "x.toml cannot be read: No such file",
    "txt {farm}/farm/cows.txt --corpora {tmp}/x.toml": "give one folder as the source.",
    "txt {farm} --corpus-field none": "it has no metadata field `none`",
    "txt {farm} --encoding utf-99": "utf-99",
    "txt {farm} --rename headline": "give `old=new`",
    "csv {farm} --delimiter ab": "--delimiter ab: give one character, or `tab`.",
    "txt {farm} --report {tmp}/no/r.json": "{tmp}/no",
    "txt {farm} --collection ''": "--collection is empty. Give the collection a name.",
    "txt {farm} --collection '' --if-missing": "--collection is empty. Give the collection a name.",
    **{
        f"txt {{farm}} --collection {name}": repr(name)
        for name in (".", "..", "../c", "a/b", ".hidden", "a..b")
    },
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_command_that_makes_no_sense_is_refused_before_anything_is_done(
    farm: Path, tmp_path: Path, hashes: HashEmbedder, create: Create, line: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "chroma").mkdir()
    (tmp_path / "chroma" / "chroma.sqlite3").touch()
    own = [] if "--collection" in line else ["--collection", "c"]
    arguments = shlex.split(line.format(farm=farm, tmp=tmp_path))
    code, output, error = create(*arguments, *own)
    assert (code, output, hashes.embedded) == (1, "", 0)
    assert REFUSED[line].format(tmp=tmp_path) in " ".join(error.split())
    assert "Traceback" not in error
    assert list(tmp_path.rglob("manifest.json")) == []
    assert not (tmp_path / "create").exists()


@pytest.mark.parametrize(
    "line",
    [
        "txt --collection c",
        "txt . --collection c --splitter magic",
        "txt . --collection c --chunk-size many",
        "txt . --collection c --colour red",
        "word . --collection c",
    ],
)
def test_arguments_that_the_command_does_not_know_end_with_status_2(
    create: Create, line: str
) -> None:
    code, output, error = create(*line.split())
    assert (code, output) == (2, "")
    assert "Usage: " in error


# who may read what Atlas writes: its user alone, unless a setting says otherwise

OPEN = 0o022
"""The umask of most systems, under which others read what a program writes."""


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(OPEN)
    yield
    os.umask(before)


def modes(root: Path) -> dict[str, set[int]]:
    """The modes of all folders and of all files below `root`, and its own."""
    paths = [root, *root.rglob("*")]
    return {
        "folders": {path.stat().st_mode & 0o777 for path in paths if path.is_dir()},
        "files": {path.stat().st_mode & 0o777 for path in paths if path.is_file()},
    }


def current_umask() -> int:
    now = os.umask(OPEN)
    os.umask(now)
    return now


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize(
    ("setting", "folder", "file"),
    [("", 0o700, 0o600), ("027", 0o750, 0o640), ("077", 0o700, 0o600)],
)
def test_files_that_a_command_writes_are_for_its_user(
    tmp_path: Path,
    farm: Path,
    create: Create,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    folder: int,
    file: int,
) -> None:
    monkeypatch.setenv("ATLAS_UMASK", setting)
    report = tmp_path / "report.json"
    assert create("txt", farm, "--collection", "c", "--report", report)[0] == 0
    # a second build changes a copy of the vector index, and removes what is staged
    write_sources(farm, FARM | {"farm/goats.txt": "Goats climb.\n"})
    assert create("txt", farm, "--collection", "c")[0] == 0
    assert modes(tmp_path / "stores") == {"folders": {folder}, "files": {file}}
    assert modes(tmp_path / "create")["files"] == {file}
    assert report.stat().st_mode & 0o777 == file
    assert current_umask() == OPEN


@pytest.mark.usefixtures("umask")
def test_a_command_with_settings_that_cannot_be_read_is_private_too(
    tmp_path: Path, create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_UMASK", "everyone")
    code, _, error = create("txt", tmp_path, "--collection", "c")
    assert code == 1
    assert "ATLAS_UMASK" in error
    assert current_umask() == OPEN


@pytest.mark.usefixtures("umask")
def test_commands_leave_the_umask_of_who_runs_them_in_his_own_process() -> None:
    assert CliRunner().invoke(app, ["keys", "--help"]).exit_code == 0
    assert current_umask() == OPEN


@pytest.mark.usefixtures("umask")
def test_a_collection_that_the_library_builds_is_for_its_user(tmp_path: Path, farm: Path) -> None:
    stores = tmp_path / "data" / "stores"
    Atlas.build(farm, "c", embedder=HashEmbedder(), chroma_persist_directory=stores)
    for path in (tmp_path / "data", stores, stores / "c"):
        assert path.stat().st_mode & 0o777 == 0o700
    assert current_umask() == OPEN
