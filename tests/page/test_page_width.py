"""No view is wider than its window, from a small phone to a large screen."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, latest, unfold
from tests.page.test_page_access_views import filters, kept_things
from tests.page.words import count

pytestmark = pytest.mark.browser
WIDTHS = [360, 1024, 1600]
TABS = ["Lines", "Over time", "By field", "Near words", "Setting apart"]
OVER = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [document.documentElement.scrollWidth, ...[...document.querySelectorAll('body *')]
    .filter((node) => node.getBoundingClientRect().right > width + 1)
    .map((node) => `${node.tagName} ${node.id} ${node.className}`)];
}"""


@pytest.fixture(params=WIDTHS)
def page(page: Page, request: pytest.FixtureRequest) -> Page:
    page.set_viewport_size({"width": request.param, "height": 800})
    return page


def check_width(page: Page) -> None:
    assert page.evaluate(OVER) == []


def test_the_first_view_and_the_filters(page: Page) -> None:
    check_width(page)
    filters(page)
    check_width(page)


def test_an_answer_with_all_that_unfolds_and_a_document(page: Page) -> None:
    ask(page)
    unfold(page)
    check_width(page)
    latest(page).get_by_role("button", name="More", exact=True).first.click()
    check_width(page)
    latest(page).locator("button.citation").first.click()
    expect(page.locator("#reader mark").first).to_be_in_viewport()
    check_width(page)


def test_a_comparison(page: Page) -> None:
    page.get_by_label("Compare the corpora").check()
    ask(page, "Which grounds make marriage between two people of the same sex lawful?")
    check_width(page)


def test_the_words(page: Page) -> None:
    page.get_by_label("Collection").select_option("legal_uk")
    view = count(page, "court")
    for tab in TABS:
        view.get_by_role("tab", name=tab).click()
        expect(view.locator("#words-panel > *").first).to_be_visible()
        expect(view.locator("#words-panel")).not_to_have_attribute("aria-busy", "true")
        check_width(page)


def test_the_collection(page: Page) -> None:
    page.get_by_role("button", name="About").click()
    expect(page.locator(".about-documents li")).to_have_count(50)
    check_width(page)


def test_what_is_kept(page: Page) -> None:
    kept_things(page)
    check_width(page)


def test_what_is_too_wide_is_found(page: Page) -> None:
    page.evaluate(
        """() => {
          const wide = document.createElement('p');
          Object.assign(wide, {id: 'planted', textContent: 'wide'}).style.width = '3000px';
          document.getElementById('views').append(wide);
        }"""
    )
    assert any("planted" in str(found) for found in page.evaluate(OVER))
