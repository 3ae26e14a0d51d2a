"""The embedder that the settings choose."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.embedding.folder import DEFAULT_MODEL
from atlas_search.providers.embedding.local import LocalEmbedder

if TYPE_CHECKING:  # 0.7 s to import: only who asks for it pays
    from atlas_search.providers.mistral_account import MistralApi

DEFAULT_MISTRAL_MODEL = "mistral-embed"


def open_embedder(
    settings: Settings, mistral: Callable[[], "MistralApi"] | None = None
) -> Embedder:
    """The embedder of EMBEDDING_PROVIDER. Raises ConfigurationError that names what to mend.

    `mistral` opens the account where others use it too: it has one rate.
    """
    if settings.embedding_provider == "mistral":
        return _mistral(settings, mistral or (lambda: open_mistral(settings)))
    return LocalEmbedder(
        settings.embedding_model,
        pooling=settings.pooling,
        passage_prefix=settings.embedding_passage_prefix,
        query_prefix=settings.embedding_query_prefix,
        device=settings.embedding_device,
    )


def open_mistral(settings: Settings) -> "MistralApi":
    """The account at Mistral. Raises ConfigurationError for a key that is missing or cannot be
    one."""
    from atlas_search.providers.mistral_account import MistralAccount, MistralApi

    account = MistralAccount(
        settings.mistral_api_key,
        settings.mistral_server_url,
        settings.mistral_requests_per_minute,
        settings.mistral_timeout_seconds,
    )
    return MistralApi(account)


def _mistral(settings: Settings, mistral: Callable[[], "MistralApi"]) -> Embedder:
    from atlas_search.providers.embedding.mistral import MistralEmbedder

    if settings.pooling:
        raise ConfigurationError(
            f"POOLING={settings.pooling} is for local models; Mistral pools its own way. "
            "Leave POOLING unset, or set EMBEDDING_PROVIDER=local."
        )
    chosen = settings.embedding_model
    return MistralEmbedder(
        DEFAULT_MISTRAL_MODEL if chosen == DEFAULT_MODEL else chosen,
        mistral(),
        passage_prefix=settings.embedding_passage_prefix,
        query_prefix=settings.embedding_query_prefix,
    )
