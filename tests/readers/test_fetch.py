"""Fetching lists of pages from a real server on this machine: what is kept, and how politely."""

import gzip
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from itertools import count
from pathlib import Path

import pytest

from atlas_search.cli.create import locate_pages as locate
from atlas_search.core.errors import ConfigurationError, SourceError
from atlas_search.readers.fetch import (
    AGENT,
    PageOrigin,
    PoliteSession,
    Robots,
    fetch_urls,
    origin_of,
)
from atlas_search.readers.html import HtmlReader
from atlas_search.readers.network import RequestRefused
from tests.conftest import free_port
from tests.readers.drafts import only_draft
from tests.readers.sites import (
    HTML,
    LATER,
    OPTIONS,
    PAGE,
    SILENCE,
    Answer,
    Folder,
    Site,
    reasons,
)

TAGGED = HTML | {"ETag": '"1"'}


def test_pages_become_files_by_corpus_that_the_reader_takes(site: Site, folder: Folder) -> None:
    first = site.serves("/2019/Minutes?page=2", Answer())
    second = site.serves("/act", Answer(LATER))
    report = folder.fetch("# minutes", f"{first}#item-3", "", "[law]", f"{second}  # an act")
    assert [page.relative_to(folder.path / "pages").as_posix()[:-13] for page in report.pages] == [
        "web/127-0-0-1-2019-minutes-page-2-",
        "law/127-0-0-1-act-",
    ]
    draft = only_draft(HtmlReader().read(report.pages[0], ""))
    assert draft.text == "The court sat."
    assert draft.metadata["url"] == f"{site.address}/2019/Minutes?page=2"
    assert draft.metadata["fetched"] == origin_of(report.pages[0]).fetched
    assert report.failures == ()
    assert folder.progress == [(1, 2), (2, 2)]


def test_a_page_is_not_asked_for_twice(site: Site, folder: Folder) -> None:
    url = site.serves("/a", Answer(headers=HTML | {"Vary": "*", "Cache-Control": "no-store"}))
    first = folder.fetch(url)
    assert folder.fetch(url) == first
    report = folder.fetch(url, "[law]", url)  # nor for a second corpus
    assert [page.parent.name for page in report.pages] == ["web", "law"]
    assert site.visits() == {"/robots.txt": 1, "/a": 1}


def test_bytes_are_stored_as_they_came(site: Site, folder: Folder) -> None:
    latin = PAGE.replace(b"sat", "été".encode("latin-1"))
    zipped = {"Content-Encoding": "gzip", "Content-Type": "text/html; charset=ISO-8859-1"}
    url = site.serves("/a", Answer(gzip.compress(latin), headers=zipped))
    (page,) = folder.fetch(url).pages
    assert page.read_bytes() == latin
    page.unlink()
    assert folder.fetch(url).pages[0].read_bytes() == latin
    assert only_draft(HtmlReader().read(page, "")).text == "The court été."


@pytest.mark.parametrize("tags", [('"1"', '"2"'), ("", "")])
def test_a_refresh_asks_for_changes_and_only_a_changed_page_looks_new(
    site: Site, folder: Folder, tags: tuple[str, str]
) -> None:
    before, after = (HTML | ({"ETag": tag} if tag else {}) for tag in tags)
    url = site.serves("/a", Answer(PAGE, headers=before))
    (page,) = folder.fetch(url).pages
    note = page.with_name(f".{page.name}.json")
    note.write_text(note.read_text().replace(origin_of(page).fetched, "1999-12-31"))
    folder.fetch(url, refresh=True)
    assert site.visits() == {"/robots.txt": 2, "/a": 2}
    assert site.requests[-1][1].get("If-None-Match", "") == tags[0]
    assert (page.read_bytes(), origin_of(page).fetched) == (PAGE, "1999-12-31")
    site.serves("/a", Answer(LATER, headers=after))
    folder.fetch(url, refresh=True)
    assert page.read_bytes() == LATER
    assert origin_of(page).fetched > "1999-12-31"


