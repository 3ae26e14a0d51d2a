"""The form of an export: every field documented, another program's read, one not whole refused."""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atlas_search.building import backup_form as form
from atlas_search.building.backup import Imported, export_collection, import_collection
from atlas_search.cli.main import main
from atlas_search.core.errors import SourceError
from atlas_search.stores.embedded import EmbeddedStore
from tests.building.damage import damaged
from tests.hash_embedder import HashEmbedder
from tests.test_docs import items, names_in
from tests.tiny import FARM, build_tiny, document_ids, json_lines, silent, write_sources

LISTS = {
    "manifest.json": form.Description,
    "A corpus": form.CorpusPart,
    "The embedding model": form.ModelPart,
    "An origin": form.OriginPart,
    "documents.jsonl": form.DocumentLine,
    "A segment": form.SegmentPart,
    "passages.jsonl": form.PassageLine,
    "A locator": form.LocatedPart,
    "sources.jsonl": form.SourceLine,
}


def import_to(folder: Path, export: Path) -> Imported:
    return import_collection(export, folder, HashEmbedder(), silent)


@pytest.mark.parametrize("heading", LISTS)
def test_the_page_lists_every_field(heading: str) -> None:
    assert items("docs/backup.md", heading) == [
        (f"`{name}`{'*' if field.is_required() else ''}", field.description)
        for name, field in LISTS[heading].model_fields.items()
    ]


def test_the_page_lists_every_file(letters: Path) -> None:
    listed = names_in(file for file, _ in items("docs/backup.md", "The form"))
    assert sorted(listed) == sorted(path.name for path in (letters / "export").iterdir())
    assert [name for name in listed if name not in form.README_TEXT + form.README] == []


def test_the_commands_say_what_they_did(
    letters: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def atlas(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["store", *arguments])
        output = capsys.readouterr()
        return (output.out if ended.value.code == 0 else output.err).lstrip()

    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(letters / "stores"))
    model = HashEmbedder()
    monkeypatch.setattr("atlas_search.cli.store.open_embedder", lambda _: model)
    path = str(tmp_path / "c.zip")
    assert "c.zip holds 4 documents, 5 passages of version" in atlas("export", "c", path)
    assert atlas("export", "c", path).startswith(f"atlas: {path} is there already.")
    assert atlas("export", "d", path).startswith("atlas: There is no collection at")
    assert atlas("import", path).startswith("atlas: There is a collection c already.")
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "new"))
    assert "of c is live: 4 documents, 5 passages." in atlas("import", path)
    model = HashEmbedder("other")
    output = atlas("import", path, "--collection", "d")
    assert output.startswith("The export has vectors of hash: 4 texts were embedded with other.\n")
    assert "of d is live" in output
    assert atlas("import", path, "--collection", "../d").startswith("atlas: CHROMA_COLLECTION_NAME")
    monkeypatch.setenv("FILE_CHARACTERS", "100")
    output = atlas("import", path, "--collection", "e")
    assert "it takes its document beyond 100 characters." in " ".join(output.split())


# an export that another program wrote, knowing only docs/backup.md

LETTER = "Dear Ash,\n\nthe ferry leaves at nine. Bring the 🐑.\n\nYours, Birch"
DIARY = "Rain again.\nThe ferry did not leave."


def write_ferry(folder: Path, files: Mapping[str, bytes] = {}, **more: object) -> Path:
    """The least that is an export: two documents, three passages, no vectors."""
    folder.mkdir()
    documents = [
        {"id": "letters.ferry", "corpus": "letters", "text": LETTER, "title": "The ferry"}
        | {"metadata": {"author": "Birch", "year": 1931}, "date": "1931-05-02"},
        {"id": "diary.may", "corpus": "diary", "text": DIARY, "pages": [0, 12]}
        | {"segments": [{"start": 12, "section": "Tuesday", "locator": "entry 2"}]},
    ]
    ferry = LETTER.index("the ferry"), LETTER.index("\n\nYours")
    passages = [
        {"document_id": "letters.ferry", "start": ferry[0], "end": ferry[1]},
        {"document_id": "diary.may", "start": 0, "end": 11},
        {"document_id": "diary.may", "start": 12, "end": len(DIARY)},
    ]
    all_files = {"documents.jsonl": jsonl(documents), "passages.jsonl": jsonl(passages), **files}
    for name, content in all_files.items():
        (folder / name).write_bytes(content)
    manifest = {
        "form": "atlas-export",
        "form_version": 1,
        "collection": "ferry",
        "corpora": [{"id": "letters", "label": "Letters from home"}, {"id": "diary"}],
        "counts": {"documents": 2, "passages": 3},
        "files": {name: entry_of(folder / name) for name in all_files},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest | more))
    return folder


def jsonl(records: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records).encode()


