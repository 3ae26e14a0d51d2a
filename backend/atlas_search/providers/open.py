"""The language models that targets name."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Generic, TypeVar

from atlas_search.core.addresses import without_login
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.registry import Registry, require
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.providers.chat import ChatModel, Health, ModelCalls
from atlas_search.providers.embedding import DEFAULT_MODEL, Embedder
from atlas_search.providers.reading import QuestionAnsweringModel, ReaderModel
from atlas_search.providers.sparse import EmbedderWithTerms, TermModel

if TYPE_CHECKING:
    from atlas_search.providers.mistral import MistralApi


Result = TypeVar("Result")

SECONDS = 30.0  # monitors ask every few seconds; what is checked need not
PATIENCE_SECONDS = 0.6  # a monitor that waits longer than a second takes the server for dead
SILENT = "It has not answered yet whether it can be used."
_SILENT = Health(ready=False, detail=SILENT)


class Remembered(Generic[Result]):
    """The last result of a check, at first `unknown`. One thread at a time makes the check."""

    def __init__(self, unknown: Result):
        self._result = unknown
        self._began = -math.inf
        self._done = threading.Event()
        self._done.set()
        self._lock = threading.Lock()

    def begin(self, check: Callable[[], Result]) -> None:
        """Check again in a thread, unless a check goes on or began within SECONDS."""
        with self._lock:
            now = time.monotonic()
            if self._done.is_set() and now - self._began >= SECONDS:
                self._began = now
                self._done.clear()
                threading.Thread(target=self._run, args=(check,), name="check", daemon=True).start()

    def result(self, patience: float = PATIENCE_SECONDS) -> Result:
        """Return the result. However many ask, nobody waits once a check takes `patience`."""
        self._done.wait(max(0.0, self._began + patience - time.monotonic()))
        return self._result

    def _run(self, check: Callable[[], Result]) -> None:
        try:
            self._result = check()
        finally:
            self._done.set()


class ProviderHealth:
    """`names` are the models wanted of each provider; one without any is asked for its default."""

    def __init__(self, models: Mapping[str, ChatModel], names: Mapping[str, frozenset[str]]):
        self._models = models
        self._names = names
        self._known = {name: Remembered(_SILENT) for name in models}

    def __call__(self, patience: float = PATIENCE_SECONDS) -> dict[str, Health]:
        """The health of every provider, SECONDS old or newer; the extractive writer is always well.

        A provider that does not answer within `patience` seconds is said to be as it was before.
        """
        for name, known in self._known.items():
            known.begin(partial(self._health, name))
        found = {name: known.result(patience) for name, known in self._known.items()}
        return {"extractive": Health(ready=True), **found}

    def _health(self, provider: str) -> Health:
        model = self._models[provider]
        names = sorted(self._names.get(provider, ())) or [model.default_model]
        states = [model.health(name) for name in names]
        # what keeps it from working goes before what is merely worth knowing
        return min(states, key=lambda state: (state.ready, not state.detail))


DEFAULT_MISTRAL_MODEL = "mistral-embed"

EmbedderFactory = Callable[[Settings], Embedder]
"""Makes an embedder, cheaply. Raises ConfigurationError that names what to mend."""

EMBEDDERS: Registry[EmbedderFactory] = Registry(
    "atlas_search.embedders",
    "embedder",
    {
        "local": "atlas_search.providers.open:local_embedder",
        "mistral": "atlas_search.providers.open:mistral_embedder [mistral]",
        "openai": "atlas_search.providers.open:openai_embedder",
    },
)
"""Embedders by the name in EMBEDDING_PROVIDER."""


def open_embedder(settings: Settings) -> Embedder:
    """The embedder of EMBEDDING_PROVIDER. Raises ConfigurationError that names what to mend."""
    name = settings.embedding_provider
    embedder = EMBEDDERS.load(name, f"EMBEDDING_PROVIDER={name!r}")(settings)
    if not settings.sparse_model:
        return embedder
    terms = TermModel(settings.sparse_model, settings.embedding_device)
    return EmbedderWithTerms(embedder, terms)


def local_embedder(settings: Settings) -> Embedder:
    """A sentence-transformers model."""
    from atlas_search.providers.embedding_local import LocalEmbedder

    return LocalEmbedder(
        settings.embedding_model,
        pooling=settings.pooling,
        passage_prefix=settings.embedding_passage_prefix,
        query_prefix=settings.embedding_query_prefix,
        device=settings.embedding_device,
        runtime=settings.embedding_runtime,
        exports=settings.atlas_model_directory,
    )


def mistral_embedder(settings: Settings) -> Embedder:
    """A model of Mistral's."""
    from atlas_search.providers.mistral import MistralEmbedder

    _refuse_pooling(settings, "Mistral")
    chosen = settings.embedding_model
    return MistralEmbedder(
        DEFAULT_MISTRAL_MODEL if chosen == DEFAULT_MODEL else chosen,
        open_mistral(settings),
        passage_prefix=settings.embedding_passage_prefix,
        query_prefix=settings.embedding_query_prefix,
    )


