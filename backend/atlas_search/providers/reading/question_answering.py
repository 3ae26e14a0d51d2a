"""A question-answering model of transformers, from a folder or the model cache."""

import threading
import time
from collections.abc import Callable, Sequence

from atlas_search.providers.embedding import Device
from atlas_search.providers.reading import AnswerSpans
from atlas_search.providers.reading.best_span import WindowSpan, best_in_window, best_of_texts
from atlas_search.providers.reading.loading import LoadedReader, find_reader, load_reader
from atlas_search.providers.reading.windows import Window

BATCH = 4
"""Windows read between two looks at the clock, as with the cross-encoder."""


class QuestionAnsweringModel:
    """A model that was trained on questions of SQuAD 2 or their like; see ReaderModel.

    A text longer than the model reads is read in overlapping windows. Windows are read in batches
    until the time is used up; the batch under way is read to its end, and a text counts as read
    once all its windows are. Waiting for other threads counts as time. Whatever is read gets the
    same span and score however far the reading comes.

    The model is looked for at once, and loaded by `load` or at first use. Raises MissingModel.
    """

    def __init__(
        self,
        name: str,
        *,
        device: Device = "auto",
        clock: Callable[[], float] = time.monotonic,
    ):
        self.name = name
        self._folder = find_reader(name)
        self._device = device
        self._clock = clock
        self._loading = threading.Lock()
        self._cutting = threading.Lock()  # a tokenizer must not be used by two threads at once
        self._reading = threading.Lock()
        self._loaded: list[LoadedReader] = []

    def load(self) -> None:
        """See ReaderModel."""
        self._model()

    def read(self, question: str, texts: Sequence[str], seconds: float) -> AnswerSpans:
        """See ReaderModel. Loading the model does not count as time."""
        model = self._model()
        deadline = self._clock() + seconds
        with self._cutting:
            windows = model.cut(question, texts)
        found = self._read(model, windows, deadline)
        spans = best_of_texts(windows, found, len(texts))
        return AnswerSpans(spans, self._note(len(spans), len(texts), seconds))

    def _model(self) -> LoadedReader:
        with self._loading:
            if not self._loaded:
                self._loaded.append(load_reader(self.name, self._folder, self._device))
            return self._loaded[0]

    def _read(
        self, model: LoadedReader, windows: Sequence[Window], deadline: float
    ) -> list[WindowSpan]:
        """The best spans of the first windows, of as many as could be read before `deadline`."""
        found: list[WindowSpan] = []
        while len(found) < len(windows) and (left := deadline - self._clock()) > 0:
            batch = windows[len(found) : len(found) + BATCH]
            if not self._reading.acquire(timeout=left):
                break
            try:
                logits = model.logits(batch)
            finally:
                self._reading.release()
            found += [
                best_in_window(window, *each) for window, each in zip(batch, logits, strict=True)
            ]
        return found

    def _note(self, read: int, asked: int, seconds: float) -> str:
        if read == asked:
            return ""
        return (
            f"{self.name} read {read} of {asked} passages in {seconds:g} seconds; in the others "
            "it looked for no answer. Raise READER_SECONDS, or lower SEARCH_K."
        )
