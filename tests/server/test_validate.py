"""Checking an answer's citations over HTTP, and how much of a check is done."""

from collections.abc import Sequence
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.language.text import content_terms, sentences

SENT = {"document_id": "policy", "page": 1, "text": "Numbers must be encrypted. Keys rotate."}
FACTS = [f"Ewe number{n} of flock{n % 7} gives {n % 40 + 1} pounds of wool. " for n in range(2000)]


def wool(text: str, page: int = 1) -> dict[str, Any]:
    return {"document_id": "wool", "page": page, "text": text}


def validate(client: FlaskClient, **body: object) -> Any:
    response = client.post("/api/validate", json=body)
    assert response.status_code == 200, response.get_json()
    return response.get_json()


def refusal(client: FlaskClient, status: int = 400, **body: object) -> str:
    response = client.post("/api/validate", json=body)
    assert response.status_code == status, response.text[:200]
    return str(response.get_json(force=True)["detail"])


def test_a_valid_sentence_is_quoted_with_its_place(farm_client: FlaskClient) -> None:
    answer = "Keys rotate. [policy p1] Keys never rotate. [policy p2]"
    checked = validate(farm_client, answer=answer, passages=[SENT])
    first, second = checked["sentences"]
    assert first["citations"] == [
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
    ]
    assert second["errors"] == ["cites [policy p2], which was not retrieved."]
    assert checked["errors"] == ["Sentence 2 cites [policy p2], which was not retrieved."]
    assert (checked["sentence_groundedness"], checked["answer_grounded"]) == (0.5, False)


CHUNKS = [
    {
        "doc_id": "policy",
        "chunk_id": f"policy#p{number}",
        "timestamp": "2024-03-15T10:00:00Z",
        "similarity": 0.9,
        "text": "Numbers of members must not be stored in plaintext; encrypt them at rest.",
    }
    for number in range(7)
]


@pytest.mark.parametrize(
    ("answer", "cited", "errors", "warnings"),
    [
        ("Numbers must be encrypted at rest.", ["policy#p1"], [], []),
        ("Some answer text", ["other#p0"], ["Citation 'other#p0' does not match"], []),
        ("Numbers are encrypted.", ["policy#p1", "policy#p1"], ["'policy#p1'"], []),
        ("Numbers are encrypted.", [f"policy#p{n}" for n in range(5)], [], []),
        ("Numbers are encrypted.", [f"policy#p{n}" for n in range(6)], ["6 citations"], []),
        ("Numbers are encrypted.", [], ["no citation"], []),
        ("", [], ["no citation"], []),
        ("The context is insufficient to answer this.", [], [], []),
        ("Cows give milk.", ["policy#p1"], [], ["no keyword"]),
    ],
)
def test_the_rules_of_sentinel(
    farm_client: FlaskClient, answer: str, cited: list[str], errors: list[str], warnings: list[str]
) -> None:
    checked = validate(farm_client, answer=answer, citations=cited, retrieved_chunks=CHUNKS)
    assert checked.keys() == {"citation_valid", "errors", "warnings"}
    assert checked["citation_valid"] is not bool(errors)
    for wanted, given in ((errors, checked["errors"]), (warnings, checked["warnings"])):
        assert len(wanted) == len(given)
        assert all(part in sentence for part, sentence in zip(wanted, given, strict=True))


def test_the_rules_may_be_named_and_their_forms_are_not_mixed(farm_client: FlaskClient) -> None:
    theirs = {"answer": "Numbers.", "citations": [], "retrieved_chunks": CHUNKS}
    assert "sentences" not in validate(farm_client, **theirs, rules="sentinel")
    assert "sentences" in validate(farm_client, answer="Numbers.", passages=[SENT], rules="atlas")
    assert "for the rules of sentinel" in refusal(farm_client, **theirs, rules="atlas")
    for wrong in ({"rules": "sentinel"}, {"citations": []}, theirs | {"passages": []}):
        assert "need `citations`" in refusal(farm_client, **({"answer": "Numbers."} | wrong))


def test_no_passages_at_all_are_not_looked_up(farm_client: FlaskClient) -> None:
    answer = "Cows give milk. [farm.cows p1]"
    assert validate(farm_client, answer=answer)["errors"] == []
    checked = validate(farm_client, answer=answer, passages=[])
    assert checked["errors"] == ["Sentence 1 cites [farm.cows p1], which was not retrieved."]


def test_unknown_ids_are_all_named(farm_client: FlaskClient) -> None:
    (passage,) = farm_client.get("/api/documents/farm.cows").get_json()["passages"]
    passages = ["none:1", passage["passage_id"], SENT, "none:2"]
    message = refusal(farm_client, 404, answer="So. [a p1]", passages=passages)
    assert "no passage 'none:1', 'none:2'" in message


