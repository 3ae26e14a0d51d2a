"""Words in their lines: exact counts, lines that open where they stand, files and errors."""

import csv
import re
import statistics
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.words import asked, count, open_words, scanned

pytestmark = pytest.mark.browser


def hits(view: Locator) -> list[str]:
    return view.locator(".line-hit mark").all_text_contents()


def rows(view: Locator) -> Locator:
    return view.get_by_role("grid", name="Lines").locator(".line:not(.head)")


def test_lines_are_those_of_a_plain_scan_and_open_where_they_stand(page: Page, server: str) -> None:
    expected = scanned("libel")
    view = count(page, "libel")
    api = asked(server, "concordance", query="libel", limit=1000)
    said = f"{len(expected)} hits in {api['documents']} documents and {api['passages']} passages"
    expect(view.locator(".words-said")).to_contain_text(said)
    assert hits(view) == expected == [line["hit"] for line in api["lines"]]

    rows(view).first.click()
    expect(page.locator("#reader mark").first).to_have_text(api["lines"][0]["hit"])
    expect(page.locator("#reader-title")).to_have_text(api["lines"][0]["title"])

    # by keyboard alone: one row has the focus, Escape comes back to it
    page.keyboard.press("Escape")
    expect(rows(view).first).to_be_focused()
    page.keyboard.press("End")
    expect(rows(view).last).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#reader-title")).to_have_text(api["lines"][-2]["title"])
    expect(rows(view).nth(len(expected) - 2)).to_have_attribute("aria-selected", "true")


def test_lines_are_sorted_drawn_by_lot_and_taken_home(page: Page, server: str) -> None:
    view = count(page, "court")
    view.get_by_label("Sort").select_option("By the word before")
    expect(page).to_have_url(re.compile("sort=left"))
    expect(view.locator("#words-panel")).not_to_have_attribute("aria-busy", "true")
    ordered = asked(server, "concordance", query="court", sort="left", context=8, limit=1000)
    flat = [" ".join(line["right"].split()) for line in ordered["lines"]]
    expect(rows(view)).to_have_count(200)
    shown = view.locator(".line-after:not([role=columnheader])").all_text_contents()
    assert [" ".join(text.split()) for text in shown] == flat[:200]

    with page.expect_download() as file:
        view.get_by_role("button", name="Download as CSV").click()
    written = file.value.path().read_text(encoding="utf-8-sig")
    taken = list(csv.DictReader(written.splitlines()))
    assert len(taken) == ordered["hits"] == len(scanned("court"))
    assert [line["passage_id"] for line in taken] == [
        line["passage_id"] for line in ordered["lines"]
    ]

    page.get_by_label("Draw by lot").fill("7")
    page.get_by_label("Draw by lot").blur()
    expect(rows(view)).to_have_count(7)
    drawn = hits(view), rows(view).all_text_contents()
    expect(view.locator(".words-said")).to_contain_text(f"{ordered['hits']} hits")
    view.get_by_role("button", name="Draw others").click()
    expect(rows(view).first).not_to_have_text(drawn[1][0])


def test_a_file_holds_no_formula_and_is_quoted_as_the_standard_has_it(page: Page) -> None:
    open_words(page)
    made = page.evaluate(
        """rows => part('words/table.js').then(m => m.csvText(['a', 'b'], rows))""",
        [
            {"a": '=HYPERLINK("x")', "b": 1},
            {"a": "two\nlines", "b": None},
            {"a": "'=1", "b": -2.5},
            {"a": "\t@SUM(1)", "b": "＋1"},
        ],
    )
    assert made == (
        'a,b\r\n"\'=HYPERLINK(""x"")",1\r\n"two\nlines",\r\n\'\'=1,-2.5\r\n\'\t@SUM(1),\'＋1\r\n'
    )


def test_hundreds_of_lines_follow_and_scroll_smoothly(page: Page, server: str) -> None:
    view = count(page, "the OR of")
    for shown in (400, 600):
        view.get_by_role("button", name="More lines").click()
        expect(rows(view)).to_have_count(shown)
    api = asked(server, "concordance", query="the OR of", limit=1000)
    expect(view).to_contain_text(f"600 of {api['listed']:,} lines shown")
    assert hits(view) == [line["hit"] for line in api["lines"][:600]]
    frames = page.evaluate(
        """() => new Promise((done) => {
          const times = [];
          const step = (time) => {
            times.push(time);
            scrollBy(0, 400);
            if (times.length < 60) requestAnimationFrame(step);
            else done(times.slice(1).map((each, at) => each - times[at]));
          };
          requestAnimationFrame(step);
        })"""
    )
    middle, slow = statistics.median(frames), sorted(frames)[int(len(frames) * 0.95)]
    print(f"frames while scrolling: {len(frames)}, median {middle:.1f} ms, p95 {slow:.1f} ms")
    assert middle < 40
    assert slow < 100


