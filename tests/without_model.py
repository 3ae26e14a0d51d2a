"""A collection that a server opens without loading a model: a local server embeds for it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from atlas_search.providers.mistral import MistralApi, MistralEmbedder
from tests.chat_server import KEY as OPENAI_KEY
from tests.chat_server import Says
from tests.mistral_server import KEY, mistral_server
from tests.openai_server import openai_server
from tests.tiny import FARM, build_tiny, write_sources

COLLECTION = "farm"


@contextmanager
def settings_without_model(root: Path) -> Iterator[dict[str, str]]:
    """Build FARM below `root`; the settings with which a command serves it, on any free port."""
    with mistral_server() as server:
        embedder = MistralEmbedder(
            "mistral-embed", MistralApi(SecretStr(KEY), server.address, 60_000, 5)
        )
        stores = root / "stores"
        build_tiny(write_sources(root / "source", FARM), stores / COLLECTION, embedder)
        yield {
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "CHROMA_PERSIST_DIRECTORY": str(stores),
            "CHROMA_COLLECTION_NAME": COLLECTION,
            "EMBEDDING_PROVIDER": "mistral",
            "MISTRAL_API_KEY": KEY,
            "MISTRAL_SERVER_URL": server.address,
            "ATLAS_PORT": "0",
        }


@contextmanager
def settings_with_chat(root: Path, says: Says) -> Iterator[dict[str, str]]:
    """The same with a language model, a local server that says the same to everyone."""
    targets = root / "targets"
    targets.mkdir()
    (targets / "chat.txt").write_text("LLM_PROVIDER=openai\nLLM_SECONDS=60\n")
    with settings_without_model(root) as settings, openai_server() as model:
        model.says(lambda _: says)
        yield {
            **settings,
            "TEST_TARGET": "chat",
            "TARGETS_DIRECTORY": str(targets),
            "OPENAI_BASE_URL": model.address,
            "OPENAI_API_KEY": OPENAI_KEY,
        }
