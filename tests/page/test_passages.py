"""The passages of an answer: why each is where it is, all candidates of all corpora, duplicates,
and places as the sources name them."""

import re

import httpx2
import pytest
from playwright.sync_api import Page, Route, expect

from tests.cited_places import EXEMPT, PREFACE
from tests.page.asking import STREAM, WIDE, ask

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
PHONE = {"width": 390, "height": 844}


def test_sources_are_one_list_by_document_in_which_the_cited_words_alone_are_marked(
    page: Page,
) -> None:
    answer = ask(page)
    sources = answer.locator(".sources")
    expect(sources.get_by_role("heading", level=3)).to_have_text(
        re.compile(r"^10 passages of \d+ documents, \d documents? cited$")
    )
    text = answer.locator(".answer-text")
    assert all(mark in text.inner_text() for mark in sources.locator("mark").all_inner_texts())
    numbers = [part.locator("button.citation").all_inner_texts() for part in (text, sources)]
    assert sorted(set(numbers[0])) == sorted(numbers[1])
    shown = sources.locator("li[data-passage]:visible")
    for passage in shown.all():
        expect(passage.locator("button.citation").first).to_be_visible()
    more = sources.get_by_role("button", name=re.compile(r"^\d+ more passages$"))
    expect(more).to_have_text(f"{10 - shown.count()} more passages")
    more.click()
    expect(shown).to_have_count(10)
    ids = sources.locator(".document:visible h4 button").all_inner_texts()
    assert len(ids) == len(set(ids))


def test_a_number_shows_what_it_cites_to_the_pointer_and_the_focus(page: Page) -> None:
    chip = ask(page).locator("button.citation").first
    tip = page.get_by_role("tooltip")
    chip.focus()
    expect(tip).to_contain_text("cannot sue for libel at common law")
    expect(chip).to_have_accessible_description(re.compile("cannot sue for libel"))
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    chip.hover()
    expect(tip).to_be_visible()
    tip.hover()
    expect(tip).to_be_visible()
    page.mouse.move(1, 1)
    expect(tip).to_be_hidden()


def test_votes_show_themselves_to_pointer_and_focus_and_when_rating(page: Page) -> None:
    answer = ask(page)
    passage = answer.locator("li[data-passage]").first
    tools = passage.locator(".tools")
    expect(tools).to_have_css("opacity", "0")
    passage.hover()
    expect(tools).to_have_css("opacity", "1")
    page.mouse.move(1, 1)
    expect(tools).to_have_css("opacity", "0")
    passage.get_by_role("button", name="Supports").first.focus()
    expect(tools).to_have_css("opacity", "1")
    answer.get_by_role("button", name="Rate", exact=True).click()
    expect(tools).to_have_css("opacity", "1")


def test_a_passage_shows_its_signals_with_their_weights_and_its_legs(page: Page) -> None:
    source = ask(page).locator(".sources li[data-passage]").first
    source.get_by_text("Why here").click()
    table = source.locator(".signals")
    expect(table.get_by_role("columnheader", name="Weight")).to_be_visible()
    rows = table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].slice(0, 4).map(cell => cell.textContent))"
    )
    assert {name: float(weight) for name, _, weight, _ in rows if weight != "–"} == {
        "meaning": 0.6,
        "words (BM25)": 0.3,
        "word pairs": 0.15,
        "closeness": 0.25,
        "text around": 0.15,
    }
    score = float(source.locator(".why dd").first.inner_text())
    assert sum(float(adds) for *_, adds in rows if adds != "–") == pytest.approx(score, abs=0.004)
    expect(source.locator(".why dl")).to_contain_text(re.compile(r"By meaningplace \d+ of its"))
    expect(source.locator(".why dl")).to_contain_text("Place among all1")


def test_a_model_that_reads_again_gives_a_second_score(page: Page, server: str) -> None:
    source = ask(page, target="reread").locator(".sources li[data-passage]").first
    source.get_by_text("Why here").click()
    expect(source.locator(".why dl")).to_contain_text("First score")
    names, values = (source.locator(f".why {part}").all_inner_texts() for part in ("dt", "dd"))
    facts = dict(zip(names, values, strict=True))
    body = {"question": page.locator("article.answer h2").first.inner_text(), "target": "reread"}
    best = httpx2.post(f"{server}/api/search", json=body, timeout=60).json()["passages"][0]
    relevance = best["signals"]["relevance"]
    assert facts["First score"] == f"{best['score']:.3f}"
    assert facts["Second score, by a model that read it"] == f"{relevance:.3f}"
    assert relevance != best["score"]


