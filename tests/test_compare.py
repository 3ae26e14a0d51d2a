"""Compare mode: every corpus answers for itself, then what they agree and differ about."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from atlas_search.answer.answer import Event, References, Restart, Section
from atlas_search.answer.cache import AnswerCache
from atlas_search.answer.conflicts import Contradiction, to_list
from atlas_search.atlas import Atlas
from atlas_search.core.errors import ModelUnavailable
from atlas_search.providers.chat import Usage
from atlas_search.server.app import create_app
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import ChatServer, Reply, Request, Says
from tests.test_generate import first_token

QUESTION = "Which grounds make marriage between two people of the same sex lawful?"

Both = tuple[Services, ChatServer]


@pytest.fixture
def both(services: Services) -> Iterator[Both]:
    with answered_by("openai", services) as found:
        yield found


def one_sentence_each(request: Request) -> Says:
    if token := first_token(request):
        return Says(f"Granted {token}.")
    granted = [
        line[line.index("[") : line.index("]") + 1]
        for line in request.prompt.splitlines()
        if line.startswith("Granted")
    ]
    both = " ".join(granted[:2])
    return Says(
        f"AGREE: Both say that it is granted {both}.\n"
        f"DIFFER: Only one says so {granted[0]}.\n"
        "DIFFER: The dates differ [legal_uk.invented p1].\n"
    )


def sections(events: list[Event]) -> list[str]:
    return [event.corpus for event in events if isinstance(event, Section)]


def test_every_corpus_answers_from_its_own_passages(services: Services) -> None:
    with answered_by("openai", services) as (own, _):
        answer, events = asked(own, QUESTION, mode="compare", llm_provider="extractive")
    parts = answer.comparison.answers
    assert [part.corpus for part in parts] == list(services.default_corpora) == sections(events)
    answering = [part for part in parts if part.outcome.decision == "ANSWER"]
    assert len(answering) >= 2
    for part in answering:
        cited = {citation.passage.corpus for citation in part.verification.citations}
        assert cited == {part.corpus}
    assert answer.text == "\n\n".join(part.text for part in answering)
    assert answer.verification.answer_grounded
    references = next(event for event in events if isinstance(event, References))
    kept = {item.passage.id for item in references.passages}
    assert {c.passage.id for c in answer.verification.citations} <= kept


def test_a_model_states_what_corpora_share_and_only_what_can_be_verified_is_kept(
    both: Both,
) -> None:
    services, server = both
    server.says(one_sentence_each)
    answer, _ = asked(services, QUESTION, mode="compare")
    (agreement,) = answer.comparison.agreements
    assert agreement.text.startswith("Both say that it is granted [")
    assert len({citation.passage.corpus for citation in agreement.citations}) == 2
    # one of a single corpus, and one that was never found
    assert answer.comparison.differences == ()
    calls = len(server.requests)
    assert answer.writer.usage.prompt_tokens == 11 * calls


def test_a_draft_that_is_withdrawn_belongs_to_its_corpus(both: Both) -> None:
    services, server = both
    server.then(Says("Granted [legal_uk.invented p1]."))
    server.says(one_sentence_each)
    answer, events = asked(services, QUESTION, mode="compare")
    steps = [event for event in events if isinstance(event, Section | Restart)]
    first = next(p.corpus for p in answer.comparison.answers if p.outcome.decision == "ANSWER")
    assert steps[steps.index(Restart("repair")) - 1] == Section(first)
    assert sections(events) == list(services.default_corpora)


def test_a_model_that_fails_at_the_last_leaves_the_comparison_to_rules(both: Both) -> None:
    services, server = both

    def until_the_last(request: Request) -> Says | Reply:
        return Says(f"Granted {token}.") if (token := first_token(request)) else Reply(500)

    server.says(until_the_last)
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION, mode="compare")
    answer, _ = asked(services, QUESTION, mode="compare", llm_fallback="extractive")
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_unavailable"
    answering = [p for p in answer.comparison.answers if p.outcome.decision == "ANSWER"]
    prompts = [message for message in answer.context.messages if message.role == "system"]
    assert len(prompts) == len(answering)
    assert answer.writer.usage == Usage(11 * len(answering), 7 * len(answering))


def test_if_no_corpus_answers_the_reasons_of_all_are_given(services: Services) -> None:
    with answered_by("openai", services) as (own, server):
        answer, _ = asked(own, "How is sourdough bread baked?", mode="compare")
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "no_corpus_answers")
    assert all(f"{corpus}: " in answer.outcome.message for corpus in services.default_corpora)
    assert server.requests == []


def test_the_api_gives_every_part_with_indices_into_the_citations(services: Services) -> None:
    answerer = replace(services.answerer, cache=AnswerCache(8, 300))
    client = create_app(lambda: Atlas(replace(services, answerer=answerer))).test_client()
    body = {"question": QUESTION, "mode": "compare"}
    answer = client.post("/api/ask", json=body).get_json()
    again = client.post("/api/ask", json=body).get_json()
    assert answer["mode"] == "compare"
    for part in answer["comparison"]["answers"]:
        for sentence in part["sentences"]:
            for index in sentence["citations"]:
                assert answer["citations"][index]["corpus"] == part["corpus"]
    assert again["cache_hit"]
    assert again["comparison"] == answer["comparison"]
    assert client.post("/api/ask", json={"question": QUESTION}).get_json()["comparison"] is None


def test_a_superseded_source_is_listed_only_beside_an_answer_that_cites_it(
    services: Services,
) -> None:
    with answered_by("openai", services) as (own, _):
        answer, _ = asked(own, QUESTION, llm_provider="extractive")
    cited = answer.verification.citations[0].passage
    other = next(
        item.passage
        for item in answer.result.passages
        if item.passage.document_id != cited.document_id
    )
    away = replace(other, document_id="legal_uk.elsewhere")
    here, there, far = (passage.cite(0, 5) for passage in (cited, other, away))
    beside = Contradiction("repealed", here, there, "was superseded")
    apart = Contradiction("repealed", far, far, "was superseded")
    number = Contradiction("number", far, far, "14 or 30 days")
    assert to_list([beside, apart, number], answer.verification) == (beside, number)