def openai_embedder(settings: Settings) -> Embedder:
    """A model on servers of OpenAI's protocol."""
    from atlas_search.providers.embedding_remote import (
        OPENAI,
        SMALL_REQUEST,
        EmbeddingServers,
        RemoteEmbedder,
    )

    _refuse_pooling(settings, "the embedding server")
    addresses = [each.strip() for each in settings.embedding_urls.split(",") if each.strip()]
    addresses = addresses or [settings.openai_base_url or OPENAI]
    model = settings.embedding_model
    return RemoteEmbedder(
        model,
        EmbeddingServers(model, addresses, settings.openai_api_key).send,
        "openai",
        "The embedding server",
        "EMBEDDING_URLS",
        passage_prefix=settings.embedding_passage_prefix,
        query_prefix=settings.embedding_query_prefix,
        requests=settings.embedding_requests,
        texts=SMALL_REQUEST,
    )


def _refuse_pooling(settings: Settings, server: str) -> None:
    if settings.pooling:
        raise ConfigurationError(
            f"POOLING={settings.pooling} is for local models; {server} pools its own way. "
            "Leave POOLING unset, or set EMBEDDING_PROVIDER=local."
        )


@lru_cache(maxsize=4)
def open_mistral(settings: Settings) -> "MistralApi":
    """The account at Mistral. Raises ConfigurationError for a key that is missing or cannot be
    one.

    Equal settings give the same: an account has one rate, whether it embeds or writes.
    """
    require("mistral", "Mistral")
    from atlas_search.providers.mistral import MistralApi

    return MistralApi(
        settings.mistral_api_key,
        settings.mistral_server_url,
        settings.mistral_requests_per_minute,
        settings.mistral_timeout_seconds,
    )


ChatModelFactory = Callable[[Settings, ModelCalls], ChatModel]
"""Makes the models of a provider, cheaply; `ModelCalls` bounds the calls of all providers.

A missing key or library is reported by the calls, not by the factory: other targets may do without.
"""

EXTRACTIVE = "extractive"
"""The writer that needs no language model."""

CHAT_MODELS: Registry[ChatModelFactory] = Registry(
    "atlas_search.chat_models",
    "chat model",
    {
        "mistral": "atlas_search.providers.open:mistral_chat",
        "openai": "atlas_search.providers.open:openai_chat",
    },
    reserved=(EXTRACTIVE,),
)
"""Chat models by the name in LLM_PROVIDER."""


def open_chat_models(
    targets: Mapping[str, Target], settings: Settings, calls: ModelCalls
) -> dict[str, ChatModel]:
    """The models of every provider that `targets` name.

    Raises ConfigurationError, also where a key is missing and nothing takes the model's place.
    """
    from atlas_search.providers.chat_remote import RemoteChat

    asked_by = {target.llm_provider: name for name, target in targets.items()}
    models = {
        provider: CHAT_MODELS.load(provider, f"{name}.txt: LLM_PROVIDER={provider}")(
            settings, calls
        )
        for provider, name in sorted(asked_by.items())
        if provider != EXTRACTIVE
    }
    for target in targets.values():
        model = models.get(target.llm_provider)
        if isinstance(model, RemoteChat) and target.llm_fallback == "none":
            model.open()
    return models


def model_server(provider: str, settings: Settings) -> str:
    """The address of a provider's server without a login or anything else that may be secret.

    Empty for the provider's own, and where the settings have none for it.
    """
    known = {"mistral": settings.mistral_server_url, "openai": settings.openai_base_url}
    address = without_login(known.get(provider, ""))
    return address.partition("?")[0].partition("#")[0].rstrip("/")


def mistral_chat(settings: Settings, calls: ModelCalls) -> ChatModel:
    """Make the chat model of Mistral."""
    from atlas_search.providers.chat_remote import mistral_chat

    return mistral_chat(lambda: open_mistral(settings), calls)


def openai_chat(settings: Settings, calls: ModelCalls) -> ChatModel:
    """Make the chat model of OpenAI, or of a server that speaks its protocol."""
    from atlas_search.providers.chat_remote import openai_chat

    return openai_chat(settings.openai_api_key, settings.openai_base_url, calls)


ReaderFactory = Callable[[Settings], ReaderModel]
"""Finds a model, cheaply. Raises ConfigurationError that names what to mend."""

READER_MODELS: Registry[ReaderFactory] = Registry("atlas_search.reader_models", "reader model", {})
"""Reader models of other packages, by the name in READER_MODEL. Any other name there is of a
question-answering model, or of its folder."""


def open_readers(targets: Mapping[str, Target], settings: Settings) -> dict[str, ReaderModel]:
    """The readers that targets name, by READER_MODEL. Raises MissingModel or ConfigurationError."""
    names = {target.reader_model for target in targets.values()} - {""}
    readers = {name: _find(name, settings) for name in sorted(names)}
    for reader in readers.values():
        reader.load()  # a model that cannot be used is said when the server starts
    return readers


def _find(name: str, settings: Settings) -> ReaderModel:
    if name in READER_MODELS.names():
        return READER_MODELS.load(name, f"READER_MODEL={name}")(settings)
    return QuestionAnsweringModel(name, device=settings.embedding_device)
