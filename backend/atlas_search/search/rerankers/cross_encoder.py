"""A cross-encoder of sentence-transformers, from a folder or the model cache."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from atlas_search.core.errors import MissingModel, RerankerUnavailable
from atlas_search.providers.cross_encoder import find_cross_encoder, load_cross_encoder
from atlas_search.providers.embedding import Device
from atlas_search.search.rerankers.second_stage import Relevance
from atlas_search.stores.terms import FloatArray

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

DEFAULT_CROSS_ENCODER = "cross-encoder/ms-marco-MiniLM-L-6-v2"

BATCH = 4
"""Texts read between two looks at the clock. On a CPU larger batches read no faster: MiniLM-L6
needs 0.11 s of one core for a text of 1,000 characters, in batches of 2, 4 and 8."""

_LOGIT_PLACES = 4  # equal texts shall tie: the padding of a batch moves a logit by some 1e-6
_SETTING = "RERANK_MODEL"
_PROBE = ("Is this a question?", "This is a text. " * 150)  # more than the usual 512 tokens


class CrossEncoderReranker:
    """Relevance as the sigmoid of the model's logit for question and text; see SecondStage.

    The ms-marco models give logits of about -11 to 11. The sigmoid brings them into [0, 1] and
    keeps their order; it does not make them probabilities. What is longer than the model reads is
    cut, the longer of question and text first.

    Texts are read in batches, best first, until the time is used up; the batch under way is read
    to its end. Waiting for other threads counts as time. Whatever is read gets the same score
    however far the reading comes.

    The model is looked for at once, and loaded by `load` or at first use. Raises MissingModel.
    """

    def __init__(
        self,
        name: str = DEFAULT_CROSS_ENCODER,
        *,
        device: Device = "auto",
        clock: Callable[[], float] = time.monotonic,
    ):
        self.name = name
        self._folder = find_cross_encoder(
            name,
            _SETTING,
            instead="choose a RERANKER that needs no model",
            example=DEFAULT_CROSS_ENCODER,
        )
        self._device = device
        self._clock = clock
        self._loading = threading.Lock()
        self._lock = threading.Lock()  # the tokenizer must not be used by two threads at once
        self._loaded: list[CrossEncoder] = []

    def load(self) -> None:
        """Load the model and let it read a text, so that a server can do so before it serves.

        Raises MissingModel if it cannot be loaded or gives no relevance.
        """
        self._model()

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        """See SecondStage. Loading the model does not count as time."""
        model = self._model()
        deadline = self._clock() + seconds
        scores = np.zeros(0)
        while len(scores) < len(texts) and (left := deadline - self._clock()) > 0:
            pairs = [(question, text) for text in texts[len(scores) : len(scores) + BATCH]]
            if not self._lock.acquire(timeout=left):
                break
            try:
                scores = np.concatenate([scores, _read(self.name, model, pairs)])
            finally:
                self._lock.release()
        return Relevance(scores, self._note(len(scores), len(texts), seconds))

    def _model(self) -> "CrossEncoder":
        with self._loading:
            if not self._loaded:
                model = load_cross_encoder(self.name, self._folder, self._device, _SETTING)
                _try_out(self.name, model)
                self._loaded.append(model)
            return self._loaded[0]

    def _note(self, read: int, asked: int, seconds: float) -> str:
        if read == asked:
            return ""
        return (
            f"{self.name} read {read} of {asked} passages in {seconds:g} seconds; the others "
            "follow in their former order. Raise RERANK_SECONDS, or lower RERANK_DEPTH or "
            "RERANK_CHARACTERS."
        )


def _try_out(name: str, model: "CrossEncoder") -> None:
    if model.num_labels != 1:
        raise MissingModel(
            f"RERANK_MODEL={name} gives {model.num_labels} numbers for a question and a text, one "
            f"a label. Choose a model that gives one number, such as {DEFAULT_CROSS_ENCODER}."
        )
    try:
        _read(name, model, [_PROBE])
    except RerankerUnavailable as error:
        raise MissingModel(f"RERANK_MODEL cannot be used: {error}") from error


def _read(name: str, model: "CrossEncoder", pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """The relevance of each pair, read in one batch. Raises RerankerUnavailable."""
    try:
        given = model.predict(list(pairs), batch_size=len(pairs), show_progress_bar=False)
        logits = np.asarray(given, dtype=np.float64).reshape(len(pairs))
    except Exception as error:  # whatever torch and the tokenizer raise
        raise RerankerUnavailable(f"{name} cannot read the passages: {error}") from error
    if not np.isfinite(logits).all():
        raise RerankerUnavailable(
            f"{name} gives no number for some passages. Choose another RERANK_MODEL."
        )
    return sigmoid(np.round(logits, _LOGIT_PLACES))


def sigmoid(logits: FloatArray) -> FloatArray:
    """1 / (1 + e^-x), without overflow, in double precision: large logits stay apart."""
    spread: FloatArray = np.exp(-np.logaddexp(0.0, -logits))
    return spread
