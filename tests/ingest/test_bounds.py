"""Names that are too long, folders of refused uploads, and what the audit log says of an ingest."""

import json
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from tests.ingest.handing import BEES, detail, send, served_by


def test_names_that_are_too_long_are_said(settings: Settings) -> None:
    open_to_all = settings.model_copy(update={"collections": "*"})
    with served_by(open_to_all) as client:
        assert "no collection" in detail(send(client, BEES, collection="c" * 256), 400)
        assert "128 characters" in detail(send(client, BEES, corpus="c" * 129), 400)


@pytest.mark.parametrize(
    ("files", "status"), [({"a.xyz": "1"}, 400), ({"big.txt": b"b" * 1_000_001}, 400)]
)
def test_a_refused_upload_leaves_no_folder(
    settings: Settings, files: dict[str, str | bytes], status: int
) -> None:
    changes = {"collections": "*", "ingest_max_file_mb": 1, "ingest_max_request_mb": 2}
    with served_by(settings.model_copy(update=changes)) as client:
        assert send(client, files, collection="new").status_code == status
    assert not (settings.ingest_root / "new").exists()


def test_the_audit_log_says_where_files_went(settings: Settings, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    changes = {"collections": "*", "audit_log": log}
    with served_by(settings.model_copy(update=changes)) as client:
        send(client, {"a.xyz": "1"}, collection="new", corpus="garden").close()
        body = {"path": "nowhere", "collection": "other", "corpus": "wood"}
        client.post("/api/ingest", json=body, buffered=True)
        client.post("/api/collections/lost/rollback", json={}, buffered=True)
        client.get("/api/corpora", headers={"Atlas-Collection": "far"}, buffered=True)
        client.get("/api/corpora", buffered=True)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["collection"], line["corpora"]) for line in lines] == [
        ("new", ["garden"]),
        ("other", ["wood"]),
        ("lost", None),
        ("far", None),
        ("farm", None),
    ]


def test_a_page_of_an_allowed_origin_may_choose_a_collection(settings: Settings) -> None:
    origin = "https://pages.example"
    with served_by(settings.model_copy(update={"atlas_allowed_origins": origin})) as client:
        said = preflight(client, origin)
    assert "Atlas-Collection" in said


def preflight(client: FlaskClient, origin: str) -> str:
    response = client.options("/api/search", headers={"Origin": origin})
    return response.headers["Access-Control-Allow-Headers"]
