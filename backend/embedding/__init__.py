"""Turning text into vectors: one file per provider behind the `Embedder` protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class EmbedderInfo:
    """What identifies a model: vectors are comparable only if `digest` and `pooling` agree.

    `digest` is the SHA-256 of the weights, `max_tokens` what the model reads of a text.
    """

    name: str
    digest: str
    dimension: int
    pooling: str
    max_tokens: int


class Embedder(Protocol):
    """A model that turns texts into unit vectors. Safe to use from several threads."""

    info: EmbedderInfo

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension)."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many of the model's tokens each text has, before any cut."""
