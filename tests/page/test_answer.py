"""An answer: how surely it stands, what it leaves open, what comes closest, readings, marks,
corpora compared, how each passage was found, and places as the sources name them."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from atlas_search.core.ids import CLOSEST, CONFIDENCE
from atlas_search.providers.embedding_local import LocalEmbedder
from tests.chat_server import TEXT, Request
from tests.harbours import FEE, NORTH, SOUTH, harbours
from tests.judging import FALSE, REASON, TRUE, both_said, falsehood, writes
from tests.lighthouses import LIT, NOT_HELD, WHEN, WHEN_FROM_DUNEDIN, lighthouses
from tests.openai_server import OpenAIServer
from tests.page.asking import (
    COMPARED,
    NO_ANSWER,
    STREAM,
    WIDE,
    ask,
    best_passage,
    choose_target,
    compare,
    finished,
    latest,
    open_citation,
    request_body,
)
from tests.page.conftest import open_page
from tests.page.rating import ask_for_id, expect_saved, rating, saved_rating
from tests.servers import app_of, served

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def coast(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[str]:
    """A server of lighthouses; its address."""
    with (
        lighthouses(tmp_path_factory.mktemp("coast"), embedder) as atlas,
        served(app_of(atlas)) as address,
    ):
        yield address


@pytest.fixture
def lights(tab: Page, coast: str) -> Page:
    return open_page(tab, coast, choices=3)


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[str]:
    """A server of two towns with rules of their own; its address."""
    with (
        harbours(tmp_path_factory.mktemp("towns"), embedder) as atlas,
        served(app_of(atlas)) as address,
    ):
        yield address


def text_before(answer: Locator, other: str) -> str:
    """All that is shown above the element at `other`."""
    shown: str = answer.evaluate(
        "(article, at) => { const above = document.createRange(); above.setStart(article, 0);"
        " above.setEndBefore(article.querySelector(at)); return above.toString(); }",
        other,
    )
    return shown


def test_a_refusal_leads_with_the_nearest_quote_and_no_word_of_the_program(lights: Page) -> None:
    answer = ask(lights, NOT_HELD, target="usual")
    lead, lacks = answer.locator(".answer-text p").all()
    expect(lead).to_contain_text("No passage clearly answers this. The nearest says: “")
    expect(lacks).to_contain_text("Not verified to answer.")
    size = "node => getComputedStyle(node).fontSize"
    answered = ask(lights, WHEN, target="usual").locator(".answer-text p").first
    answer = lights.locator("article.answer").first
    assert answer.locator(".answer-text p").first.evaluate(size) == answered.evaluate(size)
    closest = answer.get_by_role("region", name=CLOSEST)
    expect(closest.get_by_role("heading", name=CLOSEST)).to_be_visible()
    assert 1 <= closest.locator("li[data-passage]:visible").count() <= 3
    expect(answer.locator("button.citation, mark, .confidence")).to_have_count(0)
    shown = answer.inner_text()
    assert [word for word in ("ABSTAIN", "not_held", "likelihood") if word in shown] == []
    answer.locator(".retrieval > summary").click()
    expect(answer.locator(".retrieval")).to_contain_text(
        re.compile(r"not answered.*\(likelihood 0\.\d\d, 0\.22 needed\)", re.DOTALL)
    )


def test_a_closest_quote_opens_where_it_is_from_and_is_not_announced_as_an_answer(
    lights: Page,
) -> None:
    answer = ask(lights, WHEN, target="strict")
    lead = answer.locator(".answer-text p").first
    expect(lead).to_contain_text(f"The nearest says: “{LIT}”")
    source = answer.get_by_role("region", name=CLOSEST).locator(".document").first
    expect(source.locator(".passage-text")).to_contain_text(LIT)
    expect(source.locator(".place").first).to_have_text("North · May 2, 1891")
    expect(lights.locator("#status")).to_have_text("Not answered.")
    assert answer.locator(".sources").evaluate("node => node.closest('[aria-live]')") is None
    lead.get_by_role("button", name="The Skerry lighthouse").click()
    expect(lights.locator("#reader mark").first).to_have_text(LIT)


def test_what_comes_closest_is_voted_on(lights: Page, coast: str) -> None:
    qa_id = ask_for_id(lights, NOT_HELD)
    passage = latest(lights).locator("li[data-passage]:visible").first
    passage.get_by_role("button", name="Not relevant").click()
    expect_saved(lights)
    saved = saved_rating(lights, coast, qa_id)["passages"]
    assert saved == {passage.get_attribute("data-passage"): "irrelevant"}
    rating(lights).get_by_role("button", name="Not helpful").click()
    expect_saved(lights)
    assert saved_rating(lights, coast, qa_id)["thumb"] == "down"


@pytest.mark.parametrize(
    ("target", "question", "word"), [("usual", WHEN, "likely"), ("lenient", NOT_HELD, "possible")]
)
def test_a_word_says_how_surely_quotes_answer_and_unfolds_its_meaning(
    lights: Page, target: str, question: str, word: str
) -> None:
    answer = ask(lights, question, target=target)
    confidence = answer.locator(".confidence")
    expect(confidence.locator("summary")).to_have_text(CONFIDENCE[word])
    expect(confidence.locator("p")).to_be_hidden()
    confidence.locator("summary").click()
    expect(confidence.locator("p")).to_contain_text(f"Of answers called {word}, ")
    assert CONFIDENCE[word] in text_before(answer, ".answer-text")
    expect(answer.get_by_role("region", name=CLOSEST)).to_have_count(0)


def test_what_quotes_leave_open_stands_above_them_and_is_not_folded(lights: Page) -> None:
    answer = ask(lights, WHEN_FROM_DUNEDIN, target="usual")
    expect(answer.locator(".answer-text")).to_contain_text(LIT)
    open_word = answer.get_by_text("No passage found has “Dunedin”.")
    expect(open_word).to_have_count(1)
    expect(open_word).to_be_visible()
    assert "“Dunedin”." in text_before(answer, ".answer-text")


def test_sentences_that_stand_in_for_a_model_and_do_not_answer_are_not_said_to(
    lights: Page,
) -> None:
    answer = ask(lights, WHEN, target="replaced")
    expect(answer.locator(".notice").first).to_contain_text(
        re.compile(r"^Neither mistral.* nor the sources’ own sentences answer\. .*MISTRAL_API_KEY")
    )
    expect(answer.locator(".answer-text")).to_contain_text(f"The nearest says: “{LIT}”")


def test_in_a_comparison_each_corpus_says_how_surely_it_answers_or_why_not(lights: Page) -> None:
    compare(lights)
    answer = ask(lights, WHEN, target="usual")
    north, south = answer.locator("[data-corpus=north]"), answer.locator("[data-corpus=south]")
    expect(north.locator(".confidence summary")).to_have_text(CONFIDENCE["likely"])
    expect(south).to_contain_text("Nothing found comes close to this question.")
    expect(south.locator(".confidence")).to_have_count(0)
    expect(answer.get_by_role("region", name=CLOSEST)).to_have_count(0)
    expect(answer.get_by_role("heading", name="Differences")).to_have_count(0)
    answer = ask(lights, WHEN, target="strict")
    expect(answer.locator("[data-corpus] .citation")).to_have_count(0)
    expect(answer.locator(".answer-text > p").first).to_have_text(
        re.compile(f"^No corpus clearly answers this\\. The nearest says: “{LIT}”")
    )


def test_a_reading_is_chosen_and_asked_for(tab: Page, towns: str) -> None:
    page = open_page(tab, towns, choices=3)
    choices = ask(page, FEE, target="one").locator(".choices")
    expect(choices).to_contain_text("Which of these do you mean?")
    for quote in (NORTH, SOUTH):
        expect(choices.locator("blockquote", has_text=quote)).to_be_visible()
    button = choices.get_by_role("button", name="Southport", exact=True)
    body = request_body(page, button.click)
    assert (body["question"], body["corpus_filter"]) == (FEE, ["southport"])
    expect(page.locator("article.answer[data-state=done]")).to_have_count(2, timeout=60_000)
    expect(latest(page).locator(".answer-text")).to_contain_text(SOUTH)
    expect(latest(page).locator(".choices")).to_have_count(0)
    # beside an answer that gives all readings, one is opened
    choices = ask(page, FEE, target="three").locator(".choices")
    expect(choices).to_contain_text("Ask about one reading alone:")
    choices.get_by_role("button", name="Northport rules").click()
    expect(page.locator("#reader mark").first).to_have_text(NORTH)


def test_a_misspelt_word_is_told_and_can_be_searched_as_it_is_written(page: Page) -> None:
    question = "When was captial punishment abolished in Britain?"
    wording = ask(page, question).locator(".wording")
    expect(wording).to_have_text("Searched for capital instead of captial; search for captial")
    body = request_body(page, wording.get_by_role("button", name="captial").click)
    assert body["question"] == question.replace("captial", '"captial"')
    expect(page.locator("article.answer[data-state=done]")).to_have_count(2, timeout=60_000)
    wording = latest(page).locator(".wording")
    expect(wording).to_have_text("Did you mean capital instead of captial?")
    wording.get_by_role("button", name="capital").click()
    expect(page.locator("article.answer[data-state=done]")).to_have_count(3, timeout=60_000)
    expect(latest(page).locator("h2")).to_have_text(question.replace("captial", "capital"))
    expect(latest(page).locator(".wording")).to_have_count(0)


def test_what_few_passages_hold_is_told_and_the_others_are_marked(page: Page) -> None:
    answer = ask(page, 'Can a council sue for libel? +"cannot sue for libel at common law"')
    expect(answer.locator(".wording")).to_have_text(
        "Only 1 passage holds “cannot sue for libel at common law”. The others were found without."
    )
    passages = answer.locator(".sources li[data-passage]")
    without = passages.get_by_text("Without “cannot sue")
    expect(without).to_have_count(passages.count() - 1)
    expect(passages.first).not_to_contain_text("Without “cannot sue")
    answer = ask(page, 'Can a council sue for libel? +"a council of sheep"')
    expect(answer.locator(".wording")).to_have_text(
        "No passage holds “a council of sheep”. These were found without."
    )


def test_below_an_answer_stands_what_was_searched_and_how_old_it_is(page: Page) -> None:
    answer = ask(page)
    scope = answer.locator(".scope")
    expect(scope).to_have_count(1)
    everything = "Searched 3 corpora (Legal UK, Legal US, Legislation NZ): 84 documents"
    expect(scope).to_contain_text(everything)
    expect(scope).to_be_hidden()  # all was searched
    how = answer.locator(".retrieval > summary")
    expect(how).to_have_text(
        re.compile(r"^How it was found: 10 of 415 passages, 3 corpora, \d+(\.\d)? m?s$")
    )
    how.click()
    text, below = answer.locator(".answer-text").bounding_box(), scope.bounding_box()
    assert text
    assert below
    assert below["y"] >= text["y"] + text["height"]
    expect(answer.locator(".freshness")).to_have_text(
        re.compile(r"^Sources from \d{4}( to \d{4})?; the newest is \d+ years old\.$")
    )
    expect(answer.locator(".legend, .unsupported")).to_have_count(0)
    page.get_by_label("Collection").select_option("legal_us")
    narrowed = ask(page).locator(".scope")
    expect(narrowed).to_contain_text("Searched 1 of 3 corpora (Legal US): ")
    expect(narrowed).to_be_visible()
    page.get_by_label("Collection").select_option("all")
    compare(page)
    expect(ask(page, COMPARED).locator(".scope")).to_contain_text(everything)


def changing(change: Callable[[dict[str, Any]], None]) -> Callable[[Route], None]:
    """A route that hands on the real answer with something changed."""

    def handle(route: Route) -> None:
        fetched = route.fetch()
        frames = fetched.text().replace("\r\n", "\n").split("\n\n")
        for at, frame in enumerate(frames):
            if "event: complete" in frame:
                head, _, data = frame.partition("data: ")
                answer = json.loads(data)
                change(answer)
                frames[at] = f"{head}data: {json.dumps(answer)}"
        route.fulfill(response=fetched, body="\n\n".join(frames))

    return handle


def weaken(answer: dict[str, Any]) -> None:
    first = answer["sentences"][0]
    answer["sentences"] = [
        first,
        first | {"text": "Nobody said this.", "citations": [], "grounded": False},
        first | {"text": "Nobody judged this.", "support": "not_judged"},
        first | {"text": "That is all.", "citations": [], "grounded": False, "caveat": True},
    ]


def test_unsupported_sentences_are_marked_and_the_marks_explained(page: Page) -> None:
    page.route(STREAM, changing(weaken))
    answer = ask(page)
    text = answer.locator(".answer-text")
    expect(text.locator(".unsupported")).to_have_text(["Nobody said this.", "Nobody judged this."])
    expect(text.locator("sup.sign")).to_have_text(["† (without a source)", "‡ (not checked)"])
    expect(answer.locator(".legend p")).to_have_text(
        [
            "† No source is cited for this sentence.",
            "‡ This sentence was not checked against what it cites.",
        ]
    )


@pytest.fixture
def judged(page: Page, model: OpenAIServer) -> Iterator[Page]:
    """The page, whose model says for this test what the test has it say."""
    yield page
    model.says(TEXT)


def test_what_was_struck_is_listed_with_its_reason(judged: Page, model: OpenAIServer) -> None:
    writes(model, both_said)
    answer = ask(judged, target="judged")
    expect(answer.locator(".answer-text")).to_have_text(f"{TRUE}.1")
    struck = answer.locator(".struck")
    expect(struck.locator("summary")).to_have_text(
        "Struck: 1 sentence that the sources do not support"
    )
    expect(struck.locator("del")).to_have_text(f"{FALSE}.")
    expect(struck).to_contain_text(REASON)
    expect(answer.locator(".judge")).to_have_text(
        "Each sentence was checked against the passages it cites, by the language model."
    )


def test_an_answer_without_support_is_declined_and_a_blocked_one_can_be_rated(
    judged: Page, model: OpenAIServer, server: str
) -> None:
    writes(model, falsehood)
    answer = ask(judged, "May a council sue a newspaper for libel?", target="judged")
    text = answer.locator(".answer-text")
    expect(text).to_contain_text("the sources do not support it, so it is not shown.")
    expect(answer.locator(".judge")).to_have_count(0)
    model.says("The council may sue [made.up p1].")
    choose_target(judged, "model")
    qa_id = ask_for_id(judged, "May a council sue a newspaper for what it prints?")
    blocked = latest(judged).locator(".answer-text")
    expect(blocked).to_contain_text("its citations could not be verified, so it is not shown.")
    expect(blocked).not_to_contain_text("invalid_citations")
    latest(judged).get_by_role("button", name="Not helpful").click()
    expect_saved(judged)
    assert saved_rating(judged, server, qa_id)["thumb"] == "down"


def test_what_a_model_finds_the_corpora_agree_about_is_cited(
    judged: Page, server: str, model: OpenAIServer
) -> None:
    question = "What must a person be told when arrested?"
    us, nz = (
        best_passage(server, question, corpus)["marker"]
        for corpus in ("legal_us", "legislation_nz")
    )

    def reply(request: Request) -> str:
        if "AGREE:" in request.prompt:
            return f"AGREE: A lawyer must be named {us} {nz}."
        return "A lawyer must be named [1]."

    model.says(reply)
    compare(judged)
    answer = ask(judged, question, target="model")
    agreements = answer.get_by_role("group").filter(has_text="Agreements")
    agreements.locator("summary").click()
    expect(agreements.get_by_role("listitem")).to_have_text("A lawyer must be named.23")


def test_corpora_answer_beside_each_other_and_all_of_it_stands_above_the_sources(
    page: Page,
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    compare(page)
    answer = ask(page, COMPARED)
    blocks = answer.locator(".columns [data-corpus]")
    expect(blocks.locator("h3")).to_have_text(["Legal US", "Legislation NZ"])
    expect(answer.locator("[data-corpus=legal_uk]")).to_contain_text("No passage clearly answers")
    expect(answer.get_by_text("Differences")).to_have_count(0)  # none was found
    places = [block.bounding_box() or {} for block in blocks.all()]
    assert len({round(place["y"]) for place in places}) == 1
    top, sources = (answer.locator(part).bounding_box() or {} for part in ("> h2", ".sources"))
    assert sources["y"] - top["y"] < 500
    blocks.first.get_by_text("Whole answer").click()
    expect(blocks.first.locator("button.citation")).to_have_text(["1", "2", "3"])
    answer.get_by_text("Agreements").click()
    agreements = answer.locator("details.compared li")
    expect(agreements).to_contain_text("Legal US: “")
    assert places[0]["y"] < (agreements.bounding_box() or {})["y"]
    answer.locator("[data-corpus=legislation_nz] button.citation").first.click()
    expect(page.locator("#reader mark").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    first, second = (blocks.nth(number).bounding_box() or {} for number in range(2))
    assert first["y"] < second["y"]
    assert first["x"] == second["x"]


def test_an_answer_and_a_refusal_are_described_in_french(page: Page) -> None:
    page.select_option("select#language", "fr")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator("select#collection option")).to_have_count(5)
    answer = ask(page)
    expect(answer.locator(".scope")).to_contain_text(
        "Recherche dans 3 corpus (Legal UK, Legal US, Legislation NZ) : 84 documents, 415 passages,"
        " 1765 à 2025."
    )
    expect(answer.locator(".confidence summary")).to_have_text("Réponse probable")
    expect(answer.locator(".freshness")).to_contain_text("la plus récente a")
    answer.locator(".sources li:visible .keep-menu summary").first.click()
    expect(answer.get_by_role("button", name="Ajouter une note").first).to_be_visible()
    answer = ask(page, NO_ANSWER)
    lead = answer.locator(".answer-text")
    expect(lead).to_contain_text("Rien de ce qui a été trouvé n’est proche de cette question.")
    expect(lead).to_contain_text("Rien ne garantit que cela réponde.")
    expect(answer.locator(".scope")).to_contain_text(
        "aucune source ne contient « bake », « sourdough » ou « bread »"
    )


def test_on_a_phone_and_beside_the_answer_nothing_lies_over_the_document(page: Page) -> None:
    ask(page)
    for width in (1600, 1000, 360):
        page.set_viewport_size({"width": width, "height": 740})
        open_citation(page)
        over = page.evaluate(
            """() => {
              const { left, right, top, bottom } =
                document.getElementById("reader").getBoundingClientRect();
              const share = [0.05, 0.25, 0.5, 0.75, 0.95];
              return share.flatMap((x) => share.map((y) => document.elementFromPoint(
                left + x * (right - left), top + y * (Math.min(bottom, innerHeight) - top))))
                .filter((node) => node.closest("#reader") === null).map((node) => node.outerHTML);
            }"""
        )
        assert over == []
        assert page.evaluate(WIDE) <= 0
        page.keyboard.press("Escape")
    finished(page)
