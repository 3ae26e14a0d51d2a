"""Who writes is said by the target: `.env` alone does not, and doctor tells whoever tries."""

from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from atlas_search.atlas import Atlas
from atlas_search.cli.doctor import check_targets
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from atlas_search.services import open_services
from tests.chat_server import KEY, ChatServer
from tests.openai_server import openai_server

QUESTION = {"question": "Can a local authority sue a newspaper for libel?"}


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with openai_server() as server:
        yield server


@pytest.mark.parametrize(
    ("target", "provider"), [("k10_extractive", "extractive"), ("k5_openai", "openai")]
)
def test_the_target_decides_who_writes_whatever_the_environment_says(
    settings: Settings,
    embedder: LocalEmbedder,
    model: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    provider: str,
) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "openai")
    changes = {"openai_base_url": model.address, "openai_api_key": SecretStr(KEY)}
    own = settings.model_copy(update=changes | {"test_target": target})
    services = open_services(own, embedder)
    try:
        with create_app(lambda: Atlas(services)).test_client() as client:
            client.post("/api/ask", json=QUESTION)
    finally:
        services.close()
    assert services.target(None)[1].llm_provider == provider
    asked = [request for request in model.requests if "messages" in request.body]
    assert bool(asked) == (provider == "openai")


def test_doctor_notes_what_the_chosen_target_overrides(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "mistral")
    found = check_targets(settings)
    assert found.state == "note"
    assert "It sets LLM_PROVIDER: what the environment or .env says has no effect" in found.detail
    assert found.detail.endswith("Use TEST_TARGET=k5_mistral.")
    assert check_targets(settings.model_copy(update={"test_target": "k5_mistral"})).state == "ok"
    monkeypatch.setenv("SEARCH_K", "77")
    assert "It sets LLM_PROVIDER, SEARCH_K" in check_targets(settings).detail
    assert check_targets(settings).detail.endswith("Use a target of your own.")


def test_what_the_target_says_too_is_no_note(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "extractive")
    monkeypatch.setenv("CITATION_LIMIT", "3")
    assert check_targets(settings).state == "ok"
