"""Mistral's embeddings: the real client against a local server that speaks its API."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest
from pydantic import SecretStr

from atlas_search.core.errors import (
    ConfigurationError,
    EmbeddingRefused,
    EmbeddingUnavailable,
    SourceError,
)
from atlas_search.core.settings import Settings, load_settings
from atlas_search.providers.mistral import (
    ATTEMPTS,
    BUILD_PATIENCE,
    CHARACTERS_PER_REQUEST,
    MistralAccount,
    MistralApi,
    MistralEmbedder,
    batches,
)
from atlas_search.providers.open import open_embedder
from tests.mistral_server import (
    KEY,
    MistralServer,
    Reply,
    Silence,
    embedding,
    embeddings,
    mistral_server,
    refusal,
)

BUSY = Reply(500, {"message": "overloaded"})


@pytest.fixture
def server() -> Iterator[MistralServer]:
    with mistral_server() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """The seconds the embedder would have waited."""
    return []


@pytest.fixture
def embedder(server: MistralServer, waits: list[float]) -> MistralEmbedder:
    return MistralEmbedder("mistral-embed", MistralApi(account(server), sleep=waits.append))


def account(server: MistralServer, **changes: object) -> MistralAccount:
    fields: dict[str, object] = {
        "api_key": SecretStr(KEY),
        "server_url": server.address,
        "requests_per_minute": 6000,
        "timeout_seconds": 20.0,
    }
    return MistralAccount(**(fields | changes))  # type: ignore[arg-type]


def unit(text: str) -> np.ndarray:
    vector = np.array(embedding(text))
    return vector / np.linalg.norm(vector)


def test_vectors_come_in_order_and_at_unit_length(
    server: MistralServer, embedder: MistralEmbedder
) -> None:
    texts = ["the court held", "that", "the rule"]
    vectors = embedder.embed(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [unit(text) for text in texts], atol=1e-6)
    assert [request.path for request in server.requests] == ["/v1/embeddings"]
    assert server.requests[0].body == {"model": "mistral-embed", "input": texts}


def test_many_texts_go_in_several_requests(
    server: MistralServer, embedder: MistralEmbedder
) -> None:
    texts = [f"text {number}" for number in range(300)]
    vectors = embedder.embed(texts)
    assert [len(sent) for sent in server.texts] == [128, 128, 44]
    np.testing.assert_allclose(vectors, [unit(text) for text in texts], atol=1e-6)


def test_a_request_is_bounded_by_its_characters() -> None:
    long = "x" * (CHARACTERS_PER_REQUEST // 2)
    assert list(batches([long, long, "a", "b"])) == [[long, long], ["a", "b"]]
    assert list(batches(["a", long * 3, "b"])) == [["a"], [long * 3], ["b"]]


def test_a_request_refused_as_too_long_is_sent_in_halves(
    server: MistralServer, embedder: MistralEmbedder
) -> None:
    server.then(Reply(400, refusal("Too many tokens overall, split into more batches.", "3210")))
    vectors = embedder.embed(["a", "bb", "ccc"])
    assert server.texts == [["a", "bb", "ccc"], ["a"], ["bb", "ccc"]]
    np.testing.assert_allclose(vectors, [unit("a"), unit("bb"), unit("ccc")], atol=1e-6)


def test_a_text_refused_by_itself_is_reported_and_not_tried_again(
    server: MistralServer, embedder: MistralEmbedder, waits: list[float]
) -> None:
    server.then(Reply(400, refusal("Input id 0 has 9000 tokens, exceeding max 8192.", "3051")))
    with pytest.raises(EmbeddingRefused, match="has 9000 tokens") as caught:
        embedder.embed(["long"])
    assert server.address in str(caught.value)
    assert (len(server.requests), waits) == (1, [])


def test_an_unknown_model_is_refused_with_the_setting_to_mend(server: MistralServer) -> None:
    embedder = MistralEmbedder("mistral-embde", MistralApi(account(server)))
    with pytest.raises(EmbeddingRefused, match=r"Invalid model: mistral-embde.*EMBEDDING_MODEL"):
        embedder.embed_query("what?")


def test_prefixes_are_put_before_passages_and_queries(server: MistralServer) -> None:
    embedder = MistralEmbedder(
        "mistral-embed", MistralApi(account(server)), passage_prefix="p: ", query_prefix="q: "
    )
    embedder.embed(["the court"])
    embedder.embed_query("the court")
    assert server.texts == [["p: the court"], ["q: the court"]]
    assert (embedder.info.passage_prefix, embedder.info.query_prefix) == ("p: ", "q: ")


def test_the_dimension_is_learnt_from_the_first_answer(
    server: MistralServer, embedder: MistralEmbedder
) -> None:
    assert embedder.embed_query("what?").shape == (4,)
    info = embedder.info
    assert len(server.requests) == 1
    assert (info.name, info.provider, info.dimension) == ("mistral-embed", "mistral", 4)
    assert info.max_tokens == 8192


def test_what_a_model_is_costs_one_request_at_most(
    server: MistralServer, embedder: MistralEmbedder
) -> None:
    assert embedder.embed([]).shape == (0, 4)
    assert embedder.info == embedder.info
    assert len(server.requests) == 1


def test_a_change_of_dimension_is_noticed(server: MistralServer, embedder: MistralEmbedder) -> None:
    embedder.embed(["a"])
    server.then(Reply(200, embeddings([[1.0, 2.0]])))
    with pytest.raises(EmbeddingUnavailable, match="of 4 numbers before and of 2 now"):
        embedder.embed(["a"])


def test_the_fingerprint_is_of_model_and_passage_prefix_and_asks_nobody(
    server: MistralServer, embedder: MistralEmbedder
) -> None:
    api = MistralApi(account(server, requests_per_minute=1))
    same = MistralEmbedder("mistral-embed", api, query_prefix="q: ")
    assert same.fingerprint == embedder.fingerprint
    others = {
        MistralEmbedder("mistral-embed", api, passage_prefix="p: ").fingerprint,
        MistralEmbedder("codestral-embed", api).fingerprint,
    }
    assert len(others | {embedder.fingerprint}) == 3
    assert server.requests == []


def test_tokens_are_counted_as_bytes_at_most(embedder: MistralEmbedder) -> None:
    assert embedder.count_tokens(["court", "façade", ""]) == [5 + 2, 7 + 2, 2]


def test_passages_cannot_be_cut_by_tokens(embedder: MistralEmbedder) -> None:
    with pytest.raises(SourceError, match="--chunk-unit tokens needs a local model"):
        embedder.token_spans("the court")


def test_a_busy_server_is_asked_again_when_it_says(
    server: MistralServer, embedder: MistralEmbedder, waits: list[float]
) -> None:
    server.then(Reply(429, {"message": "Rate limit"}, {"Retry-After": "2.5"}))
    np.testing.assert_allclose(embedder.embed(["a"])[0], unit("a"), atol=1e-6)
    assert waits == [2.5]
    assert server.texts == [["a"], ["a"]]


def test_a_server_may_name_a_date_to_come_back(
    server: MistralServer, embedder: MistralEmbedder, waits: list[float]
) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    server.then(Reply(429, {}, {"Retry-After": later}), Reply(429, {}, {"Retry-After": "soon"}))
    embedder.embed(["a"])
    assert 0 < waits[0] <= 100
    assert waits[1] == 2.0  # the second wait of those that double


def test_a_query_does_not_wait_as_long_as_a_build(
    server: MistralServer, embedder: MistralEmbedder, waits: list[float]
) -> None:
    server.then(*[Reply(429, {"message": "Rate limit"}, {"Retry-After": "30"})] * 2)
    with pytest.raises(EmbeddingUnavailable, match=r"429.*Rate limit.*MISTRAL_REQUESTS"):
        embedder.embed_query("what?")
    assert waits == []
    embedder.embed(["a"])
    assert waits == [30.0]


def test_a_server_that_asks_for_too_much_patience_is_given_up(
    server: MistralServer, embedder: MistralEmbedder, waits: list[float]
) -> None:
    server.then(Reply(429, {}, {"Retry-After": str(BUILD_PATIENCE + 1)}))
    with pytest.raises(EmbeddingUnavailable, match="takes no more requests"):
        embedder.embed(["a"])
    assert waits == []


def test_a_server_that_stays_broken_is_given_up_after_waits_that_double(
    server: MistralServer, embedder: MistralEmbedder, waits: list[float]
) -> None:
    server.then(*[BUSY] * ATTEMPTS)
    with pytest.raises(EmbeddingUnavailable, match=r"gives no usable answer \(500: .*overloaded"):
        embedder.embed(["a"])
    assert len(server.requests) == ATTEMPTS
    assert waits == [1, 2, 4, 8, 16, 32, 60]


def test_a_server_that_does_not_answer_in_time_is_asked_again(
    server: MistralServer, waits: list[float]
) -> None:
    api = MistralApi(account(server, timeout_seconds=2.0), sleep=waits.append)
    server.then(Silence())
    np.testing.assert_allclose(
        MistralEmbedder("mistral-embed", api).embed(["a"])[0], unit("a"), atol=1e-6
    )
    assert waits == [1]


def test_a_server_that_never_answers_is_reported(server: MistralServer, waits: list[float]) -> None:
    api = MistralApi(account(server, timeout_seconds=0.2), sleep=waits.append)
    server.then(*[Silence()] * ATTEMPTS)
    with pytest.raises(EmbeddingUnavailable, match=r"Timeout.*MISTRAL_TIMEOUT_SECONDS"):
        MistralEmbedder("mistral-embed", api).embed(["a"])
    assert len(waits) == ATTEMPTS - 1


def test_a_server_that_is_not_there_is_reported(waits: list[float]) -> None:
    with mistral_server() as gone:
        pass
    embedder = MistralEmbedder("mistral-embed", MistralApi(account(gone), sleep=waits.append))
    with pytest.raises(EmbeddingUnavailable, match=r"ConnectError.*MISTRAL_SERVER_URL") as caught:
        embedder.embed(["a"])
    assert gone.address in str(caught.value)
    assert len(waits) == ATTEMPTS - 1


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(200, '{"data": [tru'), r"no usable answer \(200"),
        (Reply(200, {"unexpected": True}), r"no usable answer \(200"),
        (Reply(200, "<html>", {"Content-Type": "text/html"}), r"no usable answer \(200"),
        (Reply(200, embeddings([[1.0, 2.0]])), "1 vectors for 2 texts"),
        (Reply(200, embeddings([[1.0], [2.0], [3.0]])), "3 vectors for 2 texts"),
        (Reply(200, embeddings([[1.0, 2.0], [1.0]])), "unequal or no dimension"),
        (Reply(200, embeddings([[], []])), "a vector of no length"),
        (Reply(200, embeddings([[0.0, 0.0], [1.0, 0.0]])), "a vector of no length"),
    ],
)
def test_an_answer_that_makes_no_sense_is_reported_and_never_stored(
    server: MistralServer, embedder: MistralEmbedder, reply: Reply, problem: str
) -> None:
    server.then(reply)
    with pytest.raises(EmbeddingUnavailable, match=problem):
        embedder.embed(["a", "b"])
    assert len(server.requests) == 1


def test_a_wrong_key_is_reported_without_showing_it(
    server: MistralServer, waits: list[float]
) -> None:
    wrong = account(server, api_key=SecretStr("a-wrong-key"))
    embedder = MistralEmbedder("mistral-embed", MistralApi(wrong, sleep=waits.append))
    with pytest.raises(ConfigurationError, match=r"401.*Unauthorized.*MISTRAL_API_KEY") as caught:
        embedder.embed(["a"])
    assert "a-wrong-key" not in str(caught.value) + repr(wrong)
    assert (len(server.requests), waits) == (1, [])


@pytest.mark.parametrize("key", ["a\nkey", "clé"])
def test_a_key_that_cannot_be_one_is_reported_without_showing_it(
    server: MistralServer, key: str
) -> None:
    with pytest.raises(ConfigurationError, match="MISTRAL_API_KEY holds characters") as caught:
        MistralApi(account(server, api_key=SecretStr(key)))
    assert key not in str(caught.value)


def test_the_key_is_not_logged_even_if_the_sdk_is_told_to_debug(
    server: MistralServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MISTRAL_DEBUG", "1")
    with caplog.at_level(logging.DEBUG):
        MistralEmbedder("mistral-embed", MistralApi(account(server))).embed_query("what?")
    assert len(server.requests) == 1
    assert KEY not in caplog.text


def test_more_requests_than_the_rate_allows_wait(server: MistralServer) -> None:
    api = MistralApi(account(server, requests_per_minute=1))
    assert api.call("mistral-embed", lambda _client: "first", patience=0.0) == "first"
    with pytest.raises(EmbeddingUnavailable, match="MISTRAL_REQUESTS_PER_MINUTE=1"):
        api.call("mistral-embed", lambda _client: "second", patience=0.0)


def test_the_settings_choose_mistral(
    server: MistralServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "mistral")
    monkeypatch.setenv("MISTRAL_API_KEY", f" {KEY} ")
    monkeypatch.setenv("MISTRAL_SERVER_URL", f"{server.address}/")
    monkeypatch.setenv("EMBEDDING_QUERY_PREFIX", "q: ")
    settings = load_settings()
    assert KEY not in repr(settings)
    embedder = open_embedder(settings)
    assert embedder.info.name == "mistral-embed"
    embedder.embed_query("what?")
    assert server.texts == [["dimension"], ["q: what?"]]


def test_another_model_of_mistrals_is_taken_by_name() -> None:
    settings = Settings(
        embedding_provider="mistral",
        embedding_model="codestral-embed",
        mistral_api_key=SecretStr(KEY),
    )
    default = settings.model_copy(update={"embedding_model": "mistral-embed"})
    assert open_embedder(settings).fingerprint != open_embedder(default).fingerprint


def test_mistral_needs_a_key() -> None:
    with pytest.raises(ConfigurationError, match="Set MISTRAL_API_KEY"):
        open_embedder(Settings(embedding_provider="mistral"))


def test_pooling_is_not_for_mistral() -> None:
    settings = Settings(
        embedding_provider="mistral", mistral_api_key=SecretStr(KEY), pooling="mean"
    )
    with pytest.raises(ConfigurationError, match="POOLING=mean is for local models"):
        open_embedder(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EMBEDDING_PROVIDER", "openai"),
        ("POOLING", "median"),
        ("EMBEDDING_DEVICE", "tpu"),
        ("MISTRAL_SERVER_URL", "api.mistral.ai"),
        ("MISTRAL_REQUESTS_PER_MINUTE", "0"),
        ("MISTRAL_TIMEOUT_SECONDS", "0"),
    ],
)
def test_a_setting_of_embedding_that_cannot_be_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=f"^{name}='{value}'"):
        open_embedder(load_settings())
