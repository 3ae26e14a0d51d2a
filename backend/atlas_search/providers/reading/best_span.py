"""From a model's logits to the best span of a text."""

from collections.abc import Sequence
from math import inf, tanh
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.providers.reading import AnswerSpan
from atlas_search.providers.reading.windows import Window

FloatArray = NDArray[np.float64]

LONGEST_ANSWER = 30  # tokens, as in the evaluation of SQuAD
PLACES = 4  # equal texts shall tie: the padding of a batch moves a logit by some 1e-6


class WindowSpan(NamedTuple):
    """The best span of a window, and its logit minus that of "the text does not say"."""

    start: int
    end: int
    margin: float


NO_SPAN = WindowSpan(0, 0, -inf)
"""Of a window without a word."""


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
    """Which pairs of start and end make a span."""
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
