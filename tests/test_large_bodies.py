"""A large body is taken from an administrator who sends files, a few at once; from nobody else."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from pydantic import SecretStr

from atlas_search.core.settings import Settings
from atlas_search.server import sockets as large_bodies
from atlas_search.server import sockets as listen
from atlas_search.server.access.caller import Access
from atlas_search.server.access.keys import add_key
from atlas_search.server.sockets import Channel, LargeBodies
from tests.listening import connected, is_open, listening, rest
from tests.servers import wait_for

SMALL, MOST = 100_000, 5_000_000
Address = tuple[str, int]


def count(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """An application that says how much it was sent."""
    size = len(environ["wsgi.input"].read())
    start_response("200 OK", [])
    return [f"took {size}".encode()]


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, str]:
    """Keys by what they have the right to, and the file's own token."""
    file = tmp_path / "keys.json"
    return {
        "token": "open sesame",
        "reader": add_key(file, "reader").text,
        "of a part": add_key(file, "part", administrator=True, corpora={"farm": ["x"]}).text,
        "whole": add_key(file, "whole", administrator=True).text,
        "unknown": "nobody's",
    }


@pytest.fixture
def address(tmp_path: Path, keys: dict[str, str]) -> Iterator[Address]:
    token = SecretStr(keys["token"])
    access = Access(Settings(api_keys_file=tmp_path / "keys.json", atlas_admin_token=token))
    with listening(count, max_body=SMALL, large=LargeBodies(MOST, access)) as found:
        yield found


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
def test_nothing_is_kept_of_what_others_send(
    address: Address, keys: dict[str, str], method: str, path: str, key: str, status: int, more: str
) -> None:
    sent = head(keys.get(key, ""), 4_000_000, path, method, more)
    with connected(address, 1, sent) as [client]:
        said = rest(client)
    assert said.startswith(f"HTTP/1.1 {status} ".encode()), said
    assert b"application/problem+json" in said
    assert (b"www-authenticate: bearer" in said.lower()) == (status == 401)


@pytest.mark.parametrize("key", ["", "reader"])
def test_nor_of_what_they_send_in_chunks(address: Address, keys: dict[str, str], key: str) -> None:
    begun = head(keys.get(key, ""), None)
    with connected(address, 1, begun) as [client], pytest.raises(ConnectionError):
        client.sendall(chunks(50_000_000))


@pytest.mark.parametrize("key", ["token", "whole"])
def test_files_of_an_administrator_come_in(
    address: Address, keys: dict[str, str], key: str
) -> None:
    last = "Connection: close\r\n"
    with connected(address, 1, head(keys[key], 3_000_000, more=last)) as [client]:
        client.sendall(bytes(3_000_000))
        assert b"took 3000000" in rest(client)
    with connected(address, 1, head(keys[key], None, more=last)) as [client]:
        client.sendall(chunks(3_000_000) + b"0\r\n\r\n")
        assert b"took 3000000" in rest(client)
    with connected(address, 1, head(keys[key], MOST + 1)) as [client]:
        assert rest(client).startswith(b"HTTP/1.1 413")


def test_a_line_between_chunks_has_a_bound(address: Address, keys: dict[str, str]) -> None:
    with connected(address, 1, head(keys["token"], None) + b"1" * 5000) as [client]:
        assert rest(client).startswith(b"HTTP/1.1 400")


def test_a_few_come_in_at_once(address: Address, keys: dict[str, str]) -> None:
    begun = head(keys["token"], 3_000_000) + bytes(200_000)
    with connected(address, large_bodies.AT_ONCE, begun) as held:
        with connected(address, 1, begun) as [other]:
            said = rest(other)
        assert said.startswith(b"HTTP/1.1 503")
        assert b"Retry-After: 10" in said
        held[0].sendall(bytes(2_800_000))
        assert held[0].recv(15) == b"HTTP/1.1 200 OK"
        held[1].close()

        def comes_in() -> bool | None:
            with connected(address, 2, begun) as [one, two]:
                return (is_open(one) and is_open(two)) or None

        assert wait_for(comes_in, 60, "free places")


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less time for a body, looked after often."""
    monkeypatch.setattr(listen, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(Channel, "BODY_SECONDS", 0.3)


@pytest.mark.usefixtures("hurried")
def test_an_upload_has_the_time_it_needs_while_it_goes_on(
    address: Address, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Channel, "LARGE_BYTES", 1000)
    last = "Connection: close\r\n"
    with connected(address, 1, head(keys["token"], 1_000_000, more=last)) as [client]:
        client.sendall(bytes(900_000))
        begun = monotonic()

        def goes_on() -> bool | None:
            client.sendall(bytes(10))
            return monotonic() - begun > 1 or None

        wait_for(goes_on, 60, "more than the time for other bodies")
        client.sendall(bytes(100_000))
        assert b"took 1000000" in rest(client)


@pytest.mark.usefixtures("hurried")
def test_one_that_stalls_is_cut_off(
    address: Address, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Channel, "LARGE_BYTES", 1_000_000)
    with connected(address, 1, head(keys["token"], 1_000_000) + bytes(200_000)) as [client]:
        assert rest(client) == b""
