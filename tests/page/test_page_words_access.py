"""Words and the collection for readers with a keyboard or a screen reader, and on a phone."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.axe import check_access
from tests.page.words import count

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 740}
TABS = ["Lines", "Over time", "By field", "Near words", "Setting apart"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_way_to_look_at_words(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.get_by_label("Collection").select_option("legal_uk")
    view = count(page, "court")
    page.get_by_text("How words are looked for").click()
    for tab in TABS:
        view.get_by_role("tab", name=tab).click()
        expect(view.locator("#words-panel > *").first).to_be_visible()
        expect(view.locator("#words-panel")).not_to_have_attribute("aria-busy", "true")
        check_access(page)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    for tab in TABS:
        view.get_by_role("tab", name=tab).click()
        expect(view.locator("#words-panel")).not_to_have_attribute("aria-busy", "true")
        check_access(page)
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not page.evaluate(wide), tab
    page.get_by_label("Words to count").fill("court NEAR")
    page.get_by_label("Words to count").press("Enter")
    expect(view.locator("#words-panel")).not_to_have_attribute("aria-busy", "true")
    check_access(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_collection(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.get_by_role("button", name="About").click()
    expect(page.locator(".about-documents li")).to_have_count(50)
    check_access(page)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    check_access(page)