def test_the_citation_limit_is_the_targets_unless_given(farm_client: FlaskClient) -> None:
    targets = farm_client.get("/api/targets").get_json()
    (target,) = (t for t in targets["targets"] if t["name"] == targets["default"])
    count = target["settings"]["CITATION_LIMIT"] + 1
    text = " ".join(f"Rule {number} holds here." for number in range(count))
    answer = "\n".join(f"Rule {number} holds here. [policy p1]" for number in range(count))
    body = {"answer": answer, "passages": [SENT | {"text": text}]}
    assert validate(farm_client, **body)["errors"] == [
        f"Sentence {count} brings the citations to {count}, more than {count - 1}."
    ]
    assert validate(farm_client, **body, citation_limit=50)["citation_valid"]


@pytest.mark.parametrize("answer", ["", "\u00a0" * 49_000])
def test_an_empty_answer_holds_no_sentence(farm_client: FlaskClient, answer: str) -> None:
    checked = validate(farm_client, answer=answer, passages=[SENT])
    assert checked["errors"] == ["The answer holds no sentence."]
    assert (checked["sentences"], checked["refusal"]) == ([], True)


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
def test_a_body_of_another_shape_is_refused(farm_client: FlaskClient, body: dict[str, Any]) -> None:
    refusal(farm_client, **body)


# the work of a check is bounded, and each passage is read once

MUCH = [wool("".join(FACTS[:40]))] * 200


@pytest.mark.parametrize(
    "answer",
    [
        "\n".join(f"Ewes give wool{n}. [wool p1]" for n in range(1700)),
        f"They say {' '.join(f'“a{n}”' for n in range(6000))}. [wool p1]",
    ],
    ids=["sentences", "quotations"],
)
def test_many_claims_about_much_text_are_refused(farm_client: FlaskClient, answer: str) -> None:
    message = refusal(farm_client, answer=answer, passages=MUCH)
    assert "compared with more than 20,000,000 characters" in message
    assert "Check the answer in parts, or send shorter passages." in message


def test_too_much_text_and_too_many_documents_are_refused(farm_client: FlaskClient) -> None:
    passages = [wool("a " * 4900)] * 200
    assert refusal(farm_client, answer="Ewes give wool. [wool p1]", passages=passages) == (
        "The passages have 1,960,000 characters; an answer is checked against at most 500,000. "
        "Check it in parts, or send shorter passages."
    )
    answer = "\n".join(f"Ewes give wool. [wool.{n} p1]" for n in range(201))
    assert refusal(farm_client, answer=answer) == (
        "The answer names 201 documents; at most 200 are looked up. Check it in parts."
    )


def test_a_long_answer_with_a_passage_for_each_sentence_is_checked(
    farm_client: FlaskClient,
) -> None:
    lines = [f"{FACTS[n].strip()} [wool p{n % 200}]" for n in range(700)]
    passages = [wool("".join(FACTS[n::200]), n) for n in range(200)]
    checked = validate(farm_client, answer="\n".join(lines), passages=passages, citation_limit=100)
    assert checked["sentence_groundedness"] == 1.0
    assert checked["warnings"] == []
    assert [s["citations"][0]["quote"] for s in checked["sentences"]] == [
        fact.strip() for fact in FACTS[:700]
    ]


def test_a_passage_is_read_once_for_all_sentences(
    farm_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def counted(text: str, language: str) -> frozenset[str]:
        read.append(len(text))
        return content_terms(text, language)

    monkeypatch.setattr("atlas_search.answer.check.support.content_terms", counted)
    source = "".join(FACTS[:800])
    answer = "\n".join(f"Ewes of herd{n} give wool. [wool p1]" for n in range(400))
    validate(farm_client, answer=answer, passages=[wool(source)], citation_limit=100)
    assert sum(read) < 2 * len(source) + len(answer)


def plainly_best(sentence: str, texts: Sequence[str]) -> str:
    """The sentence with the largest Jaccard similarity, the first of equals, one by one."""
    terms = content_terms(sentence)
    places = [text[start:end] for text in texts for start, end in sentences(text)]

    def likeness(place: str) -> float:
        own = content_terms(place)
        return len(terms & own) / max(len(terms | own), 1)

    return max(places, key=likeness)


@pytest.mark.parametrize(
    "sentence",
    [
        "Flock3 has an ewe, number33, that gives wool.",
        "Some 12 pounds were given by number1211.",
        "Wool of flock6 is heavy.",
    ],
)
def test_the_quote_is_the_one_that_comparing_each_finds(
    farm_client: FlaskClient, sentence: str
) -> None:
    texts = ["".join(FACTS[:800]), "".join(FACTS[800:1600])]
    passages = [wool(text) for text in texts]
    checked = validate(farm_client, answer=f"{sentence} [wool p1]", passages=passages)
    (citation,) = checked["sentences"][0]["citations"]
    assert citation["quote"] == plainly_best(sentence, texts)


def test_a_long_text_without_a_full_stop_is_read_in_pieces(farm_client: FlaskClient) -> None:
    body = {"answer": "An ewe gives. [wool p1]", "passages": [wool("“ewe " * 10_000)]}
    (citation,) = validate(farm_client, **body)["sentences"][0]["citations"]
    assert 0 < len(citation["quote"]) <= 20_000
