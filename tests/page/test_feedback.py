"""Ratings given in the page: kept by the server, changed, withdrawn, and never lost; on screens of
each kind, and by keyboard alone."""

from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.page.asking import QUESTION, WIDE, ask, latest
from tests.page.rating import VOTER, ask_for_id, expect_saved, rating, saved_rating
from tests.page.watching import expect_faults

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
FEEDBACK = "**/api/feedback"
SCREENS = {"desk": {"width": 1200, "height": 900}, "phone": {"width": 360, "height": 740}}
SMALLEST = 24  # pixels of a button, so that a finger meets it


def test_scales_tags_and_a_comment_are_given_and_taken_back(page: Page, server: str) -> None:
    qa_id = ask_for_id(page)
    assert page.evaluate(VOTER) is None  # nothing is known of who votes before a vote
    more = rating(page)

    def saved() -> dict[str, Any]:
        expect_saved(page)
        return saved_rating(page, server, qa_id)

    for name in ("Relevance", "Accuracy", "Corpus fidelity", "Clarity"):
        more.get_by_role("radiogroup", name=name).get_by_label("4").check()
    scores = dict.fromkeys(("relevance", "accuracy", "corpus_fidelity", "clarity"), 4)
    assert saved()["scores"] == scores
    clear = more.get_by_role("button", name="Clear accuracy")
    clear.click()
    accuracy = more.get_by_role("radiogroup", name="Accuracy")
    expect(accuracy.get_by_role("radio", checked=True)).to_have_count(0)
    expect(accuracy.get_by_label("1")).to_be_focused()
    expect(clear).to_be_hidden()
    assert saved()["scores"] == scores | {"accuracy": None}

    more.get_by_role("button", name="Out of date").click()
    field, own = more.get_by_label("Another tag"), more.get_by_role("button", name="tide tables")
    field.fill(" tide   tables ")
    page.keyboard.press("Enter")
    expect(own).to_have_attribute("aria-pressed", "true")
    assert saved()["tags"] == ["out_of_date", "tide tables"]
    more.get_by_role("button", name="Out of date").click()
    own.click()
    expect(own).to_have_attribute("aria-pressed", "false")
    expect_saved(page)
    field.fill("tide tables")
    more.get_by_role("button", name="Add").click()
    expect(own).to_have_attribute("aria-pressed", "true")
    expect(own).to_have_count(1)
    assert saved()["tags"] == ["tide tables"]

    comment, save = more.get_by_label("Comment"), more.get_by_role("button", name="Save comment")
    expect(comment).to_have_attribute("maxlength", "4000")
    comment.fill("Who pays\x07 the miller?\n")
    hint = more.get_by_text("of 4,000 characters")
    expect(hint).to_have_text("22 of 4,000 characters · not saved")
    save.click()
    expect(hint).to_have_text("20 of 4,000 characters")  # without the sign that is no text
    assert saved()["comment"] == "Who pays the miller?"
    comment.fill("")
    expect(hint).to_have_text("0 of 4,000 characters · not saved")
    save.click()
    expect(hint).to_have_text("0 of 4,000 characters")
    assert saved()["comment"] is None

    answer = latest(page)
    source = answer.locator(".sources li[data-passage]").first
    passage_id = source.get_attribute("data-passage")
    citation = source.get_by_role("group", name="Source 1, ")
    source.get_by_role("button", name="Not relevant").click()
    citation.get_by_role("button", name="Supports").click()
    state = saved()
    assert state["passages"] == {passage_id: "irrelevant"}
    assert state["citations"] == {"1": "supports"}
    source.get_by_role("button", name="Relevant", exact=True).click()
    citation.get_by_role("button", name="Supports").click()
    state = saved()
    assert (state["passages"], state["citations"]) == ({passage_id: "relevant"}, {})


def test_each_answer_of_a_conversation_has_a_rating_of_its_own(page: Page, server: str) -> None:
    first = ask_for_id(page)
    second = ask_for_id(page, "Is the death penalty allowed?")
    older = page.locator("article.answer").first
    older.get_by_role("button", name="Not helpful").click()
    expect(older.locator(".rating").get_by_role("status")).to_have_text("Saved")
    latest(page).get_by_role("button", name="Helpful", exact=True).click()
    expect_saved(page)
    assert saved_rating(page, server, first)["thumb"] == "down"
    assert saved_rating(page, server, second)["thumb"] == "up"
    # and the same reader has the same id when the page is opened again
    voter = page.evaluate(VOTER)
    page.reload()
    ask(page)
    latest(page).get_by_role("button", name="Helpful", exact=True).click()
    expect_saved(page)
    assert page.evaluate(VOTER) == voter


