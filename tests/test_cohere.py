"""Cohere's reranker: the real client against a local server that speaks its API."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import count

import numpy as np
import pytest
from pydantic import SecretStr

from atlas_search.core.errors import ConfigurationError, RerankerUnavailable
from atlas_search.search.rerankers import ATTEMPTS, COHERE_SERVER, CohereReranker
from tests.cohere_server import KEY, MODEL, CohereServer, Cut, cohere_server, results
from tests.mistral_server import Reply, Silence

QUESTION = "right to silence"
TEXTS = ["the right bank", "the right to silence", "fishing"]
RELEVANCE = [1 / 3, 3 / 3, 0 / 3]
BUSY = Reply(500, {"message": "internal server error"})
SECONDS = 20.0


@pytest.fixture
def server() -> Iterator[CohereServer]:
    with cohere_server() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """The seconds the reranker would have waited."""
    return []


@pytest.fixture
def reranker(server: CohereServer, waits: list[float]) -> CohereReranker:
    return CohereReranker(MODEL, SecretStr(KEY), server.address, sleep=waits.append)


def test_scores_come_in_the_order_of_the_texts(
    server: CohereServer, reranker: CohereReranker
) -> None:
    scores, note = reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert scores == pytest.approx(RELEVANCE)
    assert note == ""
    assert reranker.name == MODEL
    assert [request.path for request in server.requests] == ["/v2/rerank"]
    assert server.requests[0].body == {
        "model": MODEL,
        "query": QUESTION,
        "documents": TEXTS,
        "top_n": 3,
    }


def test_nothing_to_read_asks_nobody(server: CohereServer, reranker: CohereReranker) -> None:
    scores, note = reranker.relevance(QUESTION, [], SECONDS)
    assert (scores.shape, note) == ((0,), "")
    assert server.requests == []


def test_a_busy_server_is_asked_again_when_it_says(
    server: CohereServer, reranker: CohereReranker, waits: list[float]
) -> None:
    server.then(Reply(429, {"message": "rate limit"}, {"Retry-After": "2.5"}))
    assert reranker.relevance(QUESTION, TEXTS, SECONDS).scores == pytest.approx(RELEVANCE)
    assert waits == [2.5]
    assert len(server.requests) == 2


def test_a_server_may_name_a_date_to_come_back(
    server: CohereServer, reranker: CohereReranker, waits: list[float]
) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=10), usegmt=True)
    server.then(Reply(429, {}, {"Retry-After": later}), Reply(429, {}, {"Retry-After": "soon"}))
    reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert 0 < waits[0] <= 10
    assert waits[1] == 0.5  # the second wait of those that double


def test_a_server_that_asks_for_more_time_than_there_is_is_given_up(
    server: CohereServer, reranker: CohereReranker, waits: list[float]
) -> None:
    server.then(Reply(429, {"message": "rate limit"}, {"Retry-After": "21"}))
    with pytest.raises(RerankerUnavailable, match=r"takes no more requests .*429: .*rate limit"):
        reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert (len(server.requests), waits) == (1, [])


def test_a_server_that_stays_broken_is_given_up_after_waits_that_double(
    server: CohereServer, reranker: CohereReranker, waits: list[float]
) -> None:
    server.then(*[BUSY] * ATTEMPTS)
    with pytest.raises(RerankerUnavailable, match=r"gives no usable answer \(500: .*internal"):
        reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert len(server.requests) == ATTEMPTS
    assert waits == [0.25, 0.5, 1, 2]


def test_no_try_begins_after_the_time_is_used_up(server: CohereServer) -> None:
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    server.then(*[BUSY] * ATTEMPTS)
    reranker = CohereReranker(
        MODEL, SecretStr(KEY), server.address, sleep=sleep, clock=lambda: now[0]
    )
    with pytest.raises(RerankerUnavailable):
        reranker.relevance(QUESTION, TEXTS, 1.0)
    # 0.25 + 0.5 are less than 1 second, 0.25 + 0.5 + 1 are more
    assert now[0] == 100 + 0.25 + 0.5
    assert len(server.requests) == 3


def test_a_server_that_does_not_answer_is_given_up_in_time(
    server: CohereServer, reranker: CohereReranker, waits: list[float]
) -> None:
    server.then(Silence())
    with pytest.raises(RerankerUnavailable, match=r"did not answer.*Timeout.*RERANK_SECONDS"):
        reranker.relevance(QUESTION, TEXTS, 0.2)
    assert (len(server.requests), waits) == (1, [])


def test_an_answer_that_comes_too_slowly_is_given_up(server: CohereServer) -> None:
    long = results((0, 0.5), padding="x" * 300_000)  # more than is received at once
    server.then(Reply(200, long), Reply(200, long))
    # the clock is looked at when the budget begins, at the try, and at the second part
    ticking = CohereReranker(
        MODEL, SecretStr(KEY), server.address, clock=map(float, count()).__next__
    )
    with pytest.raises(RerankerUnavailable, match=r"too slowly.*RERANK_SECONDS"):
        ticking.relevance(QUESTION, TEXTS[:1], 1.5)
    still = CohereReranker(MODEL, SecretStr(KEY), server.address, clock=lambda: 0.0)
    assert still.relevance(QUESTION, TEXTS[:1], 1.5).scores.tolist() == [0.5]


def test_a_connection_that_is_cut_is_made_again(
    server: CohereServer, reranker: CohereReranker, waits: list[float]
) -> None:
    server.then(Cut())
    assert reranker.relevance(QUESTION, TEXTS, SECONDS).scores == pytest.approx(RELEVANCE)
    assert waits == [0.25]


def test_a_connection_that_is_always_cut_is_reported(
    server: CohereServer, reranker: CohereReranker
) -> None:
    server.then(*[Cut()] * ATTEMPTS)
    with pytest.raises(RerankerUnavailable, match=r"did not answer.*RemoteProtocolError") as caught:
        reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert server.address in str(caught.value)
    assert len(server.requests) == ATTEMPTS


def test_a_server_that_is_not_there_is_reported(waits: list[float]) -> None:
    with cohere_server() as gone:
        pass
    reranker = CohereReranker(MODEL, SecretStr(KEY), gone.address, sleep=waits.append)
    with pytest.raises(RerankerUnavailable, match=r"ConnectError.*COHERE_SERVER_URL"):
        reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert len(waits) == ATTEMPTS - 1


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('{"results": [', r"Invalid JSON"),
        ("<html>", r"Invalid JSON"),
        ({"unexpected": True}, r"results: Field required"),
        ({"results": [{"index": 0}]}, r"results\.0\.relevance_score: Field required"),
        (results((0, 0.5)), r"2 passages, and results for \[0\]"),
        (results((0, 0.5), (0, 0.6)), r"2 passages, and results for \[0, 0\]"),
        (results((0, 0.5), (2, 0.6)), r"2 passages, and results for \[0, 2\]"),
        (results((0, 0.5), (-1, 0.6)), r"2 passages, and results for \[0, -1\]"),
        (results((0, 0.5), (1, 0.6), (1, 0.6)), r"2 passages, and results for \[0, 1, 1\]"),
        (results(("0", 0.5), (1, 0.6)), r"results\.0\.index: .*valid integer"),
        (results((0, "0.5"), (1, 0.6)), r"results\.0\.relevance_score: .*valid number"),
        (results((0, True), (1, 0.6)), r"results\.0\.relevance_score: .*valid number"),
        (results((0, None), (1, 0.6)), r"results\.0\.relevance_score: .*valid number"),
        (results((0, float("nan")), (1, 0.6)), r"results\.0\.relevance_score: .*finite number"),
        (results((0, 0.5), (1, 1.5)), r"results\.1\.relevance_score: .*less than or equal to 1"),
        (results((0, -7.2), (1, 0.6)), r"results\.0\.relevance_score: .*greater than or equal"),
    ],
)
def test_an_answer_that_makes_no_sense_is_reported_and_never_used(
    server: CohereServer, reranker: CohereReranker, body: object, problem: str
) -> None:
    server.then(Reply(200, body))
    with pytest.raises(
        RerankerUnavailable, match=rf"no usable answer \({problem}.*COHERE_SERVER_URL"
    ):
        reranker.relevance(QUESTION, TEXTS[:2], SECONDS)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(400, {"message": "query must not be empty"}), r"400: .*query must not be empty"),
        (Reply(402, {"message": "please add a payment method"}), r"402: .*payment method"),
        (Reply(301, "", {"Location": "http://127.0.0.1:9/"}), r"\(301\).*COHERE_SERVER_URL"),
    ],
)
def test_a_request_that_is_not_taken_is_not_sent_again(
    server: CohereServer, reranker: CohereReranker, reply: Reply, problem: str
) -> None:
    server.then(reply)
    with pytest.raises(RerankerUnavailable, match=problem):
        reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert len(server.requests) == 1


def test_an_unknown_model_is_reported_with_the_setting_to_mend(server: CohereServer) -> None:
    reranker = CohereReranker("rerank-v9", SecretStr(KEY), f"{server.address}/")
    with pytest.raises(RerankerUnavailable, match=r"'rerank-v9' not found.*Check RERANK_MODEL"):
        reranker.relevance(QUESTION, TEXTS, SECONDS)


def test_a_wrong_key_is_reported_without_showing_it(server: CohereServer) -> None:
    reranker = CohereReranker(MODEL, SecretStr("a-wrong-key"), server.address)
    with pytest.raises(
        RerankerUnavailable, match=r"401: .*invalid api token.*COHERE_API_KEY"
    ) as caught:
        reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert "a-wrong-key" not in str(caught.value)
    assert len(server.requests) == 1


def test_a_server_that_repeats_the_key_does_not_bring_it_into_the_error(
    server: CohereServer, reranker: CohereReranker
) -> None:
    server.then(Reply(403, {"message": f"Bearer {KEY} is not allowed"}))
    with pytest.raises(RerankerUnavailable, match=r"Bearer \[key\] is not allowed") as caught:
        reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert KEY not in str(caught.value) + repr(caught.value.__cause__)


def test_the_key_is_not_logged(reranker: CohereReranker, caplog: pytest.LogCaptureFixture) -> None:
    # a command that ran in this process before has made this one quieter
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="httpx2"):
        reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert "/v2/rerank" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("key", ["", "  "])
def test_a_key_is_needed(key: str) -> None:
    with pytest.raises(ConfigurationError, match="Set COHERE_API_KEY"):
        CohereReranker(MODEL, SecretStr(key))


@pytest.mark.parametrize("key", ["a\nkey", "clé"])
def test_a_key_that_cannot_be_one_is_reported_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigurationError, match="COHERE_API_KEY holds characters") as caught:
        CohereReranker(MODEL, SecretStr(key))
    assert key not in str(caught.value)


def test_an_address_that_cannot_be_one_is_reported() -> None:
    with pytest.raises(
        ConfigurationError, match=r"COHERE_SERVER_URL=http://localhost:one is no address"
    ):
        CohereReranker(MODEL, SecretStr(KEY), "http://localhost:one")


def test_cohere_itself_is_asked_unless_another_server_is_named(
    server: CohereServer, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.address)  # which answers that it is none
    reranker = CohereReranker(MODEL, SecretStr(KEY), sleep=waits.append)
    with pytest.raises(RerankerUnavailable, match=f"Cohere at {COHERE_SERVER} did not answer"):
        reranker.relevance(QUESTION, TEXTS, SECONDS)
    assert server.requests == []


def test_scores_are_double_precision_numbers(reranker: CohereReranker) -> None:
    assert reranker.relevance(QUESTION, TEXTS, SECONDS).scores.dtype == np.float64
