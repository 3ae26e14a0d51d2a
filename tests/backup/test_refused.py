"""Exports that are not whole: refused with the file and line at fault, before a byte is written."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from atlas_search.building.backup import export_collection
from atlas_search.core.errors import SourceError
from tests.backup.exports import edited, lines, signed, taken_in
from tests.tiny import silent

Damage = Callable[[Path], object]


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
    return lambda export: signed(export, **changes)


def put(name: str, line: int, **values: object) -> Damage:
    return lambda export: edited(export, name, lambda found: found[line].update(values))


def reorder(export: Path) -> None:
    edited(export, "passages.jsonl", lambda found: found.reverse())


def repeat(name: str) -> Damage:
    return lambda export: edited(export, name, lambda found: found.append(found[-1]))


def vectors(change: Callable[[np.ndarray], np.ndarray]) -> Damage:
    def damage(export: Path) -> None:
        np.save(export / "vectors.npy", change(np.load(export / "vectors.npy")))
        signed(export)

    return damage


def garble(export: Path) -> None:
    (export / "documents.jsonl").write_text("{}\nno JSON\n")
    signed(export)


def no_array(export: Path) -> None:
    (export / "vectors.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00 nothing at all!")
    signed(export)


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
    "no line": (garble, "documents.jsonl:1: "),
    "corpus of nobody": (put("documents.jsonl", 1, corpus="sea"), "documents.jsonl:2: no corpus"),
    "id of another": (
        put("documents.jsonl", 3, stem="cloth"),
        "would be 'town.cloth'",
    ),
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
    "printed": (put("documents.jsonl", 0, printed_pages=["i", "ii"]), "1 pages and 2 printed"),
    "end beyond": (put("passages.jsonl", 0, end=99), "passages.jsonl:1: it is not within its"),
    "empty span": (put("passages.jsonl", 0, start=15), "passages.jsonl:1: it is not within its"),
    "of nobody": (put("passages.jsonl", -1, document_id="x"), "is of 'x', which is not the"),
    "order": (reorder, "Passages stand in the order of documents.jsonl"),
    "passage twice": (repeat("passages.jsonl"), "occurs twice"),
    "source twice": (repeat("sources.jsonl"), "sources.jsonl names a source twice"),
    "fingerprint": (put("sources.jsonl", 0, fingerprint="xyz"), "sources.jsonl:1: fingerprint: "),
    "no array": (no_array, "vectors.npy is no array"),
    "fewer vectors": (vectors(lambda v: v[1:]), "not float32 in rows with the shape (5, 32)"),
    "doubles": (vectors(lambda v: v.astype("f8")), "not float32 in rows"),
    "objects": (vectors(lambda v: v.astype(object)), "not float32 in rows"),
    "not unit": (vectors(lambda v: v * 2), "vectors.npy has no unit vectors"),
    "not a number": (vectors(lambda v: v * np.nan), "vectors.npy has no unit vectors"),
    "path out": (
        lambda e: manifest_file(e, "../secret"),
        "'../secret' is no name of a file",
    ),
}


def manifest_file(export: Path, name: str) -> None:
    said = json.loads((export / "manifest.json").read_text())
    said["files"][name] = {"bytes": 0, "sha256": "0" * 64}
    (export / "manifest.json").write_text(json.dumps(said))


@pytest.mark.parametrize("name", DAMAGE)
def test_what_is_not_whole_is_refused_before_anything_is_written(
    export: Path, tmp_path: Path, name: str
) -> None:
    damage, expected = DAMAGE[name]
    damage(export)
    with pytest.raises(SourceError) as raised:
        taken_in(export, tmp_path / "stores" / "c")
    assert expected in str(raised.value)
    assert str(export) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "stores").exists()


def test_the_fixture_is_whole(export: Path, tmp_path: Path) -> None:
    assert len(lines(export / "passages.jsonl")) == 5
    assert taken_in(signed(export), tmp_path / "c").manifest.passages == 5


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_zip_cut_short_is_refused(letters: Path, tmp_path: Path, share: float) -> None:
    path = tmp_path / "c.zip"
    export_collection(letters / "stores" / "c", path, silent)
    os.truncate(path, int(path.stat().st_size * share))
    with pytest.raises(SourceError, match=r"is no export: neither a folder nor a whole \.zip"):
        taken_in(path, tmp_path / "stores" / "c")
    assert not (tmp_path / "stores").exists()


def test_a_damaged_byte_anywhere_in_a_zip_is_refused_or_does_no_harm(
    letters: Path, tmp_path: Path
) -> None:
    path = tmp_path / "c.zip"
    export_collection(letters / "stores" / "c", path, silent)
    whole = path.read_bytes()
    refused = 0
    for at in range(7, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            with_names = taken_in(path, tmp_path / f"stores-{at}" / "c")
        except SourceError:
            refused += 1
            assert not (tmp_path / f"stores-{at}").exists(), at
        else:
            assert with_names.manifest.passages == 5, at
    assert refused > 40


def test_a_file_that_is_larger_than_it_says_is_not_unpacked(export: Path, tmp_path: Path) -> None:
    """What is read ends at the stated size, so that a small file cannot become a large one."""
    packed = tmp_path / "bomb.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in export.iterdir():
            content = path.read_bytes()
            grown = b" " * 50_000_000 if path.name == "documents.jsonl" else b""
            archive.writestr(path.name, content + grown)
    assert packed.stat().st_size < 100_000
    with pytest.raises(SourceError, match=r"documents\.jsonl is not as it was written"):
        taken_in(packed, tmp_path / "stores" / "c")


def test_what_is_no_export_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="There is no export at"):
        taken_in(tmp_path / "none", tmp_path / "stores" / "c")
    (tmp_path / "text").write_text("Hello.")
    with pytest.raises(SourceError, match="is no export: neither a folder nor a whole"):
        taken_in(tmp_path / "text", tmp_path / "stores" / "c")


def test_nothing_is_written_over(letters: Path, export: Path) -> None:
    with pytest.raises(SourceError, match="is there already"):
        export_collection(letters / "stores" / "c", export, silent)


def test_a_folder_that_cannot_be_written_is_named(letters: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SourceError, match="file/export cannot be written: File exists"):
        export_collection(letters / "stores" / "c", tmp_path / "file" / "export", silent)
