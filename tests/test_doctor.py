"""What `atlas doctor` and `/api/health` say about language models and the rest."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from atlas_search.atlas import Atlas
from atlas_search.cli.doctor import CheckUp, examine
from atlas_search.core.settings import Settings
from atlas_search.providers.open import ProviderHealth
from atlas_search.server.app import create_app
from atlas_search.services import Services
from tests.chat_server import KEY, ChatServer
from tests.conftest import free_port
from tests.openai_server import openai_server


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def own(settings: Settings, tmp_path: Path) -> Settings:
    """The demo collection, whose only target writes with a model behind OpenAI's protocol."""
    (tmp_path / "model.txt").write_text("LLM_PROVIDER=openai\nLLM_MODEL=gpt-4o-mini\n")
    return settings.model_copy(update={"targets_directory": tmp_path, "test_target": "model"})


def found(settings: Settings) -> dict[str, CheckUp]:
    return {finding.what: finding for finding in examine(settings)}


def test_a_model_without_a_key_is_a_fault_where_the_default_target_needs_it(own: Settings) -> None:
    finding = found(own)["model openai"]
    assert finding.state == "fault"
    assert "OPENAI_API_KEY" in finding.detail
    assert "OPENAI_BASE_URL" in finding.detail


def test_a_model_that_nobody_needs_by_default_is_a_note(settings: Settings) -> None:
    findings = found(settings)
    assert findings["model mistral"].state == "note"
    assert "MISTRAL_API_KEY" in findings["model mistral"].detail
    assert findings["model extractive"] == CheckUp("model extractive", "ok", "ready")
    assert findings["collection"].state == findings["embedding"].state == "ok"


def test_a_model_that_answers_is_well(own: Settings, model: ChatServer) -> None:
    reached = own.model_copy(
        update={"openai_base_url": model.address, "openai_api_key": SecretStr(KEY)}
    )
    assert found(reached)["model openai"].state == "ok"


def test_a_model_that_cannot_be_reached_says_where_it_was_looked_for(own: Settings) -> None:
    away = f"http://127.0.0.1:{free_port()}/v1"
    finding = found(own.model_copy(update={"openai_base_url": away}))["model openai"]
    assert finding.state == "fault"
    assert away in finding.detail


def test_a_missing_collection_says_how_to_build_one(settings: Settings) -> None:
    elsewhere = settings.model_copy(update={"chroma_collection_name": "nowhere"})
    finding = found(elsewhere)["collection"]
    assert finding.state == "fault"
    assert "atlas create" in finding.detail


def test_a_phoenix_that_does_not_answer_is_a_fault(settings: Settings) -> None:
    away = f"http://127.0.0.1:{free_port()}"
    finding = found(settings.model_copy(update={"phoenix_collector_endpoint": away}))["phoenix"]
    assert finding.state == "fault"
    assert "make phoenix" in finding.detail


def test_health_names_the_fault_and_asks_a_provider_once_in_a_while(
    services: Services, model: ChatServer
) -> None:
    from tests.answering import answered_by

    with answered_by("openai", services) as (own, server):
        health = ProviderHealth(own.answerer.models, {"openai": frozenset({"gpt-4o-mini"})})
        served = replace(own, provider_health=health)
        client = create_app(lambda: Atlas(served)).test_client()
        first = client.get("/api/health").get_json()
        server.key = "another"
        assert client.get("/api/health").get_json() == first
        assert first["status"] == "ok"
        assert first["providers"] == {"extractive": "ready", "openai": "ready"}
        unwell = replace(served, provider_health=ProviderHealth(own.answerer.models, {}))
        told = create_app(lambda: Atlas(unwell)).test_client().get("/api/health").get_json()
    assert told["status"] == "degraded"
    assert "OPENAI_API_KEY" in told["problem"]
    assert told["problem"] == f"openai: {told['providers']['openai']}"
