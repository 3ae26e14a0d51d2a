"""The page as it is for readers with a keyboard, a screen reader, or little contrast."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, latest
from tests.page.axe import check_access

PHONE = {"width": 360, "height": 740}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_an_answer_and_the_document_beside_it(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    check_access(page)
    ask(page)
    check_access(page)
    latest(page).locator("button.citation").first.click()
    expect(page.locator("#reader mark").first).to_be_in_viewport()
    check_access(page)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    check_access(page)
    page.keyboard.press("Escape")
    check_access(page)


def test_nothing_is_wider_than_a_small_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    ask(page)
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(wide)


def test_what_breaks_the_rules_is_found(page: Page) -> None:
    page.locator("label[for=question]").evaluate("node => node.remove()")
    with pytest.raises(AssertionError, match="label"):
        check_access(page)