def test_a_date_of_change_is_sent_back(site: Site, folder: Folder) -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    url = site.serves("/a", Answer(headers=HTML | {"Last-Modified": date}), Answer(b"", 304))
    first = folder.fetch(url)
    assert folder.fetch(url, refresh=True) == first
    assert site.requests[-1][1]["If-Modified-Since"] == date


def test_a_tag_is_not_sent_to_another_address(site: Site, folder: Folder) -> None:
    moved = site.serves("/moved", Answer(b"", 302, {"Location": "/a"}))
    site.serves("/a", Answer(headers=TAGGED))
    folder.fetch(moved)
    folder.fetch(moved, refresh=True)
    sent = [(path, headers.get("If-None-Match")) for path, headers in site.requests]
    assert sent[-2:] == [("/moved", None), ("/a", '"1"')]
    site.serves("/moved", Answer(b"", 302, {"Location": "/b"}))
    site.serves("/b", Answer(LATER, headers=TAGGED))
    (page,) = folder.fetch(moved, refresh=True).pages
    assert page.read_bytes() == LATER
    assert origin_of(page).url == f"{site.address}/b"


def test_a_page_that_cannot_be_refreshed_is_kept(site: Site, folder: Folder) -> None:
    url = site.serves("/a", Answer())
    first = folder.fetch(url)
    site.serves("/a", Answer(b"gone", 404))
    report = folder.fetch(url, refresh=True)
    day = origin_of(first.pages[0]).fetched
    assert report.pages == first.pages
    assert reasons(report) == [f"HTTP 404 Not Found; the page as it was on {day} is kept"]
    assert folder.fetch(url) == first


def test_a_lost_page_or_a_damaged_note_is_fetched_or_written_anew(
    site: Site, folder: Folder
) -> None:
    url = site.serves("/a", Answer(headers=TAGGED))
    (page,) = folder.fetch(url).pages
    page.unlink()
    folder.fetch(url, refresh=True)
    assert page.read_bytes() == PAGE
    day = origin_of(page).fetched
    page.with_name(f".{page.name}.json").write_text("{")
    assert folder.fetch(url).failures == ()
    assert origin_of(page) == PageOrigin(url, day, "text/html", "utf-8", '"1"')


def test_what_leaves_the_list_leaves_the_folder(site: Site, folder: Folder) -> None:
    stays, goes = site.serves("/a", Answer()), site.serves("/b", Answer())
    report = folder.fetch(stays, "[law]", goes)
    own = folder.path / "pages" / "web" / "saved by hand.html"
    own.write_bytes(PAGE)
    folder.fetch(stays)
    assert report.pages[0].exists()
    assert own.exists()
    assert not (folder.path / "pages" / "law").exists()


def test_a_fetch_that_was_interrupted_goes_on(site: Site, folder: Folder) -> None:
    urls = [site.serves(path, Answer()) for path in ("/a", "/b")]
    list_file = folder.path / "urls.txt"
    list_file.write_text("\n".join(urls))

    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_urls(list_file, folder.path / "pages", OPTIONS, interrupt)
    assert len(folder.fetch(*urls).pages) == 2
    assert site.visits() == {"/robots.txt": 2, "/a": 1, "/b": 1}


def test_two_addresses_of_one_page_make_one_document(site: Site, folder: Folder) -> None:
    page = site.serves("/", Answer())
    moved = site.serves("/moved", Answer(b"", 301, {"Location": "/"}))
    bare = page.removesuffix("/")
    report = folder.fetch(page, f"{page}#part-2", moved, bare, bare.replace("http", "HTTP"))
    assert [origin_of(each).url for each in report.pages] == [page]
    assert set(reasons(report)) == {f"another address of the corpus leads to the same page, {page}"}