def test_all_candidates_stand_in_a_column_for_each_corpus_and_open(page: Page) -> None:
    answer = ask(page)
    answer.locator(".retrieval > summary").click()
    with page.expect_request("**/api/search") as sent:
        answer.get_by_text("All candidates").click()
    assert sent.value.post_data_json["telemetry"] is False
    columns = answer.locator(".candidates section")
    expect(columns.get_by_role("heading")).to_have_text(["Legal UK", "Legal US", "Legislation NZ"])
    counts = answer.locator(".counts tbody tr td:nth-child(2)").all_inner_texts()
    for column, count in zip(columns.all(), counts, strict=True):
        expect(column.locator("li")).to_have_count(int(count))
    expect(columns.locator("li.cited").first).to_contain_text("Cited")
    ranks = columns.locator("li").evaluate_all("items => items.map(item => item.value)")
    assert sorted(ranks) == list(range(1, len(ranks) + 1))
    columns.nth(1).locator("li button").first.click()
    expect(page.locator("#reader mark").first).to_be_visible()


def test_candidates_scroll_smoothly_and_fit_a_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    answer = ask(page)
    answer.locator(".retrieval > summary").click()
    answer.get_by_text("All candidates").click()
    first = answer.locator(".candidates ol").first
    expect(first.locator("li").first).to_be_visible()
    assert page.evaluate(WIDE) <= 0
    # rows out of sight cost nothing: 500 of them, scrolled through
    longest = first.evaluate(
        """async list => {
          while (list.children.length < 500) list.append(list.children[0].cloneNode(true));
          let longest = 0;
          for (let step = 0; step < 40; step += 1) {
            const begun = performance.now();
            list.scrollTop += 700;
            list.getBoundingClientRect();
            await new Promise(requestAnimationFrame);
            longest = Math.max(longest, performance.now() - begun);
          }
          return longest;
        }"""
    )
    assert longest < 400  # ms for a frame, on a machine that is busy with other tests


def test_folded_duplicates_are_named_and_open(page: Page) -> None:
    def add_duplicate(route: Route) -> None:
        fetched = route.fetch()
        text = fetched.text()
        first = re.search(r'"passage_id": ?"([^"]+)"', text)
        assert first
        added = f'"duplicates": ["{first[1]}"]'
        route.fulfill(response=fetched, body=re.sub(r'"duplicates": ?\[\]', added, text))

    page.route(STREAM, add_duplicate)
    folded = ask(page).locator(".duplicates").first
    folded.get_by_text("1 passage with nearly the same text").click()
    folded.get_by_role("button").click()
    expect(page.locator("#reader mark").first).to_be_visible()


def test_a_statute_is_cited_by_its_section_with_the_headings_above(tab: Page, reading: str) -> None:
    tab.goto(reading)
    answer = ask(tab, "Are no harbour dues payable by a lifeboat?")
    source = answer.locator(".sources .document", has_text=EXEMPT).first
    expect(source.locator(".place").first).to_have_text("Acts")
    passage = source.locator("li[data-passage]", has_text=EXEMPT)
    place = passage.get_by_role("button", name="Open in document")
    expect(place).to_have_text("s 10(2)")
    expect(passage.locator(".context")).to_have_text("Part 2 › Levy of dues")
    assert passage.locator(".passage-text").inner_text() == EXEMPT
    expect(passage.locator("mark")).to_have_text(EXEMPT)
    expect(passage.locator("button.citation")).to_have_text("1")
    place.click()
    reader = tab.locator("#reader")
    expect(reader.locator("mark")).to_have_text(EXEMPT)
    expect(reader.locator(".where")).to_have_text("s 10(2)")
    expect(reader.locator(".context")).to_have_text("Part 2 › Levy of dues")


def test_a_book_is_cited_by_the_page_that_is_printed_and_a_speech_stands_below_its_speaker(
    tab: Page, reading: str
) -> None:
    tab.goto(reading)
    answer = ask(tab, f"Is it so? {PREFACE}")
    source = answer.locator(".sources li[data-passage]", has_text=PREFACE).first
    expect(source.get_by_role("button", name="Open in")).to_have_text("p. xii (page 1 of the file)")
    expect(source.locator(".context")).to_have_count(0)
    answer = ask(tab, "What did Mr Finch say on the pilots of the northern fairway?")
    source = answer.locator(".sources li[data-passage]", has_text="Speech 1 of Mr Finch").first
    expect(source.locator(".context .headings")).to_have_text("Pilots Bill › Second reading")
    expect(source.locator(".context .speaker")).to_have_text("Mr Finch")
