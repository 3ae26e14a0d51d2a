"""Clients that hold connections, send slowly, send too much, or do not read."""

import socket
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from waitress.channel import ClientDisconnected

from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings
from atlas_search.server import sockets as listen
from atlas_search.server.app import create_app
from atlas_search.server.limits import MAX_BODY
from atlas_search.server.sockets import Channel
from atlas_search.services import open_services
from tests.hash_embedder import HashEmbedder
from tests.listening import HALF_BODY, HALF_HEADER, WHOLE, connected, is_open, listening, rest
from tests.servers import wait_for
from tests.tiny import FARM, build_tiny, write_sources

Address = tuple[str, int]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The real application over a tiny collection."""
    root = tmp_path_factory.mktemp("farm")
    build_tiny(write_sources(root / "source", FARM), root / "stores" / "farm", HashEmbedder())
    settings = Settings(chroma_persist_directory=root / "stores", chroma_collection_name="farm")
    services = open_services(settings, HashEmbedder())
    yield create_app(lambda: Atlas(services))
    services.close()


@pytest.fixture
def address(app: Any) -> Iterator[Address]:
    with listening(app, max_body=2 * MAX_BODY) as found:
        yield found


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short times for every phase, looked after often."""
    monkeypatch.setattr(listen, "LOOK_SECONDS", 0.05)
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "IDLE_SECONDS", "SEND_SECONDS"):
        monkeypatch.setattr(Channel, name, 0.3)


def health(address: Address) -> int:
    return httpx2.get(f"http://{address[0]}:{address[1]}/api/health", timeout=60).status_code


@pytest.mark.parametrize(
    "data", [b"", HALF_HEADER, HALF_BODY, WHOLE], ids=["silent", "header", "body", "kept alive"]
)
def test_many_connections_that_are_held_stop_nobody(address: Address, data: bytes) -> None:
    with connected(address, 120, data):
        assert [health(address) for _ in range(5)] == [200] * 5


def test_more_connections_at_once_than_there_are_places_stop_nobody(app: Any) -> None:
    with (
        listening(app, connections=40, per_address=1000) as address,
        connected(address, 400, HALF_HEADER) as held,
    ):
        assert health(address) == 200
        assert sum(is_open(each) for each in held) < 40


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("begin", [HALF_HEADER, HALF_BODY], ids=["header", "body"])
def test_a_request_that_trickles_is_cut_off(address: Address, begin: bytes) -> None:
    with connected(address, 1, begin) as [client]:
        cut = threading.Event()

        def trickle() -> bool | None:
            try:
                client.send(b"x")
            except ConnectionError:
                cut.set()
            return cut.is_set() or None

        assert wait_for(trickle, 60, "the end of the connection")


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("data", [b"", WHOLE], ids=["silent", "kept alive"])
def test_a_connection_without_a_request_ends(address: Address, data: bytes) -> None:
    with connected(address, 1, data) as [client]:
        assert rest(client).startswith(b"HTTP/1.1 200" if data else b"")


@pytest.mark.usefixtures("hurried")
def test_a_client_that_does_not_read_gives_its_thread_back() -> None:
    ended = threading.Event()

    def endless(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [])
        try:
            while True:
                yield bytes(65536)
        finally:
            ended.set()

    with listening(endless) as address, connected(address, 1, WHOLE):
        assert ended.wait(20)


def test_one_address_has_its_share_and_takes_nobody_elses(app: Any) -> None:
    with (
        listening(app, per_address=8) as address,
        connected(address, 4, source="127.0.0.3") as others,
        connected(address, 50, source="127.0.0.2") as greedy,
    ):
        assert health(address) == 200
        assert all(is_open(each) for each in others)
        assert sum(is_open(each) for each in greedy) == 8


def test_the_share_is_not_for_a_trusted_proxy(app: Any) -> None:
    with (
        listening(app, per_address=8, trusted="127.0.0.2") as address,
        connected(address, 50, source="127.0.0.2") as found,
    ):
        assert health(address) == 200
        assert all(is_open(each) for each in found)


