"""No key, token or password is in a span, a log or an answer, however a request fails."""

import json
import logging
import traceback
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from atlas_search.atlas import Atlas
from atlas_search.core.addresses import phoenix_problem
from atlas_search.core.errors import AtlasError, ConfigurationError
from atlas_search.core.settings import Settings, load_settings
from atlas_search.providers.open import open_embedder
from atlas_search.server.access.keys import KeyFile, add_key
from tests.chat_server import KEY, ChatServer, Reply
from tests.collector import collecting
from tests.conftest import free_port
from tests.openai_server import openai_server, refusal
from tests.orchard import ASKED, Orchard, build_orchard, orchard
from tests.postgres import Postgres
from tests.servers import ATLAS, app_of, running, served
from tests.without_model import settings_without_model

MARK = "zvsecret"
SECRETS = {
    name: f"{MARK}-{name.replace('_', '-')}-0123456789"
    for name, field in Settings.model_fields.items()
    if field.annotation is SecretStr
}
"""A value for every secret setting."""
PASSWORD = f"{MARK}-password"
LOGIN = f"keeper:{PASSWORD}"
# QDRANT_URL takes no login
ADDRESSES = [
    name
    for name in Settings.model_fields
    if name.endswith(("_url", "_endpoint"))
    and name not in {"atlas_public_url", "qdrant_url", *SECRETS}
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("orchard")
    build_orchard(folder)
    return folder


def with_password(address: str) -> str:
    return address.replace("http://", f"http://{LOGIN}@")


def marked_settings() -> dict[str, str]:
    headers = {name: f"x-key={SECRETS[name]}" for name in SECRETS if name.endswith("_headers")}
    database = {"state_url": f"postgresql://keeper:{SECRETS['state_url']}@127.0.0.1:1/atlas"}
    return SECRETS | headers | database


def repeat_key(model: ChatServer) -> None:
    """Let every answer be a refusal that repeats the key, in each way that a provider has."""
    key = SECRETS["openai_api_key"]
    model.key = key
    for status, code in ((401, "invalid_api_key"), (400, "bad"), (429, "rate"), (500, None)):
        model.then(*[refusal(status, f"Incorrect API key provided: {key}.", code)] * 3)
    model.then(*[Reply(500, f"Authorization: Bearer {key}")] * 3)


def ask_badly(trees: Orchard) -> list[str]:
    """The answers of the server to requests that fail in every way."""
    texts = []
    repeat_key(trees.model)
    while trees.model.told:
        texts.append(trees.post("/api/ask", ASKED | {"target": "model"}).text)
    texts.append(trees.post("/api/ask/stream", ASKED | {"target": "model"}).text)
    for headers in (
        {"Authorization": f"Bearer {PASSWORD}"},
        {"Authorization": f"Basic {PASSWORD}"},
        {"X-Api-Key": PASSWORD, "Cookie": f"session={PASSWORD}"},
    ):
        texts.append(trees.post("/api/ask", ASKED, headers=headers).text)
        texts.append(trees.post("/api/cache/clear", {}, headers=headers).text)
        texts.append(trees.client.get("/api/health", headers=headers).text)
        texts.append(trees.client.get("/api/config", headers=headers).text)
    return texts


def test_every_secret_setting_is_tried() -> None:
    assert {"otel_exporter_otlp_headers", "openai_api_key", "state_url"} <= {*SECRETS}
    assert {*ADDRESSES} == {
        "mistral_server_url",
        "openai_base_url",
        "cohere_server_url",
        "phoenix_collector_endpoint",
        "phoenix_public_url",
        "otel_exporter_otlp_endpoint",
        "otel_exporter_otlp_traces_endpoint",
        "otel_exporter_otlp_metrics_endpoint",
    }


@pytest.mark.thorough
def test_no_span_log_or_answer_holds_a_secret(
    built: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        collecting(401) as phoenix,
        orchard(
            built,
            **marked_settings(),
            phoenix_collector_endpoint=with_password(phoenix.address),
        ) as trees,
    ):
        texts = ask_badly(trees)
        spans = trees.spans()
        (_, headers), *_ = trees.collector.requests
        assert headers["x-key"] == SECRETS["otel_exporter_otlp_headers"]
    assert spans
    assert not [span.kept for span in spans if MARK in span.kept]
    assert not [record for record in caplog.records if MARK in logged(record)]
    assert not [text for text in texts if MARK in text]


def logged(record: logging.LogRecord) -> str:
    return f"{record.getMessage()} {record.exc_text or ''} {record.exc_info or ''}"


class Refusing:
    """Stands for every server that has an address: it answers with a status, and repeats the login.
    `paths` are the first parts of the paths."""

    def __init__(self, status: int):
        self._status = f"{status} Said"
        self.paths: set[str] = set()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        """Answer, as a WSGI application."""
        start(self._status, [("Content-Type", "application/json")])
        self.paths.add(environ["PATH_INFO"].split("/")[1])
        scheme, _, sent = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        login = b64decode(sent) if scheme == "Basic" else LOGIN.encode()
        start_of = environ if environ.get("CONTENT_TYPE") == "application/x-protobuf" else "Wrong:"
        content = f"{start_of} {login!r} {b64encode(login)!r}"
        return [json.dumps({"message": content}).encode()]


@contextmanager
def standing(server: Refusing, status: int) -> Iterator[str]:
    """The address of the server; of none if the status is 0."""
    if not status:
        yield f"http://127.0.0.1:{free_port()}"
        return
    with served(server) as address:
        yield address


def use_every_address(trees: Orchard, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ask for what needs each provider, and let all be sent; all that is answered."""
    texts = [trees.post("/api/ask", ASKED | {"target": name}).text for name in ("model", "mistral")]
    texts.append(trees.post("/api/search", ASKED | {"target": "cohere"}).text)
    texts += [trees.client.get(path).text for path in ("/api/health", "/api/config")]
    monkeypatch.setattr("atlas_search.providers.embedding_remote.QUERY_PATIENCE", 0.1)
    settings = trees.atlas.services.settings
    embedder = open_embedder(settings.model_copy(update={"embedding_provider": "mistral"}))
    with pytest.raises(AtlasError) as failed:
        embedder.embed_query("What do sheep give?")
    texts.append(str(failed.value))
    texts.append(phoenix_problem(settings.phoenix_collector_endpoint))
    return texts


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(0, marks=pytest.mark.thorough),
        401,
        pytest.param(500, marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("traces", ["otel_exporter_otlp_endpoint", "phoenix_collector_endpoint"])
def test_the_password_of_no_address_is_told(
    built: Path,
    tmp_path: Path,
    status: int,
    traces: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of each address that is set; `traces` takes the spans, all others are away, or refuse."""
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpx2", "urllib3", "opentelemetry"):
        caplog.set_level(logging.DEBUG, name)
    targets = {"quotes": "", "model": "LLM_PROVIDER=openai", "mistral": "LLM_PROVIDER=mistral"}
    for name, line in (targets | {"cohere": "RERANKER=cohere"}).items():
        text = f"ANSWER_THRESHOLD=0\nLLM_SECONDS=2\n{line}\n"
        (tmp_path / f"{name}.txt").write_text(text)
    server = Refusing(status)
    with collecting() as collector, standing(server, status) as address:
        places = {name: f"{with_password(address)}/{name}" for name in ADDRESSES}
        places[traces] = with_password(collector.address)
        if traces == "otel_exporter_otlp_endpoint":
            del places["otel_exporter_otlp_traces_endpoint"]  # which would be preferred
        with orchard(built, **marked_settings(), **places, targets_directory=tmp_path) as trees:
            texts = use_every_address(trees, monkeypatch)
        assert collector.spans
        (_, sent), *_ = collector.requests
        assert sent["authorization"].startswith(("Basic ", "Bearer "))
        unasked = {traces, "phoenix_public_url", "otel_exporter_otlp_endpoint"}
        assert server.paths == ({*places} - unasked if status else set())
    assert not [span for span in collector.spans if MARK in span.kept]
    encoded = b64encode(LOGIN.encode()).decode()
    for secret in (MARK, encoded):
        assert not [record.name for record in caplog.records if secret in logged(record)]
        assert not [text for text in texts if secret in text]


def test_a_login_that_a_provider_is_sent_is_in_no_log(
    built: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "httpx2")  # of which commands show warnings alone
    with openai_server() as model:
        with orchard(built, openai_base_url=with_password(model.address)) as trees:
            trees.post("/api/ask", ASKED | {"target": "model"})
        assert model.requests
    assert "HTTP Request: POST http://127.0.0.1" in caplog.text
    assert MARK not in caplog.text


def test_keys_of_callers_are_in_no_span_or_log(
    built: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    keys, log = tmp_path / "keys.json", tmp_path / "audit.jsonl"
    right = add_key(KeyFile(keys), "reader").text
    wrong = right[:-4] + "0000"
    with orchard(built, api_keys_file=keys, audit_log=log) as trees:
        client = app_of(Atlas(trees.atlas.services)).test_client()
        for key, status in ((right, 200), (wrong, 401)):
            headers = {"Authorization": f"Bearer {key}"}
            sent = client.post("/api/ask", json=ASKED, headers=headers, buffered=True)
            assert sent.status_code == status
            assert key.rpartition("_")[2] not in sent.text
        content = trees.said()
    for key in (right, wrong):
        secret = key.rpartition("_")[2]
        assert secret not in content
        assert secret not in caplog.text
        assert secret not in log.read_text()


def test_settings_that_are_refused_repeat_no_secret() -> None:
    wrong: dict[str, dict[str, Any]] = {
        "OTEL_EXPORTER_OTLP_HEADERS": {"otel_exporter_otlp_headers": MARK},
        "OPENAI_API_KEY": {"openai_api_key": [MARK]},
        "OPENAI_BASE_URL": {"openai_base_url": f"ftp://keeper:{PASSWORD}@host"},
        "EMBEDDING_URLS": {"embedding_urls": f"http://host/v1,ftp://keeper:{PASSWORD}@host"},
    }
    for name, chosen in wrong.items():
        with pytest.raises(ConfigurationError, match=name) as refused:
            load_settings(**chosen)
        assert MARK not in "".join(traceback.format_exception_only(refused.value))
        assert MARK not in str(refused.value.__cause__)


@pytest.mark.thorough
def test_a_server_prints_no_secret(tmp_path: Path, database: Postgres) -> None:
    with settings_without_model(tmp_path) as own, collecting(500) as collector:
        targets = tmp_path / "targets"
        targets.mkdir()
        (targets / "model.txt").write_text("LLM_PROVIDER=openai\nANSWER_THRESHOLD=0\n")
        with openai_server() as model:
            repeat_key(model)
            secret = {name.upper(): value for name, value in marked_settings().items()}
            environment = {
                **secret,
                **own,
                "TARGETS_DIRECTORY": str(targets),
                "TEST_TARGET": "model",
                "OPENAI_BASE_URL": model.address,
                "STATE_URL": database.url(),  # its password has the mark
                "PHOENIX_COLLECTOR_ENDPOINT": with_password(collector.address),
                "OTEL_EXPORTER_OTLP_ENDPOINT": with_password(f"http://127.0.0.1:{free_port()}"),
                "OTEL_BSP_SCHEDULE_DELAY": "20",
                "ATLAS_LOG_LEVEL": "DEBUG",
            }
            with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
                address = server.address("Atlas")
                headers = {"Authorization": f"Bearer {PASSWORD}"}
                for _ in range(3):
                    body = {"question": "What do sheep give?"}
                    content = httpx2.post(
                        f"{address}/api/ask", json=body, headers=headers, timeout=60
                    )
                    assert MARK not in content.text
                collector.wait_for_requests(1)
                assert server.stop() == 0
            assert KEY not in "\n".join(server.lines)
            assert not [line for line in server.lines if MARK in line]
            assert any("gets no spans" in line for line in server.lines)
