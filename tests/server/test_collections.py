"""One server, several collections: every request may choose one of those that are served."""

import gc
import random
import shutil
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.cli.main import main
from atlas_search.core.errors import MissingStore, UnknownCollection
from atlas_search.core.settings import Settings
from atlas_search.server import collections
from atlas_search.server.access.keys import KeyFile, add_key
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import RECORDS, lock
from tests.hash_embedder import HashEmbedder
from tests.server.conftest import SEA
from tests.server.ingest.handing import ADMINISTRATOR, settings_for
from tests.server.two_corpora import Signed
from tests.servers import served as serving
from tests.tiny import build_tiny, write_sources

OIL = {"question": "Who gives oil?"}
IN_SEA = OIL | {"collection": "sea"}
PATIENCE = 30.0


@pytest.fixture
def settings(three_stores: Path, tmp_path: Path) -> Settings:
    """Settings of a server of `farm`, with `sea` beside it; `wood` is there, but not served."""
    shutil.copytree(three_stores, tmp_path / "stores")
    return settings_for(tmp_path, collections="farm, sea")


@pytest.fixture
def open_served(settings: Settings) -> Iterator[Callable[..., ServedCollections]]:
    """Opens the collections with other settings."""
    opened: list[ServedCollections] = []

    def open_(**changes: object) -> ServedCollections:
        own = settings.model_copy(update=changes)
        opened.append(ServedCollections(Serving(own, HashEmbedder())))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


Open = Callable[..., ServedCollections]


@pytest.fixture
def served(open_served: Open) -> ServedCollections:
    return open_served()


def administrator(collections: ServedCollections) -> FlaskClient:
    client = create_app(collections).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = ADMINISTRATOR["Authorization"]
    return client


@pytest.fixture
def client(served: ServedCollections) -> FlaskClient:
    """The administrator, at that server."""
    return administrator(served)


