"""The embedder that the settings choose."""

from backend.embedding import Embedder
from backend.embedding.folder import DEFAULT_MODEL
from backend.embedding.local import LocalEmbedder
from backend.errors import ConfigurationError
from backend.settings import Settings

DEFAULT_MISTRAL_MODEL = "mistral-embed"


def open_embedder(settings: Settings) -> Embedder:
    """The embedder of EMBEDDING_PROVIDER. Raises ConfigurationError that names what to mend."""
    if settings.embedding_provider == "mistral":
        return _mistral(settings)
    return LocalEmbedder(
        settings.embedding_model,
        pooling=settings.pooling,
        passage_prefix=settings.embedding_passage_prefix,
        query_prefix=settings.embedding_query_prefix,
        device=settings.embedding_device,
    )


def _mistral(settings: Settings) -> Embedder:
    from backend.embedding.mistral import MistralEmbedder  # 0.7 s: only who asks for it pays
    from backend.embedding.mistral_api import MistralAccount, MistralApi

    if settings.pooling:
        raise ConfigurationError(
            f"POOLING={settings.pooling} is for local models; Mistral pools its own way. "
            "Leave POOLING unset, or set EMBEDDING_PROVIDER=local."
        )
    account = MistralAccount(
        settings.mistral_api_key,
        settings.mistral_server_url,
        settings.mistral_requests_per_minute,
        settings.mistral_timeout_seconds,
    )
    chosen = settings.embedding_model
    return MistralEmbedder(
        DEFAULT_MISTRAL_MODEL if chosen == DEFAULT_MODEL else chosen,
        MistralApi(account),
        passage_prefix=settings.embedding_passage_prefix,
        query_prefix=settings.embedding_query_prefix,
    )
