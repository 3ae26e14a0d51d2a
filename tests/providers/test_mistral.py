"""Mistral's embeddings: the real client against a local server that speaks its API.

The faults that they share with other services are in `test_http.py`.
"""

from collections.abc import Iterator

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
from atlas_search.providers.embedding_remote import (
    BUILD_PATIENCE,
    CHARACTERS_PER_REQUEST,
    batches,
)
from atlas_search.providers.mistral import MistralApi, MistralEmbedder
from atlas_search.providers.open import open_embedder, open_mistral
from tests.mistral_server import (
    KEY,
    MistralServer,
    Reply,
    embedding,
    embeddings,
    mistral_server,
    refusal,
)


@pytest.fixture
def server() -> Iterator[MistralServer]:
    with mistral_server() as running:
        yield running


@pytest.fixture
def embedder(server: MistralServer, waits: list[float]) -> MistralEmbedder:
    return MistralEmbedder(
        "mistral-embed", MistralApi(SecretStr(KEY), server.address, 6000, 20.0, sleep=waits.append)
    )


def unit(text: str) -> np.ndarray:
    vector = np.array(embedding(text))
    return vector / np.linalg.norm(vector)


def test_vectors_come_in_order_at_unit_length_in_several_requests(
    server: MistralServer, embedder: MistralEmbedder
) -> None:
    texts = [f"text {number}" for number in range(300)]
    vectors = embedder.embed(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [unit(text) for text in texts], atol=1e-6)
    assert {request.path for request in server.requests} == {"/v1/embeddings"}
    assert server.requests[0].body == {"model": "mistral-embed", "input": texts[:128]}
    assert [len(sent) for sent in server.texts] == [128, 128, 44]


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
    with pytest.raises(EmbeddingRefused, match=f"{server.address}.* has 9000 tokens"):
        embedder.embed(["long"])
    assert (len(server.requests), waits) == (1, [])


def test_the_dimension_is_learnt_from_the_first_answer(
    server: MistralServer, embedder: MistralEmbedder
) -> None:
    assert embedder.embed_query("what?").shape == (4,)
    info = embedder.info
    assert len(server.requests) == 1
    assert (info.name, info.provider, info.dimension) == ("mistral-embed", "mistral", 4)
    assert info.max_tokens == 8192


def test_without_an_answer_the_dimension_costs_one_request(
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
    api = MistralApi(SecretStr(KEY), server.address, 1, 20.0)
    same = MistralEmbedder("mistral-embed", api, query_prefix="q: ")
    assert same.fingerprint == embedder.fingerprint
    others = {
        MistralEmbedder("mistral-embed", api, passage_prefix="p: ").fingerprint,
        MistralEmbedder("codestral-embed", api).fingerprint,
    }
    assert len(others | {embedder.fingerprint}) == 3
    assert server.requests == []


def test_tokens_are_counted_as_bytes_at_most_and_cut_nothing(embedder: MistralEmbedder) -> None:
    assert embedder.count_tokens(["court", "façade", ""]) == [5 + 2, 7 + 2, 2]
    with pytest.raises(SourceError, match="--chunk-unit tokens needs a local model"):
        embedder.token_spans("the court")


def test_a_query_does_not_wait_as_long_as_a_build(
    server: MistralServer, embedder: MistralEmbedder, waits: list[float]
) -> None:
    half_a_minute = Reply(429, {"message": "Rate limit"}, {"Retry-After": "30"})
    server.then(half_a_minute, half_a_minute)
    with pytest.raises(EmbeddingUnavailable, match=r"429.*Rate limit.*MISTRAL_REQUESTS"):
        embedder.embed_query("what?")
    assert waits == []
    embedder.embed(["a"])
    assert waits == [30.0]
    server.then(Reply(429, {}, {"Retry-After": str(BUILD_PATIENCE + 1)}))
    with pytest.raises(EmbeddingUnavailable, match="takes no more requests"):
        embedder.embed(["a"])
    assert waits == [30.0]


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        ([[1.0, 2.0]], "1 vectors for 2 texts"),
        ([[1.0], [2.0], [3.0]], "3 vectors for 2 texts"),
        ([[1.0, 2.0], [1.0]], "unequal or no dimension"),
        ([[], []], "a vector of no length"),
        ([[0.0, 0.0], [1.0, 0.0]], "a vector of no length"),
    ],
)
def test_vectors_that_make_no_sense_are_reported_and_never_stored(
    server: MistralServer, embedder: MistralEmbedder, vectors: list[list[float]], problem: str
) -> None:
    server.then(Reply(200, embeddings(vectors)))
    with pytest.raises(EmbeddingUnavailable, match=problem):
        embedder.embed(["a", "b"])
    assert len(server.requests) == 1


def test_more_requests_than_the_rate_allows_wait(server: MistralServer) -> None:
    api = MistralApi(SecretStr(KEY), server.address, 1, 20.0)
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
    monkeypatch.setenv("EMBEDDING_PASSAGE_PREFIX", "p: ")
    settings = load_settings()
    assert KEY not in repr(settings)
    embedder = open_embedder(settings)
    info = embedder.info
    assert (info.name, info.passage_prefix, info.query_prefix) == ("mistral-embed", "p: ", "q: ")
    embedder.embed_query("what?")
    embedder.embed(["the court"])
    assert server.texts == [["dimension"], ["q: what?"], ["p: the court"]]


def test_users_of_one_account_share_its_rate() -> None:
    settings = Settings(mistral_api_key=SecretStr("k" * 32))
    assert open_mistral(settings) is open_mistral(settings.model_copy())
    other = settings.model_copy(update={"mistral_api_key": SecretStr("l" * 32)})
    assert open_mistral(other) is not open_mistral(settings)


def test_another_model_of_mistrals_is_taken_by_name() -> None:
    settings = Settings(
        embedding_provider="mistral",
        embedding_model="codestral-embed",
        mistral_api_key=SecretStr(KEY),
    )
    default = settings.model_copy(update={"embedding_model": "mistral-embed"})
    assert open_embedder(settings).fingerprint != open_embedder(default).fingerprint


def test_pooling_is_not_for_mistral() -> None:
    settings = Settings(
        embedding_provider="mistral", mistral_api_key=SecretStr(KEY), pooling="mean"
    )
    with pytest.raises(ConfigurationError, match="POOLING=mean is for local models"):
        open_embedder(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EMBEDDING_PROVIDER", "nowhere"),
        ("EMBEDDING_URLS", "localhost:8080/v1"),
        ("EMBEDDING_URLS", "http://a/v1,,http://b/v1"),
        ("EMBEDDING_REQUESTS", "0"),
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
