"""What a fetch asks of a site, how often, and what it leaves alone."""

from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from itertools import count

import pytest

from atlas_search.core.errors import ConfigurationError, SourceError
from atlas_search.readers.fetch import AGENT, PoliteSession, Robots, origin_of
from atlas_search.readers.network import RequestRefused
from tests.conftest import free_port
from tests.fetching.sites import HTML, OPTIONS, PAGE, Answer, Folder, Site, reasons


def test_robots_txt_is_obeyed_and_read_once(site: Site, folder: Folder) -> None:
    rules = b"User-agent: *\nDisallow: /\n\nUser-agent: Atlas-Research-Search\nDisallow: /private\n"
    site.serves("/robots.txt", Answer(rules, headers={"Content-Type": "text/plain"}))
    urls = [site.serves(path, Answer()) for path in ("/a", "/private/b", "/c")]
    report = folder.fetch(*urls)
    assert len(report.pages) == 2
    assert reasons(report) == [f"{site.address}/robots.txt does not allow it"]
    assert site.asked() == {"/robots.txt": 1, "/a": 1, "/c": 1}


@pytest.mark.parametrize(("status", "pages"), [(404, 1), (403, 1), (503, 0), (429, 0)])
def test_robots_txt_that_cannot_be_read_forbids_unless_there_is_none(
    site: Site, folder: Folder, status: int, pages: int
) -> None:
    site.serves("/robots.txt", Answer(b"", status))
    report = folder.fetch(site.serves("/a", Answer()), retries=0)
    assert len(report.pages) == pages
    assert site.asked() == {"/robots.txt": 1} | ({"/a": 1} if pages else {})


def test_a_site_that_is_down_is_asked_once(folder: Folder) -> None:
    down = f"http://127.0.0.1:{free_port()}"
    report = folder.fetch(f"{down}/a", f"{down}/b", retries=0)
    assert [
        f"{down}/robots.txt cannot be read, so nothing is allowed" in r for r in reasons(report)
    ] == [
        True,
        True,
    ]
    assert "Connection refused" in reasons(report)[0]


def test_a_redirect_is_followed_if_its_site_allows(
    site: Site, other_site: Site, folder: Folder
) -> None:
    other_site.serves("/robots.txt", Answer(b"User-agent: *\nDisallow: /private"))
    there, private = (other_site.serves(path, Answer()) for path in ("/there", "/private"))
    moved = site.serves("/moved", Answer(b"", 301, {"Location": there}))
    hidden = site.serves("/hidden", Answer(b"", 302, {"Location": private}))
    report = folder.fetch(moved, hidden)
    assert [origin_of(page).url for page in report.pages] == [there]
    assert reasons(report) == [f"{other_site.address}/robots.txt does not allow it"]
    assert other_site.asked() == {"/robots.txt": 1, "/there": 1}
    assert folder.fetch(moved).pages == report.pages
    assert site.asked()["/moved"] == 1


def test_a_passing_error_is_tried_again(site: Site, folder: Folder) -> None:
    busy = site.serves("/busy", Answer(b"", 429, {"Retry-After": "0"}), Answer())
    broken = site.serves("/broken", *[Answer(b"", 500)] * 3, Answer())
    report = folder.fetch(busy, broken)
    assert len(report.pages) == 2
    assert site.asked() == {"/robots.txt": 1, "/busy": 2, "/broken": 4}


def test_requests_say_who_asks_and_keep_no_cookie(site: Site, folder: Folder) -> None:
    url = site.serves("/a", Answer(headers=HTML | {"Set-Cookie": "seen=1"}))
    folder.fetch(url, contact="mailto:archive@example.org")
    folder.fetch(url, contact="mailto:archive@example.org", refresh=True)
    agents = {headers["User-Agent"] for _, headers in site.requests}
    assert agents == {f"{AGENT}/{version(AGENT)} (+mailto:archive@example.org)"}
    assert not any("Cookie" in headers for _, headers in site.requests)


def test_a_contact_that_cannot_be_sent_is_refused(site: Site, folder: Folder) -> None:
    with pytest.raises(SourceError, match="must be ASCII"):
        folder.fetch(site.serves("/a", Answer()), contact="a\r\nHost: b")


class Clock:
    """A time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize(("delay", "pause"), [(0.5, 2), (30, 30)])
def test_the_longer_of_both_delays_holds_for_each_host(
    site: Site, other_site: Site, delay: float, pause: float
) -> None:
    site.serves("/robots.txt", Answer(b"User-agent: *\nCrawl-delay: 2"))
    urls = [each.serves("/a", Answer()) for each in (site, site, other_site)]
    clock = Clock()
    with closing(PoliteSession(replace(OPTIONS, delay=delay), clock.sleep, clock)) as session:
        robots = Robots(session)
        for url in urls:
            session.get(url, robots.check)
    # before each of two pages, then between the other site's own rules and page
    assert clock.slept == [pause, pause, delay]


def test_each_redirect_and_each_retry_waits_for_its_host(site: Site) -> None:
    site.serves("/a", Answer(b"", 301, {"Location": "/b"}))
    site.serves("/b", Answer(b"", 503, {"Retry-After": "7"}), Answer())
    clock = Clock()
    with closing(PoliteSession(replace(OPTIONS, delay=10), clock.sleep, clock)) as session:
        session.get(f"{site.address}/a")
    assert clock.slept == [10, 7, 3]  # the pause, what the server asks, what is left of the pause
    assert site.asked() == {"/a": 1, "/b": 2}


def test_a_page_that_never_ends_is_left(site: Site) -> None:
    site.serves("/a", Answer(PAGE * 10_000))  # more than is received at once
    minutes = map(float, count(0, 299))  # looked at for the pause, the beginning and each part
    with (
        closing(PoliteSession(OPTIONS, lambda _: None, minutes.__next__)) as session,
        pytest.raises(RequestRefused, match="not complete after 300 s"),
    ):
        session.get(f"{site.address}/a")


def test_a_delay_of_hours_is_a_refusal(site: Site, folder: Folder) -> None:
    site.serves("/robots.txt", Answer(b"User-agent: *\nCrawl-delay: 7200"))
    report = folder.fetch(site.serves("/a", Answer()))
    assert reasons(report) == [
        f"{site.address}/robots.txt asks for 7200 s between requests: too slow"
    ]


def test_a_proxy_that_cannot_be_one_is_reported(
    site: Site, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://proxy")
    with pytest.raises(ConfigurationError, match=r"nonsense.*Mend HTTP_PROXY"):
        folder.fetch(site.serves("/a", Answer()))
