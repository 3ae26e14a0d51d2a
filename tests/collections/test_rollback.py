"""Going back to an earlier version without a restart."""

from pathlib import Path

from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from atlas_search.server.ingest.work import build_kept
from atlas_search.stores.versions import lock
from tests.collections.conftest import SEA
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, silent, write_sources


def publish(settings: Settings, tmp_path: Path) -> None:
    source = write_sources(tmp_path / "sources" / "sea", SEA | {"sea/gulls.txt": "Gulls fly."})
    build_tiny(source, settings.chroma_persist_directory / "sea", HashEmbedder())


def listed(client: FlaskClient) -> dict[str, object]:
    return next(c for c in client.get("/api/collections").json["collections"] if c["name"] == "sea")


def test_the_version_before_is_served_at_once(
    client: FlaskClient, settings: Settings, tmp_path: Path
) -> None:
    publish(settings, tmp_path)
    assert client.get("/api/health?collection=sea").json["documents"] == 3
    before = listed(client)
    assert [(v["documents"], v["live"]) for v in before["versions"]] == [(3, True), (2, False)]
    assert all(version["bytes"] > 0 for version in before["versions"])
    response = client.post("/api/collections/sea/rollback", json={})
    assert response.status_code == 200
    assert response.json["version"] == before["versions"][1]["version"]
    assert client.get("/api/health?collection=sea").json["documents"] == 2
    body = {"version": before["version"]}
    assert client.post("/api/collections/sea/rollback", json=body).json["documents"] == 3
    assert client.get("/api/health?collection=sea").json["documents"] == 3


def test_the_version_before_needs_no_body(
    client: FlaskClient, settings: Settings, tmp_path: Path
) -> None:
    publish(settings, tmp_path)
    before = listed(client)["versions"]
    response = client.post("/api/collections/sea/rollback")
    assert response.status_code == 200, response.get_json(force=True)
    assert response.json["version"] == before[1]["version"]


def test_the_description_says_that_no_body_is_needed(client: FlaskClient) -> None:
    paths = client.get("/api/openapi.json").json["paths"]
    for path in ("/api/collections/{name}/rollback", "/api/ask/{qa_id}/link"):
        assert not paths[path]["post"]["requestBody"].get("required", False)
    assert paths["/api/ask"]["post"]["requestBody"]["required"]


def test_where_there_is_nothing_to_go_back_to_nothing_changes(client: FlaskClient) -> None:
    response = client.post("/api/collections/sea/rollback", json={})
    assert response.status_code == 409
    assert "no earlier version" in response.get_json(force=True)["detail"]
    body = {"version": "../farm"}
    assert client.post("/api/collections/sea/rollback", json=body).status_code == 409
    assert client.get("/api/health?collection=sea").json["documents"] == 2


def test_a_build_that_is_running_goes_first(client: FlaskClient, settings: Settings) -> None:
    with lock(settings.chroma_persist_directory / "sea"):
        response = client.post("/api/collections/sea/rollback", json={})
    assert response.status_code == 409
    assert "Another build of sea is running" in response.get_json(force=True)["detail"]


def test_only_the_administrator_goes_back(client: FlaskClient) -> None:
    response = client.post(
        "/api/collections/sea/rollback", json={}, headers={"Authorization": "Bearer x"}
    )
    assert response.status_code == 403


def test_what_the_next_ingest_would_bring_back_is_said(
    client: FlaskClient, settings: Settings
) -> None:
    files = {"garden/bees.txt": "Bees give honey.\n", "garden/ants.txt": "Ants carry leaves.\n"}
    kept = write_sources(settings.ingest_root / "sea", files)
    folder = settings.chroma_persist_directory / "sea"
    build_kept(kept, folder, HashEmbedder(), silent)
    (kept / "garden" / "ants.txt").write_text("Ants carry leaves, and seeds.\n")
    (kept / "garden" / "oops.txt").write_text("Sent by mistake.\n")
    build_kept(kept, folder, HashEmbedder(), silent)
    told = client.post("/api/collections/sea/rollback", json={}).json
    assert told["kept_files_beside"] == ["garden/ants.txt", "garden/oops.txt"]
    assert told["more_kept_files_beside"] == 0
    body = {"version": told["versions"][0]["version"]}
    again = client.post("/api/collections/sea/rollback", json=body).json
    assert again["kept_files_beside"] == []
