"""The demo collection answered by a language model: a real client, a local server of its kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pydantic import SecretStr

from atlas_search.answer.answer import Answer, Emit, Event
from atlas_search.answer.cache import AnswerCache
from atlas_search.answer.request import AnswerPlan
from atlas_search.atlas import Atlas
from atlas_search.core.domain import ChatTurn
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.providers.chat import ChatModel, ModelCalls
from atlas_search.providers.chat_remote import mistral_chat, openai_chat
from atlas_search.providers.mistral import MistralApi
from atlas_search.services import Services
from tests.chat_server import KEY, ChatServer
from tests.conftest import request_for
from tests.mistral_server import mistral_server
from tests.openai_server import openai_server

SERVERS = {"mistral": mistral_server, "openai": openai_server}
PLACES = 4  # calls at once
TARGET = Target(near_duplicate=1.0, max_passages_per_document=10, llm_seconds=5)


@contextmanager
def answered_by(
    provider: str, services: Services, *, kept: bool = True, patience: float = 5.0
) -> Iterator[tuple[Services, ChatServer]]:
    """The services with the models of a local server, and the server; answers are `kept` or not.

    A call waits `patience` seconds for its turn.
    """
    with SERVERS[provider]() as server:
        calls = ModelCalls(PLACES, patience)
        try:
            model = chat_model(provider, server, calls)
            yield with_model(services, model, calls, kept=kept), server
        finally:
            calls.close()


def chat_model(provider: str, server: ChatServer, calls: ModelCalls) -> ChatModel:
    """The real client of a provider, talking to a local server."""
    if provider == "openai":
        return openai_chat(SecretStr(KEY), server.address, calls, _at_once)
    return mistral_chat(
        lambda: MistralApi(SecretStr(KEY), server.address, 60_000, 5), calls, _at_once
    )


def with_places(text: str, answer: Answer) -> str:
    """What a model wrote with the numbers of its passages, as Atlas passes it on."""
    for number, item in enumerate(answer.result.valid, start=1):
        text = text.replace(f"[{number}]", item.passage.marker)
    return text


def with_model(
    services: Services, model: ChatModel, calls: ModelCalls, *, kept: bool = True
) -> Services:
    """The services with this language model alone, and with an empty cache."""
    cache = AnswerCache(64, 300, enabled=kept)
    answerer = replace(services.answerer, models={model.name: model}, cache=cache)
    target = TARGET.model_copy(update={"llm_provider": model.name})
    targets = {"model": target, services.settings.test_target: target}
    return replace(services, answerer=answerer, calls=calls, targets=targets)


def asked(
    services: Services,
    question: str,
    *,
    history: tuple[ChatTurn, ...] = (),
    mode: str = "answer",
    stop: Stop | None = None,
    emit: Emit | None = None,
    **settings: object,
) -> tuple[Answer, list[Event]]:
    """The answer to a question under the target `model`, some settings changed; and the events."""
    target = services.targets["model"].model_copy(update=settings)
    request = AnswerPlan(
        search=request_for(services, question, limit=target.search_k),
        target_name="model",
        target=target,
        run_name="model_atlas_demo",
        qa_id="q1",
        session_id="s1",
        history=history,
        mode=mode,  # type: ignore[arg-type]
    )
    events: list[Event] = []
    return Atlas(services).answer(request, emit or events.append, stop), events


async def _at_once(seconds: float) -> None:
    """No wait between two tries."""
