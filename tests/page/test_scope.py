"""Filters, and the collection they filter: exact counts of values and years, chips, a range that is
bounded, figures of the corpora."""

import re
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.asking import (
    WIDE,
    ask,
    begin,
    chips,
    finished,
    latest,
    narrow,
    open_view,
    request_body,
    settings,
    unfold_filters,
)
from tests.page.watching import watched

pytestmark = [pytest.mark.browser, pytest.mark.thorough]


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


def test_years_are_two_fields_beside_a_drawing_of_all(page: Page, server: str) -> None:
    section = unfold_filters(page)
    box = page.get_by_role("group", name="Years", exact=True)
    first, last = box.get_by_label("From"), box.get_by_label("To", exact=True)
    years = facets(server, fields=False)["dates"]["years"]
    expect(first).to_have_attribute("placeholder", str(years[0]["year"]))
    expect(last).to_have_attribute("placeholder", str(years[-1]["year"]))
    expect(box.get_by_role("img")).to_have_accessible_name(re.compile("^Documents by date, "))
    expect(box.locator("rect.out")).to_have_count(0)
    last.fill("1950")
    last.press("Tab")
    date = {"to": "1950"}
    expect(chips(page)).to_have_text("Date: to 1950×")
    expect(box.locator("rect.out").first).to_be_attached()
    left = facets(server, filters={"date": date}, fields=False)
    expect(section.get_by_role("status")).to_contain_text(f"{left['documents']} documents")
    # an end before the beginning is told, and nothing is asked
    first.fill("1960")
    begin(page)
    expect(page.locator("article.answer")).to_have_count(0)
    first.fill("1900")
    assert request_body(page, lambda: ask(page))["filters"] == {"date": {"from": "1900"} | date}
    page.get_by_role("button", name="Remove Date: 1900 – 1950").click()
    expect(first).to_have_value("")
    expect(chips(page)).to_be_hidden()


def test_on_a_phone_the_first_suggestion_is_seen_and_nothing_is_too_wide(
    browser: Browser, server: str
) -> None:
    with watched(browser, viewport={"width": 390, "height": 740}, is_mobile=True) as context:
        page = context.new_page()
        page.goto(server)
        expect(page.locator("#examples button").first).to_be_in_viewport(ratio=1)
        expect(page.get_by_label("Question")).to_be_in_viewport(ratio=1)
        seen = page.locator(".ask").locator("textarea, select, input, button, summary")
        assert len([each for each in seen.all() if each.is_visible()]) <= 6
        begin(page)
        finished(page)
        expect(page.get_by_label("Question")).to_be_in_viewport(ratio=1)
        unfold_filters(page)
        assert page.evaluate(WIDE) <= 0
        small = page.evaluate(
            "() => [...document.querySelectorAll('.filters summary, .chips button')]"
            ".filter(node => node.offsetHeight && node.offsetHeight < 24).length"
        )
        assert small == 0


def test_what_the_server_refuses_is_said_in_the_section(page: Page) -> None:
    narrow(page, filters={"nothing": ["x"]})
    section = settings(page).locator(".filters")
    section.locator("> summary").click()
    status = section.get_by_role("status")
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
            *(corpus["dates"][end][:4] for end in ("first", "last")),
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
    over.get_by_label("Period", exact=True).select_option("Year")
    expect(over.locator("svg .chart-column")).to_have_count(len(by_year))
    span = int(max(by_year)) - int(min(by_year)) + 1
    expect(over).to_contain_text(f"{span - len(by_year)} years have no document: 1766–1802, ")
    over.get_by_role("group", name="Documents by year").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    listing, last = view.get_by_role("region", name="Documents", exact=True), max(by_year)
    expect(listing).to_contain_text(f"Only: {last}")
    expect(listing.get_by_role("status")).to_have_text(f"1 to {by_year[last]} of {by_year[last]}")
    # a question that is typed here is answered
    page.get_by_label("Question").fill("Can a public body sue for libel?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(latest(page)).to_be_visible()