def entry_of(path: Path) -> dict[str, object]:
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The collection that an import makes."""
    return tmp_path / "stores" / "c"


def test_a_hand_made_export_is_a_collection(folder: Path, tmp_path: Path) -> None:
    done = import_to(folder, write_ferry(tmp_path / "ferry"))
    assert (done.model, done.is_same_model, done.embedded) == ("", False, 3)
    assert damaged(folder) == []
    labels = {c.id: c.label for c in done.manifest.corpora}
    assert labels == {"diary": "Diary", "letters": "Letters from home"}
    with closing(EmbeddedStore(folder)) as store:
        letter = store.document_passages("letters.ferry")[0]
        rain, away = store.document_passages("diary.may")
        assert letter.text == "the ferry leaves at nine. Bring the 🐑."
        assert (letter.line, letter.date, letter.title) == (3, "1931-05-02", "The ferry")
        assert letter.metadata["year"] == 1931
        assert (rain.page, away.page, away.line, away.section) == (1, 2, 2, "Tuesday")
        assert away.locator == "entry 2"
        assert store.document("diary.may").title == "Rain again."


def test_its_vectors_are_taken_over_if_they_are_the_models(folder: Path, tmp_path: Path) -> None:
    embedder = HashEmbedder()
    model = {"name": "hash", "fingerprint": embedder.fingerprint, "dimension": 32}
    vectors = embedder.embed(["one", "two", "three"])
    np.save(tmp_path / "v.npy", vectors)
    files = {"vectors.npy": (tmp_path / "v.npy").read_bytes()}
    done = import_to(folder, write_ferry(tmp_path / "ferry", files, embedding=model))
    assert (done.is_same_model, done.embedded) == (True, 0)
    with closing(EmbeddedStore(folder)) as store:
        row = store.document_passages("letters.ferry")[0].row
        assert (store.vectors(np.array([row])) == vectors[:1].astype(np.float16)).all()


def test_a_build_beside_it_replaces_only_documents_of_its_own_origin(
    folder: Path, tmp_path: Path
) -> None:
    import_to(folder, write_ferry(tmp_path / "ferry"))
    build_tiny(write_sources(tmp_path / "source", FARM), folder, HashEmbedder())
    lines = write_sources(tmp_path / "lines", {"town/a.jsonl": json_lines({"one": "Trade."})})
    build_tiny(lines, folder, HashEmbedder(), kind="jsonl")
    assert document_ids(folder) == [
        *("diary.may", "farm.cows", "farm.sheep", "letters.ferry", "town.one", "town.trade")
    ]
    assert damaged(folder) == []


@pytest.mark.parametrize("own", ["p-1", "a/b c"])
def test_a_passage_may_have_an_id_of_its_own(folder: Path, tmp_path: Path, own: str) -> None:
    passages = [
        {"document_id": "letters.ferry", "start": 0, "end": 4, "id": own},
        {"document_id": "diary.may", "start": 0, "end": 11},
        {"document_id": "diary.may", "start": 12, "end": 20, "id": "diary.may:12-20"},
    ]
    import_to(folder, write_ferry(tmp_path / "ferry", {"passages.jsonl": jsonl(passages)}))
    with closing(EmbeddedStore(folder)) as store:
        assert store.passage(own).text == "Dear"
        assert store.passage("diary.may:12-20").text == "The ferr"
    assert damaged(folder) == []


# exports that are not whole: refused with the file and line at fault, before a byte is written

Damage = Callable[[Path], object]


def sign(export: Path, **changes: object) -> None:
    """Write a manifest that fits the files as they are now."""
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8")) | changes
    others = [path for path in export.iterdir() if path.name != "manifest.json"]
    manifest["files"] = {path.name: entry_of(path) for path in others}
    (export / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def edit(name: str, change: Callable[[list[dict[str, Any]]], object]) -> Damage:
    """Change the lines of one file, and the manifest so that it fits them."""

    def damage(export: Path) -> None:
        lines = [json.loads(line) for line in (export / name).read_text("utf-8").splitlines()]
        change(lines)
        (export / name).write_bytes(jsonl(lines))
        sign(export)

    return damage


def flip(name: str, at: int) -> Damage:
    def damage(export: Path) -> None:
        content = bytearray((export / name).read_bytes())
        content[at] ^= 1
        (export / name).write_bytes(content)

    return damage


def cut(name: str) -> Damage:
    return lambda export: os.truncate(export / name, (export / name).stat().st_size // 2)


def more(name: str) -> Damage:
    return lambda export: (export / name).write_bytes((export / name).read_bytes() + b"{}\n")


def lose(name: str) -> Damage:
    return lambda export: (export / name).unlink()


def manifest(**changes: object) -> Damage:
    return lambda export: sign(export, **changes)


def put(name: str, line: int, **values: object) -> Damage:
    return edit(name, lambda lines: lines[line].update(values))


def repeat(name: str) -> Damage:
    return edit(name, lambda lines: lines.append(lines[-1]))


def write(name: str, content: bytes) -> Damage:
    def damage(export: Path) -> None:
        (export / name).write_bytes(content)
        sign(export)

    return damage


def vectors(change: Callable[[np.ndarray], np.ndarray]) -> Damage:
    def damage(export: Path) -> None:
        np.save(export / "vectors.npy", change(np.load(export / "vectors.npy")))
        sign(export)

    return damage


def list_secret(export: Path) -> None:
    described = json.loads((export / "manifest.json").read_text())
    described["files"]["../secret"] = {"bytes": 0, "sha256": "0" * 64}
    (export / "manifest.json").write_text(json.dumps(described))


DAMAGE: dict[str, tuple[Damage, str]] = {
    "byte of a text": (flip("documents.jsonl", 40), "documents.jsonl is not as it was written"),
    "byte of a vector": (flip("vectors.npy", -3), "vectors.npy is not as it was written"),
    "texts cut short": (cut("documents.jsonl"), "documents.jsonl is not as it was written"),
    "vectors cut short": (cut("vectors.npy"), "vectors.npy is not as it was written"),
    "passages longer": (more("passages.jsonl"), "passages.jsonl is not as it was written"),
    "manifest cut short": (cut("manifest.json"), "manifest.json: Invalid JSON: EOF"),
    "manifest lost": (lose("manifest.json"), "manifest.json is missing"),
    "texts lost": (lose("documents.jsonl"), "documents.jsonl is missing"),
    "vectors lost": (lose("vectors.npy"), "vectors.npy is missing"),
    "later form": (manifest(form_version=2), "has form version 2; this Atlas reads 1. Import it"),
    "other form": (manifest(form="zoo"), "manifest.json: form: Input should be 'atlas-export'"),
    "unknown key": (manifest(colour="red"), "manifest.json: colour: Extra inputs are not"),
    "no corpora": (manifest(corpora=[]), "manifest.json: corpora: "),
    "strange corpus": (manifest(corpora=[{"id": "../x"}]), "'../x' cannot be a corpus id"),
    "strange language": (
        manifest(corpora=[{"id": "farm", "language": "xx"}, {"id": "town"}]),
        "the corpus farm has the language 'xx', which is none of ",
    ),
    "wrong counts": (
        manifest(counts={"documents": 9, "passages": 5, "sources": 4}),
        "passages, not 9 and 5 as manifest.json says",
    ),
    "no line": (write("documents.jsonl", b"{}\nno JSON\n"), "documents.jsonl:1: "),
    "corpus of nobody": (put("documents.jsonl", 1, corpus="sea"), "documents.jsonl:2: no corpus"),
    "id of another": (put("documents.jsonl", 3, stem="cloth"), "would be 'town.cloth'"),
    "text twice": (repeat("documents.jsonl"), "documents.jsonl:5: its source and key occur twice"),
    "no text": (put("documents.jsonl", 0, text=" \n"), "documents.jsonl:1: it holds no text"),
    "truth value": (
        put("documents.jsonl", 0, metadata={"open": True}),
        "documents.jsonl:1: metadata.open.str: Input should be a valid string",
    ),
    "field name": (
        put("documents.jsonl", 0, metadata={"My Field": "x"}),
        "the metadata field 'My Field' would be 'my_field'",
    ),
    "pages": (put("documents.jsonl", 0, pages=[5, 2]), "documents.jsonl:1: its pages are not"),
    "pages beyond": (put("documents.jsonl", 0, pages=[0, 99]), "documents.jsonl:1: its pages are"),
    "many pages": (
        put("documents.jsonl", 0, pages=[0] * 3_000_000),
        "documents.jsonl:1: it takes its document beyond 6,000,000 bytes beside texts: too many",
    ),
    "many values": (
        put("documents.jsonl", 0, metadata={"x": ["a"] * 4_000_000}),
        "documents.jsonl:1: it takes its document beyond 6,000,000 bytes beside texts",
    ),
    "page beyond": (put("passages.jsonl", 0, page=10**18), f"l:1: there is no page {10**18}."),
    "line beyond": (
        edit("passages.jsonl", lambda lines: lines[0].update(line=10**18)),
        f"l:1: there is no line {10**18}.",
    ),
    "tokens": (
        put("passages.jsonl", 0, tokens=10**18),
        "passages.jsonl:1: tokens: Input should be",
    ),
    "number": (
        put("documents.jsonl", 0, metadata={"n": 10**30}),
        "documents.jsonl:1: the number of the metadata field 'n' is not below 1e+15: write it as",
    ),
    "brackets": (
        put("documents.jsonl", 0, id="farm.a [x p1]", stem="a [x p1]"),
        "documents.jsonl:1: the id 'farm.a [x p1]' holds other than letters, digits, `_`, `-`",
    ),
    "printed": (put("documents.jsonl", 0, printed_pages=["i", "ii"]), "1 pages and 2 printed"),
    "end beyond": (put("passages.jsonl", 0, end=99), "passages.jsonl:1: it is not within its"),
    "empty span": (put("passages.jsonl", 0, start=15), "passages.jsonl:1: it is not within its"),
    "of nobody": (put("passages.jsonl", -1, document_id="x"), "is of 'x', which is not the"),
    "order": (
        edit("passages.jsonl", lambda lines: lines.reverse()),
        "Passages stand in the order of documents.jsonl",
    ),
    "passage twice": (repeat("passages.jsonl"), "occurs twice"),
    "source twice": (repeat("sources.jsonl"), "sources.jsonl names a source twice"),
    "fingerprint": (put("sources.jsonl", 0, fingerprint="xyz"), "sources.jsonl:1: fingerprint: "),
    "no array": (
        write("vectors.npy", b"\x93NUMPY\x01\x00\x10\x00 nothing at all!"),
        "vectors.npy is no array",
    ),
    "fewer vectors": (vectors(lambda v: v[1:]), "not float32 in rows with the shape (5, 32)"),
    "doubles": (vectors(lambda v: v.astype("f8")), "not float32 in rows"),
    "objects": (vectors(lambda v: v.astype(object)), "not float32 in rows"),
    "not unit": (vectors(lambda v: v * 2), "vectors.npy has no unit vectors"),
    "not a number": (vectors(lambda v: v * np.nan), "vectors.npy has no unit vectors"),
    "path out": (list_secret, "'../secret' is no name of a file"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_an_export_that_is_not_whole_is_refused_before_anything_is_written(
    export: Path, folder: Path, name: str
) -> None:
    damage, expected = DAMAGE[name]
    damage(export)
    with pytest.raises(SourceError) as raised:
        import_to(folder, export)
    assert expected in str(raised.value)
    assert str(export) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not folder.parent.exists()


def test_the_export_is_whole_before_it_is_damaged(export: Path, folder: Path) -> None:
    sign(export)
    assert import_to(folder, export).manifest.passages == 5


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_zip_cut_short_is_refused(
    letters: Path, folder: Path, tmp_path: Path, share: float
) -> None:
    path = tmp_path / "c.zip"
    export_collection(letters / "stores" / "c", path, silent)
    os.truncate(path, int(path.stat().st_size * share))
    with pytest.raises(SourceError, match=r"is no export: neither a folder nor a whole \.zip"):
        import_to(folder, path)
    assert not folder.parent.exists()


def test_a_damaged_byte_anywhere_in_a_zip_is_refused_or_does_no_harm(
    letters: Path, tmp_path: Path
) -> None:
    path = tmp_path / "c.zip"
    export_collection(letters / "stores" / "c", path, silent)
    content = path.read_bytes()
    refused = 0
    for at in range(7, len(content), max(1, len(content) // 60)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        try:
            done = import_to(tmp_path / f"stores-{at}" / "c", path)
        except SourceError:
            refused += 1
            assert not (tmp_path / f"stores-{at}").exists(), at
        else:
            assert done.manifest.passages == 5, at
    assert refused > 40


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (5_000_000, r"documents\.jsonl is not as it was written"),
        (50_000_000, r"bomb\.zip would unpack to 50,\d+,\d+ bytes, more than 200 times its size"),
    ],
)
def test_a_file_that_is_larger_than_it_says_is_not_unpacked(
    export: Path, folder: Path, tmp_path: Path, size: int, message: str
) -> None:
    """A file is read up to the stated size, so that a small one cannot become a large one."""
    packed = tmp_path / "bomb.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in export.iterdir():
            grown = b" " * size if path.name == "documents.jsonl" else b""
            archive.writestr(path.name, path.read_bytes() + grown)
    assert packed.stat().st_size < 100_000
    with pytest.raises(SourceError, match=message):
        import_to(folder, packed)


def test_places_where_nothing_can_be_read_or_written_are_named(
    letters: Path, export: Path, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("Hello.")
    for path, message in (
        ("none", "There is no export at"),
        ("text", "is no export: neither a folder nor a whole"),
    ):
        with pytest.raises(SourceError, match=message):
            import_to(folder, tmp_path / path)
    for path, message in (
        ("export", "is there already"),
        ("text/export", "text/export cannot be written: File exists"),
    ):
        with pytest.raises(SourceError, match=message):
            export_collection(letters / "stores" / "c", tmp_path / path, silent)
