"""Ratings given in the page: kept by the server, changed, withdrawn, and never lost."""

from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from tests.access.two_corpora import QUESTION
from tests.page.asking import ask, latest
from tests.page.rating import VOTER, ask_for_id, expect_saved, kept, opened, rated_server, rating
from tests.page.watching import expect_faults

pytestmark = pytest.mark.browser
FEEDBACK = "**/api/feedback"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with rated_server(tmp_path_factory.mktemp("rated")) as started:
        yield started


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with opened(browser, address) as shown:
        yield shown


def test_a_thumb_is_kept_and_pressed_again_withdrawn(page: Page, address: str) -> None:
    qa_id = ask_for_id(page)
    assert page.evaluate(VOTER) is None  # nothing is known of who votes before a vote
    up = latest(page).get_by_role("button", name="Helpful", exact=True)
    down = latest(page).get_by_role("button", name="Not helpful")
    up.click()
    expect_saved(page)
    expect(up).to_have_attribute("aria-pressed", "true")
    assert kept(page, address, qa_id)["thumb"] == "up"
    down.click()
    expect(up).to_have_attribute("aria-pressed", "false")
    expect_saved(page)
    assert kept(page, address, qa_id)["thumb"] == "down"
    down.click()
    expect_saved(page)
    gone = httpx2.get(f"{address}/api/feedback/{qa_id}", params={"user_id": page.evaluate(VOTER)})
    assert gone.status_code == 404


def test_scales_are_given_and_cleared(page: Page, address: str) -> None:
    qa_id = ask_for_id(page)
    more = rating(page)
    for name in ("Relevance", "Accuracy", "Corpus fidelity", "Clarity"):
        more.get_by_role("radiogroup", name=name).get_by_label("4").check()
    expect_saved(page)
    given = dict.fromkeys(("relevance", "accuracy", "corpus_fidelity", "clarity"), 4)
    assert kept(page, address, qa_id)["scores"] == given
    more.get_by_role("button", name="Clear accuracy").click()
    expect_saved(page)
    accuracy = more.get_by_role("radiogroup", name="Accuracy")
    expect(accuracy.get_by_role("radio", checked=True)).to_have_count(0)
    expect(accuracy.get_by_label("1")).to_be_focused()
    expect(more.get_by_role("button", name="Clear accuracy")).to_be_hidden()
    assert kept(page, address, qa_id)["scores"] == given | {"accuracy": None}


def test_tags_are_chosen_written_and_taken_off(page: Page, address: str) -> None:
    qa_id = ask_for_id(page)
    more = rating(page)
    more.get_by_role("button", name="Out of date").click()
    more.get_by_label("Another tag").fill(" tide   tables ")
    page.keyboard.press("Enter")
    own = more.get_by_role("button", name="tide tables")
    expect(own).to_have_attribute("aria-pressed", "true")
    expect_saved(page)
    assert kept(page, address, qa_id)["tags"] == ["out_of_date", "tide tables"]
    more.get_by_role("button", name="Out of date").click()
    own.click()
    expect(own).to_have_attribute("aria-pressed", "false")
    expect_saved(page)
    more.get_by_label("Another tag").fill("tide tables")
    more.get_by_role("button", name="Add").click()
    expect(own).to_have_attribute("aria-pressed", "true")
    expect(own).to_have_count(1)
    expect_saved(page)
    assert kept(page, address, qa_id)["tags"] == ["tide tables"]


def test_a_comment_is_counted_and_saved_when_asked(page: Page, address: str) -> None:
    qa_id = ask_for_id(page)
    more = rating(page)
    comment = more.get_by_label("Comment")
    expect(comment).to_have_attribute("maxlength", "4000")
    comment.fill("Who pays\x07 the miller?\n")
    hint = more.get_by_text("of 4,000 characters")
    expect(hint).to_have_text("22 of 4,000 characters · not saved")
    more.get_by_role("button", name="Save comment").click()
    expect_saved(page)
    expect(hint).to_have_text("20 of 4,000 characters")  # without what is no text
    assert kept(page, address, qa_id)["comment"] == "Who pays the miller?"
    comment.fill("")
    expect(hint).to_have_text("0 of 4,000 characters · not saved")
    more.get_by_role("button", name="Helpful", exact=True).click()
    more.get_by_role("button", name="Save comment").click()
    expect(hint).to_have_text("0 of 4,000 characters")
    expect_saved(page)
    assert kept(page, address, qa_id)["comment"] is None


