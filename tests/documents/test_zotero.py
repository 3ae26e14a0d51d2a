"""Reading lists sent to Zotero, which a local server stands in for by speaking its protocol."""

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings
from atlas_search.services import Services
from tests.exporting import BASE, citation
from tests.servers import app_of
from tests.zotero_server import ZoteroServer, zotero_server

BOOK = citation(
    title="A Room",
    document_id="books.room",
    date="1929",
    url=None,
    metadata={"author": "Woolf, Virginia", "publisher": "Hogarth Press"},
)


def client_with(services: Services, **changes: str) -> FlaskClient:
    """A client of a server whose settings differ."""
    settings = Settings(**(services.settings.model_dump() | changes))
    return app_of(Atlas(replace(services, settings=settings))).test_client()


@pytest.fixture
def zotero() -> Iterator[ZoteroServer]:
    with zotero_server() as started:
        yield started


@pytest.fixture
def linked(services: Services, zotero: ZoteroServer) -> FlaskClient:
    return client_with(services, zotero_address=zotero.address, atlas_public_url=BASE)


def test_a_document_that_came_from_zotero_leads_back_to_its_item(
    linked: FlaskClient, zotero: ZoteroServer
) -> None:
    """It is no second item there: its quotes are a note with a link."""
    own = BOOK | {"quote": "1 < 2", "metadata": BOOK["metadata"] | {"zotero_key": "AAAA1111"}}
    group = {"zotero_key": "BBBB1111", "zotero_library": "groups/77"}
    other = citation(document_id="b", metadata=group)
    assert linked.post("/api/zotero", json={"citations": [own, other]}).json == {"saved": 2}
    first, second = zotero.items
    assert (first["itemType"], second["itemType"]) == ("note", "note")
    link = '<p><a href="zotero://select/library/items/AAAA1111">A Room</a></p>'
    assert first["note"].startswith(f"{link}<p>p. 1, DECISION: “1 &lt; 2” ")
    assert "zotero://select/groups/77/items/BBBB1111" in second["note"]


def test_documents_become_items_with_their_quotes_as_notes(
    linked: FlaskClient, zotero: ZoteroServer
) -> None:
    assert linked.get("/api/zotero").json == {"state": "ready"}
    again = citation(quote="1 < 2", passage_id="legal_uk.r-v-r-1991:50-60")
    sent = {"citations": [citation(), again, BOOK]}
    assert linked.post("/api/zotero", json=sent).json == {"saved": 2}
    case, book = zotero.items
    assert case == {
        "id": "legal_uk.r-v-r-1991",
        "itemType": "case",
        "caseName": "R v R",
        "dateDecided": "1991-10-23",
        "court": "House of Lords",
        "url": "https://www.bailii.org/uk/cases/UKHL/1991/12.html",
        "creators": [
            {"name": "Lord Keith of Kinkel", "fieldMode": 1, "creatorType": "author"},
        ],
        "extra": "[1991] UKHL 12",
        "notes": [
            {
                "note": "<p>p. 1, DECISION: “A husband can be guilty of rape.” "
                f"{BASE}/?passage=legal_uk.r-v-r-1991%3A10-42</p>"
            },
            {
                "note": "<p>p. 1, DECISION: “1 &lt; 2” "
                f"{BASE}/?passage=legal_uk.r-v-r-1991%3A50-60</p>"
            },
        ],
        "tags": [],
        "attachments": [],
    }
    assert (book["itemType"], book["title"]) == ("book", "A Room")
    # each sending is a session of its own
    assert linked.post("/api/zotero", json={"citations": [BOOK]}).status_code == 200
    assert len(zotero.sessions) == 2


def test_a_library_that_cannot_be_changed_is_named_as_the_cause(
    linked: FlaskClient, zotero: ZoteroServer
) -> None:
    zotero.editable = False
    response = linked.post("/api/zotero", json={"citations": [BOOK]})
    assert response.status_code == 503
    assert "Choose another in Zotero" in response.json["detail"]


def test_zotero_that_does_not_run_is_an_error_that_says_so(services: Services) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        client = client_with(services, zotero_address=address)
        assert client.get("/api/zotero").json == {"state": "not_running"}
        response = client.post("/api/zotero", json={"citations": [BOOK]})
    assert response.status_code == 503
    assert response.json["detail"] == "Zotero is not running. Start it, then try again."


@pytest.mark.parametrize(
    ("changes", "headers", "client_address"),
    [
        ({"atlas_public_url": "https://atlas.example.org"}, {}, "127.0.0.1"),
        ({"atlas_access": "proxy"}, {}, "127.0.0.1"),
        ({"trusted_proxies": "10.0.0.1"}, {}, "127.0.0.1"),
        ({"atlas_allowed_hosts": "atlas.lan"}, {"Host": "atlas.lan"}, "127.0.0.1"),
        ({}, {}, "192.0.2.7"),
    ],
)
def test_a_reader_who_may_be_elsewhere_reaches_no_zotero_of_the_server(
    services: Services, changes: dict[str, str], headers: dict[str, str], client_address: str
) -> None:
    client = client_with(services, **changes)
    caller = {"headers": headers, "environ_base": {"REMOTE_ADDR": client_address}}
    assert client.get("/api/zotero", **caller).json == {"state": "elsewhere"}
    response = client.post("/api/zotero", json={"citations": [BOOK]}, **caller)
    assert response.status_code == 403
    assert "RIS" in response.json["detail"]


def test_a_reader_at_the_same_machine_is_looked_for_there(services: Services) -> None:
    client = client_with(services)
    assert client.get("/api/zotero").json["state"] in ("ready", "not_running")
