"""The words of the page: the same in every language, and there for every place that says them."""

import re
from collections.abc import Iterator

from playwright.sync_api import Page, expect

from tests.places import ROOT

STRINGS = "name => import(`/static/strings/${name}.js`).then(module => module.default)"
SAID = re.compile(r"""\b(?:say|sayNodes)\(\s*["'](\w+\.\w+)["']""")
NAMED = re.compile(r'data-say(?:-[a-z-]+)?="(\w+\.\w+)"')
FORMS = {"one", "other", "many", "two", "few", "zero"}
PLACE = re.compile(r"\{(\w+)\}")


def spoken(strings: dict[str, dict[str, object]]) -> dict[str, set[str]]:
    """The places to be filled in of every string, by its key; a plural form may leave some out."""
    return {
        f"{section}.{name}": set(PLACE.findall(" ".join(forms_of(value))))
        for section, of in strings.items()
        for name, value in of.items()
    }


def forms_of(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    assert isinstance(value, dict)
    assert value.keys() <= FORMS, value
    assert "other" in value, value
    return list(value.values())


def keys_in_use() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "frontend").rglob("*.js"):
        for key in SAID.findall(path.read_text(encoding="utf-8")):
            yield path.name, key
    for key in NAMED.findall((ROOT / "frontend" / "index.html").read_text(encoding="utf-8")):
        yield "index.html", key


def test_every_language_says_the_same(page: Page) -> None:
    english, french = (spoken(page.evaluate(STRINGS, name)) for name in ("en", "fr"))
    assert english == french


def test_what_is_said_is_there(page: Page) -> None:
    english = spoken(page.evaluate(STRINGS, "en"))
    used = list(keys_in_use())
    assert len(used) > 300
    assert [(where, key) for where, key in used if key not in english] == []


def test_the_page_speaks_the_language_that_is_chosen(page: Page) -> None:
    page.select_option("select#language", "fr")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    page.get_by_role("button", name="Demander", exact=True).wait_for()
    page.reload()
    page.get_by_role("button", name="Demander", exact=True).wait_for()
