"""Kept answers: for the same question only, for a time, and never for a conversation."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient
from pydantic import SecretStr

from atlas_search.answer.cache import AnswerCache
from atlas_search.atlas import Atlas
from atlas_search.core.domain import ChatTurn
from atlas_search.providers.chat import Usage
from atlas_search.services import Services
from tests.answer.models import LIBEL, Both, cited
from tests.answering import asked
from tests.servers import app_of

BODY = {"question": LIBEL, "session_id": "s1"}


@pytest.fixture(autouse=True)
def _cited(both: Both) -> None:
    both[1].says(cited)


@pytest.fixture
def client(services: Services) -> FlaskClient:
    own = replace(
        services,
        answerer=replace(services.answerer, cache=AnswerCache(8, 300)),
        settings=services.settings.model_copy(update={"atlas_admin_token": SecretStr("sesame")}),
    )
    return app_of(Atlas(own)).test_client()


def test_the_same_question_is_answered_from_the_cache(both: Both) -> None:
    services, server = both
    first, _ = asked(services, LIBEL)
    second, events = asked(services, f"  {LIBEL[0].swapcase()}{LIBEL[1:].replace(' ', '  ')} ")
    assert (first.cache_hit, second.cache_hit) == (False, True)
    assert second.text == first.text
    assert second.writer.usage == Usage()
    assert set(second.timings_ms) == {"total"}
    assert second.trace_id != first.trace_id
    assert [type(event).__name__ for event in events] == ["References", "Token", "Checked"]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"search_k": 9},
        {"temperature": 0.5},
        {"mode": "compare"},
        {"history": (ChatTurn("user", "Hello"),)},
    ],
)
def test_anything_that_could_change_the_answer_asks_anew(
    both: Both, change: dict[str, Any]
) -> None:
    services, _ = both
    asked(services, LIBEL)
    answer, _ = asked(services, LIBEL, **change)
    assert not answer.cache_hit


def test_a_question_with_other_names_is_asked_anew(both: Both) -> None:
    services, _ = both
    asked(services, f"{LIBEL} May it?")
    assert not asked(services, f"{LIBEL} may it?")[0].cache_hit


def test_an_answer_in_a_conversation_is_not_kept(both: Both) -> None:
    services, _ = both
    history = (ChatTurn("user", "Hello"),)
    answers = [asked(services, LIBEL, history=history)[0] for _ in range(2)]
    assert [answer.cache_hit for answer in answers] == [False, False]


def test_what_another_try_may_better_is_not_kept(both: Both) -> None:
    services, server = both
    server.says("A council may sue [legal_uk.invented p9].")
    asked(services, LIBEL)
    server.says(cited)
    answer, _ = asked(services, LIBEL)
    assert answer.outcome.decision == "ANSWER"
    assert not answer.cache_hit


def test_a_new_version_of_the_collection_has_answers_of_its_own(both: Both) -> None:
    services, _ = both
    answer, _ = asked(services, LIBEL)
    cache = services.answerer.cache
    target = answer.request.target
    assert cache.get(answer.request, services.answerer.state(target)) is not None
    assert cache.get(answer.request, "another version") is None
    stricter = target.model_copy(update={"answer_threshold": 0.9})
    assert services.answerer.state(stricter) != services.answerer.state(target)


def test_no_more_are_kept_than_were_asked_for_and_none_if_switched_off(both: Both) -> None:
    services, _ = both
    answer, _ = asked(services, LIBEL)
    small, off = AnswerCache(2, 300), AnswerCache(2, 300, enabled=False)
    for version in ("1", "2", "3"):
        small.put(answer, version)
        off.put(answer, version)
    assert small.get(answer.request, "1") is None
    assert small.get(answer.request, "3") == replace(answer, cache_hit=True)
    assert (small.clear(), off.clear()) == (2, 0)


def test_many_threads_may_use_it(both: Both) -> None:
    services, _ = both
    answer, _ = asked(services, LIBEL)
    cache = AnswerCache(16, 300)

    def work(number: int) -> None:
        for step in range(200):
            cache.put(answer, str((number + step) % 40))
            cache.get(answer.request, str(step % 40))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.clear() == 16


def test_the_api_says_what_came_from_the_cache_and_clears_it(client: FlaskClient) -> None:
    first = client.post("/api/ask", json=BODY).get_json()
    second = client.post("/api/ask", json=BODY | {"session_id": "s2"}).get_json()
    assert (first["cache_hit"], second["cache_hit"]) == (False, True)
    assert second["answer"] == first["answer"]
    assert second["created"] == first["created"]
    assert (second["session_id"], second["qa_id"] != first["qa_id"]) == ("s2", True)
    address = {"REMOTE_ADDR": "192.0.2.7"}
    other = client.post("/api/ask", json=BODY, environ_base=address).get_json()
    assert (other["cache_hit"], other["usage"]) == (False, first["usage"])
    assert client.post("/api/ask", json=BODY, environ_base=address).get_json()["cache_hit"]
    assert client.post("/api/cache/clear", json={}).status_code == 403
    token = {"Authorization": "Bearer sesame"}
    cleared = client.post("/api/cache/clear", json={}, headers=token)
    assert cleared.get_json() == {"cleared": 1}
    assert client.post("/api/ask", json=BODY).get_json()["cache_hit"] is False
