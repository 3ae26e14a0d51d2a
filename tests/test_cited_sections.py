"""A passage may hold several articles: what is quoted of it is cited by its own."""

from collections.abc import Iterator

import pytest

from atlas_search import Atlas
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import collection

LEADER = "A leader of at least 21 years of age shall remain in company with the party."
NUMBER = "The number of persons on a collective passport shall be not less than five."
TREATY = f"""# Treaty on collective passports

Preamble.

## Article 3

Young persons shall be eligible for a collective passport.

## Article 4

{LEADER}

## Article 5

{NUMBER}
"""


@pytest.fixture(scope="module")
def treaty(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("treaty")
    with collection(folder, embedder, {"treaties/a.md": TREATY}, "ANSWER_LIKELIHOOD=0\n") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "quote", "article"),
    [
        ("How old must the leader of the party be?", LEADER, "Article 4"),
        ("How many persons shall a collective passport have?", NUMBER, "Article 5"),
    ],
)
def test_a_quote_is_cited_by_the_section_it_stands_in(
    treaty: Atlas, question: str, quote: str, article: str
) -> None:
    answer = treaty.ask(question)
    (citation,) = [c for c in answer.citations if c.quote == quote]
    assert citation.passage.section == "Treaty on collective passports"
    told = citation.to_dict()
    assert told["section"] == f"Treaty on collective passports > {article}"
    assert TREATY.splitlines()[told["line"] - 1] == quote


def test_a_line_of_a_concordance_has_the_section_of_its_hit(treaty: Atlas) -> None:
    found = treaty.concordance("persons")
    assert [line.section.rpartition(" > ")[2] for line in found.lines] == ["Article 3", "Article 5"]
