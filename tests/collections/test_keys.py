"""Several collections behind keys, and with one of them damaged."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from atlas_search.server.access.keys import add_key
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import RECORDS
from tests.access.conftest import Signed
from tests.hash_embedder import HashEmbedder

OIL = {"question": "Who gives oil?"}


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture
def keyed(settings: Settings, keys_file: Path) -> Iterator[FlaskClient]:
    """A server that asks for keys."""
    add_key(keys_file, "whole")
    own = settings.model_copy(update={"api_keys_file": keys_file})
    served = ServedCollections(own, HashEmbedder())
    yield create_app(served).test_client()
    served.close()


def names(client: Signed) -> list[str]:
    return [each["name"] for each in client.get("/api/collections").json["collections"]]


def refusal(client: Signed, collection: str) -> str:
    response = client.post("/api/search", OIL | {"collection": collection})
    assert response.status_code == 400
    return str(response.get_json(force=True)["detail"])


def test_a_key_knows_of_the_collections_it_sees(keyed: FlaskClient, keys_file: Path) -> None:
    whole = Signed(keyed, add_key(keys_file, "another whole").text)
    some = Signed(keyed, add_key(keys_file, "some", corpora={"farm": ["town"]}).text)
    sea = Signed(keyed, add_key(keys_file, "sea", corpora={"sea": ["sea"]}).text)
    assert names(whole) == ["farm", "sea"]
    assert names(some) == ["farm"]
    listed = sea.get("/api/collections").json
    [told] = listed["collections"]
    assert (listed["default"], told["name"]) == ("", "sea")
    assert not any(told[name] for name in ("version", "documents", "passages", "versions"))
    assert sea.post("/api/search", OIL | {"collection": "sea"}).status_code == 200
    # one that is hidden is refused in the words for one that does not exist
    for name in ("farm", "wood"):
        assert refusal(sea, name) == f"There is no collection {name!r} here. Served are: sea."
    assert refusal(some, "sea") == "There is no collection 'sea' here. Served are: farm."
    assert sea.post("/api/search", OIL).status_code == 403


def test_whoever_has_no_key_learns_of_none(keyed: FlaskClient) -> None:
    assert keyed.get("/api/health").status_code == 200
    for name in ("farm", "sea", "wood"):
        detail = keyed.get(f"/api/health?collection={name}").get_json(force=True)["detail"]
        assert detail == f"There is no collection {name!r} here. Served are: none."


def test_an_administrator_of_some_corpora_changes_no_whole(
    keyed: FlaskClient, keys_file: Path
) -> None:
    key = add_key(keys_file, "some", corpora={"farm": ["town"]}, administrator=True).text
    some = Signed(keyed, key)
    for response in (
        some.post("/api/ingest", {"path": "."}),
        some.get("/api/jobs"),
        some.post("/api/collections/farm/rollback", {}),
        some.open("DELETE", "/api/documents/farm.cows"),
        some.post("/api/cache/clear", {}),
    ):
        assert response.status_code == 403
        assert "every corpus" in response.get_json(force=True)["detail"]


def damage(settings: Settings, collection: str) -> None:
    folder = settings.chroma_persist_directory / collection
    records = folder / Manifest.read(folder).version / RECORDS
    records.write_bytes(bytes(len(records.read_bytes())))


def test_damage_of_one_stops_its_answers_alone(client: FlaskClient, settings: Settings) -> None:
    in_sea = OIL | {"collection": "sea"}
    assert client.post("/api/search", json=in_sea).status_code == 200
    damage(settings, "sea")
    refused = client.post("/api/search", json=in_sea)
    assert refused.status_code == 503
    assert "damaged" in refused.get_json(force=True)["detail"]
    assert client.post("/api/ask", json=in_sea).status_code == 503
    assert client.post("/api/search", json=OIL).status_code == 200
    problems = [each["problem"] for each in client.get("/api/collections").json["collections"]]
    assert [bool(problem) for problem in problems] == [False, True]


def test_damage_is_told_to_those_who_may_know(
    keyed: FlaskClient, keys_file: Path, settings: Settings
) -> None:
    whole = Signed(keyed, add_key(keys_file, "chief", administrator=True).text)
    some = Signed(keyed, add_key(keys_file, "some", corpora={"farm": ["town"]}).text)
    sea = Signed(keyed, add_key(keys_file, "sea", corpora={"sea": ["sea"]}).text)
    in_sea = OIL | {"collection": "sea"}
    assert whole.post("/api/search", in_sea).status_code == 200
    before = refusal(some, "sea")
    damage(settings, "sea")
    place = str(settings.chroma_persist_directory)
    told = whole.post("/api/search", in_sea)
    assert (told.status_code, place in told.get_data(as_text=True)) == (503, True)
    for path in ("/api/search", "/api/ask"):
        told = sea.post(path, in_sea)
        assert (told.status_code, "is damaged" in told.get_data(as_text=True)) == (503, True)
        assert place not in told.get_data(as_text=True)
    # who does not see it hears what they would of one that does not exist
    assert refusal(some, "sea") == before
    assert keyed.get("/api/search?collection=sea").status_code == 405
    assert keyed.options("/api/search?collection=sea").status_code == 200
    assert keyed.get("/api/ready").status_code == 200


def test_whoever_asks_hears_that_the_server_is_not_ready(
    keyed: FlaskClient, keys_file: Path, settings: Settings
) -> None:
    damage(settings, "farm")
    other = Signed(keyed, add_key(keys_file, "sea", corpora={"sea": ["sea"]}).text)
    for told in (keyed.get("/api/ready"), other.get("/api/ready")):
        assert told.status_code == 503
        assert str(settings.chroma_persist_directory) not in told.get_data(as_text=True)
    assert keyed.get("/api/live").status_code == 200
    assert keyed.get("/api/openapi.json").status_code == 200
    assert other.post("/api/search", OIL).status_code == 403
