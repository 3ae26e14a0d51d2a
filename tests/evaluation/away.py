"""An embedding model that cannot be asked."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import EmbeddingUnavailable
from tests.hash_embedder import HashEmbedder

WHY = "The embedding model is away."


class Away(HashEmbedder):
    """Fulfils `Embedder`; `asked` counts the calls in vain."""

    asked = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += 1
        raise EmbeddingUnavailable(WHY)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed([text])
