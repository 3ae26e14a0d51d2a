"""Fetching lists of pages from a real server on this machine."""

import gzip
from pathlib import Path

import pytest

from atlas_search.cli.create import locate_pages as locate
from atlas_search.core.errors import SourceError
from atlas_search.readers import Draft
from atlas_search.readers.fetch import PageOrigin, fetch_urls, origin_of
from atlas_search.readers.html import HtmlReader
from tests.fetching.sites import (
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


def test_pages_become_files_by_corpus_that_the_reader_takes(site: Site, folder: Folder) -> None:
    first = site.serves("/2019/Minutes?page=2", Answer())
    second = site.serves("/act", Answer(LATER))
    report = folder.fetch("# minutes", f"{first}#item-3", "", "[law]", f"{second}  # an act")
    assert [page.relative_to(folder.path / "pages").as_posix()[:-13] for page in report.pages] == [
        "web/127-0-0-1-2019-minutes-page-2-",
        "law/127-0-0-1-act-",
    ]
    (draft,) = HtmlReader().read(report.pages[0], "")
    assert isinstance(draft, Draft)
    assert draft.text == "The court sat."
    assert draft.metadata["url"] == f"{site.address}/2019/Minutes?page=2"
    assert draft.metadata["fetched"] == origin_of(report.pages[0]).fetched
    assert report.failures == ()
    assert folder.progress == [(1, 2), (2, 2)]


def test_a_page_is_not_asked_for_twice(site: Site, folder: Folder) -> None:
    url = site.serves("/a", Answer(headers=HTML | {"Vary": "*", "Cache-Control": "no-store"}))
    first = folder.fetch(url)
    assert folder.fetch(url) == first
    assert site.asked() == {"/robots.txt": 1, "/a": 1}


def test_bytes_are_stored_as_they_came(site: Site, folder: Folder) -> None:
    latin = PAGE.replace(b"sat", "été".encode("latin-1"))
    zipped = {"Content-Encoding": "gzip", "Content-Type": "text/html; charset=ISO-8859-1"}
    url = site.serves("/a", Answer(gzip.compress(latin), headers=zipped))
    (page,) = folder.fetch(url).pages
    assert page.read_bytes() == latin
    page.unlink()
    assert folder.fetch(url).pages[0].read_bytes() == latin
    (draft,) = HtmlReader().read(page, "")
    assert isinstance(draft, Draft)
    assert draft.text == "The court été."


def test_a_refresh_asks_for_changes_only(site: Site, folder: Folder) -> None:
    tagged = site.serves("/tagged", Answer(headers=HTML | {"ETag": '"1"'}))
    untagged = site.serves("/untagged", Answer())
    folder.fetch(tagged, untagged)
    folder.fetch(tagged, untagged, refresh=True)
    assert site.asked() == {"/robots.txt": 2, "/tagged": 2, "/untagged": 2}
    asked_again = [headers for path, headers in site.requests if path == "/tagged"][1]
    assert asked_again["If-None-Match"] == '"1"'


@pytest.mark.parametrize("tags", [('"1"', '"2"'), ("", "")])
def test_only_a_changed_page_looks_new(site: Site, folder: Folder, tags: tuple[str, str]) -> None:
    before, after = (HTML | ({"ETag": tag} if tag else {}) for tag in tags)
    url = site.serves("/a", Answer(PAGE, headers=before))
    (page,) = folder.fetch(url).pages
    note = page.with_name(f".{page.name}.json")
    note.write_text(note.read_text().replace(origin_of(page).fetched, "1999-12-31"))
    folder.fetch(url, refresh=True)
    assert (page.read_bytes(), origin_of(page).fetched) == (PAGE, "1999-12-31")
    site.serves("/a", Answer(LATER, headers=after))
    folder.fetch(url, refresh=True)
    assert page.read_bytes() == LATER
    assert origin_of(page).fetched > "1999-12-31"


def test_a_page_that_cannot_be_refreshed_is_kept(site: Site, folder: Folder) -> None:
    url = site.serves("/a", Answer())
    first = folder.fetch(url)
    site.serves("/a", Answer(b"gone", 404))
    report = folder.fetch(url, refresh=True)
    day = origin_of(first.pages[0]).fetched
    assert report.pages == first.pages
    assert reasons(report) == [f"HTTP 404 Not Found; the page as it was on {day} is kept"]
    assert folder.fetch(url) == first


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
    assert site.asked() == {"/robots.txt": 2, "/a": 1, "/b": 1}


def test_two_addresses_of_one_page_make_one_document(site: Site, folder: Folder) -> None:
    page = site.serves("/a", Answer())
    moved = site.serves("/moved", Answer(b"", 301, {"Location": "/a"}))
    report = folder.fetch(page, f"{page}#part-2", moved)
    assert len(report.pages) == 1
    assert reasons(report) == [f"another address of the corpus leads to the same page, {page}"]


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
    assert [reason.split(":")[0] for reason in reasons(report)] == [
        f"line {n}" for n in range(1, 6)
    ]
    assert [reason.split(": ", 1)[1][:30] for reason in reasons(report)] == [
        "not an address that begins wit",
        "not an address that begins wit",
        "an address has no blanks: writ",
        "not an address: Invalid IPv6 U",
        "it holds a user name or passwo",
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


def test_a_damaged_note_is_written_anew(site: Site, folder: Folder) -> None:
    url = site.serves("/a", Answer())
    (page,) = folder.fetch(url).pages
    day = origin_of(page).fetched
    page.with_name(f".{page.name}.json").write_text("{")
    assert folder.fetch(url).failures == ()
    assert origin_of(page) == PageOrigin(url, day, "text/html", "utf-8")


def test_a_page_that_was_lost_is_fetched_again_in_full(site: Site, folder: Folder) -> None:
    url = site.serves("/a", Answer(headers=HTML | {"ETag": '"1"'}))
    (page,) = folder.fetch(url).pages
    page.unlink()
    folder.fetch(url, refresh=True)
    assert page.read_bytes() == PAGE


def test_an_address_of_two_corpora_is_asked_for_once(site: Site, folder: Folder) -> None:
    url = site.serves("/a", Answer())
    report = folder.fetch(url, "[law]", url)
    assert [page.parent.name for page in report.pages] == ["web", "law"]
    assert [page.read_bytes() for page in folder.fetch("[acts]", url).pages] == [PAGE]
    assert site.asked() == {"/robots.txt": 1, "/a": 1}


def test_a_tag_is_not_sent_to_another_address(site: Site, folder: Folder) -> None:
    tagged = HTML | {"ETag": '"1"'}
    moved = site.serves("/moved", Answer(b"", 302, {"Location": "/a"}))
    site.serves("/a", Answer(headers=tagged))
    folder.fetch(moved)
    folder.fetch(moved, refresh=True)
    sent = [(path, headers.get("If-None-Match")) for path, headers in site.requests]
    assert sent[-2:] == [("/moved", None), ("/a", '"1"')]
    site.serves("/moved", Answer(b"", 302, {"Location": "/b"}))
    site.serves("/b", Answer(LATER, headers=tagged))
    (page,) = folder.fetch(moved, refresh=True).pages
    assert page.read_bytes() == LATER
    assert origin_of(page).url == f"{site.address}/b"


def test_a_date_of_change_is_sent_back(site: Site, folder: Folder) -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    url = site.serves("/a", Answer(headers=HTML | {"Last-Modified": date}), Answer(b"", 304))
    first = folder.fetch(url)
    assert folder.fetch(url, refresh=True) == first
    assert site.requests[-1][1]["If-Modified-Since"] == date


def test_addresses_that_differ_in_form_only_are_one_page(site: Site, folder: Folder) -> None:
    root = site.serves("/", Answer()).removesuffix("/")
    report = folder.fetch(root, f"{root}/", root.replace("http", "HTTP"))
    assert [origin_of(page).url for page in report.pages] == [f"{root}/"]
    assert len(report.failures) == 2


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
