"""The page of `atlas eval label`: questions are asked, judged, saved and edited."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from atlas_search import Atlas
from atlas_search.cli.evaluate_judge import redirection
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.people import LabelFile
from tests.access.two_corpora import QUESTION, two_corpora
from tests.hash_embedder import HashEmbedder
from tests.page.labelling import (
    KEY,
    label_server,
    load_page,
    open_page,
    search,
    select_words,
)
from tests.page.watching import expect_faults, watched

WORDS = "The parish keeps the granite bridge"


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Iterator[Atlas]:
    with two_corpora(tmp_path_factory.mktemp("parish"), HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "labels.jsonl"


@pytest.fixture
def address(atlas: Atlas, file: Path) -> Iterator[str]:
    with label_server(atlas, file) as started:
        yield started


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with watched(browser) as opened:
        yield opened


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Saved")


def test_a_question_is_labelled_with_the_mouse(
    context: BrowserContext, address: str, file: Path, atlas: Atlas
) -> None:
    page = open_page(context, address)
    bridge = search(page, QUESTION).filter(has_text=WORDS).first
    bridge.get_by_label("2 answers in part").check()
    select_words(bridge, WORDS)
    bridge.get_by_role("button", name="Mark selected words").click()
    expect(bridge.locator("mark")).to_have_text(WORDS)
    page.get_by_role("group", name="Reference answers").get_by_label("Answer").fill("The parish.")
    page.get_by_role("button", name="Another one").click()
    page.get_by_label("Answer 2").fill("The people of the parish.")
    page.get_by_label("Category").fill("upkeep")
    save(page)

    [label] = load_labels(file)
    assert label.question == QUESTION
    assert label.answers == ("The parish.", "The people of the parish.")
    assert (label.category, label.split, label.answerable) == ("upkeep", "test", True)
    assert label.gold_document_ids == {"meadow.bridge"}
    [passage_id] = label.gold_passage_ids
    assert label.grades == {"meadow.bridge": 2, passage_id: 2}
    [span] = label.gold_spans
    assert atlas.document(span.document_id).text[span.start : span.end] == WORDS


def test_a_question_is_labelled_by_keyboard_alone(
    context: BrowserContext, address: str, file: Path, atlas: Atlas
) -> None:
    page = open_page(context, address)
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
    assert atlas.document(span.document_id).text[span.start : span.end] == marked


def test_a_label_is_edited_after_a_reload_and_deleted(
    context: BrowserContext, address: str, file: Path
) -> None:
    page = open_page(context, address)
    passages = search(page, QUESTION)
    passages.first.get_by_label("3 answers").check()
    save(page)
    [before] = load_labels(file)
    page.reload()
    page.get_by_role("button", name=f"Edit: {QUESTION}").click()
    first = page.locator(f'[data-passage="{next(iter(before.gold_passage_ids))}"]')
    expect(first.get_by_label("3 answers")).to_be_checked()
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
    context: BrowserContext, address: str, file: Path
) -> None:
    page = open_page(context, address)
    search(page, QUESTION).first.get_by_label("3 answers").check()
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


def test_other_words_add_passages_to_judge(
    context: BrowserContext, address: str, file: Path
) -> None:
    page = open_page(context, address)
    page.route("**/api/search", only_one)
    found = search(page, QUESTION)
    expect(found).to_have_count(1)
    page.get_by_label("Search also for").fill("The miller grinds corn in autumn")
    page.get_by_role("button", name="Add passages").click()
    expect(found).to_have_count(2)
    expect(page.get_by_role("status")).to_have_text("1 more passage.")


def only_one(route) -> None:
    """Ask for a single passage, as a large collection leaves out most."""
    body = {**route.request.post_data_json, "k": 1}
    route.continue_(post_data=json.dumps(body))


def test_what_is_not_saved_is_there_again_when_the_browser_was_closed(
    browser: Browser, address: str, file: Path
) -> None:
    with watched(browser) as first:
        page = open_page(first, address)
        search(page, QUESTION).first.get_by_label("3 answers").check()
        page.reload()
        expect(page.get_by_label("Question")).to_have_value(QUESTION)
        expect(page.locator("article.judged").first.get_by_label("3 answers")).to_be_checked()
        page.close()
        again = open_page(first, address)
        again.get_by_role("button", name=f"Go on: {QUESTION}").click()
        expect(again.locator("article.judged").first.get_by_label("3 answers")).to_be_checked()
        save(again)
        assert len(load_labels(file)) == 1
        expect(again.get_by_role("button", name="Go on")).to_have_count(0)


def test_what_is_not_saved_of_a_saved_label_is_not_thrown_away_by_editing_it(
    context: BrowserContext, address: str, file: Path
) -> None:
    page = open_page(context, address)
    search(page, QUESTION).first.get_by_label("3 answers").check()
    save(page)
    page.get_by_label("Category").fill("upkeep")
    page.get_by_role("button", name="New label").click()
    expect(page.get_by_label("Question")).to_have_value("")
    page.get_by_role("button", name=f"Edit: {QUESTION}").click()
    expect(page.get_by_label("Category")).to_have_value("upkeep")
    expect(page.locator("article.judged").first.get_by_label("3 answers")).to_be_checked()
    save(page)
    assert [label.category for label in load_labels(file)] == ["upkeep"]


def test_a_browser_that_keeps_nothing_says_so_and_still_saves(
    context: BrowserContext, address: str, file: Path
) -> None:
    full = """const kept = Storage.prototype.setItem;
        Storage.prototype.setItem = function (name, value) {
          if (this === localStorage) throw new DOMException("full", "QuotaExceededError");
          kept.call(this, name, value);
        };"""
    page = open_page(context, address, full)
    search(page, QUESTION).first.get_by_label("3 answers").check()
    page.get_by_label("Category").fill("upkeep")
    expect(page.get_by_role("status")).to_contain_text("keeps no draft")
    save(page)
    assert len(load_labels(file)) == 1


def test_two_tabs_that_save_the_same_label_lose_nothing_unasked(
    context: BrowserContext, address: str, file: Path
) -> None:
    one = open_page(context, address)
    search(one, QUESTION).first.get_by_label("3 answers").check()
    save(one)
    other = open_page(context, address)
    other.get_by_role("button", name=f"Edit: {QUESTION}").click()
    expect(other.get_by_label("Question")).to_have_value(QUESTION)
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
    one = open_page(context, address)
    search(one, QUESTION).first.get_by_label("3 answers").check()
    save(one)
    other = open_page(context, address)
    other.get_by_role("button", name=f"Edit: {QUESTION}").click()
    expect(other.get_by_label("Question")).to_have_value(QUESTION)
    held: list[Route] = []
    one.route("**/api/label", lambda route: held.append(route))
    with one.expect_request("**/api/label"):
        one.get_by_role("button", name="Save", exact=True).click()
    other.get_by_label("Category").fill("of the other")
    with one.expect_response("**/api/labels"):  # which it asks for once it has saved
        held[0].continue_()
    expect(one.get_by_role("status")).to_contain_text("Saved")
    other.close()
    again = open_page(context, address)
    again.get_by_role("button", name=f"Go on: {QUESTION}").click()
    expect(again.get_by_label("Category")).to_have_value("of the other")


def test_without_the_labels_nothing_is_written_until_they_are_there(
    context: BrowserContext, address: str, file: Path
) -> None:
    context.route("**/api/labels", lambda route: route.abort(), times=1)
    page = load_page(context, address)
    expect_faults(page, "lost: net::ERR_FAILED .*/api/labels")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    page.keyboard.press("n")
    expect(page.locator("#label-form")).to_have_attribute("inert", "")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_be_hidden()
    search(page, QUESTION).first.get_by_label("3 answers").check()
    save(page)
    assert len(load_labels(file)) == 1


def test_words_are_selected_and_let_go_of_without_single_keys(
    context: BrowserContext, address: str
) -> None:
    page = open_page(context, address)
    passage = search(page, QUESTION).first
    page.get_by_label("Single keys are commands").uncheck()
    passage.get_by_role("button", name="by keyboard").click()
    expect(passage.get_by_role("textbox", name="Words of")).to_be_focused()
    page.keyboard.press("Control+Shift+ArrowRight")
    page.keyboard.press("Enter")
    expect(passage.get_by_label("3 answers")).to_be_checked()
    # the button that is pressed is gone: the focus stays at its passage
    passage.get_by_role("button", name="Remove:").press("Enter")
    expect(passage).to_be_focused()
    passage.get_by_role("button", name="Clear the grade").press("Enter")
    expect(passage).to_be_focused()


def test_the_page_opens_by_a_file_that_only_its_user_can_read(
    context: BrowserContext, address: str, file: Path
) -> None:
    page = context.new_page()
    with redirection(f"{address}/#key={KEY}") as opened:
        assert opened.stat().st_mode & 0o777 == 0o600
        page.goto(opened.as_uri())
        expect(page.locator("#served")).to_contain_text(file.name)
    assert not opened.exists()
    assert KEY not in page.url


def test_two_tabs_that_save_two_labels_save_both(
    context: BrowserContext, address: str, file: Path
) -> None:
    tabs = [open_page(context, address) for _ in range(2)]
    for number, tab in enumerate(tabs):
        search(tab, f"{QUESTION} {number}").first.get_by_label("3 answers").check()
    for tab in tabs:
        save(tab)
    assert len(load_labels(file)) == 2


def test_a_label_that_says_nothing_is_not_saved(
    context: BrowserContext, address: str, file: Path
) -> None:
    page = open_page(context, address)
    search(page, "Who paints the weathercock?")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("say whether the collection answers")
    assert not file.exists()
    page.get_by_role("radio", name="No", exact=True).check()
    save(page)
    [label] = load_labels(file)
    assert (label.answerable, label.should_answer, label.category) == (False, False, "unanswerable")


def test_without_the_key_the_page_asks_for_it(
    context: BrowserContext, address: str, file: Path
) -> None:
    page = context.new_page()
    page.goto(address)
    dialog = page.get_by_role("dialog", name="The key of this page")
    dialog.get_by_label("Key").fill(KEY)
    dialog.get_by_role("button", name="Go on").click()
    expect(page.locator("#served")).to_contain_text(file.name)


def test_it_fits_a_narrow_screen_and_every_control_has_a_name(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    with watched(browser, viewport={"width": 400, "height": 800}) as context:
        page = open_page(context, address)
        search(page, QUESTION)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 400
        for control in page.locator("button, input, select, textarea").all():
            if control.is_visible():
                assert control.evaluate(
                    "node => (node.getAttribute('aria-label') ?? node.textContent.trim()) !== ''"
                    " || node.labels?.length > 0"
                ), control.evaluate("node => node.outerHTML")
