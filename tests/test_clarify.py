"""Answers to questions that the sources read in several ways."""

from collections.abc import Iterator

import pytest

from atlas_search import Atlas
from atlas_search.documents.answer import AnswerDocument
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from tests.harbours import FEE, NORTH, SOUTH, harbours


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[Atlas]:
    with harbours(tmp_path_factory.mktemp("harbours"), embedder) as opened:
        yield opened


def test_who_wants_to_choose_is_asked_which_reading_is_meant(atlas: Atlas) -> None:
    told = atlas.ask(FEE, clarify=True).to_dict()
    assert (told["decision"], told["reason"]["code"]) == ("ABSTAIN", "clarify")
    assert told["answer"] is None
    by_label = {choice["label"]: choice for choice in told["choices"]}
    assert by_label.keys() == {"Northport", "Southport"}
    assert by_label["Northport"]["question"] == FEE
    assert by_label["Northport"]["corpus_filter"] == ["northport"]
    assert by_label["Northport"]["citation"]["quote"] == NORTH
    assert by_label["Southport"]["citation"]["quote"] == SOUTH
    assert AnswerDocument.model_validate(told).model_dump(mode="json") == told


def test_an_answer_has_its_readings_beside_it(atlas: Atlas) -> None:
    answer = atlas.ask(FEE)
    assert answer.outcome.decision == "ANSWER"
    assert [reading.corpora for reading in answer.choices] in (
        [("northport",), ("southport",)],
        [("southport",), ("northport",)],
    )


def test_an_answer_in_the_sources_words_quotes_each_reading(atlas: Atlas) -> None:
    answer = atlas.ask(FEE)
    assert sorted(sentence.text for sentence in answer.verification.sentences) == [NORTH, SOUTH]


def test_what_an_answer_has_no_place_for_is_left_to_who_asks(atlas: Atlas) -> None:
    assert atlas.ask(FEE, target="one").outcome.code == "clarify"


def test_a_choice_asked_again_is_answered(atlas: Atlas) -> None:
    for choice in atlas.ask(FEE, clarify=True).to_dict()["choices"]:
        again = atlas.ask(
            choice["question"],
            corpora=choice["corpus_filter"],
            filters=choice["filters"],
            clarify=True,
        )
        assert again.outcome.decision == "ANSWER"
        assert again.choices == ()
        assert choice["citation"]["quote"] in again.text


def test_the_api_asks_which_reading_is_meant(atlas: Atlas) -> None:
    client = create_app(lambda: atlas).test_client()
    sent = client.post("/api/ask", json={"question": FEE, "clarify": True}).get_json()
    assert sent["reason"]["code"] == "clarify"
    assert len(sent["choices"]) == 2
    plain = client.post("/api/ask", json={"question": FEE}).get_json()
    assert plain["decision"] == "ANSWER"


def test_a_question_that_names_its_source_has_no_choices(atlas: Atlas) -> None:
    answer = atlas.ask("What is the fee for a mooring in the harbour of Northport?", clarify=True)
    assert answer.choices == ()