def test_faults_are_reported_with_the_other_pages_fetched(site: Site, folder: Folder) -> None:
    pdf = {"Content-Type": "application/pdf"}
    urls = [
        site.serves("/gone", Answer(b"", 410)),
        site.serves("/broken", Answer(b"", 502)),
        site.serves("/pdf", Answer(b"%PDF-1.7", headers=pdf)),
        site.serves("/untyped", Answer(headers={})),
        site.serves("/long", Answer(PAGE * 100)),
        site.serves("/wait", Answer(b"", 503, {"Retry-After": "4000"})),
        site.serves("/silent", SILENCE),
        site.serves("/local", Answer(b"", 302, {"Location": "file:///etc/passwd"})),
        site.serves("/circle", Answer(b"", 302, {"Location": "/circle"})),
        site.serves("/good", Answer()),
    ]
    report = folder.fetch(*urls, max_bytes=5000, timeout=0.3, retries=1)
    assert len(report.pages) == 1
    assert reasons(report) == [
        "HTTP 410 Gone",
        "HTTP 502 Bad Gateway",
        "not a web page but application/pdf",
        "not a web page but of no stated type",
        "longer than 0.005 MB: save it by hand if it is wanted",
        "its server asks to wait 4000 s; fetch it later",
        "no answer in time",
        "it redirects to an address that is neither http nor https",
        "it redirects again and again",
    ]


def test_lines_that_are_no_address_are_reported(folder: Folder) -> None:
    report = folder.fetch(
        "example.org", "file:///etc/passwd", "https://a.org/b c", "http://[::1", "https://u:p@a.org"
    )
    assert [reason[:38] for reason in reasons(report)] == [
        "line 1: not an address that begins wit",
        "line 2: not an address that begins wit",
        "line 3: an address has no blanks: writ",
        "line 4: not an address: Invalid IPv6 U",
        "line 5: it holds a user name or passwo",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# nothing\n", "lists no address"),
        (b"[../up]\nhttps://example.org", "line 1: '../up' cannot be a corpus id"),
        (b"https://example.org/\xe9", "not UTF-8 at byte 20"),
    ],
)
def test_a_list_that_cannot_be_understood_stops(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "urls.txt").write_bytes(content)
    with pytest.raises(SourceError, match=message):
        fetch_urls(tmp_path / "urls.txt", tmp_path / "pages", OPTIONS, lambda *_: None)


GIVEN = {
    "corpora": None,
    "corpus": "",
    "corpus_field": "",
    "encoding": "",
    "contact": "",
    "delay": 0.001,
    "refresh": False,
    "allow_private": "127.0.0.1",
}


def test_the_pages_of_a_list_are_the_sources(site: Site, tmp_path: Path) -> None:
    list_file = tmp_path / "urls.txt"
    list_file.write_text(f"nonsense\n[law]\n{site.serves('/a', Answer())}")
    sources = locate([list_file], HtmlReader(), GIVEN, tmp_path / "store")
    assert [(file.rule.corpus, file.path.read_bytes()) for file in sources.files] == [("law", PAGE)]
    assert [name for name, _ in sources.left_out] == ["nonsense"]


def test_a_folder_of_pages_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / "a.htm").write_bytes(PAGE)
    sources = locate([tmp_path], HtmlReader(), GIVEN, tmp_path / "store")
    assert [file.name for file in sources.files] == ["law/a.htm"]
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["urls.txt"], "No address of .*urls.txt gave a page; nonsense: line 1: not an address"),
        (["urls.txt", "urls.txt"], "Give a list of addresses alone"),
    ],
)
def test_a_list_without_any_page_or_not_alone_stops(
    tmp_path: Path, names: list[str], message: str
) -> None:
    (tmp_path / "urls.txt").write_text("nonsense")
    with pytest.raises(SourceError, match=message):
        locate([tmp_path / name for name in names], HtmlReader(), GIVEN, tmp_path / "store")


