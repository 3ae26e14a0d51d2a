"""Several corpora at once, and how many passages are wanted, in the Test Target box."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, begin, latest

pytestmark = pytest.mark.browser


def test_several_corpora_are_ticked_asked_and_compared(page: Page) -> None:
    box = page.get_by_role("group", name="Test Target")
    box.get_by_label("Collection").select_option("Several …")
    ticks = box.get_by_role("group", name="Corpora").get_by_role("checkbox")
    expect(ticks).to_have_count(3)
    box.get_by_role("checkbox", name="Legal US").uncheck()
    box.get_by_label("Compare the corpora").check()
    box.get_by_role("spinbutton", name="Passages").fill("4")
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page, "Is the death penalty allowed?")
    body = sent.value.post_data_json
    assert body["corpus_filter"] == ["legal_uk", "legislation_nz"]
    assert body["mode"] == "compare"
    assert body["k"] == 4
    expect(latest(page).locator(".scope")).to_contain_text(
        "Searched 2 of 3 corpora (Legal UK, Legislation NZ)"
    )
    expect(latest(page).locator(".counts tbody tr")).to_have_count(2)

    # one alone has nothing to be compared with
    box.get_by_role("checkbox", name="Legislation NZ").uncheck()
    expect(box.get_by_label("Compare the corpora")).to_be_disabled()
    with page.expect_request("**/api/ask/stream") as alone:
        ask(page, "Is the death penalty allowed?")
    assert alone.value.post_data_json["corpus_filter"] == "legal_uk"
    assert alone.value.post_data_json["mode"] == "answer"

    # none at all is asked for a tick, and nothing is sent
    box.get_by_role("checkbox", name="Legal UK").uncheck()
    expect(box.get_by_text("Tick at least one corpus.")).to_be_visible()
    begin(page, "Is the death penalty allowed?")
    expect(page.locator("article.answer")).to_have_count(2)
    box.get_by_label("Collection").select_option("All")
    expect(ticks.first).to_be_hidden()
    expect(box.get_by_text("Tick at least one corpus.")).to_be_hidden()


def test_the_number_of_passages_is_the_targets_unless_given(page: Page) -> None:
    field = page.get_by_role("spinbutton", name="Passages")
    expect(field).to_have_attribute("placeholder", "10")
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page)
    assert sent.value.post_data_json["k"] is None
    field.fill("101")
    begin(page, "Can he sue?")
    expect(page.locator("article.answer")).to_have_count(1)
    expect(field).to_be_focused()


STATE = """async () => {
  const { formState, onScopeChange, restoreForm } = await part('ask/scope.js');
  const seen = [];
  onScopeChange((scope) => seen.push(scope));
  const state = {question: 'Who?', target: 'model', k: 7, mode: 'compare',
    corpus_filter: ['legal_uk', 'legal_us'], filters: {date: {from: '1960'}}, require: ['libel']};
  restoreForm(state);
  const restored = formState();
  restoreForm({});
  return { state, restored, empty: formState(), seen };
}"""


def test_what_stands_in_the_form_can_be_kept_and_put_back(page: Page) -> None:
    found = page.evaluate(STATE)
    assert found["restored"] == found["state"]
    default = page.get_by_label("Target", exact=True).input_value()
    assert found["empty"] == {
        "question": "",
        "target": default,
        "k": None,
        "mode": "answer",
        "corpus_filter": "all",
    }
    assert [scope["corpus_filter"] for scope in found["seen"]] == [["legal_uk", "legal_us"], "all"]
