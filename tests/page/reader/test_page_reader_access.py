"""The reader with all that it can open, for readers with a screen reader or little contrast, and in
French."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.axe import check_access
from tests.page.reader.conftest import Open
from tests.page.papers import STORM

pytestmark = pytest.mark.browser

SELECT = "getSelection().selectAllChildren(document.querySelector('.document-text p'))"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_that_opens_keeps_the_rules(page: Page, read: Open, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 1440, "height": 900})
    read("papers.kestrel-point", STORM)
    for name in ("Contents", "Find", "Page image"):
        page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("searchbox").fill("lamp")
    expect(page.locator("#reader .picture .box")).to_be_visible()
    page.evaluate(SELECT)
    expect(page.locator("#reader .selection")).to_be_visible()
    check_access(page)
    page.set_viewport_size({"width": 360, "height": 740})
    check_access(page)
    read("notes.harbour", "levied")
    check_access(page)


def test_the_reader_speaks_french(page: Page, read: Open) -> None:
    page.evaluate("localStorage.setItem('atlas-language', 'fr')")
    read("papers.kestrel-point", STORM)
    pane = page.locator("#reader")
    for name in ("Sommaire", "Rechercher", "Image de la page"):
        pane.get_by_role("button", name=name, exact=True).click()
    expect(pane.get_by_role("img")).to_have_attribute(
        "alt", "p. 2 de Kestrel Point, telle que dans le PDF"
    )
    pane.get_by_role("searchbox", name="Rechercher dans le document").fill("lamp")
    expect(pane.locator("output")).to_contain_text(" sur 2")
    page.evaluate(SELECT)
    expect(pane.get_by_role("toolbar", name="Mots sélectionnés")).to_be_visible()
