"""Words: sorted and drawn lines, files, errors, the address, over time, by field, words near and
words that set a corpus apart; and exact counts that stand with an answer."""

import csv
import re
import statistics
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.asking import ask, finished, latest, open_view, request_body
from tests.page.words import count, counted, lines, open_words, plain_scan, search

pytestmark = [pytest.mark.browser, pytest.mark.thorough]


def hits(view: Locator) -> list[str]:
    return view.locator(".line-hit mark").all_text_contents()


def download(page: Page, view: Locator) -> str:
    with page.expect_download() as file:
        view.get_by_role("button", name="Download as CSV").click()
    return str(file.value.path().read_text(encoding="utf-8-sig"))


def test_lines_are_sorted_drawn_by_lot_and_taken_home(page: Page, server: str) -> None:
    view = count(page, "court")
    view.get_by_label("Sort").select_option("Word before")
    expect(page).to_have_url(re.compile("sort=left"))
    expect(view.locator("#words-panel")).not_to_have_attribute("aria-busy", "true")
    ordered = counted(server, "concordance", query="court", sort="left", context=15, limit=1000)
    expect(lines(view)).to_have_count(200)
    shown = view.locator(".line-after:not([role=columnheader])").all_text_contents()
    assert [text.split() for text in shown] == [
        line["right"].split() for line in ordered["lines"][:200]
    ]
    rows = list(csv.DictReader(download(page, view).splitlines()))
    assert len(rows) == ordered["hits"] == len(plain_scan("court"))
    assert [row["passage_id"] for row in rows] == [line["passage_id"] for line in ordered["lines"]]

    page.get_by_label("Random sample").fill("7")
    page.get_by_label("Random sample").blur()
    expect(lines(view)).to_have_count(7)
    first = lines(view).first.text_content() or ""
    expect(view.locator(".words-said")).to_contain_text(f"{ordered['hits']} hits")
    view.get_by_role("button", name="New sample").click()
    expect(lines(view).first).not_to_have_text(first)


def test_a_file_holds_no_formula_and_is_quoted_as_the_standard_has_it(page: Page) -> None:
    open_words(page)
    text = page.evaluate(
        """rows => part('words/table.js').then(m => m.csvText(['a', 'b'], rows))""",
        [
            {"a": '=HYPERLINK("x")', "b": 1},
            {"a": "two\nlines", "b": None},
            {"a": "'=1", "b": -2.5},
            {"a": "\t@SUM(1)", "b": "＋1"},
        ],
    )
    assert text == (
        'a,b\r\n"\'=HYPERLINK(""x"")",1\r\n"two\nlines",\r\n\'\'=1,-2.5\r\n\'\t@SUM(1),\'＋1\r\n'
    )


def test_hundreds_of_lines_follow_and_scroll_smoothly(page: Page, server: str) -> None:
    view = count(page, "the OR of")
    for shown in (400, 600):
        view.get_by_role("button", name="Show more").click()
        expect(lines(view)).to_have_count(shown)
    api = counted(server, "concordance", query="the OR of", limit=1000)
    expect(view).to_contain_text(f"600 of {api['listed']:,} shown")
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


def test_a_count_says_how_the_signs_of_a_query_were_read(page: Page) -> None:
    view = count(page, "self-defence")
    expect(view).to_contain_text("“self-defence” was read as “self defence”")


def test_a_query_that_cannot_be_read_is_marked_where_it_breaks(page: Page) -> None:
    view = count(page, "tort*")
    search(page, "  é court NEAR wage")
    problem = page.locator("#words-problem")
    expect(problem.get_by_role("alert")).to_contain_text("say how near: NEAR/5")
    expect(problem.locator("mark")).to_have_text("N")
    expect(page.get_by_label("Words to count")).to_be_focused()
    assert page.evaluate("() => getSelection().toString()") == "N"
    expect(lines(view)).to_have_count(0)
    search(page, "court NEAR/5 wage")
    expect(problem).to_be_empty()
    expect(view).to_contain_text("No hits in the texts searched.")


