"""What is known of one is never said of another, nor a year's figures of another year."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.answer.quotes.names import absent_names, names_in, speaks_of
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import closest, collection, is_verbatim, said
from tests.truth.passages import passage

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


@pytest.mark.parametrize("called", ["Mr", "Mr.", "Ms", "Dr", "Senator", "Chief Justice", "Lord"])
def test_how_somebody_is_called_is_no_part_of_his_name(called: str) -> None:
    fined = passage("Joseph Lochner owned a bakery and was fined $50.")
    asked = f"How much was {called} Lochner fined?"
    assert absent_names(asked, [fined], {"lochner": 1.0, "fine": 1.0}) == ((), 0.0)
    names, share = absent_names(asked.replace("Lochner", "Filburn"), [fined], {"filburn": 1.0})
    assert (names, share) == ((f"{called} Filburn",), 1.0)
    assert speaks_of(fined, f"{called} Lochner")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (
            "Did Norport Harbour Board sue Sudhaven Ferry?",
            ("Norport Harbour Board", "Sudhaven Ferry"),
        ),
        ("Who was John Amos Tyler Gray?", ("John Amos Tyler Gray",)),
        ("Who Built the Pier of Norport in the Storm?", ()),
        ("WHO BUILT THE PIER OF NORPORT?", ()),
    ],
)
def test_only_what_is_written_as_titles_are_names_nobody(
    question: str, names: tuple[str, ...]
) -> None:
    assert names_in(question) == names


@pytest.mark.parametrize(
    ("text", "is_held"),
    [
        ("Byrd was fined $50, and Mr Byrd paid.", True),
        ("Terrence Byrd was fined $50.", True),
        ("T. Byrd was fined $50, and Terry Byrd paid.", True),
        ("Harold Byrd was fined $50.", False),
        ("Byrd was fined $50, as Harold Byrd had been.", False),
        ("Reed was fined $50.", False),
    ],
)
def test_a_surname_alone_is_that_of_a_full_name_unless_another_bears_it(
    text: str, is_held: bool
) -> None:
    weights = {"terrenc": 1.0, "byrd": 1.0, "fine": 1.0}
    names, _ = absent_names("How much was Terrence Byrd fined?", [passage(text)], weights)
    assert names == (() if is_held else ("Terrence Byrd",))


def test_an_office_is_no_name() -> None:
    opened = passage("Harold Wilson, the prime minister, opened the bridge.")
    assert absent_names("Who was the Prime Minister then?", [opened], {}) == ((), 0.0)


@pytest.mark.parametrize(
    ("corpus", "country", "is_held"),
    [
        ("legislation_nz", "Australia", False),
        ("legislation_nz", "New Zealand", True),
        ("hansard_uk", "Scotland", True),
        ("legal_us", "the United States", True),
        ("legal_us", "Canada", False),
        # nobody says what country it is of, and a source rarely names its own
        ("statutes", "Australia", True),
    ],
)
def test_another_country_is_absent_where_the_source_s_own_is_known(
    corpus: str, country: str, is_held: bool
) -> None:
    marriage = replace(passage("Two persons may marry, whatever their sex."), corpus=corpus)
    names, share = absent_names(f"May they marry in {country}?", [marriage], {"marri": 1.0})
    assert names == (() if is_held else (country.removeprefix("the "),))
    assert share == 0.0  # the weights say nothing of it


@pytest.mark.parametrize(
    ("country", "text"),
    [
        ("Canada", "The Canadian court held otherwise."),
        ("France", "In France it was otherwise."),
        ("Germany", "German law has no such rule."),
        ("Ireland", "The Irish court held otherwise."),
        ("the United States", "The US court held otherwise."),
    ],
)
def test_a_country_is_spoken_of_by_its_adjective_too(country: str, text: str) -> None:
    spoken = replace(passage(text), corpus="legal_uk")
    assert absent_names(f"What is the law of {country}?", [spoken], {}) == ((), 0.0)


def test_a_pronoun_is_no_country() -> None:
    spoken = replace(passage("Let us say that two persons may marry."), corpus="hansard_uk")
    names, _ = absent_names("May they marry in the United States?", [spoken], {})
    assert names == ("United States",)


def test_the_law_of_one_country_is_no_answer_on_another(tmp_path: Path, embedder: Embedder) -> None:
    act = "The Marriage Amendment Act 2013 allowed same-sex couples to marry in New Zealand."
    files = {"legislation_nz/marriage.txt": f"---\ntitle: Marriage Amendment Act\n---\n{act}\n"}
    with collection(tmp_path, embedder, files, EAGER) as atlas:
        assert said(atlas.ask("Is same-sex marriage lawful in New Zealand?")) == [act]
        answer = atlas.ask("Is same-sex marriage lawful in Australia?")
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "unknown_name")
    assert "Australia" in answer.outcome.message
