"""The language models that targets name."""

from collections.abc import Callable, Mapping

from atlas_search.core.addresses import without_login
from atlas_search.core.registry import Registry
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.providers.chat import ChatModel
from atlas_search.providers.chat.calls import ModelCalls
from atlas_search.providers.embedding.open import open_mistral

ChatModelFactory = Callable[[Settings, ModelCalls], ChatModel]
"""Makes the models of a provider, cheaply; `ModelCalls` bounds the calls of all providers.

A missing key or library is told by the calls, not by the factory: other targets may do without.
"""

EXTRACTIVE = "extractive"
"""The writer that needs no language model."""

CHAT_MODELS: Registry[ChatModelFactory] = Registry(
    "atlas_search.chat_models",
    "chat model",
    {
        "mistral": "atlas_search.providers.chat.open:mistral",
        "openai": "atlas_search.providers.chat.open:openai",
    },
    reserved=(EXTRACTIVE,),
)
"""By the name in LLM_PROVIDER."""


def open_chat_models(
    targets: Mapping[str, Target], settings: Settings, calls: ModelCalls
) -> dict[str, ChatModel]:
    """The models of every provider that `targets` name. Raises ConfigurationError."""
    asked_by = {target.llm_provider: name for name, target in targets.items()}
    return {
        provider: CHAT_MODELS.load(provider, f"{name}.txt: LLM_PROVIDER={provider}")(
            settings, calls
        )
        for provider, name in sorted(asked_by.items())
        if provider != EXTRACTIVE
    }


def model_server(provider: str, settings: Settings) -> str:
    """The address of a provider's server without a login or anything else that may be secret.

    Empty for the provider's own, and where the settings have none for it.
    """
    known = {"mistral": settings.mistral_server_url, "openai": settings.openai_base_url}
    address = without_login(known.get(provider, ""))
    return address.partition("?")[0].partition("#")[0].rstrip("/")


def mistral(settings: Settings, calls: ModelCalls) -> ChatModel:
    """See ChatModelFactory."""
    from atlas_search.providers.chat.mistral import mistral_chat

    return mistral_chat(lambda: open_mistral(settings), calls)


def openai(settings: Settings, calls: ModelCalls) -> ChatModel:
    """See ChatModelFactory."""
    from atlas_search.providers.chat.openai import openai_chat

    return openai_chat(settings.openai_api_key, settings.openai_base_url, calls)