def test_the_address_restores_what_is_looked_at(page: Page, server: str) -> None:
    view = count(page, "court")
    page.get_by_label("Collection").select_option("legal_uk")
    expect(page).to_have_url(re.compile("legal_uk"))
    page.get_by_label("Word forms").select_option("All forms")
    expect(page).to_have_url(re.compile("form=stem"))
    own = counted(server, "concordance", query="court", corpus_filter="legal_uk", form="stem")
    total = f"{own['hits']} hits"
    expect(view.locator(".words-said")).to_contain_text(total)
    link = page.url

    page.reload()
    expect(view.locator(".words-said")).to_contain_text(total)
    expect(page.get_by_label("Words to count")).to_have_value("court")
    expect(page.get_by_label("Word forms")).to_have_value("stem")
    expect(page.get_by_label("Collection")).to_have_value("legal_uk")

    view.get_by_role("tab", name="Collocates").click()
    expect(view.get_by_role("button", name="Concordance: suprem", exact=True)).to_be_visible()
    page.go_back()
    expect(view.get_by_role("tab", name="Concordance")).to_have_attribute("aria-selected", "true")
    expect(lines(view)).to_have_count(min(own["hits"], 200))

    # another view has its own box, and nothing of this one in its address
    open_view(page, "Answers")
    expect(page).to_have_url(re.compile("^(?!.*(q|form)=)"))
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    page.goto(link)
    expect(view.locator(".words-said")).to_contain_text(total)


@pytest.mark.parametrize("odd", ["point", "scope"])
def test_an_address_that_holds_nonsense_breaks_nothing(page: Page, server: str, odd: str) -> None:
    for value in ("{", "7", '{"by": 1, "value": []}', "null"):
        query = urlencode({"view": "words", "q": "court", "context": "-1", "tab": "x", odd: value})
        page.goto(f"{server}/?{query}")
        expect(page.locator(".words-said, #words-problem [role=alert]").first).not_to_have_text(
            "Counting …"
        )
        expect(page.get_by_role("tab", name="Concordance")).to_be_visible()


