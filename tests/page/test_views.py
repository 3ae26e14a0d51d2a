"""The main way through each view of the page, in a real Chromium: what every change needs."""

import csv
import json
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from atlas_search.atlas import Atlas
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.people import Ratings, Scale
from tests.chat_server import Gate, Says, sentence
from tests.openai_server import OpenAIServer
from tests.page.asking import (
    COMPARED,
    FOLLOW_UP,
    NO_ANSWER,
    NOT_HELD,
    QUESTION,
    READ_AS,
    STREAM,
    ask,
    begin,
    chips,
    choose_target,
    clipboard,
    compare,
    finished,
    latest,
    open_citation,
    open_view,
    questions_before,
    request_body,
    settings,
    settle,
    take_home,
    unfold_filters,
)
from tests.page.conftest import Read
from tests.page.documents import STORM
from tests.page.labelling import label_server, open_labels, rated, rating_server, search
from tests.page.labelling import select_words as select_in_passage
from tests.page.rating import ask_for_id, expect_saved, saved_rating
from tests.page.words import count, counted, lines, open_words, plain_scan
from tests.server.two_corpora import QUESTION as BRIDGE

pytestmark = pytest.mark.browser
WORDS = "The parish keeps the granite bridge"


def test_a_question_leads_to_the_marked_words_and_the_trace(page: Page, server: str) -> None:
    answer = ask(page)
    text = answer.locator(".answer-text")
    expect(text).to_contain_text("cannot sue for libel")
    mark = open_citation(page)
    expect(mark).to_contain_text("cannot sue for libel at common law.")
    assert mark.inner_text() in text.inner_text()
    page.keyboard.press("Escape")
    expect(page.locator("#reader")).to_be_hidden()
    for label in ("Legal UK", "Legal US", "Legislation NZ"):
        expect(answer.locator(".counts")).to_contain_text(label)
    phoenix = httpx2.get(f"{server}/api/config").json()["phoenix_url"]
    trace = answer.locator("a.trace").get_attribute("href") or ""
    assert trace.startswith(f"{phoenix}/redirects/traces/")


