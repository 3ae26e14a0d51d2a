"""Files handed to a running server become part of its collection."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from atlas_search.stores.manifest import Manifest
from tests.ingest.handing import COLLECTION, detail, documents, done, ended, job_of, send, served_by

LONG = "\n\n".join(f"Bees of hive {number} give honey in summer." for number in range(60))


def test_what_is_sent_is_served_beside_what_was_there(client: FlaskClient) -> None:
    response = send(client, {"bees.txt": "Bees give honey.\n"}, corpus="garden")
    assert response.headers["Location"] == f"/api/jobs/{response.json['id']}"
    told = done(client, response)
    assert told["files"] == [
        {"sent_as": "bees.txt", "name": "bees.txt", "bytes": 17, "replaces": False}
    ]
    result = told["result"]
    assert (result["documents"], result["documents_added"], result["passages_added"]) == (4, 1, 1)
    assert {stage["name"] for stage in told["progress"]} >= {"Reading files", "Going live"}
    assert documents(client) == {"farm": 2, "town": 1, "garden": 1}
    assert client.get("/api/documents/garden.bees").json["text"] == "Bees give honey."
    assert client.get("/api/config").json["collection_version"] == result["version"]


def test_a_second_request_adds_to_the_first(client: FlaskClient, settings: Settings) -> None:
    done(client, send(client, {"bees.txt": "Bees give honey.\n"}, corpus="garden"))
    told = done(client, send(client, {"ants.md": "Ants carry leaves.\n"}, corpus="garden"))
    assert told["result"]["documents_added"] == 1
    assert documents(client)["garden"] == 2
    kept = settings.ingest_root / COLLECTION / "garden"
    assert sorted(path.name for path in kept.iterdir()) == ["ants.md", "bees.txt"]


def test_another_text_of_the_same_name_is_said_first(client: FlaskClient) -> None:
    done(client, send(client, {"bees.txt": "Bees give honey.\n"}))
    refused = send(client, {"bees.txt": "Bees give wax.\n"})
    assert "names are kept: bees.txt" in detail(refused, 409)
    same = done(client, send(client, {"bees.txt": "Bees give honey.\n"}))
    assert same["result"]["unchanged"]
    told = done(client, send(client, {"bees.txt": "Bees give wax.\n"}, replace="true"))
    assert told["files"][0]["replaces"]
    assert told["result"]["documents_changed"] == 1
    assert client.get("/api/documents/documents.bees").json["text"] == "Bees give wax."


@pytest.mark.parametrize(
    ("asked", "size", "overlap", "clamped"),
    [
        ({}, 1000, 100, {}),
        ({"chunk_size": 20}, 100, 10, {"chunk_size": (20, 100)}),
        ({"chunk_size": 9000}, 4000, 400, {"chunk_size": (9000, 4000)}),
        ({"chunk_size": 200, "chunk_overlap": 150}, 200, 100, {"chunk_overlap": (150, 100)}),
        ({"chunk_overlap": -3}, 1000, 0, {"chunk_overlap": (-3, 0)}),
    ],
)
def test_how_it_is_cut_is_bounded_and_said(
    client: FlaskClient, asked: dict, size: int, overlap: int, clamped: dict
) -> None:
    response = send(client, {"bees.txt": "Bees give honey.\n"}, **asked)
    chunks = response.json["chunks"]
    assert (chunks["size"], chunks["overlap"]) == (size, overlap)
    assert {c["setting"]: (c["asked"], c["used"]) for c in chunks["clamped"]} == clamped
    assert chunks["defaults"] == (not asked)
    client.delete(f"/api/jobs/{job_of(response)}")


def test_the_cut_holds_for_all_that_is_ingested_and_stays(
    client: FlaskClient, settings: Settings
) -> None:
    done(client, send(client, {"bees.txt": LONG}))
    told = done(client, send(client, {"ants.txt": "Ants carry leaves."}, chunk_size="150"))
    assert (told["chunks"]["size"], told["chunks"]["recut"]) == (150, 1)
    assert told["result"]["passages_added"] > 5
    again = done(client, send(client, {"flies.txt": "Flies are fast."}))
    assert (again["chunks"]["size"], again["chunks"]["recut"]) == (150, 0)
    origins = Manifest.read(settings.collection_folder).origins
    assert {kind: origin.size for kind, origin in origins.items()} == {"txt": 1000, "ingest": 150}


def test_what_cannot_be_read_is_left_out_and_said(client: FlaskClient) -> None:
    files = {"bees.txt": "Bees give honey.\n", "bees.exe": "no", "empty.txt": ""}
    told = done(client, send(client, files))
    assert [left["name"] for left in told["left_out"]] == ["bees.exe"]
    assert told["left_out"][0]["reason"].startswith("not a .")
    (remark,) = told["result"]["remarks"]
    assert (remark["source"], remark["refused"]) == ("documents/empty.txt", True)
    assert "There is no file to take in (a.exe: not a" in detail(send(client, {"a.exe": "x"}), 400)


def test_a_document_that_was_ingested_can_be_removed(
    client: FlaskClient, settings: Settings
) -> None:
    done(client, send(client, {"bees.txt": "Bees give honey.", "ants.txt": "Ants carry leaves."}))
    told = done(client, client.delete("/api/documents/documents.bees"))
    assert (told["kind"], told["result"]["documents_removed"]) == ("remove", 1)
    assert client.get("/api/documents/documents.bees").status_code == 404
    assert documents(client) == {"farm": 2, "town": 1, "documents": 1}
    kept = settings.ingest_root / COLLECTION / "documents"
    assert [path.name for path in kept.iterdir()] == ["ants.txt"]
    done(client, client.delete("/api/documents/documents.ants"))
    assert documents(client) == {"farm": 2, "town": 1}


def test_documents_that_were_built_otherwise_stay(client: FlaskClient) -> None:
    assert "was not ingested" in detail(client.delete("/api/documents/farm.sheep"), 409)
    assert "no document" in detail(client.delete("/api/documents/farm.goats"), 404)
    rows = "".join(f'{{"id": "{name}", "text": "About {name}."}}\n' for name in ("ox", "cow"))
    done(client, send(client, {"stalls.jsonl": rows}))
    assert "holds 1 other" in detail(client.delete("/api/documents/documents.ox"), 409)


def test_only_the_administrator_brings_and_removes(client: FlaskClient) -> None:
    for method, path in (
        ("POST", "/api/ingest"),
        ("GET", "/api/jobs"),
        ("DELETE", "/api/documents/farm.sheep"),
        ("DELETE", "/api/jobs/1"),
    ):
        response = client.open(path, method=method, headers={"Authorization": "Bearer x"})
        assert response.status_code == 403, path


def test_another_model_does_not_embed_everything_again(settings: Settings) -> None:
    with served_by(settings, other_model) as client:
        told = ended(client, job_of(send(client, {"bees.txt": "Bees give honey."})))
    assert told["state"] == "failed"
    assert "was built with hash" in told["problem"]
    assert not (settings.ingest_root / COLLECTION / "documents").exists()


def other_model(settings: Settings) -> object:
    from tests.hash_embedder import HashEmbedder

    return HashEmbedder("another")


def test_a_path_below_the_root_is_copied_and_the_kept_folder_built_again(
    client: FlaskClient, settings: Settings, tmp_path: Path
) -> None:
    inbox = settings.ingest_root / "inbox" / "deep"
    inbox.mkdir(parents=True)
    (inbox / "bees.txt").write_text("Bees give honey.")
    (inbox.parent / "ants.txt").write_text("Ants carry leaves.")
    told = done(client, client.post("/api/ingest", json={"path": "inbox", "corpus": "garden"}))
    assert sorted(file["name"] for file in told["files"]) == ["ants.txt", "deep/bees.txt"]
    assert documents(client)["garden"] == 2
    again = done(client, client.post("/api/ingest", json={"path": COLLECTION}))
    assert again["result"]["unchanged"]
