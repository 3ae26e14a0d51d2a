"""What axe-core finds wrong with a page for readers who do not see it, or use no mouse."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def check_access(page: Page) -> None:
    """Raise AssertionError with what breaks WCAG 2.2 AA, or a rule of good practice, as shown."""
    found = Axe().run(page, options={"runOnly": RULES, "resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()
