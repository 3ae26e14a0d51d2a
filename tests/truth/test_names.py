"""What is known of one is never said of another, nor a year's figures of another year."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import closest, collection, is_verbatim, said

REPORT = (
    "---\ntitle: Annual report\n---\nHarlow Mills sold more cloth than in any year before it. "
    "Net income for the year was $4.2 million, against $3.9 million the year before. The board "
    "thanks the weavers for their work.\n"
)
MARKET = (
    "---\ntitle: The cloth market\n---\nBrindle Looms opened a second shed in spring. The price of "
    "wool rose, and Brindle Looms bought no more of it.\n"
)
INCOME = "Net income for the year was $4.2 million, against $3.9 million the year before."
# so little is needed that only what the question names can stand in the way
EAGER = "ANSWER_LIKELIHOOD=0.05\n"
ASKED = [
    "What was the net income of Brindle Looms for the year?",
    "How much was the net income of Brindle Looms?",
    "What was Brindle's net income for the year?",
]


@pytest.fixture(scope="module")
def harlow(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("harlow")
    with collection(folder, embedder, {"reports/harlow.txt": REPORT}, EAGER) as opened:
        yield opened


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Atlas]:
    files = {"reports/harlow.txt": REPORT, "reports/market.txt": MARKET}
    with collection(tmp_path_factory.mktemp("both"), embedder, files, EAGER) as opened:
        yield opened


@pytest.mark.parametrize("question", ASKED)
def test_the_income_of_a_company_nobody_speaks_of_is_not_that_of_another(
    harlow: Atlas, question: str
) -> None:
    answer = harlow.ask(question)
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "unknown_name")
    assert "Brindle" in answer.outcome.message
    assert (answer.text, answer.citations) == ("", ())
    assert closest(answer)[0] == INCOME
    assert all(is_verbatim(harlow, citation) for citation in answer.closest)


@pytest.mark.parametrize("question", ASKED)
def test_a_name_in_another_source_does_not_lend_it_the_figure(both: Atlas, question: str) -> None:
    answer = both.ask(question)
    assert INCOME not in said(answer)
    assert answer.outcome.decision == "ABSTAIN"
    assert answer.closest


def test_the_income_is_that_of_the_company_whose_report_it_is(both: Atlas) -> None:
    answer = both.ask("What was the net income of Harlow Mills for the year?")
    assert said(answer)[0] == INCOME
    assert {citation.passage.document_id for citation in answer.citations} == {"reports.harlow"}


def test_beside_a_quote_on_the_one_asked_for_none_speaks_of_another(both: Atlas) -> None:
    answer = both.ask("What did Brindle Looms open in spring?")
    assert said(answer)[0] == "Brindle Looms opened a second shed in spring."
    assert {citation.passage.document_id for citation in answer.citations} == {"reports.market"}


def test_a_year_that_no_source_holds_is_named(harlow: Atlas) -> None:
    answer = harlow.ask("What was the net income of Harlow Mills in 1987?")
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "unknown_figure")
    assert answer.outcome.message == "No passage that comes close speaks of 1987."
    assert INCOME in closest(answer)


def test_the_figures_of_one_year_are_not_those_of_the_next(
    tmp_path: Path, embedder: Embedder
) -> None:
    files = {
        f"reports/{year}.txt": f"---\ntitle: Report of Harlow Mills\n---\nIn {year} the net income "
        f"of Harlow Mills was ${income} million.\n"
        for year, income in ((1986, 3), (1988, 5))
    }
    with collection(tmp_path, embedder, files, EAGER) as atlas:
        held = atlas.ask("What was the net income of Harlow Mills in 1988?")
        lacking = atlas.ask("What was the net income of Harlow Mills in 1987?")
    assert said(held)[0] == "In 1988 the net income of Harlow Mills was $5 million."
    assert lacking.outcome.code == "unknown_figure"
    assert "1987" in lacking.outcome.message
