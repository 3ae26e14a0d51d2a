"""Ratings in the page, of answers of each kind, by readers and on screens of each kind."""

from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from atlas_search.atlas import Atlas
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.access.keys import add_key
from atlas_search.server.app import create_app
from tests.access.conftest import COLLECTION, guard
from tests.access.two_corpora import OPEN, QUESTION, two_corpora
from tests.answering import answered_by
from tests.hash_embedder import HashEmbedder
from tests.lighthouses import NOT_HELD, lighthouses
from tests.page.asking import ask, latest
from tests.page.rating import (
    VOTER,
    ask_for_id,
    expect_saved,
    kept,
    opened,
    rated_server,
    rating,
)
from tests.page.watching import watched
from tests.servers import served, wait_for

pytestmark = pytest.mark.browser
SCREENS = {"desk": {"width": 1200, "height": 900}, "phone": {"width": 360, "height": 740}}
PLACE = "node => node.getBoundingClientRect().top + scrollY"
SMALLEST = 24  # pixels of a button, so that a finger meets it


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory):
    with rated_server(tmp_path_factory.mktemp("rated")) as started:
        yield started


def test_what_comes_closest_is_voted_on_as_the_same_passage_below(
    browser: Browser, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    with lighthouses(tmp_path / "coast", embedder) as atlas:
        coast = guard(atlas, None, atlas_state_directory=tmp_path / "state")
        with served(create_app(lambda: coast)) as address, opened(browser, address) as page:
            qa_id = ask_for_id(page, NOT_HELD)
            answer = latest(page)
            quote = answer.get_by_role("region", name="Closest passages").get_by_role("listitem")
            quote.first.get_by_role("button", name="Not relevant").click()
            expect_saved(page)
            ((passage_id, said),) = kept(page, address, qa_id)["passages"].items()
            assert said == "irrelevant"
            same = answer.locator(f".sources li[data-passage='{passage_id}']")
            pressed = same.locator("button[aria-pressed=true]")
            expect(pressed).to_have_text("Not relevant")
            rating(page).get_by_role("button", name="Not helpful").click()
            expect_saved(page)
            assert kept(page, address, qa_id)["thumb"] == "down"


def test_a_blocked_answer_can_be_rated(browser: Browser, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with (
        two_corpora(tmp_path, HashEmbedder(), atlas_state_directory=state) as plain,
        answered_by("openai", plain.services) as (services, model),
    ):
        lenient = {"answer_threshold": 0.0, "answer_likelihood": 0.0}
        for name, target in services.targets.items():
            services.targets[name] = target.model_copy(update=lenient)
        model.says("The miller keeps the bridge [made.up p1].")
        atlas = Atlas(services)
        with served(create_app(lambda: atlas)) as address, opened(browser, address) as page:
            qa_id = ask_for_id(page)
            expect(latest(page).locator(".notice .code")).to_contain_text("BLOCK")
            latest(page).get_by_role("button", name="Not helpful").click()
            expect_saved(page)
            assert kept(page, address, qa_id)["thumb"] == "down"


def test_a_stopped_or_refused_question_has_nothing_to_rate(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        page.fill("textarea#question", "?!?")
        page.click("button#ask")
        expect(latest(page).get_by_role("alert")).to_be_visible()
        expect(latest(page).get_by_role("button", name="Helpful")).to_have_count(0)


def test_with_a_key_it_is_the_key_that_votes(browser: Browser, tmp_path: Path) -> None:
    keys_file = tmp_path / "keys.json"
    key = add_key(keys_file, "Anna", corpora={COLLECTION: [OPEN]}).text
    with two_corpora(tmp_path / "parish", HashEmbedder()) as plain:
        guarded = guard(plain, keys_file)
        with (
            served(create_app(lambda: guarded), threads=16) as address,
            watched(browser) as context,
        ):
            page = context.new_page()
            page.goto(address)
            page.get_by_label("Key", exact=True).fill(key)
            page.get_by_role("button", name="Sign in").click()
            expect(page.locator("#caller")).to_have_text("Anna")
            qa_id = ask_for_id(page)
            expect(rating(page)).to_contain_text("Kept under your name.")
            with page.expect_request("**/api/feedback") as sent:
                rating(page).get_by_role("button", name="Helpful", exact=True).click()
            expect_saved(page)
            assert sent.value.post_data_json == {"qa_id": qa_id, "thumb": "up"}
            assert page.evaluate(VOTER) is None
            own = {"Authorization": f"Bearer {key}"}
            found = httpx2.get(f"{address}/api/feedback/{qa_id}", headers=own).json()
            assert found["thumb"] == "up"


def test_an_answer_behind_a_link_has_no_controls(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        qa_id = ask_for_id(page)
        link = httpx2.post(f"{address}/api/ask/{qa_id}/link", json={}).json()["url"]
        page.goto(f"{link}?format=html")
        expect(page.locator("body")).to_contain_text(QUESTION)
        expect(page.locator("button, input, textarea, script")).to_have_count(0)


@pytest.mark.parametrize("screen", SCREENS)
def test_rating_moves_nothing_and_fits_the_screen(
    browser: Browser, address: str, screen: str
) -> None:
    with opened(browser, address, viewport=SCREENS[screen]) as page:
        ask(page, QUESTION)
        below = latest(page).locator(".scope")
        before = below.evaluate(PLACE)
        latest(page).get_by_role("button", name="Helpful", exact=True).click()
        latest(page).locator(".sources").get_by_role("button", name="Relevant").first.click()
        expect_saved(page)
        assert below.evaluate(PLACE) == before
        more = rating(page)
        more.get_by_role("radio").first.check()
        more.get_by_label("Another tag").fill("m" * 64)
        page.keyboard.press("Enter")
        overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert overflow <= 0
        for button in page.locator(".rating button:visible:not(.link), .vote button:visible").all():
            box = button.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= SMALLEST, button.inner_text()


def test_an_answer_is_rated_by_keyboard_alone(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        qa_id = ask_for_id(page)
        keys = page.keyboard
        up = latest(page).get_by_role("button", name="Helpful", exact=True)
        for _ in range(40):
            keys.press("Tab")
            if up.evaluate("button => button === document.activeElement"):
                break
        expect(up).to_be_focused()
        keys.press("Space")
        keys.press("Tab")
        keys.press("Tab")
        keys.press("Enter")  # More
        keys.press("Tab")
        keys.press("Space")  # the first point of the first scale
        keys.press("ArrowRight")
        keys.press("ArrowRight")
        keys.press("Tab")
        clear = latest(page).get_by_role("button", name="Clear relevance")
        expect(clear).to_be_focused()
        expect_saved(page)
        state = kept(page, address, qa_id)
        assert (state["thumb"], state["scores"]["relevance"]) == ("up", 3)


def test_every_control_of_a_rating_has_a_name_of_its_own(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        ask(page, QUESTION)
        more = rating(page)
        more.get_by_role("radio").first.check()
        unnamed = (
            latest(page)
            .locator("button, textarea, input")
            .evaluate_all(
                "controls => controls.filter(c => !(c.textContent.trim() || c.ariaLabel"
                " || c.labels?.length)).map(c => c.outerHTML)"
            )
        )
        assert unnamed == []
        ids = page.locator("[id]").evaluate_all("nodes => nodes.map(node => node.id)")
        assert len(ids) == len(set(ids))
        groups = latest(page).locator(".vote")
        names = groups.evaluate_all("votes => votes.map(vote => vote.ariaLabel)")
        assert all(names)
        assert any(name.startswith("Source 1, ") for name in names)


@pytest.mark.phoenix
def test_a_vote_of_the_page_reaches_phoenix(page: Page, server: str) -> None:
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page)
    qa_id = sent.value.post_data_json["qa_id"]
    latest(page).get_by_role("button", name="Helpful", exact=True).click()
    expect_saved(page)
    wait_for(lambda: kept(page, server, qa_id)["sent"] or None, 60, "the vote")
