"""The page of `atlas eval label`: questions are judged, saved and edited, and nothing is lost."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from atlas_search.atlas import Atlas
from atlas_search.cli.evaluate_judge import redirection
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.people import LabelFile
from tests.page.labelling import KEY, label_server, load_labels_page, open_labels, search
from tests.page.watching import expect_faults
from tests.server.two_corpora import QUESTION

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
ANSWERS = "3 answers"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "labels.jsonl"


@pytest.fixture
def address(parish: Atlas, file: Path) -> Iterator[str]:
    with label_server(parish, file) as started:
        yield started


@pytest.fixture
def page(context: BrowserContext, address: str) -> Page:
    return open_labels(context, address)


def judge(page: Page, question: str = QUESTION) -> None:
    """Search, and grade the first passage."""
    search(page, question).first.get_by_label(ANSWERS).check()


def first_grade(page: Page) -> Locator:
    return page.locator("article.judged").first.get_by_label(ANSWERS)


def edit(page: Page) -> None:
    page.get_by_role("button", name=f"Edit: {QUESTION}").click()
    expect(page.get_by_label("Question")).to_have_value(QUESTION)


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Saved")


def test_a_question_is_labelled_by_keyboard_alone(page: Page, file: Path, parish: Atlas) -> None:
    page.get_by_label("Question").focus()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Control+Enter")
    passages = page.locator("article.judged")
    expect(passages.nth(1)).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    expect(passages.nth(0)).to_be_focused()
    page.keyboard.press("0")
    page.keyboard.press("j")
    expect(passages.nth(1)).to_be_focused()
    page.keyboard.press("3")
    page.keyboard.press("w")
    field = passages.nth(1).get_by_role("textbox", name="Words of")
    expect(field).to_be_focused()
    page.keyboard.type("sn3")  # neither written nor taken for commands
    for _ in range(3):
        page.keyboard.press("Control+Shift+ArrowRight")
    page.keyboard.press("Enter")
    expect(passages.nth(1)).to_be_focused()
    marked = passages.nth(1).locator("mark").inner_text()
    assert len(marked.split()) == 3
    page.keyboard.press("k")
    expect(passages.nth(0)).to_be_focused()
    page.keyboard.press("s")
    expect(page.get_by_role("status")).to_contain_text("Saved")

    label = LabelFile(file).saved()[0].label
    assert sorted(label.grades.values()) == [0, 3, 3]
    [span] = label.gold_spans
    assert parish.document(span.document_id).text[span.start : span.end] == marked


def test_a_label_is_edited_after_a_reload_and_deleted(page: Page, file: Path) -> None:
    passages = search(page, QUESTION)
    passages.first.get_by_label(ANSWERS).check()
    save(page)
    [before] = load_labels(file)
    page.reload()
    edit(page)
    first = page.locator(f'[data-passage="{next(iter(before.gold_passage_ids))}"]')
    expect(first.get_by_label(ANSWERS)).to_be_checked()
    first.get_by_label("1 related").check()
    page.get_by_label("Split").select_option("dev")
    save(page)
    [after] = load_labels(file)
    assert (after.id, after.split) == (before.id, "dev")
    assert set(after.grades.values()) == {1}

    page.get_by_role("button", name=f"Delete: {QUESTION}").click()
    assert load_labels(file) == [after]
    page.get_by_role("button", name=f"Delete for good: {QUESTION}").dblclick()
    expect(page.get_by_role("status")).to_have_text("Deleted.")
    expect(page.get_by_role("alert")).to_be_hidden()
    assert LabelFile(file).saved() == []


def test_who_saves_twice_saves_what_is_newer_and_is_told_of_no_conflict(
    page: Page, file: Path
) -> None:
    judge(page)
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/api/label", hold_first)
    with page.expect_request("**/api/label"):
        page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_label("Category").fill("upkeep")
    page.get_by_role("button", name="Save", exact=True).click()
    with page.expect_response(lambda r: "upkeep" in (r.request.post_data or "")):
        held[0].continue_()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    expect(page.get_by_role("alert")).to_be_hidden()
    assert [label.category for label in load_labels(file)] == ["upkeep"]


def test_other_words_add_passages_to_judge(page: Page) -> None:
    page.route("**/api/search", only_one)
    passages = search(page, QUESTION)
    expect(passages).to_have_count(1)
    page.get_by_label("Search also for").fill("The miller grinds corn in autumn")
    page.get_by_role("button", name="Add passages").click()
    expect(passages).to_have_count(2)
    expect(page.get_by_role("status")).to_have_text("1 more passage.")


def only_one(route: Route) -> None:
    """Ask for a single passage, as a large collection leaves out most."""
    body = {**route.request.post_data_json, "k": 1}
    route.continue_(post_data=json.dumps(body))


def test_a_draft_is_there_again_after_a_reload_and_in_another_tab(
    context: BrowserContext, page: Page, address: str, file: Path
) -> None:
    judge(page)
    page.reload()
    expect(page.get_by_label("Question")).to_have_value(QUESTION)
    expect(first_grade(page)).to_be_checked()
    page.close()
    again = open_labels(context, address)
    again.get_by_role("button", name=f"Go on: {QUESTION}").click()
    expect(first_grade(again)).to_be_checked()
    save(again)
    assert len(load_labels(file)) == 1
    expect(again.get_by_role("button", name="Go on")).to_have_count(0)


def test_what_is_not_saved_of_a_saved_label_is_not_thrown_away_by_editing_it(
    page: Page, file: Path
) -> None:
    judge(page)
    save(page)
    page.get_by_label("Category").fill("upkeep")
    page.get_by_role("button", name="New label").click()
    expect(page.get_by_label("Question")).to_have_value("")
    edit(page)
    expect(page.get_by_label("Category")).to_have_value("upkeep")
    expect(first_grade(page)).to_be_checked()
    save(page)
    assert [label.category for label in load_labels(file)] == ["upkeep"]


def test_a_browser_that_keeps_nothing_says_so_and_still_saves(
    context: BrowserContext, address: str, file: Path
) -> None:
    script = """const kept = Storage.prototype.setItem;
        Storage.prototype.setItem = function (name, value) {
          if (this === localStorage) throw new DOMException("full", "QuotaExceededError");
          kept.call(this, name, value);
        };"""
    page = open_labels(context, address, script)
    judge(page)
    page.get_by_label("Category").fill("upkeep")
    expect(page.get_by_role("status")).to_contain_text("keeps no draft")
    save(page)
    assert len(load_labels(file)) == 1


def saved_in_two_tabs(context: BrowserContext, address: str) -> tuple[Page, Page]:
    """Two tabs with one label, saved by the first."""
    one = open_labels(context, address)
    judge(one)
    save(one)
    other = open_labels(context, address)
    edit(other)
    return one, other


def test_two_tabs_that_save_the_same_label_lose_nothing_unasked(
    context: BrowserContext, address: str, file: Path
) -> None:
    one, other = saved_in_two_tabs(context, address)
    other.get_by_label("Category").fill("of the other")
    save(other)
    one.get_by_label("Category").fill("of the first")
    one.get_by_role("button", name="Save", exact=True).click()
    expect(one.get_by_role("alert")).to_contain_text("changed in the file meanwhile")
    assert load_labels(file)[0].category == "of the other"
    one.get_by_role("button", name="Save mine instead").click()
    expect(one.get_by_role("status")).to_contain_text("Saved")
    assert [label.category for label in load_labels(file)] == ["of the first"]


def test_a_tab_that_saves_leaves_the_draft_of_another(
    context: BrowserContext, address: str, file: Path
) -> None:
    one, other = saved_in_two_tabs(context, address)
    held: list[Route] = []
    one.route("**/api/label", lambda route: held.append(route))
    with one.expect_request("**/api/label"):
        one.get_by_role("button", name="Save", exact=True).click()
    other.get_by_label("Category").fill("of the other")
    with one.expect_response("**/api/labels"):  # which it asks for once it has saved
        held[0].continue_()
    expect(one.get_by_role("status")).to_contain_text("Saved")
    other.close()
    again = open_labels(context, address)
    again.get_by_role("button", name=f"Go on: {QUESTION}").click()
    expect(again.get_by_label("Category")).to_have_value("of the other")


def test_without_the_labels_nothing_is_written_until_they_are_there(
    context: BrowserContext, address: str, file: Path
) -> None:
    context.route("**/api/labels", lambda route: route.abort(), times=1)
    page = load_labels_page(context, address)
    expect_faults(page, "lost: net::ERR_FAILED .*/api/labels")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    page.keyboard.press("n")
    expect(page.locator("#label-form")).to_have_attribute("inert", "")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_be_hidden()
    judge(page)
    save(page)
    assert len(load_labels(file)) == 1


def test_words_are_selected_and_let_go_of_without_single_keys(page: Page) -> None:
    passage = search(page, QUESTION).first
    page.get_by_label("Single keys are commands").uncheck()
    passage.get_by_role("button", name="by keyboard").click()
    expect(passage.get_by_role("textbox", name="Words of")).to_be_focused()
    page.keyboard.press("Control+Shift+ArrowRight")
    page.keyboard.press("Enter")
    expect(passage.get_by_label(ANSWERS)).to_be_checked()
    # the button that is pressed is gone: the focus stays at its passage
    passage.get_by_role("button", name="Remove:").press("Enter")
    expect(passage).to_be_focused()
    passage.get_by_role("button", name="Clear the grade").press("Enter")
    expect(passage).to_be_focused()


def test_the_page_opens_by_a_file_that_only_its_user_can_read_or_asks_for_the_key(
    tab: Page, address: str, file: Path
) -> None:
    tab.goto(address)
    dialog = tab.get_by_role("dialog", name="The key of this page")
    dialog.get_by_label("Key").fill(KEY)
    dialog.get_by_role("button", name="Go on").click()
    expect(tab.locator("#served")).to_contain_text(file.name)
    tab.evaluate("sessionStorage.clear()")
    with redirection(f"{address}/#key={KEY}") as opened:
        assert opened.stat().st_mode & 0o777 == 0o600
        tab.goto(opened.as_uri())
        expect(tab.locator("#served")).to_contain_text(file.name)
    assert not opened.exists()
    assert KEY not in tab.url


def test_two_tabs_that_save_two_labels_save_both(
    context: BrowserContext, address: str, file: Path
) -> None:
    tabs = [open_labels(context, address) for _ in range(2)]
    for number, tab in enumerate(tabs):
        judge(tab, f"{QUESTION} {number}")
    for tab in tabs:
        save(tab)
    assert len(load_labels(file)) == 2


def test_a_label_that_says_nothing_is_not_saved(page: Page, file: Path) -> None:
    search(page, "Who paints the weathercock?")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("say whether the collection answers")
    assert not file.exists()
    page.get_by_role("radio", name="No", exact=True).check()
    save(page)
    [label] = load_labels(file)
    assert (label.answerable, label.should_answer, label.category) == (False, False, "unanswerable")
