"""Clients that hold connections, send slowly, send too much, or do not read; and large bodies,
which an administrator alone may send, a few at once."""

import socket
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from waitress.channel import ClientDisconnected

from atlas_search import Atlas
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings
from atlas_search.server import sockets
from atlas_search.server.access.caller import Access
from atlas_search.server.access.keys import KeyFile, add_key
from atlas_search.server.limits import MAX_BODY, ForwardedFor, networks
from atlas_search.server.sockets import Channel, LargeBodies
from tests.server.listening import (
    HALF_BODY,
    HALF_HEADER,
    WHOLE,
    connected,
    is_open,
    listening,
    rest,
)
from tests.servers import app_of, wait_for
from tests.stores.disks import longest_file

Address = tuple[str, int]


@pytest.fixture(scope="module")
def app(farm: Atlas) -> Any:
    """The real application over a tiny collection."""
    return app_of(farm)


@pytest.fixture
def address(app: Any) -> Iterator[Address]:
    with listening(app, max_body=2 * MAX_BODY) as address:
        yield address


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short times for every phase, looked after often."""
    monkeypatch.setattr(sockets, "LOOK_SECONDS", 0.05)
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "IDLE_SECONDS", "SEND_SECONDS"):
        monkeypatch.setattr(Channel, name, 0.3)


@pytest.mark.parametrize(
    ("trusted", "client", "scheme"),
    [("127.0.0.1", "203.0.113.7", "https"), ("", "127.0.0.1", "http")],
)
def test_a_trusted_proxy_says_who_asks_and_nobody_else_does(
    trusted: str, client: str, scheme: str
) -> None:
    def tell(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        start("200 OK", [("Content-Type", "text/plain")])
        named = sorted(name for name in environ if "FORWARDED" in name)
        yield f"{environ['REMOTE_ADDR']} {environ['wsgi.url_scheme']} {named}".encode()

    headers = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
    with listening(ForwardedFor(tell, networks(trusted))) as (host, port):
        reply = httpx2.get(f"http://{host}:{port}/", headers=headers, timeout=60)
    assert reply.text == f"{client} {scheme} []"


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
        assert wait_for(lambda: is_cut(client), 60, "the end of the connection")


def is_cut(client: socket.socket) -> bool | None:
    """Send one more byte: True if the other side takes none, else None."""
    try:
        client.send(b"x")
    except ConnectionError:
        return True
    return None


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
        connected(address, 50, source="127.0.0.2") as opened,
    ):
        assert health(address) == 200
        assert all(is_open(each) for each in opened)


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
            answer = rest(refused)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"Retry-After: 5" in answer
        assert b"urn:atlas:problem:server-busy" in answer
        go.set()
        assert [each.recv(15) for each in busy] == [b"HTTP/1.1 200 OK"] * 2


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\nX: " + b"a" * sockets.MAX_HEADER + b"\r\n", 431),
        (b"POST /api/ask HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n", 413),
        (b"GET /\r\nHost\r\n\r\n", 400),
    ],
    ids=["header", "body", "malformed"],
)
def test_too_much_or_malformed_bytes_get_a_problem_document(
    address: Address, data: bytes, status: int
) -> None:
    with connected(address, 1, data) as [client]:
        reply = rest(client)
    assert reply.split()[1] == str(status).encode()
    assert b"application/problem+json" in reply
    assert f'"status": {status}'.encode() in reply


def test_a_body_that_is_announced_and_empty_is_not_waited_for(address: Address) -> None:
    head = b"GET /api/live HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
    with connected(address, 1, head + b"Content-Length: 0\r\n\r\n") as [client]:
        client.settimeout(5)
        assert client.recv(4096).startswith(b"HTTP/1.1 200")


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
    opened = httpx2.get(f"http://{address[0]}:{address[1]}/api/openapi.json", timeout=20)
    assert opened.json()["info"]["title"] == "Atlas"


def test_two_requests_at_once_are_answered_in_order(address: Address) -> None:
    last = WHOLE.replace(b"Host", b"Connection: close\r\nHost").replace(b"health", b"corpora")
    with connected(address, 1, WHOLE + last) as [client]:
        answer = rest(client)
    assert answer.count(b"HTTP/1.1 200") == 2
    assert answer.index(b'"status"') < answer.index(b'"corpora"')


def test_a_socket_gone_before_it_is_taken_harms_nobody(address: Address) -> None:
    for _ in range(50):
        client = socket.create_connection(address)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
    assert health(address) == 200


def test_a_port_that_is_taken_is_named(app: Any, address: Address) -> None:
    limits = sockets.ConnectionLimits(20, 10, networks(""))
    with pytest.raises(ConfigurationError, match=f"Port {address[1]}"):
        sockets.BoundPort(app, "127.0.0.1", address[1], threads=1, max_body=1, limits=limits)


def test_who_leaves_before_the_refusal_is_no_fault(
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


# large bodies


SMALL, MOST = 100_000, 5_000_000


def count(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """An application that says how much it was sent."""
    size = len(environ["wsgi.input"].read())
    start_response("200 OK", [])
    return [f"took {size}".encode()]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Keys by what they have the right to, and the file's own token."""
    file = tmp_path_factory.mktemp("keys") / "keys.json"
    return {
        "file": str(file),
        "token": "open sesame",
        "reader": add_key(KeyFile(file), "reader").text,
        "of a part": add_key(
            KeyFile(file), "part", administrator=True, corpora={"farm": ["x"]}
        ).text,
        "whole": add_key(KeyFile(file), "whole", administrator=True).text,
        "unknown": "nobody's",
    }