def test_robots_txt_is_obeyed_and_read_once(site: Site, folder: Folder) -> None:
    rules = b"User-agent: *\nDisallow: /\n\nUser-agent: Atlas-Research-Search\nDisallow: /private\n"
    site.serves("/robots.txt", Answer(rules, headers={"Content-Type": "text/plain"}))
    urls = [site.serves(path, Answer()) for path in ("/a", "/private/b", "/c")]
    report = folder.fetch(*urls)
    assert len(report.pages) == 2
    assert reasons(report) == [f"{site.address}/robots.txt does not allow it"]
    assert site.visits() == {"/robots.txt": 1, "/a": 1, "/c": 1}


@pytest.mark.parametrize(("status", "pages"), [(404, 1), (403, 1), (503, 0), (429, 0)])
def test_robots_txt_that_cannot_be_read_forbids_unless_there_is_none(
    site: Site, folder: Folder, status: int, pages: int
) -> None:
    site.serves("/robots.txt", Answer(b"", status))
    report = folder.fetch(site.serves("/a", Answer()), retries=0)
    assert len(report.pages) == pages
    assert site.visits() == {"/robots.txt": 1} | ({"/a": 1} if pages else {})


def test_a_site_that_is_down_is_asked_once(folder: Folder) -> None:
    down = f"http://127.0.0.1:{free_port()}"
    first, second = reasons(folder.fetch(f"{down}/a", f"{down}/b", retries=0))
    for reason in (first, second):
        assert f"{down}/robots.txt cannot be read, so nothing is allowed" in reason
    assert "Connection refused" in first


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
    assert other_site.visits() == {"/robots.txt": 1, "/there": 1}
    assert folder.fetch(moved).pages == report.pages
    assert site.visits()["/moved"] == 1


def test_a_passing_error_is_tried_again(site: Site, folder: Folder) -> None:
    busy = site.serves("/busy", Answer(b"", 429, {"Retry-After": "0"}), Answer())
    broken = site.serves("/broken", *[Answer(b"", 500)] * 3, Answer())
    report = folder.fetch(busy, broken)
    assert len(report.pages) == 2
    assert site.visits() == {"/robots.txt": 1, "/busy": 2, "/broken": 4}


def test_requests_say_who_asks_and_keep_no_cookie(site: Site, folder: Folder) -> None:
    url = site.serves("/a", Answer(headers=HTML | {"Set-Cookie": "seen=1"}))
    folder.fetch(url, contact="mailto:archive@example.org")
    folder.fetch(url, contact="mailto:archive@example.org", refresh=True)
    agents = {headers["User-Agent"] for _, headers in site.requests}
    assert agents == {f"{AGENT}/{version(AGENT)} (+mailto:archive@example.org)"}
    assert not any("Cookie" in headers for _, headers in site.requests)
    with pytest.raises(SourceError, match="must be ASCII"):
        folder.fetch(url, contact="a\r\nHost: b")


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
    assert site.visits() == {"/a": 1, "/b": 2}


def test_a_delay_of_hours_is_a_refusal(site: Site, folder: Folder) -> None:
    site.serves("/robots.txt", Answer(b"User-agent: *\nCrawl-delay: 7200"))
    report = folder.fetch(site.serves("/a", Answer()))
    assert reasons(report) == [
        f"{site.address}/robots.txt asks for 7200 s between requests: too slow"
    ]


def test_a_page_that_never_ends_is_left(site: Site) -> None:
    site.serves("/a", Answer(PAGE * 10_000))  # more than is received at once
    minutes = map(float, count(0, 299))  # looked at for the pause, the beginning and each part
    with (
        closing(PoliteSession(OPTIONS, lambda _: None, minutes.__next__)) as session,
        pytest.raises(RequestRefused, match="not complete after 300 s"),
    ):
        session.get(f"{site.address}/a")


def test_a_proxy_that_cannot_be_one_is_reported(
    site: Site, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://proxy")
    with pytest.raises(ConfigurationError, match=r"nonsense.*Correct HTTP_PROXY"):
        folder.fetch(site.serves("/a", Answer()))
