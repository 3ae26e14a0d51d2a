"""What a reader keeps: quotations and answers copied in a style, notes, the reading list."""

import csv
import io
import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.asking import ask, latest
from tests.page.axe import check_access
from tests.servers import wait_for

pytestmark = pytest.mark.browser

WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def asked(page: Page, server: str) -> Page:
    """The page with an answer, allowed to use the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    ask(page)
    return page


def clipboard(page: Page) -> str:
    copied: str = page.evaluate("navigator.clipboard.readText()")
    return copied


def clipboard_with(page: Page, start: str, part: str) -> str:
    """What is copied, as soon as it begins and holds so."""

    def copied() -> str | None:
        text = clipboard(page)
        return text if text.startswith(start) and part in text else None

    return wait_for(copied, 60, f"a copy that begins with {start!r} and holds {part!r}")


def kept_menu(page: Page) -> Locator:
    """The opened menu of the first citation."""
    item = latest(page).get_by_role("list", name="Citations").locator("> li").first
    menu = item.locator(".keep-menu")
    menu.locator("summary").click()
    return menu


def note(page: Page, text: str, tags: str = "") -> None:
    menu = kept_menu(page)
    menu.get_by_role("button", name="Add a note").click()
    dialog = page.get_by_role("dialog", name="New note")
    dialog.get_by_label("Note", exact=True).fill(text)
    dialog.get_by_label("Tags").fill(tags)
    dialog.get_by_role("button", name="Save").click()
    expect(menu.get_by_role("status")).to_have_text("The note is kept.")


def kept(page: Page) -> Locator:
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Kept").click()
    return page.locator("#kept")


def test_an_answer_is_copied_with_its_citations_in_the_chosen_style(asked: Page) -> None:
    tools = latest(asked).locator(".copying")
    tools.get_by_label("Style").select_option("oscola")
    tools.get_by_role("button", name="Copy with citations").click()
    expect(tools.get_by_role("status")).to_have_text("Copied.")
    copied = clipboard(asked)
    assert "cannot sue for libel at common law.[1]" in copied
    assert (
        "[1] Derbyshire County Council v Times Newspapers [1993] UKHL 18, [1993] AC 534." in copied
    )
    tools.get_by_label("Style").select_option("mla")
    tools.get_by_role("button", name="Copy with citations").click()
    clipboard_with(asked, "Derbyshire", "(Derbyshire County Council v Times Newspapers)")
    html = asked.evaluate(
        "navigator.clipboard.read().then(([item]) => item.getType('text/html'))"
        ".then(found => found.text())"
    )
    assert "<i>Derbyshire County Council v Times Newspapers</i>" in html


def test_a_quotation_and_its_reference_are_copied(asked: Page) -> None:
    menu = kept_menu(asked)
    menu.get_by_role("button", name="Copy quotation").click()
    expect(menu.get_by_role("status")).to_have_text("Copied.")
    quote, _, reference = clipboard(asked).partition("\n\n")
    assert quote.startswith("“")
    assert reference.startswith("Derbyshire County Council v Times Newspapers")
    menu.get_by_role("button", name="Copy reference").click()
    assert clipboard_with(asked, "Derbyshire", "") == reference


def test_the_style_is_remembered(asked: Page) -> None:
    latest(asked).locator(".copying").get_by_label("Style").select_option("mcgill")
    asked.reload()
    ask(asked)
    expect(latest(asked).locator(".copying").get_by_label("Style")).to_have_value("mcgill")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desktop", "phone"])
def test_a_note_is_found_changed_and_deleted(asked: Page, size: dict[str, int]) -> None:
    asked.set_viewport_size(size)
    note(asked, "Compare Élan", "libel, councils")
    view = kept(asked)
    found = view.locator(".kept-list > li").first
    expect(found).to_contain_text("Compare Élan")
    expect(found).to_contain_text("Legal UK · p. 1")
    asked.reload()
    expect(found.locator(".tag")).to_have_text(["libel", "councils"])
    view.get_by_label("Search notes").fill("elan COUNCIL")
    expect(view.locator(".kept-list > li")).to_have_count(1)
    view.get_by_label("Search notes").fill("submarine")
    expect(view.get_by_role("status").first).to_have_text("0 notes")
    view.get_by_label("Search notes").fill("")
    view.get_by_role("button", name="Edit:").click()
    dialog = asked.get_by_role("dialog", name="Edit note")
    dialog.get_by_label("Note", exact=True).fill("Changed")
    dialog.get_by_role("button", name="Save").click()
    expect(found.locator(".note-text")).to_have_text("Changed")
    found.get_by_role("button", name="Derbyshire").first.click()
    expect(asked.locator("#reader mark").first).to_be_visible()
    asked.keyboard.press("Escape")
    view.get_by_role("button", name="Delete:").click()
    expect(view.locator(".kept-list > li")).to_have_count(0)
    view.get_by_role("button", name="Undo").click()
    expect(found.locator(".note-text")).to_have_text("Changed")
    overflow = asked.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_menus_the_dialog_and_what_is_kept_are_for_everyone(asked: Page, scheme: str) -> None:
    asked.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    latest(asked).get_by_text("All candidates").click()
    expect(latest(asked).locator(".candidates li").first).to_be_visible()
    latest(asked).locator(".sources").get_by_text("Why here").first.click()
    expect(latest(asked).locator(".why dl").first).to_be_visible()
    menu = kept_menu(asked)
    check_access(asked)
    menu.get_by_role("button", name="Add to reading list").click()
    menu.get_by_role("button", name="Add a note").click()
    expect(asked.get_by_role("dialog", name="New note")).to_be_visible()
    check_access(asked)
    asked.keyboard.press("Escape")
    expect(menu.get_by_role("button", name="Add a note")).to_be_focused()
    note_button = menu.get_by_role("button", name="Add a note")
    note_button.press("Enter")
    expect(asked.get_by_label("Note", exact=True)).to_be_focused()
    asked.keyboard.type("By keyboard")
    asked.get_by_role("button", name="Save").press("Enter")
    view = kept(asked)
    expect(view.locator(".kept-list > li")).to_have_count(2)
    check_access(asked)


def test_notes_are_exported_and_brought_back(asked: Page, tmp_path: Path) -> None:
    note(asked, "=1+1 <b>", "law")
    view = kept(asked)
    view.get_by_text("Export notes").click()
    files = {}
    for name in ("Markdown", "CSV", "JSON"):
        with asked.expect_download() as started:
            view.get_by_role("button", name=name, exact=True).click()
        files[name] = started.value.path().read_text()
    assert "\\<b\\>" in files["Markdown"]
    (row,) = csv.DictReader(io.StringIO(files["CSV"]))
    assert (row["note"], row["tags"], row["title"]) == (
        "'=1+1 <b>",
        "law",
        "Derbyshire County Council v Times Newspapers",
    )
    assert json.loads(files["JSON"])["notes"][0]["text"] == "=1+1 <b>"
    view.get_by_role("button", name="Delete:").click()
    expect(view.locator(".kept-list > li")).to_have_count(0)
    saved = tmp_path / "notes.json"
    saved.write_text(files["JSON"])
    view.locator("input[type=file]").set_input_files(saved)
    expect(view.get_by_text("1 record was brought back.")).to_be_visible()
    expect(view.locator(".note-text")).to_have_text("=1+1 <b>")


@pytest.mark.parametrize(
    "content", ["no json", "[]", '{"atlas_kept": 1, "notes": [{"id": "a"}], "readings": []}']
)
def test_another_file_is_refused_with_reason(page: Page, tmp_path: Path, content: str) -> None:
    view = kept(page)
    other = tmp_path / "other.json"
    other.write_text(content)
    view.locator("input[type=file]").set_input_files(other)
    expect(view.get_by_text("This is no file of notes.")).to_be_visible()


def test_what_a_browser_has_no_room_for_can_be_downloaded(asked: Page) -> None:
    asked.evaluate(
        "() => { IDBObjectStore.prototype.put = () => {"
        " throw new DOMException('', 'QuotaExceededError'); }; }"
    )
    menu = kept_menu(asked)
    menu.get_by_role("button", name="Add to reading list").click()
    expect(menu.get_by_role("status")).to_have_text("This browser has no room left to keep this.")
    menu.get_by_role("button", name="Add a note").click()
    dialog = asked.get_by_role("dialog", name="New note")
    dialog.get_by_label("Note", exact=True).fill("Precious")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("no room left")
    with asked.expect_download() as started:
        dialog.get_by_role("button", name="Download it instead").click()
    assert "Precious" in started.value.path().read_text()


def test_on_paper_stand_answer_and_addresses_and_no_controls(asked: Page) -> None:
    asked.emulate_media(media="print")
    answer = latest(asked)
    expect(answer.locator(".answer-text")).to_be_visible()
    expect(asked.locator("#ask-form")).to_be_hidden()
    for controls in (".copying", ".rating", ".keep-menu", ".sources", ".export"):
        expect(answer.locator(controls).first).to_be_hidden()
    address = answer.locator("ol.citations a").first
    content = address.evaluate("link => getComputedStyle(link, '::after').content")
    assert "attr(href)" in content or "bailii.org" in content
