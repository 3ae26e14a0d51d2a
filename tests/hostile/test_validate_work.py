"""Checking an answer: what is compared is bounded, and each passage is read once."""

from collections.abc import Sequence
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.answer.check.citations import verify
from atlas_search.answer.check.support import Effort, ReadPassage, best_place
from atlas_search.core.domain import Passage
from atlas_search.core.errors import Cancelled, RequestError
from atlas_search.core.stop import Stop
from atlas_search.language.text import content_terms, sentences
from atlas_search.server.validate import GivenPassage, _to_passage

FACTS = [f"Ewe number{n} of flock{n % 7} gives {n % 40 + 1} pounds of wool. " for n in range(2000)]


def sent(text: str, page: int = 1) -> dict[str, Any]:
    return {"document_id": "wool", "page": page, "text": text}


def given(*texts: str) -> list[Passage]:
    return [_to_passage(GivenPassage(**sent(text))) for text in texts]


def problem(client: FlaskClient, body: object) -> str:
    response = client.post("/api/validate", json=body)
    assert response.status_code == 400, response.text[:200]
    return response.get_json(force=True)["detail"]


def test_many_sentences_about_much_text_are_refused_with_what_to_shorten(
    farm_client: FlaskClient,
) -> None:
    answer = "\n".join(f"Ewes give wool{n}. [wool p1]" for n in range(1700))
    body = {"answer": answer, "passages": [sent("".join(FACTS[:40])) for _ in range(200)]}
    found = problem(farm_client, body)
    assert "compared with more than 20,000,000 characters" in found
    assert "Check the answer in parts, or send shorter passages." in found


def test_many_quotations_about_much_text_are_refused_too(farm_client: FlaskClient) -> None:
    answer = f"They say {' '.join(f'“a{n}”' for n in range(6000))}. [wool p1]"
    body = {"answer": answer, "passages": [sent("".join(FACTS[:40])) for _ in range(200)]}
    assert "compared with more than" in problem(farm_client, body)


def test_as_much_text_as_two_megabytes_hold_is_refused(farm_client: FlaskClient) -> None:
    body = {"answer": "Ewes give wool. [wool p1]", "passages": [sent("a " * 4900)] * 200}
    assert problem(farm_client, body) == (
        "The passages have 1,960,000 characters; an answer is checked against at most 500,000. "
        "Check it in parts, or send shorter passages."
    )


def test_many_documents_are_not_all_looked_up(farm_client: FlaskClient) -> None:
    answer = "\n".join(f"Ewes give wool. [wool.{n} p1]" for n in range(201))
    assert problem(farm_client, {"answer": answer}) == (
        "The answer names 201 documents; at most 200 are looked up. Check it in parts."
    )


def test_a_long_answer_with_a_passage_for_each_sentence_is_checked(
    farm_client: FlaskClient,
) -> None:
    said = [f"{FACTS[n].strip()} [wool p{n % 200}]" for n in range(700)]
    passages = [sent("".join(FACTS[n::200]), n) for n in range(200)]
    body = {"answer": "\n".join(said), "passages": passages, "citation_limit": 100}
    found = farm_client.post("/api/validate", json=body).get_json()
    assert found["sentence_groundedness"] == 1.0
    assert found["warnings"] == []
    assert [s["citations"][0]["quote"] for s in found["sentences"]] == [
        fact.strip() for fact in FACTS[:700]
    ]


def test_a_passage_is_read_once_for_all_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(text: str, language: str) -> frozenset[str]:
        read.append(len(text))
        return content_terms(text, language)

    monkeypatch.setattr("atlas_search.answer.check.support.content_terms", counted)
    source = "".join(FACTS[:800])
    answer = "\n".join(f"Ewes of herd{n} give wool. [wool p1]" for n in range(500))
    verify(answer, given(source), 100)
    assert sum(read) < 2 * len(source) + len(answer)


def test_what_is_compared_is_counted() -> None:
    source = given("Ewes give wool. " * 100)
    verify("\n".join(["Ewes give milk. [wool p1]"] * 10), source, 5, Effort(10 * 1600))
    with pytest.raises(RequestError, match="15,999"):
        verify("\n".join(["Ewes give milk. [wool p1]"] * 10), source, 5, Effort(15_999))


def test_a_check_ends_when_nobody_waits() -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Cancelled):
        verify("Ewes give milk. [wool p1]", given("Ewes give wool."), 5, Effort(stop=stop))


def plainly_best(sentence: str, texts: Sequence[str]) -> str:
    """The sentence with the largest Jaccard similarity, the first of equals, one by one."""
    asked = content_terms(sentence)
    places = [text[start:end] for text in texts for start, end in sentences(text)]

    def likeness(place: str) -> float:
        held = content_terms(place)
        return len(asked & held) / max(len(asked | held), 1)

    return max(places, key=likeness)


@pytest.mark.parametrize(
    "sentence",
    [
        "Flock3 has an ewe, number33, that gives wool.",
        "Some 12 pounds were given by number1211.",
        "Goats climb hills.",
        "It is so.",
        "Wool of flock6 is heavy.",
    ],
)
def test_the_best_place_is_the_one_that_comparing_each_finds(sentence: str) -> None:
    texts = ["".join(FACTS[:800]), "".join(FACTS[800:1600])]
    passage, span = best_place(sentence, [ReadPassage(p) for p in given(*texts)])
    assert passage.text[span.start : span.end] == plainly_best(sentence, texts)


def test_a_long_text_without_a_full_stop_is_read_in_pieces() -> None:
    text = "“ewe " * 10_000
    _, span = best_place("An ewe gives.", [ReadPassage(p) for p in given(text)])
    assert 0 < span.end - span.start <= 20_000


def test_a_long_run_of_wide_blanks_is_read_at_once() -> None:
    assert sentences("\u00a0" * 200_000) == []
    assert len(sentences(f"Part C{chr(0xA0) * 3}. It ends.")) == 2
