"""The contract of embedders."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from atlas_search.core.errors import SourceError
from atlas_search.providers.embedding import Embedder

TEXTS = ("The court held for the seller.", "Sheep give wool.", "A ship lay in the harbour.")
QUESTION = "What did the court hold?"


class EmbedderContract:
    """Give the fixture `embedder`. `tells_tokens` is False for a model that keeps its tokenizer to
    itself."""

    tells_tokens = True

    def test_the_fingerprint_stays_the_same(self, embedder: Embedder) -> None:
        assert embedder.fingerprint
        assert embedder.fingerprint == embedder.fingerprint

    def test_it_says_what_it_is(self, embedder: Embedder) -> None:
        info = embedder.info
        assert info.name
        assert info.digest
        assert info.provider
        assert info.max_tokens > 0

    def test_passages_become_unit_vectors_of_the_stated_dimension(self, embedder: Embedder) -> None:
        vectors = embedder.embed(TEXTS)
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(TEXTS), embedder.info.dimension)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4)

    def test_a_question_becomes_one_unit_vector(self, embedder: Embedder) -> None:
        vector = embedder.embed_query(QUESTION)
        assert vector.shape == (embedder.info.dimension,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)

    def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        assert embedder.embed([]).shape == (0, embedder.info.dimension)

    def test_the_same_texts_give_the_same_bytes(self, embedder: Embedder) -> None:
        assert embedder.embed(TEXTS).tobytes() == embedder.embed(TEXTS).tobytes()

    def test_different_texts_have_different_vectors(self, embedder: Embedder) -> None:
        assert len({vector.tobytes() for vector in embedder.embed(TEXTS)}) == len(TEXTS)

    def test_every_text_has_tokens(self, embedder: Embedder) -> None:
        counts = embedder.count_tokens(TEXTS)
        assert len(counts) == len(TEXTS)
        assert min(counts) > 0

    def test_tokens_lie_in_the_text_in_their_order(self, embedder: Embedder) -> None:
        if not self.tells_tokens:
            with pytest.raises(SourceError):
                embedder.token_spans(TEXTS[0])
            return
        spans = embedder.token_spans(TEXTS[0])
        assert spans
        assert spans == sorted(spans)
        assert all(0 <= start < end <= len(TEXTS[0]) for start, end in spans)
        assert embedder.count_tokens(TEXTS[:1])[0] >= len(spans)

    def test_several_threads_may_use_it(self, embedder: Embedder) -> None:
        alone = [embedder.embed_query(text) for text in TEXTS]
        with ThreadPoolExecutor(len(TEXTS)) as threads:
            together = list(threads.map(embedder.embed_query, TEXTS))
        assert np.array(together) == pytest.approx(np.array(alone), abs=1e-5)
