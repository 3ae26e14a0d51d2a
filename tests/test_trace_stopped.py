"""Answers that come to no end say in their trace why, and what language models took until then."""

import socket
from collections.abc import Iterator
from dataclasses import replace

import httpx2
import pytest

from atlas_search.answer.answer import Event, Token
from atlas_search.answer.cache import AnswerCache
from atlas_search.atlas import Atlas
from atlas_search.core.errors import Cancelled, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.server.app import create_app
from atlas_search.server.runs import STOPPING
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import ChatServer, Cut, Hang, Reply, Says
from tests.recorded_spans import Recorded, recording, said, traced_by
from tests.servers import served, wait_for
from tests.slow_model import SlowModel
from tests.test_generate import cited

QUESTION = "Can a local authority sue a newspaper for libel?"
WORDS = ('{"sentences": [{"text": ', '"The council lost.", ', '"passages": [1]}, ')

Found = tuple[Services, ChatServer, Recorded]


@pytest.fixture
def found(services: Services) -> Iterator[Found]:
    with (
        recording() as (tracer, recorded),
        answered_by("openai", traced_by(services, tracer)) as (own, server),
    ):
        yield own, server, recorded


def stop_at_the_first_words(stop: Stop) -> object:
    def emit(event: Event) -> None:
        if isinstance(event, Token):
            stop.set("The answer was stopped.")

    return emit


def test_a_stopped_answer_says_why_and_what_it_took(found: Found) -> None:
    services, server, recorded = found
    server.then(Says(*WORDS, Hang()))
    stop = Stop()
    prices = {"llm_price_input": 2.0, "llm_price_output": 8.0}
    with pytest.raises(Cancelled):
        asked(services, QUESTION, stop=stop, emit=stop_at_the_first_words(stop), **prices)
    root = said(recorded.root("ask"))
    assert (root["cancelled"], root["cancelled_because"]) == (True, "The answer was stopped.")
    assert "decision" not in root
    assert root["estimated"] is True
    assert root["prompt_tokens"] > 500  # the passages
    assert 0 < root["completion_tokens"] < 40
    assert root["cost"] == services.targets["model"].model_copy(update=prices).cost(
        root["prompt_tokens"], root["completion_tokens"]
    )
    (call,) = recorded.named("generate")
    assert said(call)["llm.token_count.prompt"] == root["prompt_tokens"]
    assert said(call)["llm.token_count.completion"] == root["completion_tokens"]
    assert said(call)["estimated"] is True
    assert said(call)["output.value"].startswith(WORDS[0])


def test_a_model_that_breaks_off_says_what_it_took(found: Found) -> None:
    services, server, recorded = found
    server.then(Says(*WORDS, Cut()))
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION)
    root = recorded.root("ask")
    assert not root.status.is_ok
    assert said(root)["completion_tokens"] > 0
    assert said(root)["estimated"] is True
    assert "cancelled" not in said(root)


def test_calls_before_the_one_that_fails_count_as_the_provider_told(found: Found) -> None:
    services, server, recorded = found
    server.then(Says("A council may sue [legal_uk.invented p9]."), *[Reply(500)] * 9)
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION)
    root = said(recorded.root("ask"))
    assert (root["prompt_tokens"], root["completion_tokens"]) == (11, 7)
    assert root["estimated"] is False


def test_a_model_that_says_nothing_took_nothing(found: Found) -> None:
    services, server, recorded = found
    server.then(*[Reply(500)] * 9)
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION)
    root = said(recorded.root("ask"))
    assert (root["prompt_tokens"], root["completion_tokens"]) == (0, 0)
    assert "llm.token_count.prompt" not in said(recorded.named("generate")[0])


def test_a_text_without_an_end_is_counted_as_far_as_it_was_read(found: Found) -> None:
    services, server, recorded = found
    server.says(lambda request: Says(*(["on and "] * 40), cited(request)))
    answer, _ = asked(services, QUESTION, max_tokens=10)
    assert answer.outcome.decision == "BLOCK"
    assert answer.writer.usage.prompt_tokens > 500
    assert all(said(call)["estimated"] for call in recorded.named("generate"))


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("stop", "The answer was stopped."),
        ("leave", "The client went away."),
        ("close", STOPPING),
    ],
)
def test_the_root_of_a_streamed_answer_says_who_ended_it(
    services: Services, end: str, why: str
) -> None:
    model = SlowModel()
    with recording() as (tracer, recorded):
        own = _with_model(traced_by(services, tracer), model)
        app = create_app(lambda: Atlas(own))
        with (
            served(app, channel_request_lookahead=1) as address,
            _begun(address) as connection,
        ):
            model.go.release()
            wait_for(lambda: model.written or None, 60, "the first sentence")
            if end == "stop":
                httpx2.delete(f"{address}/api/ask/stopped-1")
            elif end == "close":
                app.extensions["runs"].close()
            else:
                connection.shutdown(socket.SHUT_RDWR)
            assert model.ended.wait(20)
            root = said(recorded.root("ask"))
    assert (root["cancelled"], root["cancelled_because"]) == (True, why)
    assert root["estimated"] is True
    assert root["completion_tokens"] > 0


def _with_model(services: Services, model: SlowModel) -> Services:
    """Answered by `model`; who goes away is not waited for."""
    target = services.targets["k10_extractive"].model_copy(
        update={"llm_provider": "openai", "near_duplicate": 1.0}
    )
    cache = AnswerCache(1, 1, enabled=False)
    return replace(
        services,
        settings=services.settings.model_copy(update={"resume_seconds": 0.05}),
        answerer=replace(services.answerer, models={"openai": model}, cache=cache),
        targets={**services.targets, "k10_extractive": target},
    )


def _begun(address: str) -> socket.socket:
    """A connection on which an answer has begun."""
    host, port = address.removeprefix("http://").split(":")
    body = f'{{"question": "{QUESTION}", "qa_id": "stopped-1"}}'.encode()
    connection = socket.create_connection((host, int(port)), timeout=20)
    connection.sendall(
        b"POST /api/ask/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    )
    received = b""
    while b"event: references" not in received:
        received += connection.recv(65536)
    return connection
