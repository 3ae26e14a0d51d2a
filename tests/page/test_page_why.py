"""Why each passage is where it is, and all candidates of all corpora."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect
from pydantic import SecretStr

from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from atlas_search.services import open_services
from tests.cohere_server import KEY, cohere_server
from tests.page.asking import QUESTION, ask, latest
from tests.page.watching import watched
from tests.servers import served

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}


def test_a_passage_shows_its_signals_with_their_weights_and_its_legs(page: Page) -> None:
    ask(page)
    source = latest(page).locator(".sources li[data-passage]").first
    source.get_by_text("Why here").click()
    table = source.locator(".signals")
    expect(table.get_by_role("columnheader", name="Weight")).to_be_visible()
    rows = table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].slice(0, 4).map(cell => cell.textContent))"
    )
    weights = {name: float(weight) for name, _, weight, _ in rows if weight != "–"}
    assert weights == {
        "meaning": 0.6,
        "words (BM25)": 0.3,
        "word pairs": 0.15,
        "closeness": 0.25,
        "text around": 0.15,
    }
    score = float(source.locator(".why dd").first.inner_text())
    assert sum(float(adds) for *_, adds in rows if adds != "–") == pytest.approx(score, abs=0.004)
    expect(source.locator(".why dl")).to_contain_text(re.compile(r"By meaningplace \d+ of its"))
    expect(source.locator(".why dl")).to_contain_text("Place among all1")


def test_all_candidates_stand_in_a_column_for_each_corpus_and_open(page: Page) -> None:
    ask(page)
    answer = latest(page)
    with page.expect_request("**/api/search") as sent:
        answer.get_by_text("All candidates").click()
    assert sent.value.post_data_json["telemetry"] is False
    columns = answer.locator(".candidates section")
    expect(columns.get_by_role("heading")).to_have_text(["Legal UK", "Legal US", "Legislation NZ"])
    counts = answer.locator(".counts tbody tr td:nth-child(2)").all_inner_texts()
    for column, count in zip(columns.all(), counts, strict=True):
        expect(column.locator("li")).to_have_count(int(count))
    expect(columns.locator("li.cited").first).to_contain_text("Cited")
    ranks = columns.locator("li").evaluate_all("items => items.map(item => item.value)")
    assert sorted(ranks) == list(range(1, len(ranks) + 1))
    columns.nth(1).locator("li button").first.click()
    expect(page.locator("#reader mark").first).to_be_visible()


def test_candidates_scroll_smoothly_and_fit_a_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)
    ask(page)
    latest(page).get_by_text("All candidates").click()
    first = latest(page).locator(".candidates ol").first
    expect(first.locator("li").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    # rows out of sight cost nothing: 500 of them, scrolled through
    longest = first.evaluate(
        """async list => {
          while (list.children.length < 500) list.append(list.children[0].cloneNode(true));
          let longest = 0;
          for (let step = 0; step < 40; step += 1) {
            const begun = performance.now();
            list.scrollTop += 700;
            list.getBoundingClientRect();
            await new Promise(requestAnimationFrame);
            longest = Math.max(longest, performance.now() - begun);
          }
          return longest;
        }"""
    )
    assert longest < 400  # ms for a frame, on a machine that is busy with other tests


def test_folded_duplicates_are_named_and_open(page: Page) -> None:
    def add_duplicate(route) -> None:
        fetched = route.fetch()
        text = fetched.text()
        first = re.search(r'"passage_id": ?"([^"]+)"', text)
        assert first
        added = f'"duplicates": ["{first[1]}"]'
        route.fulfill(response=fetched, body=re.sub(r'"duplicates": ?\[\]', added, text))

    page.route("**/api/ask/stream", add_duplicate)
    ask(page)
    folded = latest(page).locator(".duplicates").first
    folded.get_by_text("1 passage with nearly the same text").click()
    folded.get_by_role("button").click()
    expect(page.locator("#reader mark").first).to_be_visible()


def test_an_answer_says_how_old_its_sources_are(page: Page) -> None:
    ask(page)
    expect(latest(page).locator(".freshness")).to_have_text(
        re.compile(r"^Sources from \d{4}( to \d{4})?; the newest is \d+ years old\.$")
    )


def test_agreements_stand_above_a_column_for_each_corpus(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_label("Compare the corpora").check()
    ask(page, "Which grounds make marriage between two people of the same sex lawful?")
    places = [
        latest(page).locator(selector).bounding_box()
        for selector in (
            "[data-corpus=legal_uk]",
            "[data-corpus=legal_us]",
            "[data-corpus=legislation_nz]",
        )
    ]
    assert all(places)
    tops = {round(place["y"]) for place in places if place}
    agreements = latest(page).get_by_role("heading", name="Agreements").bounding_box()
    assert agreements
    assert len(tops) == 1
    assert agreements["y"] < min(tops)
    page.set_viewport_size(PHONE)
    stacked = [latest(page).locator(f"[data-corpus={name}]").bounding_box() for name in
               ("legal_uk", "legal_us")]  # fmt: skip
    assert stacked[0]
    assert stacked[1]
    assert stacked[0]["y"] < stacked[1]["y"]
    assert stacked[0]["x"] == stacked[1]["x"]


@pytest.fixture
def reread(settings: Settings, embedder: LocalEmbedder, tmp_path: Path) -> Iterator[str]:
    """A server whose target has a model read the best passages again; its address."""
    (tmp_path / "reread.txt").write_text("RERANKER=cohere")
    with cohere_server() as model:
        changed = {
            "targets_directory": tmp_path,
            "test_target": "reread",
            "cohere_api_key": SecretStr(KEY),
            "cohere_server_url": model.address,
        }
        services = open_services(settings.model_copy(update=changed), embedder)
        with served(create_app(lambda: Atlas(services))) as address:
            yield address
        services.close()


def test_a_model_that_reads_again_gives_a_second_score(browser: Browser, reread: str) -> None:
    with watched(browser) as context:
        page = context.new_page()
        page.goto(reread)
        ask(page)
        body = {"question": QUESTION}
        best = httpx2.post(f"{reread}/api/search", json=body, timeout=60).json()["passages"][0]
        source = latest(page).locator(".sources li[data-passage]").first
        source.get_by_text("Why here").click()
        expect(source.locator(".why dl")).to_contain_text("First score")
        named = dict(
            zip(
                source.locator(".why dt").all_inner_texts(),
                source.locator(".why dd").all_inner_texts(),
                strict=True,
            )
        )
    assert named["First score"] == f"{best['score']:.3f}"
    relevance = best["signals"]["relevance"]
    assert named["Second score, by a model that read it"] == f"{relevance:.3f}"
    assert relevance != best["score"]
