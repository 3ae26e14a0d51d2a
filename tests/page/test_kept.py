"""All that a reader takes along: copies in a style, notes, the reading list with a bibliography and
Zotero, exports, links that restore a question or show its answer; and the page on paper."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.asking import (
    QUESTION,
    WIDE,
    ask,
    best_passage,
    chips,
    choose_target,
    clipboard,
    compare,
    finished,
    latest,
    narrow,
    open_citation,
    open_view,
    request_body,
    settings,
    take_home,
)
from tests.page.watching import expect_faults
from tests.servers import wait_for
from tests.zotero_server import ZoteroServer

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
TITLE = "Derbyshire County Council v Times Newspapers"
DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


def clipboard_with(page: Page, start: str, part: str = "") -> str:
    """The copy, as soon as it begins and holds so."""

    def copy() -> str | None:
        text = clipboard(page)
        return text if text.startswith(start) and part in text else None

    return wait_for(copy, 60, f"a copy that begins with {start!r} and holds {part!r}")


def citation_menu(page: Page) -> Locator:
    """The opened menu of the first citation."""
    sources = latest(page).locator(".sources")
    if sources.locator(".dots").first.is_visible():  # in a narrow window
        sources.locator(".dots").first.click()
    menu = sources.locator(".keep-menu").first
    menu.locator("summary").click()
    return menu


def write_note(page: Page, text: str, tags: str = "") -> Locator:
    """Keep a note on the first citation; its menu."""
    menu = citation_menu(page)
    menu.get_by_role("button", name="Add a note").click()
    dialog = page.get_by_role("dialog", name="New note")
    dialog.get_by_label("Note", exact=True).fill(text)
    dialog.get_by_label("Tags").fill(tags)
    dialog.get_by_role("button", name="Save").click()
    expect(menu.get_by_role("status")).to_have_text("The note is kept.")
    return menu


def test_an_answer_is_copied_as_text_and_as_html(page: Page) -> None:
    ask(page)
    tools = take_home(page)
    tools.get_by_label("Style").select_option("mla")
    tools.get_by_role("button", name="Copy with citations").click()
    clipboard_with(page, "Derbyshire", f"({TITLE})")
    html = page.evaluate(
        "navigator.clipboard.read().then(([item]) => item.getType('text/html'))"
        ".then(found => found.text())"
    )
    assert f"<i>{TITLE}</i>" in html


def test_a_quotation_and_its_reference_are_copied(page: Page) -> None:
    ask(page)
    menu = citation_menu(page)
    menu.get_by_role("button", name="Copy quotation").click()
    expect(menu.get_by_role("status")).to_have_text("Copied.")
    words, _, reference = clipboard(page).partition("\n\n")
    assert words.startswith("“")
    assert reference.startswith(TITLE)
    menu.get_by_role("button", name="Copy reference").click()
    assert clipboard_with(page, "Derbyshire") == reference


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desktop", "phone"])
def test_a_note_is_found_changed_and_deleted(page: Page, size: dict[str, int]) -> None:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    ask(page)
    write_note(page, "Compare Élan", "libel, councils")
    view = open_view(page, "Kept")
    notes = view.locator(".kept-list > li")
    first = notes.first
    expect(first).to_contain_text("Compare Élan")
    expect(first).to_contain_text("Legal UK · February 18, 1993")
    page.reload()
    expect(first.locator(".tag")).to_have_text(["libel", "councils"])
    view.get_by_label("Search notes").fill("elan COUNCIL")
    expect(notes).to_have_count(1)
    view.get_by_label("Search notes").fill("submarine")
    expect(view.get_by_role("status").first).to_have_text("0 notes")
    view.get_by_label("Search notes").fill("")
    view.get_by_role("button", name="Edit:").click()
    dialog = page.get_by_role("dialog", name="Edit note")
    dialog.get_by_label("Note", exact=True).fill("Changed")
    dialog.get_by_role("button", name="Save").click()
    expect(first.locator(".note-text")).to_have_text("Changed")
    first.get_by_role("button", name="Derbyshire").first.click()
    expect(page.locator("#reader mark").first).to_be_visible()
    page.keyboard.press("Escape")
    view.get_by_role("button", name="Delete:").click()
    expect(notes).to_have_count(0)
    view.get_by_role("button", name="Undo").click()
    expect(first.locator(".note-text")).to_have_text("Changed")
    assert page.evaluate(WIDE) <= 0


def test_exported_notes_are_brought_back(page: Page, tmp_path: Path) -> None:
    ask(page)
    write_note(page, "=1+1 <b>", "law")
    view, saved = open_view(page, "Kept"), tmp_path / "notes.json"
    view.get_by_text("Export notes").click()
    with page.expect_download() as started:
        view.get_by_role("button", name="JSON", exact=True).click()
    started.value.save_as(saved)
    view.get_by_role("button", name="Delete:").click()
    expect(view.locator(".kept-list > li")).to_have_count(0)
    view.locator("input[type=file]").set_input_files(saved)
    expect(view.get_by_text("1 record was brought back.")).to_be_visible()
    expect(view.locator(".note-text")).to_have_text("=1+1 <b>")


@pytest.mark.parametrize(
    "content", ["no json", "[]", '{"atlas_kept": 1, "notes": [{"id": "a"}], "readings": []}']
)
def test_another_file_is_refused_with_reason(page: Page, tmp_path: Path, content: str) -> None:
    other, view = tmp_path / "other.json", open_view(page, "Kept")
    other.write_text(content)
    view.locator("input[type=file]").set_input_files(other)
    expect(view.get_by_text("This is no file of notes.")).to_be_visible()


def test_a_note_is_written_by_keyboard_alone(page: Page) -> None:
    ask(page)
    add = citation_menu(page).get_by_role("button", name="Add a note")
    field = page.get_by_label("Note", exact=True)
    add.press("Enter")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(add).to_be_focused()
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    page.keyboard.type("By keyboard")
    page.get_by_role("button", name="Save").press("Enter")
    expect(open_view(page, "Kept").locator(".note-text")).to_have_text("By keyboard")


def test_words_selected_in_a_document_are_noted_on_with_their_place(page: Page) -> None:
    ask(page)
    mark = open_citation(page)
    mark.evaluate("node => getSelection().selectAllChildren(node)")
    words = mark.inner_text()
    page.get_by_role("button", name="Add a note").last.click()
    dialog = page.get_by_role("dialog", name="New note")
    expect(dialog.locator("blockquote")).to_have_text(words)
    dialog.get_by_label("Note", exact=True).fill("From the text")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("#page-told")).to_have_text("The note is kept.")
    view = open_view(page, "Kept")
    expect(view.locator(".kept-list blockquote")).to_have_text(words)
    view.get_by_role("button", name=TITLE, exact=True).click()
    expect(mark).to_have_text(words)


def test_a_note_that_a_browser_has_no_room_for_can_be_downloaded(page: Page) -> None:
    ask(page)
    page.evaluate(
        "() => { IDBObjectStore.prototype.put = () => {"
        " throw new DOMException('', 'QuotaExceededError'); }; }"
    )
    menu = citation_menu(page)
    menu.get_by_role("button", name="Add to reading list").click()
    expect(menu.get_by_role("status")).to_have_text("This browser has no room left to keep this.")
    menu.get_by_role("button", name="Add a note").click()
    dialog = page.get_by_role("dialog", name="New note")
    dialog.get_by_label("Note", exact=True).fill("Precious")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("no room left")
    with page.expect_download() as started:
        dialog.get_by_role("button", name="Download it instead").click()
    assert "Precious" in started.value.path().read_text()


def test_a_citation_becomes_a_bibliography_and_an_item_of_zotero(
    page: Page, zotero: ZoteroServer
) -> None:
    expect_faults(page, "answered: 50. .*zotero")
    item = ask(page).locator(".sources li[data-passage]").first
    item.locator(".keep-menu summary").click()
    for _ in range(2):
        item.get_by_role("button", name="Add to reading list").click()
        expect(item.locator(".outcome")).to_have_text("It is on the reading list.")
    view = open_view(page, "Kept").get_by_role("region", name="Reading list")
    expect(view.get_by_role("button", name=TITLE, exact=True)).to_have_count(1)
    view.get_by_text("Export list").click()
    for name, content in (("BibTeX", "@misc{legal_uk.derbyshire"), ("RIS", "TY  - CASE")):
        with page.expect_download() as started:
            view.get_by_role("button", name=name).click()
        assert content in started.value.path().read_text()
    view.get_by_role("button", name="Send to Zotero").click()
    expect(view.get_by_text("Zotero has 1 item more.")).to_be_visible()
    assert [item["caseName"] for item in zotero.items] == [TITLE]
    zotero.editable = False
    view.get_by_role("button", name="Send to Zotero").click()
    expect(view.get_by_text("Choose another in Zotero.")).to_be_visible()
    view.get_by_role("button", name=f"Remove: {TITLE}").click()
    expect(view.get_by_text("Nothing is on the list yet.")).to_be_visible()


def test_an_answer_and_a_conversation_can_be_taken_home(page: Page) -> None:
    ask(page)
    own = take_home(page).locator("details.export")
    own.locator("summary").click()
    with page.expect_download() as markdown:
        own.get_by_role("button", name="Markdown").click()
    assert markdown.value.suggested_filename.endswith(".md")
    assert markdown.value.path().read_text().startswith(f"# {QUESTION}")
    with page.expect_download() as bundle:
        own.get_by_role("button", name="Run bundle").click()
    assert QUESTION in bundle.value.path().read_text()
    ask(page, "Is abortion lawful up to 20 weeks in New Zealand?")
    conversation = page.locator("#export-conversation")
    conversation.locator("summary").click()
    with page.expect_download() as both:
        conversation.get_by_role("button", name="JSON", exact=True).click()
    assert len(json.loads(both.value.path().read_text())["answers"]) == 2


def test_on_paper_stand_answer_and_addresses_and_no_controls(page: Page) -> None:
    answer = ask(page)
    page.emulate_media(media="print")
    expect(answer.locator(".answer-text")).to_be_visible()
    expect(page.locator("#ask-form")).to_be_hidden()
    for controls in (".copying", ".rating", ".keep-menu", ".sources .tools", ".export"):
        expect(answer.locator(controls).first).to_be_hidden()
    expect(answer.locator(".sources mark").first).to_be_visible()
    address = answer.locator(".sources a").first
    content = address.evaluate("link => getComputedStyle(link, '::after').content")
    assert "attr(href)" in content or "bailii.org" in content


def test_a_link_to_a_passage_opens_it_in_its_document(page: Page, server: str) -> None:
    passage = best_passage(server)
    link = f"{server}/?passage={quote(passage['passage_id'], safe='')}"
    page.goto(link)
    mark = page.locator("#reader mark").first
    expect(mark).to_be_in_viewport()
    assert mark.inner_text() in passage["text"]
    own = page.get_by_role("link", name="Link to this passage")
    expect(own).to_have_attribute("href", link)


@pytest.mark.parametrize("name", ["Copy link to the question", "Copy link to this answer"])
def test_a_link_restores_the_whole_form_and_asks_on_a_click_alone(page: Page, name: str) -> None:
    narrow(
        page,
        filters={"court": ["House of Lords"], "date": {"from": "1900"}},
        require=["libel"],
    )
    settings(page).get_by_role("spinbutton", name="Passages").fill("7")
    compare(page)
    choose_target(page, "replaced")
    first = request_body(page, lambda: ask(page))
    tools = take_home(page)
    tools.get_by_role("button", name=name).click()
    expect(tools.get_by_role("status").first).to_contain_text("The link is copied.")
    link = clipboard(page)
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".shared")).to_be_visible()
    expect(settings(page).get_by_label("Target", exact=True)).to_have_value("replaced")
    expect(settings(page).get_by_role("spinbutton", name="Passages")).to_have_value("7")
    expect(settings(page).get_by_label("Compare the corpora")).to_be_checked()
    for chip in ("Court: House of Lords", "Date: from 1900", "Must hold “libel”"):
        expect(chips(page)).to_contain_text(chip)
    assert not any("ask/stream" in url for url in urls)
    if name == "Copy link to the question":
        expect(page.locator("textarea#question")).to_have_value(QUESTION)
        button = page.get_by_role("button", name="Ask this question")
    else:
        page.fill("textarea#question", QUESTION)
        button = page.get_by_role("button", name="Ask", exact=True)
    second = request_body(page, button.click)
    fields = ("question", "target", "k", "mode", "corpus_filter", "filters", "require")
    assert {field: second[field] for field in fields} == {field: first[field] for field in fields}
    finished(page)


def test_an_answer_that_is_not_shared_any_more_leaves_its_question(tab: Page, server: str) -> None:
    state = quote('{"question": "<b>Who?</b>", "shared": "nothing"}')
    tab.goto(f"{server}/#ask={state}")
    expect(tab.locator(".shared").get_by_role("alert")).to_contain_text("no such link")
    expect(tab.locator(".shared")).to_contain_text("“<b>Who?</b>”")
    expect(tab.locator("textarea#question")).to_have_value("<b>Who?</b>")


@pytest.mark.parametrize("state", ["no json", "[]", '{"question": 1}', '{"filters": null}'])
def test_a_link_that_says_nothing_is_left_alone(tab: Page, server: str, state: str) -> None:
    tab.goto(f"{server}/#ask={quote(state)}")
    expect(tab.locator("select#collection option").nth(1)).to_be_attached()
    expect(tab.locator(".shared")).to_have_count(0)


def test_a_question_of_a_browsers_search_field_waits_to_be_asked(tab: Page, server: str) -> None:
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"{server}/#q={quote(QUESTION)}")
    expect(tab.locator("textarea#question")).to_have_value(QUESTION)
    expect(tab.locator("textarea#question")).to_be_focused()
    assert not any("/api/ask" in url for url in asked)
    tab.keyboard.press("Enter")
    finished(tab)


def test_citations_and_notes_are_taken_home_as_annotations(tab: Page, server: str) -> None:
    tab.goto(server)
    ask(tab, QUESTION)
    finished(tab)
    home = take_home(tab)
    home.get_by_text("Export", exact=True).click()
    with tab.expect_download() as coming:
        home.get_by_role("button", name="Web Annotation").click()
    assert coming.value.suggested_filename.endswith(".jsonld")
    document = json.loads(Path(coming.value.path()).read_text(encoding="utf-8"))
    assert document["total"] > 0
