"""Words that stand near hits more often than chance would have it."""

import numpy as np

from atlas_search.core.errors import InvalidQuery
from atlas_search.stores.arrays import IntArray
from atlas_search.words.association import log_dice, log_likelihood
from atlas_search.words.hits import BoolArray, near_places
from atlas_search.words.query import parse
from atlas_search.words.request import CollocatesRequest
from atlas_search.words.run import WordsRun
from atlas_search.words.vocabulary import informative, vocabulary
from atlas_search.words.word_lists import Collocate, Collocates


def collocates(run: WordsRun, asked: CollocatesRequest) -> Collocates:
    """Count the words near the hits, each place once, and compare with all of their places."""
    hits, near = len(run.hits.starts), _near(run, asked)
    run.stop.check()
    known = vocabulary(run.table, run.request)
    counts = np.bincount(run.table.tokens[near], minlength=len(run.table.forms))
    joint, frequency = known.sums(counts), known.sums(run.reach.counts)
    words_near, words = int(joint.sum()), int(frequency.sum())
    run.stop.check()
    is_drawn = (joint >= asked.min_count) & (joint * words > frequency * words_near)
    found = np.flatnonzero(is_drawn)
    written = known.written(found, run.reach.counts)
    if not asked.function_words:
        kept = informative(written, run.languages)
        found, written = found[kept], [written[at] for at in np.flatnonzero(kept)]
    joint, frequency = joint[found], frequency[found]
    likelihood = log_likelihood(joint, words_near, frequency, words)
    dice = log_dice(joint, hits, frequency)
    order = _order(dice if asked.sort == "log_dice" else likelihood, joint)[: asked.limit]
    return Collocates(
        text=run.request.text,
        hits=hits,
        words=words,
        words_near=words_near,
        collocates=tuple(
            Collocate(
                word=known.labels[found[at]],
                near=int(joint[at]),
                frequency=int(frequency[at]),
                log_likelihood=float(likelihood[at]),
                log_dice=float(dice[at]),
                query=_opening(run.request.text, written[at], asked),
            )
            for at in order.tolist()
        ),
        left_out=len(found) - len(order),
    )


def _near(run: WordsRun, asked: CollocatesRequest) -> BoolArray:
    """The places that are near a hit, and count."""
    if run.reach.whole:
        return near_places(run.table, run.hits, asked.left, asked.right)
    # as NEAR has it, which looks over the edges of passages
    return near_places(run.table, run.found, asked.left, asked.right) & run.reach.counted


def _order(score: np.ndarray, joint: IntArray) -> IntArray:
    return np.lexsort((np.arange(len(joint)), -joint, -score))


def _opening(text: str, word: str, asked: CollocatesRequest) -> str | None:
    """The query whose hits are the places of a word near those of another query."""
    left, right = asked.left, asked.right
    # what stands before a hit has the hit after it
    distance = left if left == right else f"{right},{left}"
    query = f'"{word}" NEAR/{distance} ({text})'
    try:
        parse(query)
    except InvalidQuery:
        return None
    return query
