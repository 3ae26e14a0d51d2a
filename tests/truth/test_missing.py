"""What no passage has is said, and never of a word that one has."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.quotes.scores import missing_words
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import closest, collection, warnings
from tests.truth.passages import passage

NAMES = st.sampled_from(
    [
        "Canadian Human Rights Commission",
        "Commission canadienne des droits de la personne",
        "Brindle Looms",
        "O'Malley",
        "Wool-Growers' League",
        "Straße",
        "Łódź",
        "ÉGALITÉ",
        "x1247",
        "3.5",
        "camelCase",
    ]
)
CASES = st.sampled_from([str, str.upper, str.lower, str.title])
AROUND = st.sampled_from(["", "café — ", "“Yes”: ", "l’", "é ", "the\u00a0", "(", "de l’"])


@given(NAMES, CASES, CASES, AROUND, st.sampled_from(["text", "title", "section", "speaker"]))
def test_what_a_passage_has_in_any_form_is_never_said_to_be_missing(
    name: str, asked: object, written: object, around: str, where: str
) -> None:
    said = f"{around}{written(name)} spoke."  # type: ignore[operator]
    held = replace(passage("The board sat."), **{where: said})
    found = missing_words(f"What did {asked(name)} say?", [passage("Nothing."), held])  # type: ignore[operator]
    assert found in ((), ("say",))


def test_what_none_has_is_named_as_it_is_written() -> None:
    told = [passage("Harlow Mills sold cloth.")]
    asked = "What did Brindle Looms sell in 1987?"
    assert missing_words(asked, told) == ("Brindle", "Looms", "sell", "1987")
    assert missing_words(asked, [*told, passage("In 1987 it sells wool.")]) == ("Brindle", "Looms")


REPORT = (
    "---\ntitle: Annual report\n---\nHarlow Mills sold more cloth than in any year before it. "
    "Net income for the year was $4.2 million, against $3.9 million the year before. The board "
    "thanks the weavers for their work.\n"
)
INCOME = "Net income for the year was $4.2 million, against $3.9 million the year before."


def test_the_income_of_a_company_nobody_speaks_of_is_not_that_of_another(
    tmp_path: Path, embedder: Embedder
) -> None:
    with collection(tmp_path, embedder, {"reports/harlow.txt": REPORT}) as atlas:
        for question in (
            "What was the net income of Brindle Looms for the year?",
            "How much was the net income of Brindle Looms?",
            "What was the net income of Harlow Mills in 1987?",
        ):
            answer = atlas.ask(question)
            missing = "“1987”" if "1987" in question else "“Brindle” or “Looms”"
            assert answer.confidence is None or answer.confidence.word == "possible"
            said = warnings(answer) if answer.text else answer.outcome.message
            assert f"No passage found has {missing}." in said
        held = atlas.ask("What was the net income of Harlow Mills for the year?")
    assert held.confidence
    assert held.citations[0].quote == INCOME


def test_the_nearest_is_said_where_nothing_answers(tmp_path: Path, embedder: Embedder) -> None:
    lines = "ANSWER_LIKELIHOOD=1\n"
    with collection(tmp_path, embedder, {"reports/harlow.txt": REPORT}, lines) as atlas:
        answer = atlas.ask("What was the net income for the year?")
    assert answer.outcome.code == "not_held"
    assert answer.outcome.message.startswith(
        f"No passage clearly answers this. The nearest says: “{INCOME}”"
    )
    assert closest(answer)[0] == INCOME
