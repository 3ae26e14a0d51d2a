"""How the page names places: as the sources do, with the context above the text."""

from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Page, expect

from atlas_search.atlas import Atlas
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from tests.cited_places import EXEMPT, PREFACE, SPEECH, open_places
from tests.page.asking import ask, latest
from tests.servers import served

pytestmark = pytest.mark.browser

READABLE = "([text, all]) => part('answer/sentences.js').then(m => m.readable(text, all))"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[str]:
    """A server of sources that cite themselves; its address."""
    services = open_places(tmp_path_factory.mktemp("places"), embedder, splitter="structural")
    with served(create_app(lambda: Atlas(services))) as address:
        yield address
    services.close()


def test_a_statute_is_cited_by_its_section_with_the_headings_above(page: Page) -> None:
    ask(page, "Are harbour dues payable by a lifeboat?")
    answer = latest(page)
    cited = answer.locator(".citations li", has_text="s 10(2)").first
    expect(cited.locator(".place")).to_have_text("Acts · s 10(2) · Part 2 > Levy of dues")
    source = answer.locator(".sources li", has_text=EXEMPT).first
    expect(source.locator(".place")).to_contain_text("Acts · s 10(2) · score")
    expect(source.locator(".context")).to_have_text("Part 2 › Levy of dues")
    assert source.locator(".passage-text").inner_text() == EXEMPT
    cited.get_by_role("button").first.click()
    reader = page.locator("#reader")
    expect(reader.locator("mark")).to_have_text(EXEMPT)
    expect(reader.locator(".where")).to_have_text("s 10(2)")
    expect(reader.locator(".context")).to_have_text("Part 2 › Levy of dues")


def test_a_book_is_cited_by_the_page_that_is_printed(page: Page) -> None:
    ask(page, "Was the lighthouse of Kestrel Point rebuilt?")
    source = latest(page).locator(".sources li", has_text=PREFACE).first
    expect(source.locator(".place")).to_contain_text("Books · p. xii (page 1 of the file) · score")
    expect(source.locator(".context")).to_have_count(0)


def test_a_speech_stands_below_its_speaker(page: Page) -> None:
    ask(page, "Should the pilot service be extended to the northern fairway?")
    source = latest(page).locator(".sources li", has_text=SPEECH).first
    expect(source.locator(".context .headings")).to_have_text("Pilots Bill")
    expect(source.locator(".context .speaker")).to_have_text("Ms Marlowe")


def test_tokens_are_readable_in_a_draft(page: Page, server: str) -> None:
    found = [
        passage
        for document in ("acts.harbour-dues-act", "books.kestrel-point")
        for passage in httpx2.get(f"{server}/api/documents/{document}").json()["passages"]
    ]
    token = "[acts.harbour-dues-act s10(1)]"
    text = f"So it is. ({token}, [books.kestrel-point p1])"
    assert page.evaluate(READABLE, [text, found]) == (
        "So it is. ((Harbour Dues Act, s 10(1)), (Kestrel Point, p. xii))"
    )
    priced = [found[0] | {"title": "The $& Act"}]
    assert page.evaluate(READABLE, [token, priced]) == "(The $& Act, s 10(1))"


def test_a_group_of_tokens_is_left_out_whole(page: Page) -> None:
    group = "([acts.dues s10(1)], [acts.dues sch1para3(a)])"
    without = "text => part('answer/sentences.js').then(m => m.withoutMarkers(text))"
    assert page.evaluate(without, f"Dues are due {group}.") == "Dues are due."