def test_on_a_narrow_screen_hits_stand_below_each_other(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    view = count(page, "court")
    expect(view.get_by_role("tablist")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    lefts = view.locator(".line-hit mark").evaluate_all(
        "marks => marks.slice(0, 30).map((mark) => Math.round(mark.getBoundingClientRect().left))"
    )
    assert len(set(lefts)) == 1
    heights = lines(view).evaluate_all(
        "rows => rows.slice(0, 5).map((row) => row.getBoundingClientRect().height)"
    )
    assert min(heights) >= 24


def test_a_question_is_asked_of_the_passages_in_view(page: Page, server: str) -> None:
    view = count(page, '"jury trial"')
    api = counted(server, "concordance", query='"jury trial"', limit=1000)
    documents = {line["document_id"] for line in api["lines"]}
    view.get_by_role("button", name="Ask about these passages").click()
    notice, question = page.locator("#narrowed"), "When is a jury needed?"
    expect(notice).to_contain_text(f"Asking only the {len(documents)} documents with “jury trial”")
    expect(page.get_by_label("Question")).to_be_focused()
    body = request_body(page, lambda: ask(page, question))
    assert set(body["filters"]["document_id"]) == documents
    assert body["require"] == ["jury trial"]
    notice.get_by_role("button", name="Undo").click()
    expect(notice).to_be_empty()
    assert "filters" not in request_body(page, lambda: ask(page, question))


def test_the_mouse_shows_a_point_and_a_click_opens_it(page: Page, server: str) -> None:
    view = count(page, "libel", "Trends")
    page.get_by_label("Period", exact=True).select_option("Year")
    cells = counted(server, "trends", query="libel")["cells"]
    years = sum(cell["hits"] is not None for cell in cells)
    expect(view.locator("svg .chart-column")).to_have_count(years)
    last = max(at for at, cell in enumerate(cells) if cell["hits"])
    column = sum(cell["hits"] is not None for cell in cells[:last])
    bar = view.locator("svg .chart-column").nth(column)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box() or {}
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    expect(view.locator(".chart-said")).to_contain_text(f"All, {cells[last]['value']}: ")
    page.mouse.click(*middle)
    expect(view).to_contain_text(f"Only: {cells[last]['value']}")
    expect(lines(view)).to_have_count(cells[last]["hits"])
    page.reload()
    expect(view).to_contain_text(f"Only: {cells[last]['value']}")
    view.get_by_role("button", name="Show all hits").click()
    expect(view).not_to_contain_text(f"Only: {cells[last]['value']}")


def test_counts_by_field_and_words_near_are_those_of_the_api(page: Page, server: str) -> None:
    view = count(page, "court", "Distribution")
    rows = view.locator("tbody tr")
    cells = counted(server, "counts", query="court", by="corpus")["cells"]
    expect(rows).to_have_count(len(cells))
    expect(rows.first.locator("td").first).to_have_text(f"{cells[0]['hits']:,}")
    view.get_by_role("button", name="Words searched").click()
    expect(view.locator("th[aria-sort=descending]")).to_have_text("Words searched")
    most = max(cell["words"] for cell in cells)
    expect(rows.first.locator("td").last).to_have_text(f"{most:,}")
    assert download(page, view).startswith("value,corpus,hits,")

    count(page, "libel*", "Collocates")
    body = {"query": "libel*", "function_words": False, "limit": 500}
    near = counted(server, "collocates", **body)["collocates"]
    expect(rows.locator("th")).to_have_text([each["word"] for each in near])
    expect(view.locator("th[aria-sort=descending]")).to_have_text("G²")
    view.get_by_role("button", name="logDice").click()
    closest = max(each["log_dice"] for each in near)
    expect(rows.first.locator("td").last).to_have_text(f"{closest:.2f}".rstrip("0"))
    hint = view.locator(".table-hint")
    expect(hint).to_contain_text("logDice: how closely the two belong together")
    strength = view.get_by_role("button", name="G²")
    strength.focus()
    expect(hint).to_contain_text("G²: log-likelihood")
    expect(strength).to_have_accessible_description(re.compile("^log-likelihood"))
    view.get_by_role("button", name=f"Concordance: {near[0]['word']}", exact=True).click()
    expect(page.get_by_label("Words to count")).to_have_value(near[0]["query"])
    expect(view.locator(".words-said")).to_contain_text(f"{near[0]['near']} hit")


def test_words_that_set_a_corpus_apart_open_their_lines(page: Page, server: str) -> None:
    view = open_words(page)
    page.get_by_label("Collection").select_option("legislation_nz")
    view.get_by_role("tab", name="Keywords").click()
    page.get_by_label("Minimum documents").fill("2")
    page.click("button#ask")
    body = {"corpus_filter": "legislation_nz", "min_documents": 2, "function_words": False}
    apart = counted(server, "keywords", **body, limit=500)["keywords"]
    expect(view.locator("tbody th")).to_have_text([each["word"] for each in apart])
    view.get_by_role("button", name=f"Concordance: {apart[0]['word']}", exact=True).click()
    expect(view.locator(".words-said")).to_contain_text(f"{apart[0]['frequency']} hit")


def test_keywords_compare_a_corpus_with_the_others_at_the_first_click(
    page: Page, server: str
) -> None:
    view = open_words(page)
    view.get_by_role("tab", name="Keywords").click()
    for corpus, label in (("legal_uk", "Legal UK"), ("legal_us", "Legal US")):
        view.get_by_label("Keywords of").select_option(label)
        body = {"corpus_filter": corpus, "function_words": False, "limit": 500}
        keywords = counted(server, "keywords", **body)
        expect(view.locator(".words-said")).to_contain_text(
            f"{label} ({keywords['words']:,} words, {keywords['documents']} documents) compared "
            "with everything else"
        )
        expect(view.locator("tbody th")).to_have_text([k["word"] for k in keywords["keywords"]])
    # a corpus is not compared with itself
    page.get_by_label("Compared with").select_option("Legal US")
    expect(view.locator(".words-said")).to_contain_text("compared with everything else")
    first = keywords["keywords"][0]
    view.get_by_role("button", name=f"Concordance: {first['word']}", exact=True).click()
    expect(view.locator(".words-said")).to_contain_text(f"{first['frequency']} hit")
    expect(page.get_by_label("Collection")).to_have_value("legal_us")


def test_the_most_frequent_words_are_listed_and_open_their_hits(page: Page, server: str) -> None:
    view = open_words(page)
    view.get_by_role("tab", name="Frequency list").click()
    page.get_by_label("Only words like").fill("libel*")
    page.get_by_role("spinbutton", name="Minimum count").fill("2")
    page.get_by_role("spinbutton", name="Minimum count").blur()
    body = {"pattern": "libel*", "min_count": 2, "limit": 500, "function_words": False}
    words = counted(server, "frequencies", **body)
    expect(view.locator("tbody th")).to_have_text([each["word"] for each in words["frequencies"]])
    expect(view.locator(".words-said")).to_contain_text(f"{words['types']:,} different words")
    expect(view.locator("th[aria-sort=descending]")).to_have_text("Frequency")
    view.get_by_role("button", name="Word", exact=True).click()
    ordered = sorted(each["word"] for each in words["frequencies"])
    expect(view.locator("tbody th")).to_have_text(ordered)
    assert download(page, view).startswith("word,frequency,per_million,documents,query")
    first = words["frequencies"][0]
    view.get_by_role("button", name=f"Concordance: {first['word']}", exact=True).click()
    expect(view.locator(".words-said")).to_contain_text(f"{first['frequency']} hits")


def test_queries_between_commas_have_a_line_each_and_are_one_elsewhere(
    page: Page, server: str
) -> None:
    view = count(page, 'libel*, "the court, held", murder NEAR/0,9 jury', "Trends")
    queries = ["libel*", '"the court, held"', "murder NEAR/0,9 jury"]
    expect(view.locator(".chart-legend li")).to_have_text([*queries, "no text"])
    totals = [counted(server, "counts", query=query)["total"] for query in queries]
    for query, total in zip(queries, totals, strict=True):
        expect(view.locator(".words-said")).to_contain_text(f"{query}: {total['hits']} hit")
    view.get_by_text("Show as a table", exact=True).click()
    decades = counted(server, "trends", query="libel*", by="decade")["cells"]
    expect(view.locator("details.data tbody tr")).to_have_count(3 * len(decades))
    # as many per million words as the API has, with an axis from the first text to the last
    rates = view.locator("details.data tbody tr td:nth-child(4)").all_text_contents()
    assert rates[0] == f"{decades[0]['per_million']:,.1f}".removesuffix(".0")
    labels = view.locator("svg .chart-label").all_text_contents()
    assert decades[0]["value"] <= labels[0]
    assert labels[-1] <= decades[-1]["value"]

    view.get_by_role("tab", name="Concordance").click()
    expect(view.locator(".words-said")).to_contain_text(f"{sum(t['hits'] for t in totals)} hits")
    search(page, "libel*, court NEAR")
    view.get_by_role("tab", name="Trends").click()
    expect(page.locator("#words-problem mark")).to_have_text("N")
    assert page.evaluate("() => getSelection().toString()") == "N"


def test_a_hit_has_one_line_beside_its_source(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    view = count(page, "court")
    row = lines(view).first
    boxes = [row.locator(f".line-{part}").bounding_box() for part in ("place", "before", "hit")]
    assert [box["x"] for box in boxes if box] == sorted(box["x"] for box in boxes if box)
    assert (row.bounding_box() or {})["height"] < 36


def test_a_count_is_of_the_corpus_that_was_asked_and_there_only_for_questions_of_number(
    page: Page, server: str
) -> None:
    question = "How many documents mention libel?"
    collection = page.get_by_label("Collection")
    collection.select_option("legal_uk")
    total = counted(server, "counts", query='"libel"', corpus_filter="legal_uk")["total"]
    note = ask(page, question).locator(".counted")
    collection.select_option("all")
    expect(note).to_contain_text("Exact count: 1 document mentions “libel”.")
    note.get_by_role("button", name="Show the hits").click()
    expect(lines(page)).to_have_count(total["hits"])
    open_view(page, "Answers")
    page.reload()
    expect(finished(page).locator(".counted")).to_contain_text("1 document mentions")
    ask(page, "How many documents mention zyzzyva?")
    expect(latest(page).locator(".counted")).to_have_text(
        "Exact count: no document mentions “zyzzyva”."
    )
    ask(page, "How many judges sit on the Supreme Court?")
    expect(latest(page).locator(".counted")).to_have_count(0)
