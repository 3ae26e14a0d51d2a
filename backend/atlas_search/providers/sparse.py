"""Weights of terms by a sparse model: what a passage is about, in words that it need not hold."""

import hashlib
import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import MissingModel
from atlas_search.providers.embedding import (
    Device,
    Embedder,
    EmbedderInfo,
    find_folder,
    read_folder,
)
from atlas_search.providers.onnx import choose_device, import_quietly

if TYPE_CHECKING:
    from sentence_transformers import SparseEncoder


BATCH = 16


class TermWeights(NamedTuple):
    """Term ids of the model's vocabulary, ascending, and their weights, all above 0."""

    terms: NDArray[np.int32]
    weights: NDArray[np.float32]


class TermModel:
    """A sparse encoder of sentence-transformers, from a folder or the model cache.

    Made for inference-free ones, which look the weights of a question's terms up in a table; one
    that reads the question too will do. The folder is read at once, the model loaded at first use.
    Safe to use from several threads. Raises MissingModel.
    """

    def __init__(self, name: str, device: Device = "auto"):
        self.name = name
        try:
            self._folder = read_folder(find_folder(name))
        except MissingModel as error:
            raise MissingModel(
                f"SPARSE_MODEL={name} is neither the folder of a sparse encoder nor a model that "
                f"can be downloaded. Give the path of one that sentence-transformers saved, or "
                "leave SPARSE_MODEL unset."
            ) from error
        self._device = device
        self._lock = threading.Lock()
        self._loaded: SparseEncoder | None = None

    @property
    def fingerprint(self) -> str:
        """Hex digest of all that decides the weights."""
        contents = sorted(self._folder.contents.items())
        return hashlib.sha256(json.dumps(["terms", contents]).encode()).hexdigest()

    def passages(self, texts: Sequence[str]) -> list[TermWeights]:
        """Return the weights of what passages are about. Raises MissingModel."""
        with self._lock:
            tensor = self._model().encode_document(
                list(texts), batch_size=BATCH, show_progress_bar=False, save_to_cpu=True
            )
        rows, terms = tensor.coalesce().indices().numpy()
        weights = tensor.coalesce().values().numpy()
        ends = np.searchsorted(rows, np.arange(1, len(texts)))
        return [
            TermWeights(of.astype(np.int32), by)
            for of, by in zip(np.split(terms, ends), np.split(weights, ends), strict=True)
        ]

    def question(self, text: str) -> TermWeights:
        """Return the weights of a question's terms. Raises MissingModel."""
        with self._lock:
            tensor = self._model().encode_query(text, show_progress_bar=False).cpu().coalesce()
        return TermWeights(tensor.indices()[0].numpy().astype(np.int32), tensor.values().numpy())

    def _model(self) -> "SparseEncoder":
        if self._loaded is None:
            import_quietly()
            from sentence_transformers import SparseEncoder

            device = choose_device(self._device)
            path = str(self._folder.path)
            try:
                self._loaded = SparseEncoder(path, device=device, local_files_only=True)
            except Exception as error:  # the loaders of weights and modules share no class
                raise MissingModel(
                    f"SPARSE_MODEL={self.name} in {path} cannot be loaded as a sparse encoder: "
                    f"{error}"
                ) from error
        return self._loaded


class EmbedderWithTerms:
    """An embedder, and beside its vectors the weights of terms."""

    def __init__(self, vectors: Embedder, terms: TermModel):
        self.terms = terms
        self._vectors = vectors
        self.fingerprint = vectors.fingerprint
        self.embed, self.embed_query = vectors.embed, vectors.embed_query
        self.count_tokens, self.token_spans = vectors.count_tokens, vectors.token_spans

    @property
    def info(self) -> EmbedderInfo:
        return self._vectors.info


def term_model(embedder: Embedder) -> TermModel | None:
    """Return the model of terms beside an embedder, if there is one."""
    return embedder.terms if isinstance(embedder, EmbedderWithTerms) else None
