"""Addresses that no fetch may reach, on this machine or private, and answers without an end."""

import gzip
import socket
import zlib
from collections.abc import Iterator
from contextlib import closing
from ipaddress import ip_address
from threading import Event, Thread
from typing import Any

import pytest

from atlas_search.core.errors import SourceError
from atlas_search.readers import network
from atlas_search.readers.network import allowed_hosts, what_is
from tests.readers.sites import HTML, PAGE, Answer, Folder, Site, reasons

NAME = "localhost"
"""The one host that these fetches may reach though it is not public."""


def by_name(site: Site, path: str, *answers: Answer) -> str:
    """The address of what a site serves, by NAME."""
    return site.serves(path, *answers).replace("127.0.0.1", NAME)


def redirect(to: str) -> Answer:
    return Answer(b"", 302, {"Location": to})


FORMS = ["127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "127.1", "0.0.0.0"]


@pytest.mark.parametrize("host", [*FORMS, "[::ffff:127.0.0.1]"])
def test_no_redirect_leads_to_this_machine(
    site: Site, other_site: Site, folder: Folder, host: str
) -> None:
    secret = other_site.serves("/secret", Answer())
    moved = by_name(site, "/moved", redirect(secret.replace("127.0.0.1", host)))
    report = folder.fetch(moved, allow_private=NAME, retries=0)
    assert report.pages == ()
    assert "is this machine: --allow-private" in reasons(report)[0]
    assert other_site.visits() == {}


def test_no_listed_address_leads_to_this_machine_unless_it_is_allowed(
    site: Site, folder: Folder
) -> None:
    url = site.serves("/a", Answer())
    report = folder.fetch(url, allow_private="")
    assert reasons(report) == ["127.0.0.1 is this machine: --allow-private 127.0.0.1 allows it"]
    assert site.visits() == {}
    for allowed in ("127.0.0.1", " other.example, 127.0.0.0/8", "127.0.0.1,::1"):
        assert len(folder.fetch(url, allow_private=allowed).pages) == 1


def test_only_redirects_to_web_addresses_without_passwords_are_followed(
    site: Site, folder: Folder
) -> None:
    target = by_name(site, "/a", Answer())
    with_password = target.replace("http://", "http://reader:swordfish@")
    urls = [
        by_name(site, "/1", redirect(with_password)),
        by_name(site, "/2", redirect(f"{target}?{'a' * 2_000}")),
        by_name(site, "/3", redirect("ftp://localhost/a")),
        by_name(site, "/4", redirect("javascript:alert(1)")),
        by_name(site, "/5", redirect(target.replace(NAME, "0177.0.0.1"))),  # octal: no address
    ]
    report = folder.fetch(*urls, allow_private=NAME, retries=0)
    assert report.pages == ()
    assert reasons(report)[:3] == [
        "it redirects to an address that holds a user name or a password",
        "it redirects to an address that is longer than 2000 characters",
        "it redirects to an address that is neither http nor https",
    ]
    assert site.visits()["/a"] == 0


@pytest.mark.parametrize(
    ("what", "addresses"),
    [
        ("this machine", "127.8.9.1 ::1 :: 0.0.0.0 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: "
         "::7f00:1 2001:0:808:808:0:0:80ff:fffe"),
        ("own network answers", "169.254.169.254 168.63.129.16 fe80::1%1 ::ffff:169.254.169.254 "
         "192.0.0.192 fec0::1"),
        ("a private or reserved", "10.0.0.1 172.31.255.255 192.168.0.1 100.100.100.200 198.18.0.1 "
         "fd00:ec2::254 64:ff9b:1::1 64:ff9b::a00:1 240.0.0.1 255.255.255.255"),
        ("many hosts", "224.0.0.251 ff02::1"),
        ("", "8.8.8.8 93.184.216.34 2606:4700::1111 64:ff9b::808:808"),
    ],
)  # fmt: skip
def test_what_is_not_public_is_known(what: str, addresses: str) -> None:
    for address in addresses.split():
        result = what_is(ip_address(address))
        assert (what in result) if what else (result == ""), address


@pytest.mark.parametrize("text", ["http://intranet", "*", "10.0.0.1:80", "a b", "10.0.0.0/99"])
def test_what_cannot_be_allowed_is_refused(text: str, site: Site, folder: Folder) -> None:
    with pytest.raises(SourceError, match="--allow-private"):
        allowed_hosts(text)
    with pytest.raises(SourceError, match="--allow-private"):
        folder.fetch(site.serves("/a", Answer()), allow_private=text)


class Names:
    """Stands in for a name server, which no test may set up: where each look-up leads in turn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: list[str]):
        self.visits: list[str] = []
        self._answers = list(answers)
        self._plain = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._look_up)

    def _look_up(self, host: str, port: Any, *given: Any, **by_name: Any) -> Any:
        if not host.endswith(".test"):
            return self._plain(host, port, *given, **by_name)
        self.visits.append(host)
        result = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [entry for ip in result for entry in self._plain(ip, port, *given, **by_name)]


@pytest.mark.parametrize(
    "answers",
    [
        (["127.0.0.1"],),
        (["93.184.216.34", "127.0.0.1"],),
        (["93.184.216.34"], ["127.0.0.1"]),
        (["::ffff:7f00:1"],),
    ],
)
def test_no_name_leads_to_this_machine(
    site: Site, folder: Folder, monkeypatch: pytest.MonkeyPatch, answers: tuple[list[str], ...]
) -> None:
    Names(monkeypatch, *answers)
    url = site.serves("/a", Answer()).replace("127.0.0.1", "rebind.test")
    report = folder.fetch(url, allow_private="", retries=0)
    assert "rebind.test (" in reasons(report)[0]
    assert "is this machine" in reasons(report)[0]
    assert site.visits() == {}


def test_a_connection_is_made_to_the_address_that_was_checked(
    site: Site, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # page and robots.txt are each looked up to say early what is refused, and for a connection
    names = Names(monkeypatch, *[["127.0.0.1"]] * 4, ["192.0.2.1"])
    url = site.serves("/a", Answer()).replace("127.0.0.1", "host.test")
    report = folder.fetch(url, allow_private="host.test")
    assert len(report.pages) == 1
    assert dict(site.requests)["/a"]["Host"] == url.split("/")[2]
    assert len(names.visits) == 4


def test_a_public_address_of_this_machine_is_this_machine(
    site: Site, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "what_is", lambda _address: "")
    report = folder.fetch(site.serves("/a", Answer()), allow_private="", retries=0)
    assert "127.0.0.1 is this machine" in reasons(report)[0]
    assert site.visits() == {}


def test_behind_a_proxy_what_can_be_looked_up_is_checked(
    site: Site, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", site.address)
    site.serves("http://nowhere.invalid/a", Answer())
    report = folder.fetch("http://10.0.0.1/a", "http://nowhere.invalid/a", allow_private="")
    assert len(report.pages) == 1
    assert reasons(report) == [
        "10.0.0.1 is a private or reserved network: --allow-private 10.0.0.1 allows it"
    ]
    assert [*site.visits()] == ["http://nowhere.invalid/robots.txt", "http://nowhere.invalid/a"]


def test_a_page_that_grows_when_it_is_unpacked_is_left(site: Site, folder: Folder) -> None:
    bomb = gzip.compress(PAGE + b" " * 50_000_000)
    twice = HTML | {"Content-Encoding": "gzip, gzip"}
    urls = [
        site.serves("/bomb", Answer(bomb, headers=HTML | {"Content-Encoding": "gzip"})),
        site.serves("/deflate", Answer(zlib.compress(b" " * 50_000_000), 200, HTML | DEFLATE)),
        site.serves("/twice", Answer(gzip.compress(bomb), headers=twice)),
    ]
    assert len(bomb) < 60_000
    assert reasons(folder.fetch(*urls, max_bytes=1_000_000)) == [
        "longer than 1 MB: save it by hand if it is wanted",
        "longer than 1 MB: save it by hand if it is wanted",
        "its server compresses it more than once",
    ]


DEFLATE = {"Content-Encoding": "deflate"}


def test_what_follows_the_end_of_a_compressed_page_is_not_taken_without_end(
    site: Site, folder: Folder
) -> None:
    page = gzip.compress(PAGE) + b"\0" * 5_000_000
    url = site.serves("/a", Answer(page, headers=HTML | {"Content-Encoding": "gzip"}))
    report = folder.fetch(url, max_bytes=1_000_000)
    assert reasons(report) == ["more than a page of that length can take came over the wire"]


@pytest.fixture
def drip() -> Iterator[str]:
    """The address of a server that sends headers, one after the other, until it is closed."""
    closing_down = Event()

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with closing(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not closing_down.wait(0.05):
                try:
                    connection.sendall(b"X-A: b\r\n")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        closing_down.set()
        thread.join()


def test_headers_that_never_end_are_left(drip: str, folder: Folder) -> None:
    report = folder.fetch(f"{drip}/a", seconds=0.5, retries=0)
    assert reasons(report)[0].endswith("nothing is allowed: not complete after 0.5 s")
