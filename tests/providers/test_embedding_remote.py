"""Embedding servers of OpenAI's protocol: real ones, which are slow, busy, dead, or of two models.

The faults that they share with other services are in `test_http.py`, requests in `test_mistral.py`.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr

from atlas_search.core.errors import (
    ConfigurationError,
    EmbeddingRefused,
    EmbeddingUnavailable,
)
from atlas_search.core.settings import Settings
from atlas_search.providers import embedding_remote
from atlas_search.providers.embedding_remote import ATTEMPTS, EmbeddingServers, RemoteEmbedder
from atlas_search.providers.open import open_embedder
from atlas_search.stores.manifest import Manifest
from tests.chat_server import KEY, Reply, Silence
from tests.conftest import free_port
from tests.embedding_server import MODEL, MOST, EmbeddingServer, embedding_servers, settings_of
from tests.mistral_server import embedding
from tests.openai_server import refusal
from tests.servers import ATLAS, running
from tests.tiny import write_sources

TEXTS = [f"{'text ' * (number % 7)}{number}" for number in range(256)]
BUSY = Reply(503, {"message": "Model is overloaded"}, {"Retry-After": "7"})


@pytest.fixture
def servers() -> Iterator[list[EmbeddingServer]]:
    with embedding_servers(2) as both:
        yield both


def embedder_of(
    servers: Sequence[EmbeddingServer | str], waits: list[float], requests: int = 8, key: str = KEY
) -> RemoteEmbedder:
    addresses = [each if isinstance(each, str) else each.address for each in servers]
    asked = EmbeddingServers(MODEL, addresses, SecretStr(key), waits.append)
    return RemoteEmbedder(
        MODEL, asked.send, "openai", "The server", "EMBEDDING_URLS", requests=requests, texts=MOST
    )


def nowhere() -> str:
    return f"http://keeper:hidden@127.0.0.1:{free_port()}/v1"


def expected(texts: Sequence[str]) -> np.ndarray:
    vectors = np.array([embedding(text) for text in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_requests_go_to_every_server_at_once_and_vectors_come_back_in_order(
    servers: list[EmbeddingServer], waits: list[float]
) -> None:
    for server in servers:
        server.delay = 0.05
    vectors = embedder_of(servers, waits).embed(TEXTS)
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-6)
    assert [len(server.texts) for server in servers] == [4, 4]
    assert min(server.at_once for server in servers) > 1
    assert {len(texts) for server in servers for texts in server.texts} == {MOST}


def test_a_slow_server_gets_less(servers: list[EmbeddingServer], waits: list[float]) -> None:
    servers[0].delay = 0.3
    embedder_of(servers, waits, requests=4).embed(TEXTS)
    assert len(servers[0].texts) < len(servers[1].texts)


def test_eight_requests_in_flight_take_a_fraction_of_the_time(
    servers: list[EmbeddingServer], waits: list[float]
) -> None:
    seconds = {}
    servers[0].delay = 0.05
    for requests in (1, 8):
        embedder = embedder_of(servers[:1], waits, requests)
        embedder.embed_query("is it there?")
        began = time.monotonic()
        embedder.embed(TEXTS)
        seconds[requests] = time.monotonic() - began
    assert seconds[1] > 3 * seconds[8]


def test_many_requests_share_what_few_texts_there_are(
    servers: list[EmbeddingServer], waits: list[float]
) -> None:
    embedder_of(servers, waits, requests=32).embed(TEXTS)
    assert {len(texts) for server in servers for texts in server.texts} == {8}


def test_a_busy_server_hands_over_and_is_waited_for_when_all_are_busy(
    servers: list[EmbeddingServer], waits: list[float]
) -> None:
    embedder = embedder_of(servers, waits, requests=1)
    embedder.embed(TEXTS)
    servers[0].then(BUSY)
    embedder.embed(["a"])
    assert waits == []
    for server in servers:
        server.then(Reply(429), BUSY)
    embedder.embed(["a"])
    assert waits == [1.0, 7.0]


def test_a_dead_server_is_told_once_and_others_get_its_texts(
    servers: list[EmbeddingServer], waits: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    vectors = embedder_of([nowhere(), *servers], waits).embed(TEXTS)
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-6)
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert line.startswith("The embedding server at http://127.0.0.1:")
    assert "Others get its texts" in line
    assert "hidden" not in caplog.text
    assert waits == []


def test_a_server_that_is_back_is_asked_again(
    servers: list[EmbeddingServer], waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_remote, "SECONDS", 0.2)
    embedder = embedder_of(servers, waits, requests=1)
    embedder.embed(TEXTS)
    servers[0].then(*[Silence()] * 2)
    embedder.embed(TEXTS[:4])
    silent = len(servers[0].requests)
    embedder.embed(TEXTS[:4])
    assert len(servers[0].requests) == silent
    servers[0].told.clear()
    monkeypatch.setattr(embedding_remote.time, "monotonic", lambda: time.time() + 1e6)
    embedder.embed(TEXTS[:4])
    embedder.embed(TEXTS[:4])
    assert len(servers[0].requests) > silent


def test_when_all_are_dead_each_is_named(waits: list[float]) -> None:
    with pytest.raises(EmbeddingUnavailable) as raised:
        embedder_of([nowhere(), nowhere()], waits).embed(["a"])
    assert str(raised.value).count("http://127.0.0.1:") == 2
    assert "goes on with what was embedded" in str(raised.value)
    assert "hidden" not in str(raised.value)
    assert waits == [2.0**attempt for attempt in range(6)] + [60.0]
    assert len(waits) == ATTEMPTS - 1
    with pytest.raises(EmbeddingUnavailable, match=r"did not answer.* Check the network and EMBED"):
        embedder_of([nowhere()], waits).embed_query("a")


def test_one_server_of_another_model_is_refused(
    servers: list[EmbeddingServer], waits: list[float]
) -> None:
    servers[1].turn = -1
    with pytest.raises(ConfigurationError, match="gives other vectors than another server"):
        embedder_of(servers, waits).embed(TEXTS)


def test_what_is_refused_is_halved_or_said_at_once(
    servers: list[EmbeddingServer], waits: list[float]
) -> None:
    embedder = embedder_of(servers[:1], waits, requests=1)
    servers[0].then(Reply(413, {"message": "too long"}))
    embedder.embed(TEXTS[:4])
    assert [len(texts) for texts in servers[0].texts] == [4, 2, 2]
    servers[0].then(refusal(422, "inputs must have less than 512 tokens"))
    with pytest.raises(EmbeddingRefused, match=r"512 tokens.*no passage is longer"):
        embedder.embed(["a"])
    with pytest.raises(ConfigurationError, match="refuses the key"):
        embedder_of(servers[:1], waits, key="wrong").embed(["a"])
    servers[0].then(Reply(200, {"data": [{"embedding": [1.0]}]}))
    with pytest.raises(EmbeddingUnavailable, match="gives no usable answer"):
        embedder.embed(["a"])
    assert waits == []


def test_the_settings_choose_the_servers_and_not_what_makes_vectors_comparable() -> None:
    with pytest.raises(ConfigurationError, match="POOLING=mean is for local models"):
        open_embedder(Settings(embedding_provider="openai", pooling="mean"))
    own = {"embedding_provider": "openai", "embedding_model": MODEL}
    two = open_embedder(Settings(**own, embedding_urls="http://a/v1, http://b/v1"))
    one = open_embedder(Settings(**own, openai_base_url="http://c/v1", embedding_requests=1))
    assert one.fingerprint == two.fingerprint
    other = open_embedder(Settings(embedding_provider="openai", embedding_model="other"))
    assert other.fingerprint != one.fingerprint


def test_a_build_outlasts_a_server_and_goes_on_when_all_were_dead(
    servers: list[EmbeddingServer], tmp_path: Path
) -> None:
    write_sources(
        tmp_path / "source",
        {f"farm/{n}.txt": f"Ship {n} carries load {n * 7}.\n" for n in range(600)},
    )
    command = (*ATLAS, "create", "files", "source", "--collection", "kept")

    def build(*own: EmbeddingServer | str) -> tuple[int, str]:
        environment = settings_of(*own, CHROMA_PERSIST_DIRECTORY="stores", COLUMNS="500")
        with running(*command, environment=environment, folder=tmp_path) as building:
            code = building.process.wait(120)
        return code, " ".join(" ".join(building.lines).split())

    sent, answer = servers[0].requests, servers[0].answer
    down = Reply(503, {}, {"Retry-After": "9999"})
    servers[0].answer = lambda request: answer(request) if len(sent) < 12 else down  # type: ignore[method-assign]
    code, output = build(servers[0])
    assert (code, "takes no more" in output or "no usable answer" in output) == (1, True), output
    code, output = build(nowhere(), servers[1])
    assert code == 0, output
    assert "Others get its texts" in output
    assert sum(map(len, servers[1].texts)) <= 600 - 256
    assert Manifest.read(tmp_path / "stores" / "kept").passages == 600
