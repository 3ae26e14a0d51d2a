"""How strongly words go together, and how far two corpora differ in a word."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atlas_search.stores.arrays import IntArray

FloatArray = NDArray[np.floating[Any]]

ZERO = 0.5
"""The frequency of what does not occur, where a ratio is wanted."""


def log_likelihood(joint: IntArray, near: int, frequency: IntArray, words: int) -> FloatArray:
    """G² of the four cells: a word near hits and elsewhere, other words near hits and elsewhere.

    `joint` of its `frequency` stand in the `near` places, of all `words`. Dunning, "Accurate
    methods for the statistics of surprise and coincidence", 1993; the windows of all hits are one
    sample, as in Evert, "Corpora and collocations", 2008, section 4.1.
    """
    share, others = near / max(words, 1), words - frequency
    total = (
        _deviation(joint, frequency * share)
        + _deviation(frequency - joint, frequency * (1 - share))
        + _deviation(near - joint, others * share)
        + _deviation(others - near + joint, others * (1 - share))
    )
    return np.maximum(2 * total, 0.0)


def log_dice(joint: IntArray, hits: int, frequency: IntArray) -> FloatArray:
    """14 + log2 of Dice's coefficient; does not depend on the size of the corpus.

    14 for words that stand near each other and nowhere else; 1 more is twice as often. Rychlý, "A
    lexicographer-friendly association score", 2008.
    """
    with np.errstate(divide="ignore"):
        found: FloatArray = 14 + np.log2(2 * joint / (hits + frequency))
    return found


def keyness(own: IntArray, words: int, other: IntArray, other_words: int) -> FloatArray:
    """G² of a word's frequencies in two corpora of so many words.

    Of the two cells of the word alone, as in Rayson and Garside, "Comparing corpora using
    frequency profiling", 2000.
    """
    share = (own + other) / (words + other_words)
    total = _deviation(own, words * share) + _deviation(other, other_words * share)
    return np.maximum(2 * total, 0.0)


def log_ratio(own: IntArray, words: int, other: IntArray, other_words: int) -> FloatArray:
    """How many times a word's share of one corpus is that of another, as its binary logarithm.

    1 is twice as frequent, -2 a quarter. A frequency of 0 counts as ZERO. Hardie, "Log Ratio: an
    informal introduction", 2014.
    """
    share = np.where(own == 0, ZERO, own) / words
    found: FloatArray = np.log2(share / (np.where(other == 0, ZERO, other) / other_words))
    return found


def _deviation(seen: IntArray, expected: FloatArray) -> FloatArray:
    """O ln(O/E), which is 0 where nothing is seen."""
    ratio = np.ones(seen.shape)
    np.divide(seen, expected, out=ratio, where=seen > 0)
    return seen.astype(np.float64) * np.log(ratio)
