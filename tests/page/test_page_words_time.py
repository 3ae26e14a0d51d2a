"""Words over time and by field: drawn, as tables, and every point opens its lines."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import settings_for
from tests.page.watching import watched
from tests.page.words import asked, count
from tests.servers import served
from tests.tiny import build_tiny, write_sources

pytestmark = pytest.mark.browser

HIT_BY_YEAR = {
    "mill/a.md": "---\ndate: 1901\n---\nA strike. The strike went on.\n",
    "mill/b.md": "---\ndate: 1904\n---\nNobody spoke of it.\n",
    "port/c.md": "---\ndate: 1901\n---\nNo strike here.\n",
    "port/d.md": "---\ntitle: undated\n---\nA strike of <img src=x onerror=alert(1)> no year.\n",
}


def table(view, name: str = "As a table") -> list[list[str]]:
    view.get_by_text(name, exact=True).click()
    return [
        row.locator("th, td").all_inner_texts()
        for row in view.locator("details.data tbody tr").all()
    ]


def test_a_trend_is_drawn_and_its_points_open_their_lines(page: Page, server: str) -> None:
    view = count(page, "court*", "Over time")
    page.get_by_label("By", exact=True).select_option("Decade")
    page.get_by_label("Each corpus for itself").check()
    legend = view.locator(".chart-legend li")
    expect(legend).to_have_text(["Legal UK", "Legal US", "Legislation NZ", "no text"])
    body = {"query": "court*", "by": "decade", "by_corpus": True}
    api = asked(server, "trends", **body)["cells"]
    assert len(table(view)) == len(api)
    drawn = view.locator("svg .chart-series .chart-marker")
    expect(drawn).to_have_count(sum(cell["hits"] is not None for cell in api))

    # each series has a marker and a pattern of its own, not a colour alone
    dashes = view.locator(".chart-legend .chart-series").evaluate_all(
        "all => all.map((each) => getComputedStyle(each).strokeDasharray)"
    )
    assert len(set(dashes)) == 3

    board = view.get_by_role("group", name="Hits of court* over time")
    board.focus()
    page.keyboard.press("End")
    last = next(c for c in api if c["value"] == "2020s" and c["corpus"] == "legal_uk")
    said = f"Legal UK, 2020s: {last['hits']} hits in {last['documents']} document"
    expect(view.locator(".chart-said")).to_contain_text(said)
    page.keyboard.press("Enter")
    expect(view.get_by_role("tab", name="Lines")).to_have_attribute("aria-selected", "true")
    expect(view).to_contain_text("Only 2020s, Legal UK")
    expect(view.locator(".line:not(.head)")).to_have_count(last["hits"])

    # a question about them is asked of that decade and corpus alone
    view.get_by_role("button", name="Ask about these passages").click()
    expect(page.locator("#narrowed")).to_contain_text("(2020s, Legal UK)")
    expect(page.get_by_label("Collection")).to_have_value("legal_uk")
    page.go_back()
    view.get_by_role("button", name="Show all hits").click()
    expect(view).not_to_contain_text("Only 2020s")


def test_the_mouse_shows_a_point_and_a_click_opens_it(page: Page, server: str) -> None:
    view = count(page, "libel", "Over time")
    cells = asked(server, "trends", query="libel")["cells"]
    last = max(at for at, cell in enumerate(cells) if cell["hits"])
    column = view.locator("svg .chart-column").nth(
        sum(cell["hits"] is not None for cell in cells[:last])
    )
    box = column.bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    expect(view.locator(".chart-said")).to_contain_text(f"All, {cells[last]['value']}: ")
    page.mouse.click(*middle)
    expect(view).to_contain_text(f"Only {cells[last]['value']}")
    expect(view.locator(".line:not(.head)")).to_have_count(cells[last]["hits"])
    page.reload()
    expect(view).to_contain_text(f"Only {cells[last]['value']}")


def test_counts_by_field_are_those_of_the_api(page: Page, server: str) -> None:
    view = count(page, "court", "By field")
    api = asked(server, "counts", query="court", by="corpus")["cells"]
    found = view.locator("tbody tr")
    expect(found).to_have_count(len(api))
    expect(found.first.locator("td").first).to_have_text(f"{api[0]['hits']:,}")
    view.get_by_role("button", name="Words looked through").click()
    expect(view.locator("th[aria-sort=descending]")).to_have_text("Words looked through")
    most = max(cell["words"] for cell in api)
    expect(found.first.locator("td").last).to_have_text(f"{most:,}")
    with page.expect_download() as file:
        view.get_by_role("button", name="Download as CSV").click()
    assert file.value.path().read_text(encoding="utf-8-sig").startswith("value,corpus,hits,")


def test_gaps_are_no_zeros_and_undated_hits_are_told(browser: Browser, tmp_path: Path) -> None:
    source = write_sources(tmp_path / "source", HIT_BY_YEAR)
    build_tiny(source, tmp_path / "stores" / "farm", HashEmbedder())
    collections = ServedCollections(settings_for(tmp_path), HashEmbedder())
    with served(create_app(collections)) as address, watched(browser) as context:
        page = context.new_page()
        page.goto(f"{address}/?view=words&q=strike&tab=time")
        view = page.get_by_role("region", name="Words", exact=True)
        expect(view.locator(".chart-column")).to_have_count(2)
        expect(view.locator("svg .chart-gap")).to_have_count(2)  # in the drawing and its key
        assert [row[:2] for row in table(view)] == [
            ["1901", "3"],
            ["1902", "no text"],
            ["1903", "no text"],
            ["1904", "0"],
            ["without a single year", "1"],
        ]
        view.locator("p").get_by_role("button", name="Lines of without a single year").click()
        expect(view.locator(".line-hit mark")).to_have_text(["strike"])
        expect(view.locator(".line-after").last).to_contain_text("<img src=x onerror=alert(1)>")
        expect(view).to_contain_text("Only without a single year")
    collections.close()
