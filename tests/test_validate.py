"""Checking an answer's citations over HTTP."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.core.domain import Passage
from atlas_search.language.text import sentences
from atlas_search.services import Services
from atlas_search.stores.embedded import EmbeddedStore

SENT = {"document_id": "policy", "page": 1, "text": "Numbers must be encrypted. Keys rotate."}


def validate(client: FlaskClient, **body: object) -> Any:
    response = client.post("/api/validate", json=body)
    assert response.status_code == 200, response.get_json()
    return response.get_json()


def first(store: EmbeddedStore) -> tuple[Passage, str]:
    """A passage of the collection and its first sentence."""
    (passage,) = store.passages([0])
    start, end = sentences(passage.text, passage.language)[0]
    return passage, passage.text[start:end]


def test_an_answer_from_passages_that_are_sent(client: FlaskClient) -> None:
    found = validate(client, answer="Keys rotate. [policy p1]", passages=[SENT])
    assert found == {
        "citation_valid": True,
        "errors": [],
        "warnings": [],
        "sentence_groundedness": 1.0,
        "answer_grounded": True,
        "sentences": [
            {
                "text": "Keys rotate.",
                "grounded": True,
                "caveat": False,
                "errors": [],
                "warnings": [],
                "citations": [
                    {
                        "marker": "[policy p1]",
                        "locator": None,
                        "page": 1,
                        "printed_page": None,
                        "line": 1,
                        "quote": "Keys rotate.",
                        "start": 27,
                        "end": 39,
                        "passage_id": None,
                    }
                ],
            }
        ],
        "refusal": False,
    }


def test_an_invented_token_is_named_with_its_sentence(client: FlaskClient) -> None:
    answer = "Keys rotate. [policy p1] Keys never rotate. [policy p2]"
    found = validate(client, answer=answer, passages=[SENT])
    assert not found["citation_valid"]
    assert found["errors"] == ["Sentence 2 cites [policy p2], which was not retrieved."]
    assert found["sentences"][1]["errors"] == ["cites [policy p2], which was not retrieved."]
    assert (found["sentence_groundedness"], found["answer_grounded"]) == (0.5, False)


def test_passages_of_the_collection_are_given_by_their_ids(
    client: FlaskClient, store: EmbeddedStore
) -> None:
    passage, sentence = first(store)
    answer = f"{sentence} {passage.marker}"
    (checked,) = validate(client, answer=answer, passages=[passage.id])["sentences"]
    (citation,) = checked["citations"]
    assert citation["passage_id"] == passage.id
    document = store.document(passage.document_id)
    assert document.text[citation["start"] : citation["end"]] == citation["quote"] == sentence


def test_without_passages_the_tokens_are_looked_up_in_the_collection(
    client: FlaskClient, store: EmbeddedStore
) -> None:
    passage, sentence = first(store)
    answer = (
        f"{sentence} {passage.marker}\n{sentence} [{passage.document_id} p9999]\nIt is so. [no p1]"
    )
    found = validate(client, answer=answer)
    assert found["errors"] == [
        f"Sentence 2 cites [{passage.document_id} p9999], which was not retrieved.",
        "Sentence 3 cites [no p1], which was not retrieved.",
    ]
    assert found["sentences"][0]["citations"][0]["passage_id"] == passage.id


def test_no_passages_at_all_are_not_looked_up(client: FlaskClient, store: EmbeddedStore) -> None:
    passage, sentence = first(store)
    found = validate(client, answer=f"{sentence} {passage.marker}", passages=[])
    assert found["errors"] == [f"Sentence 1 cites {passage.marker}, which was not retrieved."]


def test_unknown_ids_are_all_named(client: FlaskClient, store: EmbeddedStore) -> None:
    passage, _ = first(store)
    body = {"answer": "So. [a p1]", "passages": ["none:1", passage.id, SENT, "none:2"]}
    response = client.post("/api/validate", json=body)
    assert response.status_code == 404
    problem = response.get_json(force=True)
    assert problem["type"] == "urn:atlas:problem:not-found"
    assert "no passage 'none:1', 'none:2'" in problem["detail"]


def test_the_citation_limit_is_the_targets_unless_given(
    client: FlaskClient, services: Services
) -> None:
    _, target = services.target(None)
    count = target.citation_limit + 1
    text = " ".join(f"Rule {number} holds here." for number in range(count))
    answer = "\n".join(f"Rule {number} holds here. [policy p1]" for number in range(count))
    passages = [SENT | {"text": text}]
    found = validate(client, answer=answer, passages=passages)
    assert found["errors"] == [
        f"Sentence {count} brings the citations to {count}, more than {count - 1}."
    ]
    assert validate(client, answer=answer, passages=passages, citation_limit=50)["citation_valid"]


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [("NO ANSWER", True), ("The passages do not say.", True), ("Keys rotate. [policy p1]", False)],
)
def test_a_refusal_is_recognised(client: FlaskClient, answer: str, refusal: bool) -> None:
    assert validate(client, answer=answer, passages=[SENT])["refusal"] is refusal


def test_an_empty_answer_holds_no_sentence(client: FlaskClient) -> None:
    found = validate(client, answer="", passages=[SENT])
    assert found["errors"] == ["The answer holds no sentence."]
    assert (found["sentences"], found["refusal"]) == ([], True)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"answer": 1},
        {"answer": "So.", "question": "So?"},
        {"answer": "So.", "passages": "policy"},
        {"answer": "So.", "passages": [{"document_id": "policy", "page": 1}]},
        {"answer": "So.", "passages": [SENT | {"document_id": "a b"}]},
        {"answer": "So.", "passages": [SENT | {"page": -1}]},
        {"answer": "So.", "passages": [SENT | {"author": "me"}]},
        {"answer": "So.", "citation_limit": 0},
        {"answer": "x" * 50_001},
    ],
)
def test_a_body_of_another_shape_is_refused(client: FlaskClient, body: dict[str, object]) -> None:
    assert client.post("/api/validate", json=body).status_code == 400