def test_the_page_works_by_keyboard_alone(page: Page) -> None:
    page.locator("textarea#question").focus()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    chip = finished(page).locator("button.citation").first
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.locator("button.citation:focus").count():
            break
    expect(chip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#reader mark").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(chip).to_be_focused()


def test_several_corpora_are_ticked_and_compared(page: Page) -> None:
    box = page.get_by_role("group", name="Test Target")
    box.get_by_label("Collection").select_option("Several …")
    expect(box.get_by_role("group", name="Corpora").get_by_role("checkbox")).to_have_count(3)
    box.get_by_role("checkbox", name="Legal US").uncheck()
    settings(page).get_by_role("spinbutton", name="Passages").fill("4")
    compare(page)
    body = request_body(page, lambda: ask(page, COMPARED))
    assert body["corpus_filter"] == ["legal_uk", "legislation_nz"]
    assert (body["mode"], body["k"]) == ("compare", 4)
    answer = latest(page)
    # who answers comes first
    expect(answer.locator("[data-corpus] h3")).to_have_text(["Legislation NZ", "Legal UK"])
    expect(answer.locator(".scope")).to_contain_text(
        "Searched 2 of 3 corpora (Legal UK, Legislation NZ)"
    )
    expect(answer.locator(".counts tbody tr")).to_have_count(2)


def test_all_that_a_target_decides_is_folded_below_it(page: Page, server: str) -> None:
    listed = httpx2.get(f"{server}/api/targets").json()
    (own,) = [each for each in listed["targets"] if each["name"] == listed["default"]]
    details = settings(page).locator("#target-all")
    expect(details.locator("dl")).to_be_hidden()
    details.locator("summary").click()
    expect(details).to_contain_text(own["system_prompt"].splitlines()[0])
    for term, value in {
        "Embedding model": "sentence-transformers/all-MiniLM-L6-v2",
        "Pooling": "mean",
        "Passages": "recursive, 1,000 characters, 100 shared",
        "Index": "exact",
        "Likelihood an answer needs": own["in_force"]["answer_likelihood"],
    }.items():
        row = details.locator("div").filter(has=page.get_by_text(term, exact=True))
        expect(row.locator("dd").first).to_have_text(value)


def test_a_question_without_an_answer_says_why_and_keeps_the_passages(page: Page) -> None:
    answer = ask(page, NOT_HELD)
    expect(answer).to_contain_text("No passage clearly answers this. The nearest says: “")
    expect(answer.locator(".unverified")).to_have_text(
        "Not verified to answer. No passage found has “Shelby” or “Holder”."
    )
    assert answer.locator(".sources li").count() >= 3
    answer = ask(page, NO_ANSWER)
    expect(answer.locator(".retrieval dl")).to_contain_text("0.35 needed")
    scope = answer.locator(".scope")
    expect(scope).to_contain_text("Searched 3 corpora (Legal UK, Legal US, Legislation NZ): 84 doc")
    expect(scope).to_contain_text("; no source holds “bake”, “sourdough” or “bread”.")
    # said once: not again among the notes, which are counts of candidates
    expect(answer.locator(".retrieval .notes li")).to_have_count(3)
    expect(answer.locator(".retrieval")).not_to_contain_text("sourdough")


def test_a_source_that_was_overruled_is_a_line_and_no_contradiction(page: Page) -> None:
    answer = ask(page, "Is separate but equal lawful?")
    succession = answer.locator(".succession")
    expect(succession).to_have_text(
        "Plessy v. Ferguson, 1896overruled byBrown v. Board of Education, 1954"
    )
    expect(answer.locator(".conflicts")).to_have_count(0)
    succession.get_by_role("button", name="Plessy v. Ferguson").click()
    expect(page.locator("#reader mark").first).to_be_visible()
    warning = page.locator("#reader-warning")
    expect(warning).to_have_text("Overruled by Brown v. Board of Education")
    warning.get_by_role("button").click()
    expect(page.locator("#reader-title")).to_have_text("Brown v. Board of Education")
    # where the answer cites it, its sentence and its source say so
    answer = ask(page, "What is the test for dishonesty in criminal law?")
    expect(answer.locator(".answer-text .doubt")).to_have_text(
        "This sentence cites R v Ghosh, which was superseded by Ivey v Genting Casinos."
    )
    expect(answer.locator(".badge").first).to_have_text("overruled by Ivey v Genting Casinos")
    expect(answer.locator(".succession")).to_have_count(0)


def test_a_sentence_that_does_not_hold_is_flagged_and_a_new_draft_announced(
    page: Page, server: str, model: OpenAIServer
) -> None:
    first, second = Gate(), Gate()
    model.then(
        Says(sentence("Councils may not sue. [made.up p1]"), first, sentence("They are public.")),
        Says(second, sentence("A local authority cannot sue for libel.", 1)),
    )
    choose_target(page, "model")
    begin(page)
    flag, text = (latest(page).locator(part) for part in (".flag", ".answer-text"))
    expect(flag).to_have_text(
        "Not verified: this sentence cites [made.up p1], which was not retrieved."
    )
    first.set()
    expect(page.locator("#status")).to_have_text(
        "The first draft could not be verified; writing it again."
    )
    expect(text).not_to_contain_text("Councils")
    second.set()
    finished(page)
    expect(text).to_have_text("A local authority cannot sue for libel.1")
    expect(flag).to_have_count(0)
    expect(latest(page).locator(".retrieval")).to_contain_text("openai (gpt-4o-mini")


def test_a_stream_that_breaks_is_resumed_and_unknown_events_are_passed_over(page: Page) -> None:
    def cut(route: Route) -> None:
        """The first event alone, and one the page does not know."""
        first, _, _ = route.fetch().text().partition("\n\n")
        body = f"{first}\n\nevent: novelty\ndata: {{}}\n\n"
        route.fulfill(body=body, content_type="text/event-stream")

    page.route(STREAM, cut)
    with page.expect_request("**/api/ask/*/stream") as resumed:
        ask(page)
    assert resumed.value.headers["last-event-id"] == "1"
    expect(latest(page).locator(".answer-text")).to_contain_text("cannot sue for libel")


def test_a_reload_restores_the_conversation_and_the_draft(page: Page) -> None:
    ask(page)
    body = request_body(page, lambda: ask(page, FOLLOW_UP))
    assert (body["question"], body["read_follow_ups"]) == (FOLLOW_UP, True)
    assert [turn["role"] for turn in body["chat_history"]] == ["user", "assistant"]
    assert body["session_id"]
    reading = latest(page).locator(".read-as")
    expect(reading).to_have_text(f"Read as: “{READ_AS}” · Ask as written · Change")
    settle(page)
    shown = page.locator("#answers").inner_text()
    page.fill("textarea#question", "What of Canada?")
    page.get_by_label("Collection").select_option("legal_uk")
    page.route("**/api/ask**", lambda route: pytest.fail(route.request.url))
    page.reload()
    expect(page.locator("#served")).not_to_be_empty()
    page.wait_for_load_state("networkidle")
    page.unroute("**/api/ask**")
    expect(page.locator("article.answer")).to_have_count(2)
    expect(page.locator("#answers")).to_have_text(shown, use_inner_text=True)
    expect(page.locator("textarea#question")).to_have_value("What of Canada?")
    expect(page.get_by_label("Collection")).to_have_value("legal_uk")
    # and it goes on as if the page had never been left, after what the follow-up was read as
    body = request_body(page, lambda: begin(page, "And in Canada?"))
    assert questions_before(body) == [QUESTION, READ_AS]


def test_values_of_a_filter_are_ticked_counted_sent_and_let_go(page: Page, server: str) -> None:
    section = unfold_filters(page)
    section.get_by_text("Court", exact=True).click()
    lords = section.get_by_role("checkbox", name="House of Lords")
    expect(lords).to_have_accessible_name("House of Lords (7)")
    lords.check()
    body = {"filters": {"court": ["House of Lords"]}}
    left = httpx2.post(f"{server}/api/facets", json=body, timeout=60).json()
    expect(section.get_by_role("status")).to_have_text(
        f"{left['documents']} documents and {left['passages']} passages are searched."
    )
    # another court can be chosen beside it, and what was unfolded stays so
    section.get_by_role("checkbox", name="Supreme Court of the United Kingdom").check()
    expect(section.get_by_role("status")).to_contain_text("12 documents")
    buttons = chips(page).get_by_role("button")
    expect(buttons).to_have_count(3)
    sent = request_body(page, lambda: ask(page))
    courts = ["House of Lords", "Supreme Court of the United Kingdom"]
    assert sent["filters"] == {"court": courts}
    expect(latest(page).locator(".scope")).to_contain_text("12 of")
    page.get_by_role("button", name="Remove Court: House of Lords").press("Enter")
    expect(buttons).to_have_count(1)
    expect(buttons.first).to_be_focused()
    settings(page)
    expect(lords).not_to_be_checked()
    page.reload()
    expect(buttons).to_have_text("Court: Supreme Court of the United Kingdom×")
    buttons.click()
    expect(buttons).to_have_count(0)


def test_lines_are_those_of_a_plain_scan_and_open_where_they_stand(page: Page, server: str) -> None:
    expected = plain_scan("libel")
    view = count(page, "libel")
    api = counted(server, "concordance", query="libel", limit=1000)
    expect(view.locator(".words-said")).to_contain_text(
        f"{len(expected)} hits in {api['documents']} documents and {api['passages']} passages"
    )
    hits = view.locator(".line-hit mark").all_text_contents()
    assert hits == expected == [line["hit"] for line in api["lines"]]
    lines(view).first.click()
    expect(page.locator("#reader mark").first).to_have_text(api["lines"][0]["hit"])
    expect(page.locator("#reader-title")).to_have_text(api["lines"][0]["title"])
    # by keyboard alone: one row has the focus, Escape comes back to it
    page.keyboard.press("Escape")
    expect(lines(view).first).to_be_focused()
    page.keyboard.press("End")
    expect(lines(view).last).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#reader-title")).to_have_text(api["lines"][-2]["title"])
    expect(lines(view).nth(len(expected) - 2)).to_have_attribute("aria-selected", "true")


def test_a_trend_is_drawn_and_its_points_open_their_lines(page: Page, server: str) -> None:
    view = count(page, "court*", "Trends")
    page.get_by_label("Period", exact=True).select_option("Decade")
    page.get_by_label("One line per corpus").check()
    expect(view.locator(".chart-legend li")).to_have_text(
        ["Legal UK", "Legal US", "Legislation NZ", "no text"]
    )
    api = counted(server, "trends", query="court*", by="decade", by_corpus=True)["cells"]
    markers = view.locator("svg .chart-series .chart-marker")
    expect(markers).to_have_count(sum(cell["hits"] is not None for cell in api))
    # each series has a marker and a pattern of its own, not a colour alone
    dashes = view.locator(".chart-legend .chart-series").evaluate_all(
        "all => all.map((each) => getComputedStyle(each).strokeDasharray)"
    )
    assert len(set(dashes)) == 3
    view.get_by_role("group", name="Hits per million words over time: court*").focus()
    page.keyboard.press("End")
    last = next(c for c in api if c["value"] == "2020s" and c["corpus"] == "legal_uk")
    expect(view.locator(".chart-said")).to_contain_text(
        f"Legal UK, 2020s: {last['hits']} hits in {last['documents']} document"
    )
    page.keyboard.press("Enter")
    expect(view.get_by_role("tab", name="Concordance")).to_have_attribute("aria-selected", "true")
    expect(view).to_contain_text("Only: 2020s, Legal UK")
    expect(lines(view)).to_have_count(last["hits"])
    # a question about them is asked of that decade and corpus alone
    view.get_by_role("button", name="Ask about these passages").click()
    expect(page.locator("#narrowed")).to_contain_text("(2020s, Legal UK)")
    expect(page.get_by_label("Collection")).to_have_value("legal_uk")


def test_the_count_stands_with_the_answer_and_opens_its_lines(page: Page, server: str) -> None:
    total = counted(server, "counts", query='"libel"')["total"]
    note = ask(page, "How many documents mention libel?").locator(".counted")
    expect(note).to_contain_text(f"Exact count: {total['documents']} documents mention “libel”.")
    note.get_by_role("button", name="Show the hits").click()
    expect(page.get_by_label("Words to count")).to_have_value('"libel"')
    expect(lines(page)).to_have_count(total["hits"])


def test_words_need_a_word_but_keywords_and_frequencies_do_not(page: Page) -> None:
    view = open_words(page)
    expect(view).to_contain_text("Enter a word and count it.")
    box = page.get_by_label("Words to count")
    assert box.evaluate("box => box.required")
    for tab in ("Keywords", "Frequency list"):
        view.get_by_role("tab", name=tab).click()
        assert not box.evaluate("box => box.required")


def test_documents_are_listed_turned_over_and_opened(page: Page, server: str) -> None:
    corpora = httpx2.get(f"{server}/api/stats", timeout=60).json()["corpora"]
    view = open_view(page, "About")
    rows = view.get_by_role("region", name="Corpora").locator("table").first.locator("tbody tr")
    expect(rows).to_have_count(3)
    assert [row.locator("td").first.inner_text() for row in rows.all()] == [
        str(corpus["documents"]) for corpus in corpora
    ]
    listing = view.get_by_role("region", name="Documents", exact=True)
    expect(listing.locator("li")).to_have_count(50)
    listing.get_by_role("button", name="Next").click()
    expect(listing.get_by_role("status")).to_have_text("51 to 84 of 84")
    expect(listing.get_by_role("button", name="Next")).to_have_attribute("aria-disabled", "true")
    listing.get_by_label("Sort").select_option("Newest first")
    expect(listing.get_by_role("status")).to_have_text("1 to 50 of 84")
    listing.get_by_label("Words of the title").fill("times derbyshire")
    expect(listing.locator("li")).to_have_count(1)
    listing.locator("li").get_by_role("button").click()
    expect(page.locator("#reader-title")).to_have_text(
        "Derbyshire County Council v Times Newspapers"
    )


def test_a_page_of_a_pdf_is_shown_with_the_cited_sentence_marked(tab: Page, read: Read) -> None:
    tab.set_viewport_size({"width": 1440, "height": 900})
    read("papers.kestrel-point", STORM)
    expect(tab.locator("#reader mark")).to_be_in_viewport()
    tab.get_by_role("button", name="Page image").click()
    picture = tab.locator("#reader .picture")
    image = picture.get_by_role("img", name="p. 2 of Kestrel Point, as printed")
    box = picture.locator(".box")
    expect(box).to_have_count(1, timeout=40_000)  # drawn by a process of its own
    text, sheet, mark = (
        part.bounding_box() or {} for part in (tab.locator("#reader-body"), image, box)
    )
    assert text["x"] + text["width"] <= sheet["x"]
    share = (mark["y"] - sheet["y"]) / sheet["height"]
    assert share == pytest.approx(1 - (700 - 3 * 14) / 842, abs=0.02)
    picture.get_by_role("button", name="Page before").click()
    expect(picture).to_contain_text("p. 1 of 2")
    expect(box).to_have_count(0)
    expect(tab.locator("#reader .in-view")).to_have_text("p. 1")


def test_contents_lead_to_a_speech_and_follow_the_reading(tab: Page, read: Read) -> None:
    read("debates.pilots")
    pane = tab.locator("#reader")
    contents = pane.get_by_role("navigation", name="Contents")
    expect(contents).to_be_hidden()
    pane.get_by_role("button", name="Contents").click()
    expect(contents.get_by_role("button")).to_have_text(
        [
            *("Pilots Bill", "Second reading", "Ms Marlowe", "Mr Finch"),
            *("Committee", "Ms Marlowe", "Questions", "The Speaker"),
        ]
    )
    where = pane.locator(".in-view")
    expect(where).to_have_text("Pilots Bill › Second reading · Ms Marlowe")
    contents.get_by_role("button", name="Ms Marlowe").nth(1).click()
    expect(where).to_have_text("Pilots Bill › Committee · Ms Marlowe")
    expect(pane.get_by_text("Speech 2 of Ms Marlowe")).to_be_in_viewport()
    here = contents.locator("[aria-current=location]")
    expect(here).to_have_text(["Ms Marlowe"])
    tab.evaluate("document.getElementById('reader-body').scrollTop = 1e6")
    expect(where).to_have_text("Questions · The Speaker")
    expect(here).to_have_text(["The Speaker"])


def test_an_answer_is_copied_with_its_citations_in_the_chosen_style(page: Page) -> None:
    ask(page)
    tools = take_home(page)
    tools.get_by_label("Style").select_option("oscola")
    tools.get_by_role("button", name="Copy with citations").click()
    expect(tools.get_by_role("status")).to_have_text("Copied.")
    copy = clipboard(page)
    assert "cannot sue for libel at common law.[1]" in copy
    assert "[1] Derbyshire County Council v Times Newspapers [1993] UKHL 18, [1993] AC 534." in copy
    page.reload()
    expect(take_home(page).get_by_label("Style")).to_have_value("oscola")


def test_a_note_is_kept_and_exported(page: Page) -> None:
    menu = ask(page).locator(".sources .keep-menu").first
    menu.locator("summary").click()
    menu.get_by_role("button", name="Add a note").click()
    dialog = page.get_by_role("dialog", name="New note")
    dialog.get_by_label("Note", exact=True).fill("=1+1 <b>")
    dialog.get_by_label("Tags").fill("law")
    dialog.get_by_role("button", name="Save").click()
    expect(menu.get_by_role("status")).to_have_text("The note is kept.")
    view = open_view(page, "Kept")
    view.get_by_text("Export notes").click()
    exports = {}
    for name in ("Markdown", "CSV", "JSON"):
        with page.expect_download() as started:
            view.get_by_role("button", name=name, exact=True).click()
        exports[name] = started.value.path().read_text()
    assert "\\<b\\>" in exports["Markdown"]
    (row,) = csv.DictReader(exports["CSV"].splitlines())
    assert (row["note"], row["tags"]) == ("'=1+1 <b>", "law")
    assert row["title"] == "Derbyshire County Council v Times Newspapers"
    assert json.loads(exports["JSON"])["notes"][0]["text"] == "=1+1 <b>"


def test_a_link_to_an_answer_shows_it_and_asks_nothing(page: Page) -> None:
    page.get_by_label("Collection").select_option("legal_uk")
    answer = ask(page)
    text = answer.locator(".answer-text").inner_text()
    tools = take_home(page)
    tools.get_by_role("button", name="Copy link to this answer").click()
    expect(tools.get_by_role("status")).to_contain_text("The link is copied.")
    address = clipboard(page)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.goto("about:blank")
    page.goto(address)
    expect(latest(page).locator(".answer-text")).to_have_text(text, use_inner_text=True)
    expect(page.locator(".shared")).to_contain_text("You were sent this answer of")
    expect(page.get_by_label("Collection")).to_have_value("legal_uk")
    assert not any("ask/stream" in url or "local%20auth" in url for url in sent[1:])


def test_a_thumb_is_kept_and_pressed_again_withdrawn(page: Page, server: str) -> None:
    qa_id = ask_for_id(page)
    up = latest(page).get_by_role("button", name="Helpful", exact=True)
    down = latest(page).get_by_role("button", name="Not helpful")
    for button, thumb in ((up, "up"), (down, "down")):
        button.click()
        expect_saved(page)
        assert saved_rating(page, server, qa_id)["thumb"] == thumb
    expect(up).to_have_attribute("aria-pressed", "false")
    down.click()
    expect_saved(page)
    assert saved_rating(page, server, qa_id) == {}


def test_a_question_is_labelled_with_the_mouse(
    context: BrowserContext, parish: Atlas, tmp_path: Path
) -> None:
    file = tmp_path / "labels.jsonl"
    with label_server(parish, file) as address:
        page = open_labels(context, address)
        bridge = search(page, BRIDGE).filter(has_text=WORDS).first
        bridge.get_by_label("2 answers in part").check()
        select_in_passage(bridge, WORDS)
        bridge.get_by_role("button", name="Mark selected words").click()
        expect(bridge.locator("mark")).to_have_text(WORDS)
        answers = page.get_by_role("group", name="Reference answers")
        answers.get_by_label("Answer").fill("The parish.")
        page.get_by_role("button", name="Another one").click()
        page.get_by_label("Answer 2").fill("The people of the parish.")
        page.get_by_label("Category").fill("upkeep")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("Saved")
    [label] = load_labels(file)
    assert label.question == BRIDGE
    assert label.answers == ("The parish.", "The people of the parish.")
    assert (label.category, label.split, label.answerable) == ("upkeep", "test", True)
    [passage_id] = label.gold_passage_ids
    assert label.grades == {"meadow.bridge": 2, passage_id: 2}
    [span] = label.gold_spans
    assert parish.document(span.document_id).text[span.start : span.end] == WORDS


def test_an_answer_is_rated_by_keys(context: BrowserContext, tmp_path: Path) -> None:
    scales = [Scale(name="relevance"), Scale(name="accuracy", low=0, high=3)]
    with rating_server(tmp_path, [rated(n) for n in range(3)], scales) as address:
        page = open_labels(context, address)
        page.get_by_label("Your name").fill("anna")
        page.get_by_role("button", name="Begin").click()
        first = page.get_by_role("heading", level=2).inner_text()
        for key in "j4j0":
            page.keyboard.press(key)
        page.keyboard.press("s")
        expect(page.get_by_role("status")).to_contain_text("1 of 3 rated")
        expect(page.get_by_role("heading", level=2)).not_to_have_text(first)
    [rating] = Ratings(tmp_path).all()
    assert first == f"How tall is light {rating.label_id.removeprefix('q')}?"
    assert rating.scores == {"relevance": 4, "accuracy": 0}


def test_the_page_speaks_the_language_that_is_chosen(page: Page) -> None:
    page.select_option("select#language", "fr")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    page.get_by_role("button", name="Demander", exact=True).wait_for()
    page.reload()
    page.get_by_role("button", name="Demander", exact=True).wait_for()