@pytest.fixture(scope="module")
def reader(three_stores: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of such a server whose collections stay as they are."""
    own = settings_for(
        tmp_path_factory.mktemp("reader"),
        chroma_persist_directory=three_stores,
        collections="farm, sea",
    )
    opened = ServedCollections(Serving(own, HashEmbedder()))
    yield administrator(opened)
    opened.close()


def documents(response: Any) -> set[str]:
    assert response.status_code == 200, response.data
    return {passage["document_id"] for passage in response.get_json()["passages"]}


# choosing


def test_a_body_chooses(reader: FlaskClient) -> None:
    farm = {"farm.sheep", "farm.cows", "town.trade"}
    assert documents(reader.post("/api/search", json=OIL)) <= farm
    assert documents(reader.post("/api/search", json=IN_SEA)) == {"sea.fish", "sea.ships"}
    answer = reader.post("/api/ask", json=IN_SEA | {"include_context": True}).get_json()
    assert {passage["document_id"] for passage in answer["passages"]} == {"sea.fish", "sea.ships"}
    assert answer["collection"] == "sea"
    assert answer["composite_target"].endswith("_sea")
    assert "sea.fish" in reader.post("/api/ask/stream", json=IN_SEA).get_data(as_text=True)
    answer = {"answer": "Fish give oil. [sea.fish p1]"}
    assert not reader.post("/api/validate", json=answer).get_json()["citation_valid"]
    assert reader.post("/api/validate", json=answer | {"collection": "sea"}).get_json()[
        "citation_valid"
    ]


@pytest.mark.parametrize(
    "how",
    [{"query_string": {"collection": "sea"}}, {"headers": {"Atlas-Collection": "sea"}}],
    ids=["query", "header"],
)
def test_a_request_without_a_body_chooses_too(reader: FlaskClient, how: dict[str, Any]) -> None:
    assert reader.get("/api/documents/sea.fish", **how).get_json()["text"] == "Fish give oil."
    assert reader.get("/api/passages/sea.fish:0-14", **how).status_code == 200
    assert [c["id"] for c in reader.get("/api/corpora", **how).get_json()["corpora"]] == ["sea"]
    assert reader.get("/api/config", **how).get_json()["collection"] == "sea"
    assert reader.get("/api/health", **how).get_json()["documents"] == 2
    targets = reader.get("/api/targets", **how).get_json()["targets"]
    assert all(target["composite_target"].endswith("_sea") for target in targets)
    assert reader.get("/api/documents/sea.fish").status_code == 404


@pytest.mark.parametrize("body", ["[" * 50_000 + "]" * 50_000, '{"a":' * 20_000, "{", "[]"])
def test_a_body_that_is_no_object_chooses_nothing_and_is_refused(
    reader: FlaskClient, body: str
) -> None:
    for path in ("/api/search", "/api/ingest", "/api/cache/clear"):
        response = reader.post(path, data=body, content_type="application/json")
        assert response.status_code == 400, path
        assert "JSON" in response.get_json()["detail"]


@pytest.mark.parametrize("name", ["wood", "x", "../stores/sea", "Sea", "sea/", ".", "*", "\x00"])
def test_another_name_is_refused_with_those_that_are_served(reader: FlaskClient, name: str) -> None:
    for response in (
        reader.post("/api/search", json=OIL | {"collection": name}),
        reader.get("/api/corpora", query_string={"collection": name}),
        reader.post(f"/api/collections/{name.replace('/', '')}x/rollback", json={}),
    ):
        assert response.status_code == 400
        assert "Served: farm, sea." in response.get_json(force=True)["detail"]


def test_a_star_serves_all_that_is_built(open_served: Open, settings: Settings) -> None:
    stores = settings.chroma_persist_directory
    (stores / "empty").mkdir()
    client = administrator(open_served(collections="*"))
    names = [each["name"] for each in client.get("/api/collections").get_json()["collections"]]
    assert names == ["farm", "sea", "wood"]
    in_wood = client.post("/api/search", json=OIL | {"collection": "wood"})
    assert documents(in_wood) == {"wood.trees"}
    source = write_sources(stores.parent / "hill", {"hill/goats.txt": "Goats climb.\n"})
    build_tiny(source, stores / "hill", HashEmbedder())
    in_hill = client.post("/api/search", json=OIL | {"collection": "hill"})
    assert documents(in_hill) == {"hill.goats"}


def test_alone_a_server_serves_its_own(open_served: Open) -> None:
    client = administrator(open_served(collections=""))
    assert [c["name"] for c in client.get("/api/collections").get_json()["collections"]] == ["farm"]
    assert client.post("/api/search", json=IN_SEA).status_code == 400


def test_kept_answers_belong_to_their_collection(client: FlaskClient) -> None:
    first, other, again = (
        client.post("/api/ask", json=body).get_json() for body in (OIL, IN_SEA, IN_SEA)
    )
    assert [first["collection"], other["collection"], again["collection"]] == ["farm", "sea", "sea"]
    assert [other["cache_hit"], again["cache_hit"]] == [False, True]


FISH = {
    "marker": "[sea.fish p1]",
    "passage_id": "sea.fish:0-14",
    "document_id": "sea.fish",
    "corpus": "sea",
    "title": "fish",
    "page": 1,
    "start": 0,
    "end": 14,
    "quote": "Fish give oil.",
}


@pytest.mark.parametrize("format", ["markdown", "csv", "ris"])
def test_permalinks_lead_to_the_collection(reader: FlaskClient, format: str) -> None:
    sentence = {"text": "Fish give oil.", "citations": [0], "grounded": True, "caveat": False}
    answer = reader.post("/api/ask", json=IN_SEA).get_json() | {
        "citations": [FISH],
        "sentences": [sentence],
    }
    own = answer | {"collection": "farm", "qa_id": "own", "created": "2025-01-01T00:00:00Z"}
    body = {"format": format, "answers": [answer, own]}
    text = reader.post("/api/export", json=body).get_data(as_text=True)
    assert text.count("/?collection=sea&passage=sea.fish") == 1
    assert text.count("/?passage=sea.fish") == 1
    if format == "ris":  # two documents, though their ids are the same
        assert text.count("TY  - ") == 2


def test_labels_of_corpora_belong_to_the_configured_one(open_served: Open) -> None:
    client = administrator(open_served(multi_corpus_metadata="farm"))
    assert client.get("/api/corpora").get_json()["all"] == ["farm"]
    assert client.get("/api/corpora?collection=sea").get_json()["all"] == ["sea"]


def test_the_commands_choose_by_name(
    reader: FlaskClient,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def atlas(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        streams = capsys.readouterr()
        return end.value.code or 0, streams.out, streams.err

    with serving(reader.application) as address:
        monkeypatch.setenv("ATLAS_PORT", address.rpartition(":")[2])
        assert "Fish give oil" not in atlas("search", "What gives oil?")[1]
        status, text, _ = atlas("search", "What gives oil?", "--collection", "sea")
        assert (status, "Fish give oil" in text) == (0, True)
        bundle = tmp_path / "run.json"
        question = ("ask", "What gives oil?", "--collection", "sea", "--bundle", str(bundle))
        assert atlas(*question)[0] == 0
        assert bundle.stat().st_size
        status, _, error = atlas("ask", "What gives timber?", "--collection", "wood")
        assert (status, "`CHROMA_COLLECTION_NAME=wood atlas serve`" in error) == (1, True)


# faults of one


def damage(settings: Settings, collection: str) -> None:
    folder = settings.chroma_persist_directory / collection
    records = folder / Manifest.read(folder).version / RECORDS
    records.write_bytes(bytes(len(records.read_bytes())))


def no_manifest(settings: Settings, collection: str) -> None:
    (settings.chroma_persist_directory / collection / "manifest.json").write_text("{")


@pytest.mark.parametrize(("fault", "word"), [(damage, "damaged"), (no_manifest, "JSON")])
@pytest.mark.parametrize("path", ["/api/search", "/api/ask"])
def test_one_that_is_damaged_leaves_the_others(
    client: FlaskClient, settings: Settings, fault: Callable[..., None], word: str, path: str
) -> None:
    if fault is damage:
        assert client.post(path, json=IN_SEA).status_code == 200
    fault(settings, "sea")
    refusal = client.post(path, json=IN_SEA)
    assert refusal.status_code == 503
    assert word in refusal.get_json(force=True)["detail"]
    assert client.post(path, json=OIL).status_code == 200
    listing = client.get("/api/collections").get_json()["collections"]
    assert [bool(each["problem"]) for each in listing] == [False, True]


def test_one_that_is_not_built_tells_nothing_of_the_others(open_served: Open) -> None:
    client = administrator(open_served(collections="farm, hills"))
    refusal = client.post("/api/search", json=OIL | {"collection": "hills"})
    assert refusal.status_code == 503
    assert refusal.get_json()["detail"] == "The collection hills is served, but not built."


# keys


@pytest.fixture
def keyed(open_served: Open, keys_file: Path) -> FlaskClient:
    """A server that asks for keys."""
    add_key(KeyFile(keys_file), "whole")
    return create_app(open_served(api_keys_file=keys_file)).test_client()


def names(client: Signed) -> list[str]:
    return [each["name"] for each in client.get("/api/collections").get_json()["collections"]]


def refusal_of(client: Signed, collection: str) -> str:
    response = client.post("/api/search", OIL | {"collection": collection})
    assert response.status_code == 400
    return str(response.get_json(force=True)["detail"])


def test_a_key_knows_of_the_collections_it_sees(keyed: FlaskClient, keys_file: Path) -> None:
    whole = Signed(keyed, add_key(KeyFile(keys_file), "another whole").text)
    some = Signed(keyed, add_key(KeyFile(keys_file), "some", corpora={"farm": ["town"]}).text)
    sea = Signed(keyed, add_key(KeyFile(keys_file), "sea", corpora={"sea": ["sea"]}).text)
    assert names(whole) == ["farm", "sea"]
    assert names(some) == ["farm"]
    listing = sea.get("/api/collections").get_json()
    [one] = listing["collections"]
    assert (listing["default"], one["name"]) == ("", "sea")
    assert not any(one[name] for name in ("version", "documents", "passages", "versions"))
    assert sea.post("/api/search", IN_SEA).status_code == 200
    # one that is hidden is refused in the words for one that does not exist
    for name in ("farm", "wood"):
        assert refusal_of(sea, name) == f"There is no collection {name!r} here. Served: sea."
    assert refusal_of(some, "sea") == "There is no collection 'sea' here. Served: farm."
    assert sea.post("/api/search", OIL).status_code == 403
    assert keyed.get("/api/health").status_code == 200
    for name in ("farm", "sea", "wood"):
        detail = keyed.get(f"/api/health?collection={name}").get_json(force=True)["detail"]
        assert detail == f"There is no collection {name!r} here. Served: none."


def test_an_administrator_of_some_corpora_changes_no_whole(
    keyed: FlaskClient, keys_file: Path
) -> None:
    key = add_key(KeyFile(keys_file), "some", corpora={"farm": ["town"]}, administrator=True).text
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


def test_damage_is_told_to_those_who_may_know(
    keyed: FlaskClient, keys_file: Path, settings: Settings
) -> None:
    whole = Signed(keyed, add_key(KeyFile(keys_file), "chief", administrator=True).text)
    some = Signed(keyed, add_key(KeyFile(keys_file), "some", corpora={"farm": ["town"]}).text)
    sea = Signed(keyed, add_key(KeyFile(keys_file), "sea", corpora={"sea": ["sea"]}).text)
    assert whole.post("/api/search", IN_SEA).status_code == 200
    before = refusal_of(some, "sea")
    damage(settings, "sea")
    place = str(settings.chroma_persist_directory)
    response = whole.post("/api/search", IN_SEA)
    assert (response.status_code, place in response.get_data(as_text=True)) == (503, True)
    for path in ("/api/search", "/api/ask"):
        response = sea.post(path, IN_SEA)
        text = response.get_data(as_text=True)
        assert (response.status_code, "is damaged" in text, place in text) == (503, True, False)
    # who does not see it hears what they would of one that does not exist
    assert refusal_of(some, "sea") == before
    assert keyed.get("/api/search?collection=sea").status_code == 405
    assert keyed.options("/api/search?collection=sea").status_code == 200
    assert keyed.get("/api/ready").status_code == 200


def test_whoever_asks_hears_that_the_server_is_not_ready(
    keyed: FlaskClient, keys_file: Path, settings: Settings
) -> None:
    damage(settings, "farm")
    other = Signed(keyed, add_key(KeyFile(keys_file), "sea", corpora={"sea": ["sea"]}).text)
    for response in (keyed.get("/api/ready"), other.get("/api/ready")):
        assert response.status_code == 503
        assert str(settings.chroma_persist_directory) not in response.get_data(as_text=True)
    assert keyed.get("/api/live").status_code == 200
    assert keyed.get("/api/openapi.json").status_code == 200
    assert other.post("/api/search", OIL).status_code == 403


# opening and closing


def make(folder: Path) -> None:
    """A folder that has a manifest."""
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").touch()


def test_what_is_built_or_moved_is_seen_at_once(open_served: Open, settings: Settings) -> None:
    served, root = open_served(collections="*"), settings.chroma_persist_directory
    assert served.names() == ["farm", "sea", "wood"]
    for name in ("hill", "lake", "isle"):
        (root / name).mkdir()  # its build goes on
        assert name not in served.names()
        with pytest.raises(UnknownCollection, match=rf"no collection '{name}' here\. Served: farm"):
            served.settings_of(name)
        make(root / name)
        assert name in served.names()
        assert served.settings_of(name).chroma_collection_name == name
    (root / "lake").rename(root / "pond")
    assert served.names() == ["farm", "hill", "isle", "pond", "sea", "wood"]
    with pytest.raises(UnknownCollection):
        served.settings_of("lake")


def test_each_is_opened_once_and_follows_its_versions(
    client: FlaskClient, served: ServedCollections, settings: Settings
) -> None:
    assert served.serving("sea") is None
    with ThreadPoolExecutor(8) as executor:
        opened = list(executor.map(lambda _: served("sea"), range(16)))
    assert len({id(atlas) for atlas in opened}) == 1
    assert opened[0].services.searcher.embedder is served().services.searcher.embedder
    assert opened[0].services.tracer is served().services.tracer
    publish(settings)
    served.refresh("sea")
    assert client.get("/api/health?collection=sea").get_json()["documents"] == 3


def test_the_one_that_was_idle_longest_is_closed(open_served: Open) -> None:
    served = open_served(collections="*", collections_open=1)
    sea = weakref.ref(served("sea").services.store)
    held = served("sea")
    served("wood")
    assert served.serving("sea") is None
    assert served.serving("wood")
    # a request goes on with what it began with
    assert held.document("sea.fish").text == "Fish give oil."
    del held
    gc.collect()
    assert sea() is None
    assert served("sea").document("sea.fish").text == "Fish give oil."
    assert served().document("farm.cows").text == "Cows give milk."


def test_one_that_cannot_be_opened_takes_no_place(open_served: Open) -> None:
    served = open_served(collections="sea, wood, hills", collections_open=2)
    served("sea")
    served("wood")
    with pytest.raises(MissingStore):
        served("hills")
    served("wood")
    assert served.serving("sea")


@pytest.fixture
def many_turns() -> Iterator[None]:
    """Threads take turns at almost every step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def followed() -> list[Serving]:
    """All that look for new versions; one whose opening failed never began to."""
    servings = (each for each in gc.get_objects() if type(each) is Serving)
    begun = (each for each in servings if hasattr(each, "_watcher"))
    return [each for each in begun if each._watcher.is_alive() and not each._stopped.is_set()]


@pytest.mark.thorough
@pytest.mark.usefixtures("many_turns")
def test_a_collection_opened_while_another_is_closed_is_not_lost(open_served: Open) -> None:
    served = open_served(collections="*", collections_open=1)
    before = len(followed())
    served.follow()
    chance = random.Random(1)
    chosen = [chance.choice(["sea", "wood"]) for _ in range(60)]
    with ThreadPoolExecutor(4) as executor:
        opened = list(executor.map(served, chosen))
    assert [each.services.store.manifest.collection for each in opened] == chosen
    assert len(followed()) - before == 2
    served.close()
    assert len(followed()) == before


def test_who_wants_one_that_is_open_waits_for_no_other(
    open_served: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = open_served(collections="*", collections_open=1)
    served("wood")
    begun, go_on = threading.Event(), threading.Event()
    as_it_is = collections.Serving

    def slow(*arguments: Any, **options: Any) -> Serving:
        begun.set()
        go_on.wait(PATIENCE)
        return as_it_is(*arguments, **options)

    monkeypatch.setattr(collections, "Serving", slow)
    with ThreadPoolExecutor(2) as executor:
        coming = executor.submit(served, "sea")
        begun.wait(PATIENCE)
        try:
            wood = executor.submit(served, "wood").result(PATIENCE / 3)
        finally:
            go_on.set()
        assert wood.document("wood.trees").text == "Trees give timber."
        assert coming.result(PATIENCE).document("sea.fish").text == "Fish give oil."
    assert served.serving("sea")
    assert served.serving("wood") is None


def test_closing_leaves_nothing_that_was_being_opened(
    served: ServedCollections, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.follow()
    before = len(followed()) - 1
    as_it_is = collections.Serving

    def open_at_the_end(*arguments: Any, **options: Any) -> Serving:
        served.close()
        return as_it_is(*arguments, **options)

    monkeypatch.setattr(collections, "Serving", open_at_the_end)
    served("sea")
    assert len(followed()) == before


# going back to an earlier version without a restart


def publish(settings: Settings) -> None:
    """Another version of `sea`, with a document more."""
    root = settings.chroma_persist_directory
    source = write_sources(root.parent / "sources" / "sea", SEA | {"sea/gulls.txt": "Gulls fly."})
    build_tiny(source, root / "sea", HashEmbedder())


def versions(client: FlaskClient) -> list[dict[str, Any]]:
    listing = client.get("/api/collections").get_json()["collections"]
    return list(next(each for each in listing if each["name"] == "sea")["versions"])


def test_the_version_before_is_served_at_once(client: FlaskClient, settings: Settings) -> None:
    publish(settings)
    assert client.get("/api/health?collection=sea").get_json()["documents"] == 3
    before = versions(client)
    assert [(v["documents"], v["live"]) for v in before] == [(3, True), (2, False)]
    assert all(version["bytes"] > 0 for version in before)
    response = client.post("/api/collections/sea/rollback")  # needs no body
    assert response.status_code == 200, response.get_json(force=True)
    assert response.get_json()["version"] == before[1]["version"]
    assert client.get("/api/health?collection=sea").get_json()["documents"] == 2
    body = {"version": before[0]["version"]}
    assert client.post("/api/collections/sea/rollback", json=body).get_json()["documents"] == 3
    assert client.get("/api/health?collection=sea").get_json()["documents"] == 3


def test_where_there_is_nothing_to_go_back_to_nothing_changes(client: FlaskClient) -> None:
    response = client.post("/api/collections/sea/rollback", json={})
    assert response.status_code == 409
    assert "no earlier version" in response.get_json(force=True)["detail"]
    body = {"version": "../farm"}
    assert client.post("/api/collections/sea/rollback", json=body).status_code == 409
    assert client.get("/api/health?collection=sea").get_json()["documents"] == 2


def test_a_build_that_is_running_goes_first(client: FlaskClient, settings: Settings) -> None:
    with lock(settings.chroma_persist_directory / "sea"):
        response = client.post("/api/collections/sea/rollback", json={})
    assert response.status_code == 409
    assert "Another build of sea is running" in response.get_json(force=True)["detail"]


def test_the_files_of_the_live_version_are_given_and_nothing_else(
    client: FlaskClient, settings: Settings, tmp_path: Path
) -> None:
    folder = settings.collection_folder
    live = Manifest.read(folder)
    base = "/api/collections/farm/files"

    def get(path: str) -> Any:
        return client.get(f"{base}/{path}", buffered=True)

    assert get("manifest.json").data == (folder / "manifest.json").read_bytes()
    given = get(f"{live.version}/{RECORDS}")
    assert given.data == (folder / live.version / RECORDS).read_bytes()
    assert given.content_length == len(given.data)
    for path in (
        f"{live.version}/manifest.json",
        f"{live.version}/../manifest.json",
        f"{live.version}//{RECORDS}",
        f"%2F{folder}/manifest.json",
        "..%2Fsea/manifest.json",
        ".build.lock",
        "x" * 1000,
    ):
        assert get(path).status_code == 404, path
    (folder / live.version / RECORDS).rename(tmp_path / "away")
    assert get(f"{live.version}/{RECORDS}").status_code in (404, 503)
    assert client.get("/api/collections/wood/files/manifest.json").status_code == 400


def test_the_files_are_for_administrators_of_every_corpus(
    open_served: Open, tmp_path: Path
) -> None:
    keys = tmp_path / "keys.json"
    narrow = add_key(KeyFile(keys), "narrow", corpora={"farm": ["farm"]}, administrator=True).text
    reader, whole = (
        add_key(KeyFile(keys), "reader").text,
        add_key(KeyFile(keys), "all", administrator=True).text,
    )
    client = create_app(open_served(api_keys_file=keys)).test_client()
    path = "/api/collections/farm/files/manifest.json"
    assert client.get(path).status_code == 401
    for key in (reader, narrow):
        assert Signed(client, key).get(path).status_code == 403
    assert Signed(client, whole).get(path, buffered=True).status_code == 200
