"""What is handed over stays in its folder, within its limits, and hides nothing."""

import io
import os
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.core.errors import RequestError
from atlas_search.core.settings import Settings
from atlas_search.server.ingest.arrival import safe_name
from tests.ingest.handing import COLLECTION, detail, send, served_by


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("bees.txt", "bees.txt"),
        ("../../etc/passwd.txt", "etc/passwd.txt"),
        ("/etc/cron.d/bees.txt", "etc/cron.d/bees.txt"),
        ("..\\..\\windows\\bees.txt", "windows/bees.txt"),
        ("C:\\bees.txt", "C_/bees.txt"),
        (".hidden/.bees.txt", "hidden/bees.txt"),
        ("a/./b/../bees.txt", "a/b/bees.txt"),
        ("bees\x00.txt", "bees_.txt"),
        ("<b>bees</b>.txt", "_b_bees_/b_.txt"),
        ("蜜蜂 и пчёлы.txt", "蜜蜂 и пчёлы.txt"),
        ("e\u0301.txt", "é.txt"),
        ("é" * 300 + ".txt", "é" * 98 + ".txt"),
        ("bees.txt. . ", "bees.txt"),
    ],
)
def test_names_are_made_safe(given: str, kept: str) -> None:
    assert safe_name(given) == kept


@pytest.mark.parametrize("given", ["", ".", "..", "///", "a/..", "folder/", "a/" * 17 + "b"])
def test_what_is_no_name_is_refused(given: str) -> None:
    with pytest.raises(RequestError):
        safe_name(given)


def test_a_name_cannot_lead_out_of_the_folder(client: FlaskClient, settings: Settings) -> None:
    response = send(client, {"../../../../stores/farm/bees.txt": "Bees"}, corpus="x")
    client.delete(f"/api/jobs/{response.json['id']}")
    assert response.json["files"][0]["name"] == "stores/farm/bees.txt"
    assert not (settings.collection_folder / "bees.txt").exists()


@pytest.mark.parametrize("corpus", ["../x", "a/b", ".jobs", "", "all", "a\\b"])
def test_a_corpus_cannot_lead_out_either(client: FlaskClient, corpus: str) -> None:
    said = detail(send(client, {"bees.txt": "Bees"}, corpus=corpus), 400)
    assert "cannot be a corpus id" in said


@pytest.mark.parametrize("collection", ["../stores", "other", "a/b"])
def test_nor_a_collection(client: FlaskClient, collection: str) -> None:
    said = detail(send(client, {"bees.txt": "Bees"}, collection=collection), 400)
    assert "Served are: farm." in said


def test_what_is_too_large_is_refused_and_not_kept(settings: Settings) -> None:
    small = settings.model_copy(update={"ingest_max_file_mb": 1, "ingest_max_request_mb": 2})
    with served_by(small) as client:
        said = detail(send(client, {"bees.txt": b"b" * 1_000_001}), 400)
        assert "larger than 1 MB" in said
        assert "INGEST_MAX_FILE_MB" in said
        three = {f"{number}.txt": b"b" * 900_000 for number in range(3)}
        assert "INGEST_MAX_REQUEST_MB" in detail(send(client, three), 400)
        assert send(client, {"bees.txt": b"b" * 4_000_000}).status_code == 413
        assert client.get("/api/jobs").json == {"jobs": []}
    assert [p for p in (settings.ingest_root / COLLECTION).rglob("*") if p.is_file()] == []


def test_many_fields_are_refused(client: FlaskClient) -> None:
    parts = {f"f{number}": "x" for number in range(1100)}
    response = client.post("/api/ingest", data={**parts, "files": (io.BytesIO(b"x"), "a.txt")})
    assert response.status_code == 413


@pytest.mark.parametrize(
    "fields",
    [{"chunk_size": "large"}, {"chunk_size": "1e9999"}, {"colour": "red"}, {"replace": "perhaps"}],
)
def test_fields_that_are_wrong_are_said(client: FlaskClient, fields: dict[str, str]) -> None:
    assert next(iter(fields)) in detail(send(client, {"bees.txt": "Bees"}, **fields), 400)


@pytest.fixture
def secret(tmp_path: Path, settings: Settings) -> Path:
    """A file outside of the root, with ways to it from inside."""
    path = tmp_path / "secret" / "key.txt"
    path.parent.mkdir()
    path.write_text("do not read")
    root = settings.ingest_root
    for name in ("plain", "linked", "folder", "inner"):
        (root / name).mkdir(parents=True)
    (root / "linked" / "key.txt").symlink_to(path)
    (root / "folder" / "all").symlink_to(path.parent)
    (root / "way").symlink_to(path.parent)
    (root / "inner" / "bees.txt").write_text("Bees give honey.")
    (root / "inner" / "same.txt").symlink_to("bees.txt")
    (root / ".hidden").mkdir()
    (root / ".hidden" / "bees.txt").write_text("Bees")
    os.mkfifo(root / "plain" / "pipe.txt")
    return path


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("../secret", "nothing outside of it is read"),
        ("linked", "nothing outside of it is read"),
        ("linked/key.txt", "nothing outside of it is read"),
        ("folder", "nothing outside of it is read"),
        ("way", "nothing outside of it is read"),
        ("way/key.txt", "nothing outside of it is read"),
        ("/etc/hostname", "nothing outside of it is read"),
        (".", "Name a folder or file in it"),
        (".hidden", "is hidden"),
        ("inner/../.hidden/bees.txt", "is hidden"),
        ("nowhere", "There is no 'nowhere'"),
        ("a\x00b", "There is no"),
        ("x" * 3000, "There is no"),
        ("plain", "no file to take in"),
        ("plain/pipe.txt", "no file to take in"),
    ],
)
def test_no_path_leads_out_of_the_root(
    client: FlaskClient, secret: Path, path: str, says: str
) -> None:
    assert says in detail(client.post("/api/ingest", json={"path": path}), 400)
    assert client.get("/api/jobs").json == {"jobs": []}


def test_a_link_within_the_root_is_read(client: FlaskClient, secret: Path) -> None:
    response = client.post("/api/ingest", json={"path": "inner"})
    assert [file["name"] for file in response.json["files"]] == ["bees.txt", "same.txt"]
    client.delete(f"/api/jobs/{response.json['id']}")


def test_a_file_cannot_take_the_place_of_a_folder(client: FlaskClient, settings: Settings) -> None:
    kept = settings.ingest_root / COLLECTION / "documents"
    (kept / "bees.txt").mkdir(parents=True)
    (kept / "ants.txt").write_text("Ants")
    assert "has that name already" in detail(send(client, {"bees.txt": "Bees"}), 409)
    assert "has that name already" in detail(send(client, {"ants.txt/bees.txt": "Bees"}), 409)
    both = {"a.txt": "Bees", "a.txt/b.txt": "Bees"}
    assert "name of a folder and of a file" in detail(send(client, both), 400)
    assert "are both 'c.txt'" in detail(send(client, {"c.txt": "x", "/c.txt": "y"}), 400)