def test_one_request_at_a_time_and_later_changes_go_together(page: Page, server: str) -> None:
    qa_id = ask_for_id(page)
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route(FEEDBACK, hold_first)
    more = rating(page)
    with page.expect_request(FEEDBACK):
        more.get_by_role("button", name="Helpful", exact=True).click()
    more.get_by_role("button", name="Not helpful").click()
    for grade in ("2", "3"):
        more.get_by_role("radiogroup", name="Clarity").get_by_label(grade).check()
    expect(more.get_by_role("status")).to_have_text("Saving …")
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request))
    held[0].continue_()
    expect_saved(page)
    (later,) = (request for request in sent if request.url.endswith("/api/feedback"))
    changes = {k: v for k, v in later.post_data_json.items() if k not in ("qa_id", "user_id")}
    assert changes == {"thumb": "down", "scores": {"clarity": 3}}
    state = saved_rating(page, server, qa_id)
    assert (state["thumb"], state["scores"]["clarity"]) == ("down", 3)


def test_nothing_is_lost_while_the_server_cannot_be_reached(page: Page, server: str) -> None:
    expect_faults(page, "lost: .*/api/feedback")
    qa_id = ask_for_id(page)
    more = rating(page)
    page.context.set_offline(True)
    up = more.get_by_role("button", name="Helpful", exact=True)
    up.click()
    expect(more.get_by_role("alert")).to_contain_text(
        "Your rating is not saved yet. The server does not answer."
    )
    expect(up).to_have_attribute("aria-pressed", "true")
    more.get_by_role("button", name="Too long").click()
    expect(more.get_by_role("alert")).to_be_visible()
    page.context.set_offline(False)
    held: list[Route] = []
    page.route(FEEDBACK, lambda route: held.append(route))
    with page.expect_request(FEEDBACK):
        more.get_by_role("button", name="Send again").dblclick()
    expect(more.get_by_role("status")).to_have_text("Saving …")
    assert len(held) == 1
    held[0].continue_()
    expect_saved(page)
    expect(more.get_by_role("alert")).to_be_hidden()
    expect(up).to_be_focused()  # as the button that was pressed is gone
    state = saved_rating(page, server, qa_id)
    assert (state["thumb"], state["tags"]) == ("up", ["too_long"])


def test_an_answer_that_the_server_does_not_know_cannot_be_rated(page: Page) -> None:
    answer = ask(page)

    def of_another(route: Route) -> None:
        route.continue_(post_data=route.request.post_data_json | {"qa_id": "never-given"})

    page.route(FEEDBACK, of_another)
    more = rating(page)
    up = more.get_by_role("button", name="Helpful", exact=True)
    up.click()
    expect(more.get_by_role("status")).to_have_text(
        "The server has not kept this answer, so it cannot be rated."
    )
    for control in (
        up,
        more.get_by_role("button", name="Too long"),
        more.get_by_role("radio").first,
        more.get_by_label("Comment"),
        answer.locator(".sources").get_by_role("button", name="Not relevant").first,
    ):
        expect(control).to_be_disabled()


def test_an_answer_behind_a_link_has_no_controls(page: Page, server: str) -> None:
    qa_id = ask_for_id(page)
    link = httpx2.post(f"{server}/api/ask/{qa_id}/link", json={}).json()["url"]
    page.goto(f"{link}?format=html")
    expect(page.locator("body")).to_contain_text(QUESTION)
    expect(page.locator("button, input, textarea, script")).to_have_count(0)


@pytest.mark.parametrize("screen", SCREENS)
def test_rating_moves_nothing_and_fits_the_screen(page: Page, screen: str) -> None:
    page.set_viewport_size(SCREENS[screen])  # type: ignore[arg-type]
    answer, place = ask(page), "node => node.getBoundingClientRect().top + scrollY"
    below = answer.locator(".retrieval")
    if screen == "phone":
        answer.get_by_role("button", name="Rate and keep").first.click()
    before = below.evaluate(place)
    answer.get_by_role("button", name="Helpful", exact=True).click()
    answer.locator(".sources").get_by_role("button", name="Relevant").first.click()
    expect_saved(page)
    assert below.evaluate(place) == before
    more = rating(page)
    more.get_by_role("radio").first.check()
    more.get_by_label("Another tag").fill("m" * 64)
    page.keyboard.press("Enter")
    assert page.evaluate(WIDE) <= 0
    for button in page.locator(".rating button:visible:not(.link), .vote button:visible").all():
        box = button.bounding_box() or {}
        assert min(box["width"], box["height"]) >= SMALLEST, button.inner_text()


def test_an_answer_is_rated_by_keyboard_alone(page: Page, server: str) -> None:
    qa_id = ask_for_id(page)
    up = latest(page).get_by_role("button", name="Helpful", exact=True)
    for _ in range(40):
        page.keyboard.press("Shift+Tab")  # from the bar below the answer
        if up.evaluate("button => button === document.activeElement"):
            break
    expect(up).to_be_focused()
    # More; the first point of the first scale, and two further
    keys = ("Space", "Tab", "Tab", "Enter", "Tab", "Space", "ArrowRight", "ArrowRight", "Tab")
    for key in keys:
        page.keyboard.press(key)
    expect(latest(page).get_by_role("button", name="Clear relevance")).to_be_focused()
    expect_saved(page)
    state = saved_rating(page, server, qa_id)
    assert (state["thumb"], state["scores"]["relevance"]) == ("up", 3)
