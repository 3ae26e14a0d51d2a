"""The embedder that the settings choose."""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.registry import Registry, require
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.embedding.folder import DEFAULT_MODEL
from atlas_search.providers.embedding.terms import EmbedderWithTerms, TermModel

if TYPE_CHECKING:  # 0.7 s to import: only who asks for it pays
    from atlas_search.providers.mistral_account import MistralApi

DEFAULT_MISTRAL_MODEL = "mistral-embed"

EmbedderFactory = Callable[[Settings], Embedder]
"""Makes an embedder, cheaply. Raises ConfigurationError that names what to mend."""

EMBEDDERS: Registry[EmbedderFactory] = Registry(
    "atlas_search.embedders",
    "embedder",
    {
        "local": "atlas_search.providers.embedding.open:local",
        "mistral": "atlas_search.providers.embedding.open:mistral [mistral]",
    },
)
"""By the name in EMBEDDING_PROVIDER."""


def open_embedder(settings: Settings) -> Embedder:
    """The embedder of EMBEDDING_PROVIDER. Raises ConfigurationError that names what to mend."""
    name = settings.embedding_provider
    embedder = EMBEDDERS.load(name, f"EMBEDDING_PROVIDER={name!r}")(settings)
    if not settings.sparse_model:
        return embedder
    terms = TermModel(settings.sparse_model, settings.embedding_device)
    return EmbedderWithTerms(embedder, terms)


def local(settings: Settings) -> Embedder:
    """A sentence-transformers model."""
    from atlas_search.providers.embedding.local import LocalEmbedder

    return LocalEmbedder(
        settings.embedding_model,
        pooling=settings.pooling,
        passage_prefix=settings.embedding_passage_prefix,
        query_prefix=settings.embedding_query_prefix,
        device=settings.embedding_device,
        runtime=settings.embedding_runtime,
        exports=settings.atlas_model_directory,
    )


def mistral(settings: Settings) -> Embedder:
    """A model of Mistral's."""
    from atlas_search.providers.embedding.mistral import MistralEmbedder

    if settings.pooling:
        raise ConfigurationError(
            f"POOLING={settings.pooling} is for local models; Mistral pools its own way. "
            "Leave POOLING unset, or set EMBEDDING_PROVIDER=local."
        )
    chosen = settings.embedding_model
    return MistralEmbedder(
        DEFAULT_MISTRAL_MODEL if chosen == DEFAULT_MODEL else chosen,
        open_mistral(settings),
        passage_prefix=settings.embedding_passage_prefix,
        query_prefix=settings.embedding_query_prefix,
    )


@lru_cache(maxsize=4)
def open_mistral(settings: Settings) -> "MistralApi":
    """The account at Mistral. Raises ConfigurationError for a key that is missing or cannot be
    one.

    Equal settings give the same: an account has one rate, whether it embeds or writes.
    """
    require("mistral", "Mistral")
    from atlas_search.providers.mistral_account import MistralAccount, MistralApi

    account = MistralAccount(
        settings.mistral_api_key,
        settings.mistral_server_url,
        settings.mistral_requests_per_minute,
        settings.mistral_timeout_seconds,
    )
    return MistralApi(account)