def test_single_passages_and_citations_are_voted_on(page: Page, address: str) -> None:
    qa_id = ask_for_id(page)
    answer = latest(page)
    source = answer.locator(".sources li").first
    passage_id = source.get_attribute("data-passage")
    source.get_by_role("button", name="Not relevant").click()
    cited = answer.get_by_role("list", name="Citations").get_by_role("listitem").first
    cited.get_by_role("button", name="Supports").click()
    expect_saved(page)
    state = kept(page, address, qa_id)
    assert state["passages"] == {passage_id: "irrelevant"}
    assert state["citations"] == {"1": "supports"}
    source.get_by_role("button", name="Relevant", exact=True).click()
    cited.get_by_role("button", name="Supports").click()
    expect_saved(page)
    state = kept(page, address, qa_id)
    assert (state["passages"], state["citations"]) == ({passage_id: "relevant"}, {})


def test_each_answer_of_a_conversation_has_a_rating_of_its_own(page: Page, address: str) -> None:
    first = ask_for_id(page)
    second = ask_for_id(page, "Who grinds the corn of the parish?")
    older = page.locator("article.answer").nth(1)
    older.get_by_role("button", name="Not helpful").click()
    expect(older.locator(".rating").get_by_role("status")).to_have_text("Saved")
    latest(page).get_by_role("button", name="Helpful", exact=True).click()
    expect_saved(page)
    assert kept(page, address, first)["thumb"] == "down"
    assert kept(page, address, second)["thumb"] == "up"
    # and the same reader has the same id when the page is opened again
    voter = page.evaluate(VOTER)
    page.reload()
    ask(page, QUESTION)
    latest(page).get_by_role("button", name="Helpful", exact=True).click()
    expect_saved(page)
    assert page.evaluate(VOTER) == voter


def test_one_request_at_a_time_and_later_changes_go_together(page: Page, address: str) -> None:
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
    more.get_by_role("radiogroup", name="Clarity").get_by_label("2").check()
    more.get_by_role("radiogroup", name="Clarity").get_by_label("3").check()
    expect(more.get_by_role("status")).to_have_text("Saving …")
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request))
    held[0].continue_()
    expect_saved(page)
    (later,) = (request for request in sent if request.url.endswith("/api/feedback"))
    said = {k: v for k, v in later.post_data_json.items() if k not in ("qa_id", "user_id")}
    assert said == {"thumb": "down", "scores": {"clarity": 3}}
    state = kept(page, address, qa_id)
    assert (state["thumb"], state["scores"]["clarity"]) == ("down", 3)


def test_nothing_is_lost_while_the_server_cannot_be_reached(page: Page, address: str) -> None:
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
    state = kept(page, address, qa_id)
    assert (state["thumb"], state["tags"]) == ("up", ["too_long"])


def test_an_answer_that_the_server_does_not_know_cannot_be_rated(page: Page) -> None:
    ask(page, QUESTION)

    def of_another(route: Route) -> None:
        route.continue_(post_data=route.request.post_data_json | {"qa_id": "never-given"})

    page.route(FEEDBACK, of_another)
    more = rating(page)
    up = more.get_by_role("button", name="Helpful", exact=True)
    up.click()
    expect(more.get_by_role("status")).to_have_text(
        "The server has not kept this answer, so it cannot be rated."
    )
    for button in (up, more.get_by_role("button", name="Too long")):
        expect(button).to_be_disabled()
    relevant = latest(page).locator(".sources").get_by_role("button", name="Not relevant").first
    expect(relevant).to_be_disabled()
    expect(more.get_by_role("radio").first).to_be_disabled()
    expect(more.get_by_label("Comment")).to_be_disabled()
