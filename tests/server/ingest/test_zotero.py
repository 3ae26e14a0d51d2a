"""Collections of a running Zotero, brought in by who is at the server's machine."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from tests.conftest import free_port
from tests.readers.test_zotero import LETTER, LISTS
from tests.server.ingest.handing import ADMINISTRATOR, detail, documents, done, send, served_by
from tests.server.ingest.handing import settings_for as settings_in
from tests.tiny import write_sources
from tests.zotero_server import ZoteroServer, zotero_server

COAST = {"zotero": "COAST111", "label": "Coast"}
ELSEWHERE = {"REMOTE_ADDR": "192.0.2.7"}


@pytest.fixture
def zotero(tmp_path: Path) -> Iterator[ZoteroServer]:
    """A Zotero of two collections, one inside the other, and a book in neither."""
    stored = write_sources(
        tmp_path / "Zotero",
        {"A/What is a tide?.txt": "The tide at Ostby is high in May.", "B/parts.zip": "no"},
    )
    with zotero_server() as started:
        started.shown = {
            "collections": [
                {"key": "COAST111", "name": "Coast", "parentCollection": False},
                {"key": "PORTS111", "name": "Ports", "parentCollection": "COAST111"},
            ],
            "items": [
                {"key": "TIDE1111", "itemType": "book", "title": "On tides",
                 "collections": ["PORTS111"]},
                *({"key": key, "itemType": "attachment", "parentItem": "TIDE1111",
                   "linkMode": "imported_file", "filename": name}
                  for key, name in (("FILE1111", ""), ("FILE2222", ""), ("FILE3333", "gone.pdf"))),
                {"key": "WALL1111", "itemType": "book", "title": "Walls", "collections": [],
                 "abstractNote": "Walls keep out the wind."},
            ],
        }  # fmt: skip
        started.files = {
            "FILE1111": f"{stored}/A/What is a tide?.txt",
            "FILE2222": f"{stored}/B/parts.zip",
            "FILE3333": f"{stored}/C/gone.pdf",
        }
        yield started


@pytest.fixture
def settings(own_stores: Path, tmp_path: Path, zotero: ZoteroServer) -> Settings:
    return settings_in(
        own_stores.parent, zotero_address=zotero.address, audit_log=tmp_path / "audit.jsonl"
    )


def chosen(client: FlaskClient, **how: Any) -> dict[str, Any]:
    response = client.get("/api/ingest/zotero", **how)
    assert response.status_code == 200
    found: dict[str, Any] = response.get_json()
    return found


@pytest.mark.thorough
def test_a_collection_is_brought_in_with_those_inside_it(
    client: FlaskClient, settings: Settings, zotero: ZoteroServer
) -> None:
    coast, ports = (
        {"key": "COAST111", "name": "Coast"},
        {"key": "PORTS111", "name": "Coast > Ports"},
    )
    assert chosen(client) == {"offered": True, "problem": "", "collections": [coast, ports]}
    # the audit log has its line once the response is sent
    job = done(client, client.post("/api/ingest", json=COAST, buffered=True))
    kept = ["COAST111.json", "FILE1111/What is a tide_.txt"]
    assert [file["name"] for file in job["files"]] == kept
    left = {each["name"]: each["reason"] for each in job["left_out"]}
    assert left["gone.pdf"] == "Zotero does not have it here: open it there once"
    assert left["parts.zip"].startswith("files of this kind are not read")
    assert documents(client) == {"farm": 2, "town": 1, "Coast": 1}
    (document,) = client.get("/api/documents?corpus=Coast").get_json()["documents"]
    assert document["title"] == "On tides"
    assert settings.audit_log
    lines = [json.loads(line) for line in settings.audit_log.read_text().splitlines()]
    (line,) = (line for line in lines if line["method"] == "POST")
    assert (line["route"], line["status"], line["corpora"]) == ("/api/ingest", 202, ["documents"])
    again = done(client, client.post("/api/ingest", json=COAST))
    assert again["result"]["unchanged"]
    zotero.shown["items"][0]["title"] = "On high tides"
    assert "names are kept" in detail(client.post("/api/ingest", json=COAST), 409)
    job = done(client, client.post("/api/ingest", json=COAST | {"replace": True}))
    assert job["result"]["documents_changed"] == 1
    done(client, client.post("/api/ingest", json={"zotero": "library", "corpus": "whole"}))
    assert documents(client)["whole"] == 2


def test_only_who_is_at_the_machine_and_may_change_it_is_offered_zotero(
    client: FlaskClient, zotero: ZoteroServer
) -> None:
    nothing = {"offered": False, "problem": "", "collections": []}
    for far in (
        {"environ_overrides": ELSEWHERE},
        {"headers": {"Host": "atlas.example"}},
        {"headers": {"X-Forwarded-For": "192.0.2.7"}},
    ):
        refused = client.get("/api/ingest/zotero", **far)
        assert refused.status_code != 200 or refused.get_json() == nothing
        assert client.post("/api/ingest", json=COAST, **far).status_code in (403, 421)
    assert client.get("/api/ingest/zotero", environ_overrides=ELSEWHERE).get_json() == nothing
    del client.environ_base["HTTP_AUTHORIZATION"]
    assert client.get("/api/ingest/zotero").status_code == 403
    assert client.post("/api/ingest", json=COAST).status_code == 403
    assert zotero.asked == []


@pytest.mark.parametrize(
    "changes", [{"zotero_address": "http://192.0.2.7:23119"}, {"atlas_access": "proxy"}]
)
def test_a_zotero_of_another_machine_and_behind_a_proxy_is_not_offered(
    own_stores: Path, changes: dict[str, str]
) -> None:
    with served_by(settings_in(own_stores.parent, **changes)) as client:
        assert chosen(client)["offered"] is False
        assert "on which it and this server run" in detail(
            client.post("/api/ingest", json=COAST), 403
        )


def test_a_zotero_that_is_closed_or_not_running_says_what_to_do(
    client: FlaskClient, zotero: ZoteroServer, own_stores: Path
) -> None:
    zotero.allowed = False
    said = "Settings > Advanced > Allow other applications on this computer to communicate with"
    assert said in chosen(client)["problem"]
    assert said in detail(client.post("/api/ingest", json=COAST), 503)
    zotero.allowed = True
    gone = COAST | {"zotero": "GONE1111"}
    assert "nothing in this collection" in detail(client.post("/api/ingest", json=gone), 503)
    silent = f"http://127.0.0.1:{free_port()}"
    other = settings_in(own_stores.parent, zotero_address=silent, ingest_root=own_stores / "other")
    with served_by(other) as client:
        assert chosen(client)["problem"] == "Zotero is not running. Start it, then try again."


def test_no_request_says_where_zotero_is(client: FlaskClient, zotero: ZoteroServer) -> None:
    for body in (
        COAST | {"address": zotero.address},
        COAST | {"path": "."},
        {"zotero": "../users/1"},
        {"zotero": ""},
        {"label": "Coast"},
    ):
        assert client.post("/api/ingest", json=body).status_code == 400, body
    form = {"zotero": "COAST111"}
    response = client.post("/api/ingest", data=form, headers=ADMINISTRATOR)
    assert response.status_code in (400, 415)
    assert zotero.asked == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["zotero.bib", "whole.ris", "csl.json", "better.json", "new.rdf"])
@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "folder"])
def test_an_export_with_its_files_is_taken_as_a_folder_or_a_zip(
    client: FlaskClient, name: str, zipped: bool
) -> None:
    files = {name: LISTS[name], "files/1/roe.txt": LETTER}
    if zipped:
        box = io.BytesIO()
        with zipfile.ZipFile(box, "w") as archive:
            for inner, text in files.items():
                archive.writestr(inner, text)
        done(client, send(client, {"export.zip": box.getvalue()}, label="Library"))
    else:
        done(client, send(client, files, label="Library"))
    found = client.get("/api/documents?corpus=Library&sort=title").get_json()["documents"]
    assert [document["title"] for document in found] == ["The Dues of Östby", "Walls"]
    letter = client.get(f"/api/documents/{found[0]['document_id']}").get_json()
    assert (letter["text"], letter["metadata"]["doi"]) == (LETTER, "10.1000/182")
