"""An export that another program wrote, knowing only docs/backup.md."""

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atlas_search.stores.embedded import EmbeddedStore
from tests.backup.exports import taken_in
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, build_tiny, document_ids, json_lines, write_sources
from tests.upkeep.damage import damaged

LETTER = "Dear Ash,\n\nthe ferry leaves at nine. Bring the 🐑.\n\nYours, Birch"
DIARY = "Rain again.\nThe ferry did not leave."


def write_export(folder: Path, **more: Any) -> Path:
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
    files = {"documents.jsonl": jsonl(documents), "passages.jsonl": jsonl(passages)}
    files |= more.pop("files", {})
    for name, content in files.items():
        (folder / name).write_bytes(content)
    manifest = {
        "form": "atlas-export",
        "form_version": 1,
        "collection": "ferry",
        "corpora": [{"id": "letters", "label": "Letters from home"}, {"id": "diary"}],
        "counts": {"documents": 2, "passages": 3},
        "files": {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in files.items()
        },
    }
    (folder / "manifest.json").write_text(json.dumps(manifest | more))
    return folder


def jsonl(found: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in found).encode()


def array(vectors: np.ndarray, path: Path) -> bytes:
    np.save(path, vectors)
    return path.read_bytes()


def test_a_hand_made_export_is_a_collection(tmp_path: Path) -> None:
    done = taken_in(write_export(tmp_path / "ferry"), tmp_path / "stores" / "ferry")
    assert (done.model, done.is_same_model, done.embedded) == ("", False, 3)
    assert damaged(tmp_path / "stores" / "ferry") == []
    labels = {c.id: c.label for c in done.manifest.corpora}
    assert labels == {"diary": "Diary", "letters": "Letters from home"}
    with closing(EmbeddedStore(tmp_path / "stores" / "ferry")) as store:
        letter = store.document_passages("letters.ferry")[0]
        rain, away = store.document_passages("diary.may")
        assert letter.text == "the ferry leaves at nine. Bring the 🐑."
        assert (letter.line, letter.date, letter.title) == (3, "1931-05-02", "The ferry")
        assert letter.metadata["year"] == 1931
        assert (rain.page, away.page, away.line, away.section) == (1, 2, 2, "Tuesday")
        assert away.locator == "entry 2"
        assert store.document("diary.may").title == "Rain again."


def test_its_vectors_are_taken_over_if_they_are_the_models(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    model = {"name": "hash", "fingerprint": embedder.fingerprint, "dimension": 32}
    made = embedder.embed(["one", "two", "three"])
    vectors = {"vectors.npy": array(made, tmp_path / "v.npy")}
    export = write_export(tmp_path / "ferry", files=vectors, embedding=model)
    done = taken_in(export, tmp_path / "stores" / "ferry")
    assert (done.is_same_model, done.embedded) == (True, 0)
    with closing(EmbeddedStore(tmp_path / "stores" / "ferry")) as store:
        row = store.document_passages("letters.ferry")[0].row
        assert (store.vectors(np.array([row])) == made[:1]).all()


def test_a_build_beside_it_keeps_what_was_imported(tmp_path: Path) -> None:
    folder = tmp_path / "stores" / "ferry"
    taken_in(write_export(tmp_path / "ferry"), folder)
    build_tiny(write_sources(tmp_path / "source", FARM), folder, HashEmbedder())
    assert document_ids(folder) == [
        "diary.may",
        "farm.cows",
        "farm.sheep",
        "letters.ferry",
        "town.trade",
    ]
    assert damaged(folder) == []


def test_a_build_of_the_same_origin_takes_the_place_of_documents_without_a_source(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "stores" / "ferry"
    taken_in(write_export(tmp_path / "ferry"), folder)
    lines = write_sources(tmp_path / "lines", {"town/a.jsonl": json_lines({"one": "Trade."})})
    build_tiny(lines, folder, HashEmbedder(), kind="jsonl")
    assert document_ids(folder) == ["diary.may", "letters.ferry", "town.one"]


@pytest.mark.parametrize("own", ["p-1", "a/b c"])
def test_a_passage_may_have_an_id_of_its_own(tmp_path: Path, own: str) -> None:
    passages = [
        {"document_id": "letters.ferry", "start": 0, "end": 4, "id": own},
        {"document_id": "diary.may", "start": 0, "end": 11},
        {"document_id": "diary.may", "start": 12, "end": 20, "id": "diary.may:12-20"},
    ]
    export = write_export(tmp_path / "ferry", files={"passages.jsonl": jsonl(passages)})
    taken_in(export, tmp_path / "stores" / "ferry")
    with closing(EmbeddedStore(tmp_path / "stores" / "ferry")) as store:
        assert store.passage(own).text == "Dear"
        assert store.passage("diary.may:12-20").text == "The ferr"
    assert damaged(tmp_path / "stores" / "ferry") == []
