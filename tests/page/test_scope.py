"""Filters, and the collection they filter: exact counts of values and years, chips, a range that is
dragged, figures of the corpora."""

import re
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.page.asking import WIDE, ask, begin, chips, latest, narrow, open_view, request_body
from tests.page.watching import watched

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
PHONE = {"width": 360, "height": 740}
FRAMES = """() => new Promise((resolve) => {
  const times = [];
  const watch = (now) => {
    times.push(now);
    if (window.dragged) resolve(times.slice(1).map((time, at) => time - times[at]));
    else requestAnimationFrame(watch);
  };
  window.dragged = false;
  requestAnimationFrame(watch);
})"""


def unfold_filters(page: Page) -> Locator:
    """The section of filters, with its counts."""
    page.locator(".filters > summary").click()
    expect(page.locator(".filters .facet").first).to_be_visible()
    return page.locator(".filters")


def facets(server: str, **scope: object) -> dict[str, Any]:
    counts: dict[str, Any] = httpx2.post(f"{server}/api/facets", json=scope, timeout=60).json()
    return counts


def test_words_of_a_heading_and_phrases_of_other_views_are_chips(page: Page) -> None:
    field = unfold_filters(page).get_by_label("Below a heading with the words")
    field.fill("Later history")
    field.press("Enter")
    expect(chips(page)).to_have_text("Heading: Later history×")
    narrow(page, require=["<b>libel</b>"], exclude=["jury"])
    expect(chips(page)).to_contain_text("Must hold “<b>libel</b>”")
    expect(chips(page)).to_contain_text("Without “jury”")
    body = request_body(page, lambda: begin(page))
    assert (body["require"], body["exclude"]) == (["<b>libel</b>"], ["jury"])
    page.get_by_role("button", name="Remove all").click()
    expect(chips(page)).to_be_hidden()


def test_years_are_chosen_by_keyboard(page: Page, server: str) -> None:
    section = unfold_filters(page)
    years = facets(server, fields=False)["dates"]["years"]
    first, last = section.get_by_label("First year"), section.get_by_label("Last year")
    most = int(last.get_attribute("max") or 0)
    assert int(first.get_attribute("min") or 0) <= years[0]["year"]
    assert most >= years[-1]["year"]
    expect(section.get_by_role("img")).to_have_accessible_name(re.compile("^Documents by date, "))
    last.focus()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    date = {"to": str(most - 12)}
    expect(chips(page)).to_have_text(f"Date: to {date['to']}×")
    expect(last).to_be_focused()
    left = facets(server, filters={"date": date}, fields=False)
    expect(section.get_by_role("status")).to_contain_text(f"{left['documents']} documents")
    assert request_body(page, lambda: ask(page))["filters"] == {"date": date}
    last.press("End")
    expect(chips(page)).to_be_hidden()


