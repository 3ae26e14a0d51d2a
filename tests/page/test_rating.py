"""The page of `atlas eval rate`: several people rate the answers of a run, blind."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from atlas_search.evaluation.people import COHEN, Ratings, Scale, agreements
from tests.page.labelling import open_labels, rated, rating_server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
SCALES = [
    Scale(name="relevance", description="Does it speak to the question?"),
    Scale(name="accuracy", low=0, high=3),
]
GRADES = {"anna": {"q0": 5, "q1": 2, "q2": 4}, "ben": {"q0": 5, "q1": 2, "q2": 3}}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with rating_server(tmp_path, [rated(n) for n in range(3)], SCALES) as started:
        yield started


@pytest.fixture
def page(context: BrowserContext, address: str) -> Page:
    """The page of three answers, with nobody's name yet."""
    return open_labels(context, address)


def begin(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", level=2)).to_be_visible()


def shown(page: Page) -> str:
    """The id of the question that is shown."""
    return f"q{page.get_by_role('heading', level=2).inner_text().rstrip('?').split()[-1]}"


def test_two_raters_rate_three_answers_blind(
    context: BrowserContext, address: str, tmp_path: Path
) -> None:
    for name, grades in GRADES.items():
        page = open_labels(context, address)
        with page.expect_response("**/api/ratings?*") as response:
            begin(page, name)
        for secret in ("k10", "extractive", "sentences_hand", "eval-"):
            assert secret not in response.value.text()
        expect(page.locator("#answer")).to_contain_text("metres tall. [1]")
        expect(page.locator("#answer q")).to_have_text("Something.")
        page.get_by_role("button", name="Save and go on").click()
        expect(page.get_by_role("alert")).to_contain_text("Choose a number")
        for done in range(1, 4):
            grade = str(grades[shown(page)])
            page.get_by_role("group", name="relevance").get_by_label(grade, exact=True).check()
            page.get_by_role("button", name="Save and go on").click()
            expect(page.get_by_role("status")).to_contain_text(f"Saved. {done} of 3 rated.")
        expect(page.get_by_role("status")).to_contain_text("That is all")
        page.close()
    ratings = Ratings(tmp_path)
    assert {(r.rater, r.label_id): r.scores["relevance"] for r in ratings.all()} == {
        (name, id_): grade for name, grades in GRADES.items() for id_, grade in grades.items()
    }
    relevance, accuracy = agreements(ratings.all(), ratings.scales())
    # of three answers they agree on two; by chance on 5-5 and 2-2: 2 times 1/3 * 1/3
    assert relevance.coefficients[COHEN] == pytest.approx((2 / 3 - 2 / 9) / (1 - 2 / 9))
    assert (relevance.items, accuracy.items) == (3, 0)


def test_half_a_thought_is_found_again_and_single_keys_can_be_switched_off(page: Page) -> None:
    begin(page, "anna")
    page.keyboard.press("j")
    expect(page.get_by_role("group", name="relevance")).to_be_focused()
    page.keyboard.press("4")
    page.keyboard.press("s")
    expect(page.get_by_role("status")).to_contain_text("1 of 3 rated")
    half, comment = shown(page), page.get_by_label("Comment")
    comment.fill("Half a thought")
    page.reload()
    expect(comment).to_have_value("Half a thought")
    assert shown(page) == half
    commands = page.get_by_label("Single keys are commands")
    commands.uncheck()
    page.keyboard.press("n")
    page.reload()
    expect(commands).not_to_be_checked()
    assert shown(page) == half
    page.get_by_role("button", name="Previous answer").click()
    grade = page.get_by_role("group", name="relevance").get_by_label("4", exact=True)
    expect(grade).to_be_checked()
    commands.check()
    page.keyboard.press("n")
    assert shown(page) == half


def test_what_was_rated_on_other_scales_stays_and_is_rated_on_the_new_ones(
    context: BrowserContext, tmp_path: Path
) -> None:
    answers = [rated(0)]
    for scale, grade in (("relevance", 4), ("clarity", 2)):
        scales = [Scale(name=scale)]
        with rating_server(tmp_path, answers, scales) as address:
            page = open_labels(context, address)
            begin(page, "anna")
            expect(page.get_by_role("status")).to_have_text("0 of 1 rated.")
            page.get_by_role("group", name=scale).get_by_label(str(grade)).check()
            page.get_by_role("button", name="Save and go on").click()
            expect(page.get_by_role("status")).to_contain_text("1 of 1 rated. That is all")
    [rating] = Ratings(tmp_path).all()
    assert rating.scores == {"relevance": 4, "clarity": 2}


def test_scales_whose_names_differ_in_signs_alone_are_rated_apart(
    context: BrowserContext, tmp_path: Path
) -> None:
    scales = [Scale(name="tone: a", high=10), Scale(name="tone- a")]
    with rating_server(tmp_path, [rated(0)], scales) as address:
        page = open_labels(context, address)
        begin(page, "anna")
        page.get_by_role("group", name="tone- a").get_by_label("5").check()
        page.keyboard.press("k")
        page.keyboard.press("0")  # 10, where there is no 0
        page.keyboard.press("s")
        expect(page.get_by_role("status")).to_contain_text("1 of 1 rated")
    [rating] = Ratings(tmp_path).all()
    assert rating.scores == {"tone: a": 10, "tone- a": 5}


def test_a_link_opens_the_own_answers_with_a_rubric_and_reasons(
    context: BrowserContext, tmp_path: Path
) -> None:
    meanings = ("None supports it.", "Some do.", "All do.")
    scales = [Scale(name="citation quality", high=3, meanings=meanings), SCALES[0]]
    shares = {"anna": ["q0", "q2"], "ben": ["q1"]}
    with rating_server(tmp_path, [rated(n) for n in range(3)], scales, shares) as address:
        page = open_labels(context, address, key="anna")
        expect(page.locator("#served")).to_have_text("rated by anna")
        expect(page.get_by_role("status")).to_have_text("0 of 2 rated.")
        expect(page.get_by_role("button", name="Another rater")).to_be_hidden()
        first = shown(page)
        page.get_by_role("group", name="citation quality").get_by_label("2Some do.").check()
        page.get_by_label("Why (citation quality)").fill("The second quote is of another light.")
        page.get_by_role("button", name="Save and go on").click()
        expect(page.get_by_role("status")).to_contain_text("Saved. 1 of 2 rated.")
        expect(page.get_by_label("Why (citation quality)")).to_have_value("")
        page.get_by_role("button", name="Previous answer").click()
        assert shown(page) == first
        reason = page.get_by_label("Why (citation quality)")
        expect(reason).to_have_value("The second quote is of another light.")
        if folder := os.environ.get("PICTURES"):
            page.screenshot(path=f"{folder}/rating.png", full_page=True)
    [rating] = Ratings(tmp_path).all()
    assert (rating.rater, rating.scores) == ("anna", {"citation quality": 2})
    assert rating.rationales["citation quality"] == "The second quote is of another light."


def test_who_saves_twice_or_goes_on_while_it_is_saved_loses_nothing(
    page: Page, tmp_path: Path
) -> None:
    begin(page, "anna")
    first = shown(page)
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "PUT":
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/rating", hold)
    page.get_by_role("group", name="relevance").get_by_label("4", exact=True).check()
    with page.expect_request("**/api/rating"):
        page.keyboard.press("s")
    page.keyboard.press("s")
    page.get_by_role("button", name="Next answer").click()
    second = shown(page)
    page.get_by_label("Comment").fill("Half a thought")
    [sent] = held
    sent.continue_()
    expect(page.get_by_role("status")).to_contain_text("Saved. 1 of 3 rated")
    assert shown(page) == second
    expect(page.get_by_label("Comment")).to_have_value("Half a thought")
    page.reload()
    expect(page.get_by_label("Comment")).to_have_value("Half a thought")
    [rating] = Ratings(tmp_path).all()
    assert rating.label_id == first