@pytest.fixture
def access(keys: dict[str, str]) -> Access:
    token = SecretStr(keys["token"])
    return Access(Settings(api_keys_file=keys["file"], atlas_admin_token=token))


@pytest.fixture
def uploads(access: Access, tmp_path: Path) -> Iterator[Address]:
    large = LargeBodies(MOST, access, tmp_path / "ingest")
    with listening(count, max_body=SMALL, large=large) as uploads:
        yield uploads


def head(
    key: str, size: int | None, path: str = "/api/ingest", method: str = "POST", more: str = ""
) -> bytes:
    """The headers of a request with a body of so many bytes, or of one in chunks."""
    length = "Transfer-Encoding: chunked" if size is None else f"Content-Length: {size}"
    sent = f"Authorization: Bearer {key}\r\n" if key else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{sent}{length}\r\n{more}\r\n".encode()


def chunks(size: int) -> bytes:
    return b"".join(b"2710\r\n" + bytes(10_000) + b"\r\n" for _ in range(size // 10_000))


@pytest.mark.parametrize("more", ["", "Expect: 100-continue\r\n"], ids=["at once", "asked first"])
@pytest.mark.parametrize(
    ("method", "path", "key", "status"),
    [
        ("POST", "/api/search", "", 413),
        ("POST", "/api/search", "token", 413),
        ("GET", "/api/live", "", 413),
        ("POST", "/nowhere", "", 413),
        ("PUT", "/api/ingest", "token", 413),
        ("POST", "/api/ingest", "", 401),
        ("POST", "/api/ingest", "unknown", 401),
        ("POST", "/api/ingest", "reader", 403),
        ("POST", "/api/ingest", "of a part", 403),
    ],
)
def test_nothing_is_taken_of_a_large_body_from_others(
    uploads: Address, keys: dict[str, str], method: str, path: str, key: str, status: int, more: str
) -> None:
    sent = head(keys.get(key, ""), 4_000_000, path, method, more)
    with connected(uploads, 1, sent) as [client]:
        answer = rest(client)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer
    assert b"application/problem+json" in answer
    assert (b"www-authenticate: bearer" in answer.lower()) == (status == 401)


@pytest.mark.parametrize("key", ["", "reader"])
def test_nor_in_chunks(uploads: Address, keys: dict[str, str], key: str) -> None:
    begun = head(keys.get(key, ""), None)
    with connected(uploads, 1, begun) as [client], pytest.raises(ConnectionError):
        client.sendall(chunks(50_000_000))


@pytest.mark.parametrize(
    ("path", "key", "size", "status"),
    [
        ("/api/search", "", 50_000_000, 413),
        ("/api/ingest", "", 50_000_000, 401),
        ("/api/ingest", "", None, 401),
        ("/api/ingest", "token", 50_000_000, 507),
        ("/api/ingest", "token", None, 507),
        ("/api/ingest", "token", 60_000_000, 413),
    ],
)
def test_a_refusal_reaches_who_sends_all_before_reading(
    access: Access,
    keys: dict[str, str],
    tmp_path: Path,
    path: str,
    key: str,
    size: int | None,
    status: int,
) -> None:
    large = LargeBodies(60_000_000, access, tmp_path)
    sent = head(keys.get(key, ""), size, path)
    sent += bytes(size) if size else chunks(50_000_000) + b"0\r\n\r\n"
    with (
        listening(count, max_body=SMALL, large=large) as address,
        longest_file(1_000_000),
        connected(address, 1) as [client],
    ):
        client.sendall(sent)
        answer = rest(client)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.usefixtures("hurried_body")
def test_who_never_ends_what_was_refused_is_cut_off(uploads: Address) -> None:
    with connected(uploads, 1, head("", 4_000_000)) as [client]:
        assert rest(client).startswith(b"HTTP/1.1 401")
        wait_for(lambda: is_cut(client), 20, "the end of the connection")


def test_a_full_disk_is_said_and_stops_no_other_body(
    uploads: Address, keys: dict[str, str]
) -> None:
    last = "Connection: close\r\n"
    with longest_file(1_000_000):
        with connected(uploads, 1, head(keys["token"], 3_000_000)) as [client]:
            client.sendall(bytes(3_000_000))
            answer = rest(client)
        assert answer.startswith(b"HTTP/1.1 507 Full Disk")
        assert b"application/problem+json" in answer
        assert b"cannot be kept in INGEST_ROOT: File too large. Nothing of it was" in answer
        with connected(uploads, 1, head("", 90_000, "/api/search", more=last)) as [client]:
            client.sendall(bytes(90_000))
            assert b"took 90000" in rest(client)
    with connected(uploads, 1, head(keys["token"], 3_000_000, more=last)) as [client]:
        client.sendall(bytes(3_000_000))
        assert b"took 3000000" in rest(client)


def test_a_body_without_room_for_temporary_files_is_refused_and_an_upload_needs_none(
    access: Access, keys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    large = LargeBodies(MOST, access, tmp_path)
    last = "Connection: close\r\n"
    with listening(count, max_body=1_000_000, large=large) as address:
        with connected(address, 1, head(keys["token"], 3_000_000, more=last)) as [client]:
            client.sendall(bytes(3_000_000))
            assert b"took 3000000" in rest(client)
        with connected(address, 1, head("", 900_000, "/api/search")) as [client]:
            client.sendall(bytes(900_000))
            answer = rest(client)
    assert answer.startswith(b"HTTP/1.1 503")
    assert b"The body cannot be kept in TMPDIR: No such file" in answer


@pytest.mark.parametrize("key", ["token", "whole"])
def test_files_of_an_administrator_come_in(
    uploads: Address, keys: dict[str, str], key: str
) -> None:
    last = "Connection: close\r\n"
    with connected(uploads, 1, head(keys[key], 3_000_000, more=last)) as [client]:
        client.sendall(bytes(3_000_000))
        assert b"took 3000000" in rest(client)
    with connected(uploads, 1, head(keys[key], None, more=last)) as [client]:
        client.sendall(chunks(3_000_000) + b"0\r\n\r\n")
        assert b"took 3000000" in rest(client)
    with connected(uploads, 1, head(keys[key], MOST + 1)) as [client]:
        assert rest(client).startswith(b"HTTP/1.1 413")


def test_a_line_between_chunks_has_a_bound(uploads: Address, keys: dict[str, str]) -> None:
    with connected(uploads, 1, head(keys["token"], None) + b"1" * 5000) as [client]:
        assert rest(client).startswith(b"HTTP/1.1 400")


def test_a_few_come_in_at_once(uploads: Address, keys: dict[str, str]) -> None:
    begun = head(keys["token"], 3_000_000) + bytes(200_000)
    with connected(uploads, sockets.AT_ONCE, begun) as held:
        with connected(uploads, 1, begun) as [other]:
            answer = rest(other)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"Retry-After: 10" in answer
        held[0].sendall(bytes(2_800_000))
        assert held[0].recv(15) == b"HTTP/1.1 200 OK"
        held[1].close()

        def comes_in() -> bool | None:
            with connected(uploads, 2, begun) as [one, two]:
                return (is_open(one) and is_open(two)) or None

        assert wait_for(comes_in, 60, "free places")


@pytest.fixture
def hurried_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less time for a body, looked after often."""
    monkeypatch.setattr(sockets, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(Channel, "BODY_SECONDS", 0.3)


@pytest.mark.usefixtures("hurried_body")
def test_an_upload_has_the_time_it_needs_while_it_goes_on(
    uploads: Address, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Channel, "LARGE_BYTES", 1000)
    last = "Connection: close\r\n"
    with connected(uploads, 1, head(keys["token"], 1_000_000, more=last)) as [client]:
        client.sendall(bytes(900_000))
        begun = monotonic()

        def goes_on() -> bool | None:
            client.sendall(bytes(10))
            return monotonic() - begun > 1 or None

        wait_for(goes_on, 60, "more than the time for other bodies")
        client.sendall(bytes(100_000))
        assert b"took 1000000" in rest(client)


@pytest.mark.usefixtures("hurried_body")
def test_one_that_stalls_is_cut_off(
    uploads: Address, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Channel, "LARGE_BYTES", 1_000_000)
    with connected(uploads, 1, head(keys["token"], 1_000_000) + bytes(200_000)) as [client]:
        assert rest(client) == b""