def test_dragging_asks_the_server_once_and_stays_smooth(page: Page) -> None:
    section = unfold_filters(page)
    plot = section.locator(".plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box() or {}
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.evaluate(f"() => {{ window.frames_taken = ({FRAMES})(); }}")
    y = box["y"] + box["height"] - 16
    page.mouse.move(box["x"], y)
    page.mouse.down()
    for step in range(120):
        page.mouse.move(box["x"] + box["width"] * 0.5 * step / 120, y)
    assert urls == []  # nothing while the handle moves
    page.evaluate("() => { window.dragged = true; }")
    frames = sorted(page.evaluate("() => window.frames_taken"))
    page.mouse.up()
    expect(chips(page)).to_contain_text("Date: from 18")
    expect(section.locator(".span span")).not_to_contain_text("1760")
    assert sum("/api/facets" in url for url in urls) <= 1
    middle, slow = frames[len(frames) // 2], frames[int(len(frames) * 0.95)]
    print(f"frames while dragging: {len(frames)}, median {middle:.1f} ms, p95 {slow:.1f} ms")
    # 60 a second are 16.7 ms; a busy machine may lose some
    assert middle < 34
    assert slow < 100


def test_a_finger_drags_it_on_a_phone_that_stays_as_wide_as_it_is(
    browser: Browser, server: str
) -> None:
    with watched(browser, viewport=PHONE, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        page.goto(server)
        section = unfold_filters(page)
        section.get_by_label("First year").scroll_into_view_if_needed()
        box = section.locator(".plot").bounding_box() or {}
        touch = context.new_cdp_session(page)
        y = box["y"] + box["height"] - 16
        kind = "touchStart"
        for share in (0, 0.2, 0.4, 0.5):
            point = {"x": box["x"] + box["width"] * share, "y": y}
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
            kind = "touchMove"
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        expect(chips(page)).to_contain_text("Date: from")
        assert page.evaluate(WIDE) <= 0
        small = page.evaluate(
            "() => [...document.querySelectorAll('.filters summary, .chips button')]"
            ".filter(node => node.offsetHeight && node.offsetHeight < 24).length"
        )
        assert small == 0


def test_what_the_server_refuses_is_said_in_the_section(page: Page) -> None:
    narrow(page, filters={"nothing": ["x"]})
    page.locator(".filters > summary").click()
    status = page.locator(".filters").get_by_role("status")
    expect(status).to_contain_text("Unknown field")
    page.get_by_role("button", name="Remove Nothing: x").click()
    expect(status).to_contain_text("84 documents")


def test_the_figures_of_the_collection_are_those_of_the_server(page: Page, server: str) -> None:
    stats = httpx2.get(f"{server}/api/stats", timeout=60).json()
    corpora = stats["corpora"]
    view = open_view(page, "About")
    expect(view.get_by_role("heading", name="About this collection")).to_be_visible()
    table = view.get_by_role("region", name="Corpora").locator("table").first
    assert [
        [row.locator("th").inner_text(), *row.locator("td").all_inner_texts()]
        for row in table.locator("tbody tr").all()
    ] == [
        [
            corpus["label"],
            *(f"{corpus[name]:,}" for name in ("documents", "passages", "words")),
            *(corpus["dates"][end] for end in ("first", "last")),
            str(corpus["dates"]["undated"]),
            "English",
        ]
        for corpus in corpora
    ]
    bars = view.get_by_role("figure", name="Words by corpus").get_by_role("listitem").all()
    assert [bar.inner_text().split("\n") for bar in bars] == [
        [corpus["label"], f"{corpus['words']:,} words"] for corpus in corpora
    ]
    widths = [(bar.locator(".bar").bounding_box() or {})["width"] for bar in bars]
    words = [corpus["words"] for corpus in corpora]
    assert [width / max(widths) for width in widths] == pytest.approx(
        [count / max(words) for count in words], abs=0.02
    )
    expect(view.get_by_role("figure", name="Words by language")).to_have_count(0)
    made = view.get_by_role("region", name="How it was made")
    for digest in (stats["content_digest"], stats["embedding"]["digest"], stats["version"]):
        expect(made).to_contain_text(digest)
    expect(view.get_by_role("region", name="What was refused")).to_contain_text(
        "every one gave a document. Nothing was left out of them."
    )


def test_bars_are_the_documents_of_the_years_and_a_bar_lists_them(page: Page, server: str) -> None:
    by_year: dict[str, int] = {}
    for each in httpx2.get(f"{server}/api/stats", timeout=60).json()["years"]:
        by_year[each["year"]] = by_year.get(each["year"], 0) + each["documents"]
    view = open_view(page, "About")
    over = view.get_by_role("region", name="Documents over time")
    over.get_by_label("By", exact=True).select_option("Year")
    expect(over.locator("svg .chart-column")).to_have_count(len(by_year))
    span = int(max(by_year)) - int(min(by_year)) + 1
    expect(over).to_contain_text(f"{span - len(by_year)} years have no document: 1766–1802, ")
    over.get_by_role("group", name="Documents by year").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    listing, last = view.get_by_role("region", name="Documents", exact=True), max(by_year)
    expect(listing).to_contain_text(f"Only {last}")
    expect(listing.get_by_role("status")).to_have_text(f"1 to {by_year[last]} of {by_year[last]}")
    # a question that is typed here is answered
    page.get_by_label("Question").fill("Can a public body sue for libel?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(latest(page)).to_be_visible()
