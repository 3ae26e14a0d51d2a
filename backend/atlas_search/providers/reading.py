"""Finding the words of a text that answer a question: the `ReaderModel` protocol."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, tanh
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import MissingModel, ReaderUnavailable
from atlas_search.providers.embedding import Device, architecture_of, find_folder
from atlas_search.providers.onnx import choose_device, import_quietly


class AnswerSpan(NamedTuple):
    """The words of a text that answer best: `text[start:end]`.

    `score` in [0, 1] is how probable the model finds them against "the text does not say". A text
    without a word has the empty span 0 to 0 with the score 0.
    """

    start: int
    end: int
    score: float


class AnswerSpans(NamedTuple):
    """The best span of each of the first texts, as many as were read. `note` says why some were
    not, and is empty if all were."""

    spans: Sequence[AnswerSpan]
    note: str


class ReaderModel(Protocol):
    """A model that reads a question and a text together. Safe to use from several threads.

    Constructing one finds the model, and is cheap beside loading it. Raises MissingModel.
    """

    @property
    def name(self) -> str:
        """The model, as traces and notes show it."""

    def load(self) -> None:
        """Make it ready, so that a server can do so before it serves. Raises MissingModel."""

    def read(self, question: str, texts: Sequence[str], seconds: float) -> AnswerSpans:
        """The words of each of `texts`, best first, that answer, as far as `seconds` suffice.

        Raises ReaderUnavailable.
        """


QUESTION_TOKENS = 64
OVERLAP = 128
"""Tokens that two windows share. Both numbers are those of the SQuAD readers
(https://arxiv.org/abs/1810.04805); a model that reads little gets smaller ones."""

Place = tuple[int, int]
"""First character of a text and the one after the last."""


@dataclass(frozen=True)
class Window:
    """Question and a piece of a text as a model reads them.

    `text` is the number of the text, `tokens` the model's input, `no_answer` the token whose
    logits speak for "the text does not say". The piece begins with token `first`; `places` has the
    characters of its tokens in order, those of the whole word for a part of a word, and none
    (start == end) for a token of spaces.
    """

    text: int
    tokens: Mapping[str, Sequence[int]]
    no_answer: int
    first: int
    places: Sequence[Place]


def windows(tokenizer: Any, question: str, texts: Sequence[str], longest: int) -> list[Window]:
    """The windows of all texts in order, each of at most `longest` tokens, every text with one.

    The beginning of a long question is kept. `tokenizer` is a fast one of transformers, with a
    [CLS] token, and for one thread at a time.
    """
    if not texts:
        return []
    question, question_tokens = _shorten(tokenizer, question, min(QUESTION_TOKENS, longest // 3))
    room = longest - question_tokens - tokenizer.num_special_tokens_to_add(pair=True)
    encoded = tokenizer(
        [question] * len(texts),
        list(texts),
        truncation="only_second",
        max_length=longest,
        stride=min(OVERLAP, room // 2),
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        verbose=False,
    )
    pieces = [
        _piece(encoded, at, number)
        for at, number in enumerate(encoded["overflow_to_sample_mapping"])
    ]
    reach = _reach(pieces)
    return [
        Window(
            text=piece.text,
            tokens={n: encoded[n][at] for n in tokenizer.model_input_names if n in encoded},
            no_answer=encoded["input_ids"][at].index(tokenizer.cls_token_id),
            first=piece.first,
            places=_places(piece, reach, texts[piece.text]),
        )
        for at, piece in enumerate(pieces)
    ]


def _shorten(tokenizer: Any, question: str, limit: int) -> tuple[str, int]:
    """The question cut to `limit` tokens, and how many it has."""
    places = tokenizer(
        question, add_special_tokens=False, return_offsets_mapping=True, verbose=False
    )["offset_mapping"]
    if len(places) <= limit:
        return question, len(places)
    return question[: places[limit - 1][1]], limit


class _Piece(NamedTuple):
    """The tokens of a window that are its text's; `words` are numbers, None for no word."""

    text: int
    first: int
    places: Sequence[Place]
    words: Sequence[int | None]


def _piece(encoded: Any, at: int, text: int) -> _Piece:
    held = [index for index, side in enumerate(encoded.sequence_ids(at)) if side == 1]
    places, words = encoded["offset_mapping"][at], encoded.word_ids(at)
    return _Piece(
        text, held[0] if held else 0, [places[at] for at in held], [words[at] for at in held]
    )


def _reach(pieces: Sequence[_Piece]) -> Mapping[tuple[int, int | None], Place]:
    """The characters of each word of each text. The end of a window may part a word, but its
    number is the same in the next one."""
    reach: dict[tuple[int, int | None], Place] = {}
    for piece in pieces:
        for (start, end), word in zip(piece.places, piece.words, strict=True):
            low, high = reach.get((piece.text, word), (start, end))
            reach[piece.text, word] = (min(low, start), max(high, end))
    return reach


def _places(piece: _Piece, reach: Mapping[tuple[int, int | None], Place], text: str) -> list[Place]:
    return [
        _trim(text, place if word is None else reach[piece.text, word])
        for place, word in zip(piece.places, piece.words, strict=True)
    ]


def _trim(text: str, place: Place) -> Place:
    """The place without the spaces around it, which some tokenizers count to a word."""
    start, end = place
    held = text[start:end]
    start += len(held) - len(held.lstrip())
    return start, max(start, start + len(held.strip()))


FloatArray = NDArray[np.float64]

LONGEST_ANSWER = 30  # tokens, as in the evaluation of SQuAD
PLACES = 4  # equal texts shall tie: the padding of a batch moves a logit by some 1e-6


class WindowSpan(NamedTuple):
    """The best span of a window, and its logit minus that of "the text does not say"."""

    start: int
    end: int
    margin: float


NO_SPAN = WindowSpan(0, 0, -inf)
"""The span of a window without a word."""


def best_in_window(window: Window, starts: FloatArray, ends: FloatArray) -> WindowSpan:
    """The span whose start and end have the largest sum of logits, at most LONGEST_ANSWER tokens.

    Of equals the one that begins first, then the shorter. `starts` and `ends` have a logit for
    each token of the window. The margin is that of SQuAD 2 (https://arxiv.org/abs/1806.03822).
    """
    words = [at for at, (start, end) in enumerate(window.places) if start < end]
    if not words:
        return NO_SPAN
    tokens = np.array(words) + window.first
    sums = starts[tokens][:, None] + ends[tokens][None, :]
    sums = np.round(np.where(_allowed(np.array(words)), sums, -inf), PLACES)
    first, last = divmod(int(np.argmax(sums)), len(words))
    no_answer = float(starts[window.no_answer] + ends[window.no_answer])
    return WindowSpan(
        start=window.places[words[first]][0],
        end=window.places[words[last]][1],
        margin=round(float(sums[first, last]) - no_answer, PLACES),
    )


def _allowed(words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """A matrix of starts by ends: True where they make a span."""
    length = words[None, :] - words[:, None]
    allowed: NDArray[np.bool_] = (length >= 0) & (length < LONGEST_ANSWER)
    return allowed


def best_of_texts(
    windows: Sequence[Window], found: Sequence[WindowSpan], count: int
) -> list[AnswerSpan]:
    """The best span of each of the first texts, up to the first that was not read to its end.

    `windows` are those of `count` texts, `found` the spans of the first of them. A text has the
    span of its window with the largest margin, the first of equals: each is weighed against the
    "no answer" of the same window, which has seen what the span stands in.
    """
    read = windows[len(found)].text if len(found) < len(windows) else count
    best = [NO_SPAN] * read
    for window, span in zip(windows, found, strict=False):
        if window.text < read and span.margin > best[window.text].margin:
            best[window.text] = span
    return [AnswerSpan(span.start, span.end, probability(span.margin)) for span in best]


def probability(margin: float) -> float:
    """The share of the span in the softmax over its logit and that of "no answer", to 6 places."""
    return round((1 + tanh(margin / 2)) / 2, 6)


EXAMPLE = "deepset/minilm-uncased-squad2"

LONGEST = 384  # tokens: what the SQuAD readers were trained with, and the most they are used with
_TRAINED_TO_READ = ("ForQuestionAnswering", "ForQuestionAnsweringSimple")
_PROBE = ("Is this a question?", "This is a text. " * 150)  # more than one window


@dataclass(frozen=True)
class LoadedReader:
    """A model ready to read. `longest` is what it reads at once, in tokens.

    Cutting is for one thread at a time, and so is reading.
    """

    name: str
    model: Any
    tokenizer: Any
    device: str
    longest: int

    def cut(self, question: str, texts: Sequence[str]) -> list[Window]:
        """The windows of the texts. Raises ReaderUnavailable."""
        try:
            return windows(self.tokenizer, question, texts, self.longest)
        except Exception as error:  # whatever the tokenizer raises
            raise ReaderUnavailable(f"{self.name} cannot cut the passages: {error}") from error

    def logits(self, cut: Sequence[Window]) -> list[tuple[FloatArray, FloatArray]]:
        """Logits of start and end for each token of each window, in one batch.

        Those of shorter windows are followed by logits of padding. Raises ReaderUnavailable.
        """
        try:
            starts, ends = self._forward(cut)
        except Exception as error:  # whatever torch raises
            raise ReaderUnavailable(f"{self.name} cannot read the passages: {error}") from error
        if not (np.isfinite(starts).all() and np.isfinite(ends).all()):
            raise ReaderUnavailable(
                f"{self.name} gives no number for some passages. Choose another READER_MODEL."
            )
        return list(zip(starts, ends, strict=True))

    def _forward(self, cut: Sequence[Window]) -> tuple[FloatArray, FloatArray]:
        import torch

        names = cut[0].tokens
        inputs = {name: [list(window.tokens[name]) for window in cut] for name in names}
        batch = self.tokenizer.pad(inputs, padding_side="right", return_tensors="pt", verbose=False)
        with torch.inference_mode():
            output = self.model(**batch.to(self.device))
        starts, ends = (
            np.asarray(logits.cpu(), dtype=np.float64)
            for logits in (output.start_logits, output.end_logits)
        )
        return starts, ends


def find_reader(name: str) -> Path:
    """The folder of the model called `name`. Raises MissingModel if it is not there, or was not
    trained to find answers."""
    folder = find_folder(
        name,
        "READER_MODEL",
        f"Give the path of the folder of a question-answering model such as {EXAMPLE}, or leave "
        "READER_MODEL empty.",
    )
    if not architecture_of(folder).endswith(_TRAINED_TO_READ):
        raise MissingModel(
            f"READER_MODEL={name} is not a question-answering model: {folder} holds none that "
            f"finds the words of an answer. Choose one that does, such as {EXAMPLE}."
        )
    return folder


def load_reader(name: str, folder: Path, device: Device) -> LoadedReader:
    """The model in `folder`, after it has read a text. Raises MissingModel, or ConfigurationError
    if there is no such device."""
    import_quietly()
    chosen = choose_device(device)
    try:
        model, tokenizer, missing = _load(folder)
        model.to(chosen)
    except Exception as error:  # the loaders of weights and tokenizers share no class
        raise MissingModel(f"READER_MODEL={name} in {folder} cannot be loaded: {error}") from error
    if missing:
        raise MissingModel(
            f"READER_MODEL={name}: the weights in {folder} lack {', '.join(sorted(missing))}. "
            "Copy or download the model again."
        )
    if not tokenizer.is_fast or tokenizer.cls_token_id is None:
        raise MissingModel(
            f"READER_MODEL={name}: its tokenizer does not say where its tokens stand, or has no "
            f"[CLS] token for texts that do not answer. Choose another, such as {EXAMPLE}."
        )
    reader = LoadedReader(name, model, tokenizer, chosen, _longest(model, tokenizer))
    _try_out(reader)
    return reader


def _load(folder: Path) -> tuple[Any, Any, Sequence[str]]:
    """The model, its tokenizer, and the names of weights that the folder does not hold."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    # half precision is slow on a CPU, and would make spans depend on the device
    model, loaded = AutoModelForQuestionAnswering.from_pretrained(
        folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
    )
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return model.eval(), tokenizer, list(loaded["missing_keys"])


def _longest(model: Any, tokenizer: Any) -> int:
    positions = getattr(model.config, "max_position_embeddings", None) or 0
    known = positions if positions > 0 else LONGEST  # XLNet, which has no bound, says -1
    return int(min(LONGEST, known, tokenizer.model_max_length))


def _try_out(reader: LoadedReader) -> None:
    try:
        reader.logits(reader.cut(_PROBE[0], [_PROBE[1]])[:1])
    except ReaderUnavailable as error:
        raise MissingModel(f"READER_MODEL cannot be used: {error}") from error


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
        self, name: str, *, device: Device = "auto", clock: Callable[[], float] = time.monotonic
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
        self._model()

    def read(self, question: str, texts: Sequence[str], seconds: float) -> AnswerSpans:
        """Read the texts; loading the model does not count as time."""
        model = self._model()
        deadline = self._clock() + seconds
        with self._cutting:
            windows = model.cut(question, texts)
        window_spans = self._read(model, windows, deadline)
        spans = best_of_texts(windows, window_spans, len(texts))
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
        spans: list[WindowSpan] = []
        while len(spans) < len(windows) and (left := deadline - self._clock()) > 0:
            batch = windows[len(spans) : len(spans) + BATCH]
            if not self._reading.acquire(timeout=left):
                break
            try:
                logits = model.logits(batch)
            finally:
                self._reading.release()
            spans += [
                best_in_window(window, *each) for window, each in zip(batch, logits, strict=True)
            ]
        return spans

    def _note(self, read: int, count: int, seconds: float) -> str:
        if read == count:
            return ""
        return (
            f"{self.name} read {read} of {count} passages in {seconds:g} seconds; in the others "
            "it looked for no answer. Raise READER_SECONDS, or lower SEARCH_K."
        )