def test_where_all_places_are_taken_the_address_with_most_idle_gives_one_up(app: Any) -> None:
    with (
        listening(app, connections=20) as address,
        connected(address, 4, source="127.0.0.3") as few,
        connected(address, 30, source="127.0.0.2") as many,
    ):
        assert health(address) == 200
        assert all(is_open(each) for each in few)
        assert sum(is_open(each) for each in many) < 16


def test_where_nobody_is_idle_one_more_is_refused_and_told_when_to_come() -> None:
    go = threading.Event()
    inside = threading.Barrier(3)

    def waiting(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        inside.wait(20)
        assert go.wait(20)
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    with (
        listening(waiting, per_address=2) as address,
        connected(address, 2, WHOLE) as busy,
    ):
        inside.wait(20)
        with connected(address, 1) as [refused]:
            said = rest(refused)
        assert said.startswith(b"HTTP/1.1 503")
        assert b"Retry-After: 5" in said
        assert b"urn:atlas:problem:server-busy" in said
        go.set()
        assert [each.recv(15) for each in busy] == [b"HTTP/1.1 200 OK"] * 2


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\nX: " + b"a" * listen.MAX_HEADER + b"\r\n", 431),
        (b"POST /api/ask HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n", 413),
        (b"GET /\r\nHost\r\n\r\n", 400),
    ],
    ids=["header", "body", "malformed"],
)
def test_what_is_too_much_or_malformed_is_a_problem_document(
    address: Address, data: bytes, status: int
) -> None:
    with connected(address, 1, data) as [client]:
        said = rest(client)
    assert said.split()[1] == str(status).encode()
    assert b"application/problem+json" in said
    assert f'"status": {status}'.encode() in said


def test_a_chunked_body_without_end_ends(address: Address) -> None:
    begin = b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"10000\r\n" + bytes(65536) + b"\r\n"
    with connected(address, 1, begin) as [client], pytest.raises(ConnectionError):
        client.sendall(chunks * 1000)


def test_requests_that_pile_up_behind_each_other_end_the_connection(address: Address) -> None:
    with connected(address, 1, WHOLE * 2000) as [client]:
        assert rest(client).count(b"HTTP/1.1 200") < 100
    assert health(address) == 200


def test_an_answer_of_many_pieces_arrives_whole(address: Address) -> None:
    found = httpx2.get(f"http://{address[0]}:{address[1]}/api/openapi.json", timeout=20)
    assert found.json()["info"]["title"] == "Atlas"


def test_two_requests_at_once_are_answered_in_order(address: Address) -> None:
    last = WHOLE.replace(b"Host", b"Connection: close\r\nHost").replace(b"health", b"corpora")
    with connected(address, 1, WHOLE + last) as [client]:
        said = rest(client)
    assert said.count(b"HTTP/1.1 200") == 2
    assert said.index(b'"status"') < said.index(b'"corpora"')


def test_a_socket_gone_before_it_is_taken_harms_nobody(address: Address) -> None:
    for _ in range(50):
        client = socket.create_connection(address)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
    assert health(address) == 200


def test_a_port_that_is_taken_is_named(app: Any, address: Address, tmp_path: Path) -> None:
    from atlas_search.core.errors import ConfigurationError
    from atlas_search.server.limits import networks

    limits = listen.ConnectionLimits(20, 10, networks(""))
    with pytest.raises(ConfigurationError, match=f"Port {address[1]}"):
        listen.BoundPort(app, "127.0.0.1", address[1], threads=1, max_body=1, limits=limits)


def test_who_leaves_before_he_is_refused_is_no_fault(
    address: Address, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(*_: object) -> int:
        raise ClientDisconnected

    monkeypatch.setattr(Channel, "write_soon", gone)
    with (
        caplog.at_level("INFO", "waitress"),
        connected(address, 1, b"GET / HTTP/1.1\r\nno header\r\n\r\n"),
    ):
        wait_for(lambda: "Client disconnected" in caplog.text or None, 20, "the end of the request")
    assert [record for record in caplog.records if record.exc_info] == []