def test_a_query_that_cannot_be_read_is_marked_where_it_breaks(page: Page) -> None:
    view = count(page, "tort*")
    page.get_by_label("Words to count").fill("  é court NEAR wage")
    page.get_by_label("Words to count").press("Enter")
    problem = page.locator("#words-problem")
    expect(problem.get_by_role("alert")).to_contain_text("say how near: NEAR/5")
    expect(problem.locator("mark")).to_have_text("N")
    expect(page.get_by_label("Words to count")).to_be_focused()
    assert page.evaluate("() => getSelection().toString()") == "N"
    expect(rows(view)).to_have_count(0)
    page.get_by_label("Words to count").fill("court NEAR/5 wage")
    page.get_by_label("Words to count").press("Enter")
    expect(problem).to_be_empty()
    expect(view).to_contain_text("No text looked through says this.")


def test_the_address_restores_what_is_looked_at(page: Page, server: str) -> None:
    view = count(page, "court")
    page.get_by_label("Collection").select_option("legal_uk")
    expect(page).to_have_url(re.compile("legal_uk"))
    page.get_by_label("Word forms").select_option("All forms of the word")
    expect(page).to_have_url(re.compile("form=stem"))
    own = asked(server, "concordance", query="court", corpus_filter="legal_uk", form="stem")
    expect(view.locator(".words-said")).to_contain_text(f"{own['hits']} hits")
    link = page.url

    page.reload()
    expect(view.locator(".words-said")).to_contain_text(f"{own['hits']} hits")
    expect(page.get_by_label("Words to count")).to_have_value("court")
    expect(page.get_by_label("Word forms")).to_have_value("stem")
    expect(page.get_by_label("Collection")).to_have_value("legal_uk")

    view.get_by_role("tab", name="Near words").click()
    expect(view.get_by_role("button", name="Lines of suprem", exact=True)).to_be_visible()
    page.go_back()
    expect(view.get_by_role("tab", name="Lines")).to_have_attribute("aria-selected", "true")
    expect(rows(view)).to_have_count(min(own["hits"], 200))

    # another view has its own box, and nothing of this one in its address
    views = page.get_by_role("navigation", name="Views")
    views.get_by_role("button", name="Answers").click()
    expect(page).to_have_url(re.compile("^(?!.*(q|form)=)"))
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    page.goto(link)
    expect(view.locator(".words-said")).to_contain_text(f"{own['hits']} hits")


@pytest.mark.parametrize("odd", ["point", "scope"])
def test_an_address_that_holds_nonsense_breaks_nothing(page: Page, server: str, odd: str) -> None:
    for value in ("{", "7", '{"by": 1, "value": []}', "null"):
        query = urlencode({"view": "words", "q": "court", "context": "-1", "tab": "x", odd: value})
        page.goto(f"{server}/?{query}")
        expect(page.locator(".words-said, #words-problem [role=alert]").first).not_to_have_text(
            "Counting …"
        )
        expect(page.get_by_role("tab", name="Lines")).to_be_visible()


def test_on_a_narrow_screen_hits_stand_below_each_other(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    view = count(page, "court")
    expect(view.get_by_role("tablist")).to_be_in_viewport()
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 360
    lefts = view.locator(".line-hit mark").evaluate_all(
        "marks => marks.slice(0, 30).map((mark) => Math.round(mark.getBoundingClientRect().left))"
    )
    assert len(set(lefts)) == 1
    heights = rows(view).evaluate_all(
        "rows => rows.slice(0, 5).map((row) => row.getBoundingClientRect().height)"
    )
    assert min(heights) >= 24


def test_a_question_is_asked_of_the_passages_in_view(page: Page, server: str) -> None:
    view = count(page, '"jury trial"')
    found = asked(server, "concordance", query='"jury trial"', limit=1000)
    documents = {line["document_id"] for line in found["lines"]}
    view.get_by_role("button", name="Ask about these passages").click()
    notice = page.locator("#narrowed")
    expect(notice).to_contain_text(f"Asked of the {len(documents)} documents")
    question = page.get_by_label("Question")
    expect(question).to_be_focused()
    question.fill("When is a jury needed?")
    with page.expect_request("**/api/ask/stream") as sent:
        page.get_by_role("button", name="Ask", exact=True).click()
    body = sent.value.post_data_json
    assert set(body["filters"]["document_id"]) == documents
    assert body["require"] == ["jury trial"]
    expect(page.locator("article.answer").first).to_have_attribute("data-state", "done")
    notice.get_by_role("button", name="Undo").click()
    expect(notice).to_be_empty()
    question.fill("When is a jury needed?")
    with page.expect_request("**/api/ask/stream") as undone:
        page.get_by_role("button", name="Ask", exact=True).click()
    assert "filters" not in undone.value.post_data_json
    expect(page.locator("article.answer").first).to_have_attribute("data-state", "done")


def test_words_need_a_word_but_setting_apart_does_not(page: Page) -> None:
    view = open_words(page)
    expect(view).to_contain_text("Type a word and count it.")
    box = page.get_by_label("Words to count")
    assert box.evaluate("box => box.required")
    view.get_by_role("tab", name="Setting apart").click()
    assert not box.evaluate("box => box.required")
