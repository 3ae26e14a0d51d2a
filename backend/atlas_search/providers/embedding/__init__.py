"""Turning text into vectors: one file per provider behind the `Embedder` protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Device = Literal["auto", "cpu", "cuda"]
Runtime = Literal["auto", "torch", "onnxruntime", "int8"]
PoolingChoice = Literal["", "mean", "cls", "max", "mean+max"]

ROUNDED = "int8"
"""What EMBEDDING_RUNTIME is, and `EmbedderInfo.runtime` ends with, for rounded weights."""

NO_LIMIT = 2**31 - 1
"""`EmbedderInfo.max_tokens` of a model that reads texts of any length."""


@dataclass(frozen=True)
class EmbedderInfo:
    """What a model is, for people and for the manifest; `Embedder.fingerprint` is for comparing.

    `digest` is the SHA-256 of the weights: of the weights file if there is one, of the names and
    digests of all if there are several, of provider and name if they lie elsewhere. `pooling` is
    the one in force. `max_tokens` is what the model reads of a text. `provider` is its name in
    EMBEDDING_PROVIDER. The prefixes are put before every passage and query, and are the model's
    own where the settings give none. `runtime` is the library that runs the model,
    with its version, and ROUNDED if its weights are.
    """

    name: str
    digest: str
    dimension: int
    pooling: str
    max_tokens: int
    provider: str
    passage_prefix: str
    query_prefix: str
    runtime: str = ""


class Embedder(Protocol):
    """A model that turns texts into unit vectors. Safe to use from several threads.

    Constructing one is cheap, and so is `fingerprint`: it is equal if and only if the vectors
    stored for passages can be compared. Everything else may load a model or call a server.
    """

    @property
    def fingerprint(self) -> str:
        """Hex digest of all that decides the vectors of passages."""

    @property
    def info(self) -> EmbedderInfo:
        """What the model is."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of passages, shape (len(texts), dimension). The same texts in one call
        give the same bytes."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question, shape (dimension,)."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The model's tokens of each passage, its prefix and special tokens included, before any
        cut; at least that many where the provider keeps its tokenizer to itself."""

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Where the model's tokens begin and end in `text`, in order, without special tokens.

        Tokens that are parts of one character share its span. Raises SourceError for a model
        that does not say where its tokens are.
        """
