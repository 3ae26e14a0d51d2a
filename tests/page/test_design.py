"""The design: sizes, spaces and colours have their names in one sheet, the serif is loaded for what
is read, and nothing moves while the page fills."""

import re

import pytest
from playwright.sync_api import Browser, Response, expect

from tests.page.asking import ask
from tests.page.conftest import open_page
from tests.page.watching import watched
from tests.places import ROOT

FOLDER = ROOT / "frontend"
DESIGN = FOLDER / "base.css"
RULE = re.compile(r"(?<![\w-])([\w-]+):\s*([^;{}]+);")
SIZE = re.compile(r"(?<![\w.])(?!0\w*\b)[\d.]+(?:rem|em|px|pt)\b")
COLOR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch|white|black)\b", re.IGNORECASE)
SPACED = re.compile(r"(?:padding|margin|gap)\b")
MOST = {"type": 6, "space": 6, "radius": 2}

SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) {
    if (!hadRecentInput) window.shifts.push(value);
  }
}).observe({ type: 'layout-shift', buffered: true });"""


def rules(text: str) -> list[tuple[str, str]]:
    return RULE.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


def loose(text: str) -> list[str]:
    """The declarations that name a size of type, a space, a radius or a colour themselves."""
    found = []
    for name, value in rules(text):
        is_measured = name in {"font", "font-size", "border-radius"} or SPACED.match(name)
        sizes = re.sub(r"calc\([^;]*|/[\d.]+", "", value) if is_measured else ""
        if SIZE.search(sizes) or COLOR.search(value):
            found.append(f"{name}: {value}")
    return found


def test_other_sheets_use_the_names_of_the_design() -> None:
    sheets = [path for path in FOLDER.rglob("*.css") if path != DESIGN]
    assert len(sheets) > 10
    text = {path.name: loose(path.read_text(encoding="utf-8")) for path in sheets}
    assert {name: found for name, found in text.items() if found} == {}


def test_a_size_or_a_colour_of_its_own_is_found() -> None:
    own = "a { color: #fff; font: 1.1rem/1.4 x; margin: 0 3px; } /* b { gap: 2px; } */"
    assert loose(own) == ["color: #fff", "font: 1.1rem/1.4 x", "margin: 0 3px"]
    assert loose("a { margin: -1rem 0; } b { width: 2rem; gap: 0 var(--s1); }") == [
        "margin: -1rem 0"
    ]


def test_sizes_are_few() -> None:
    names = dict(rules(DESIGN.read_text(encoding="utf-8").split("}", 1)[0]))
    sizes = [name for name, value in names.items() if re.fullmatch(r"[\d.]+(?:rem|px)", value)]
    spaces = [name for name in sizes if re.fullmatch(r"--s\d", name)]
    radii = [name for name in sizes if name in {"--radius", "--round"}]
    assert len(spaces) <= MOST["space"]
    assert len(sizes) - len(spaces) - len(radii) <= MOST["type"]


@pytest.mark.browser
@pytest.mark.thorough
@pytest.mark.parametrize("size", [(1279, 800), (391, 844)], ids=["desk", "phone"])
def test_the_serif_comes_with_the_first_answer_and_nothing_moves(
    browser: Browser, server: str, size: tuple[int, int]
) -> None:
    responses: list[Response] = []
    with watched(browser, viewport={"width": size[0], "height": size[1]}) as context:
        tab = context.new_page()
        tab.add_init_script(SHIFTS)
        tab.on("response", lambda response: responses.append(response))
        page = open_page(tab, server)
        expect(page.locator("#over-time li").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert not any(response.url.endswith(".woff2") for response in responses)
        # without room for what comes late it was .118 on a desk and .244 on a phone
        assert sum(page.evaluate("window.shifts.splice(0)")) < 0.02
        ask(page)
        page.wait_for_function("document.fonts.check('1em \"Atlas Serif\"')")
        page.wait_for_load_state("networkidle")
        assert sum(page.evaluate("window.shifts")) < 0.02
        (font,) = (response for response in responses if response.url.endswith(".woff2"))
        assert font.headers["content-type"] == "font/woff2"
        assert "immutable" in font.headers["cache-control"]
        assert "content-encoding" not in font.headers
