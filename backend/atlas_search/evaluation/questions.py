"""Questions to calibrate with: labelled, or made from the collection and from elsewhere."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from typing import Literal

from atlas_search.core.domain import Passage
from atlas_search.core.errors import RequestError
from atlas_search.evaluation.labels.label import Label, Split
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import sentences, words
from atlas_search.stores.store import Store

Basis = Literal["labels", "made"]

LEAST = 6
"""Informative words that make a sentence worth asking about."""

MOST = 8
"""Words of the sentence that a made question has at most."""

HELD_OUT = 3
"""Of so many informative words of the sentence one is left out, so that none is quoted."""

FEW = 20
"""Fewer off-topic labels than this measure no share to the percent: the bundled ones join them."""


@dataclass(frozen=True)
class Questions:
    """Questions the collection should answer, and questions it should not."""

    basis: Basis
    good: tuple[str, ...]
    off_topic: tuple[str, ...]


def labelled_questions(labels: Sequence[Label]) -> Questions:
    """The development questions of a label set.

    Off-topic are unanswerable ones whose `kind` is empty or `off_topic`: a question whose subject
    the collection speaks of and whose answer it lacks says nothing about the evidence.
    """
    chosen = [label for label in labels if label.split == Split.DEV]
    off_topic = tuple(
        label.question
        for label in chosen
        if not label.answerable and label.kind in ("", "off_topic")
    )
    return Questions(
        "labels",
        tuple(label.question for label in chosen if label.answerable),
        off_topic if len(off_topic) >= FEW else (*off_topic, *everyday()),
    )


def make_questions(store: Store, count: int) -> Questions:
    """Up to `count` questions made from passages all over the collection, and everyday ones.

    Always the same for the same contents. The evidence that 5% of them lack is lacked by 4% to 6%
    of the own questions of three public sets, but by 18% of a fourth's (contracts) and by a third
    of the bundled labels, many of which are paraphrases. So it is an upper bound for a threshold,
    and no choice. Raises RequestError for a collection without a corpus in English.
    """
    readable = [c.passages for c in store.corpora if c.language == DEFAULT_LANGUAGE]
    if not any(readable):
        raise RequestError(
            "The bundled off-topic questions are English, and no corpus is. Give labels in the "
            "language of the collection: --labels FILE."
        )
    ids = store.passage_ids(range(store.manifest.passages))
    rows = sorted(range(len(ids)), key=lambda row: _digest(ids[row]))
    asked = (question for row in rows for question in _about(store.passages([row])[0]))
    return Questions("made", tuple(islice(asked, count)), everyday())


def everyday() -> tuple[str, ...]:
    """Bundled questions in English: of everyday life, and of scholars of many subjects."""
    text = files("atlas_search.evaluation").joinpath("off_topic.txt").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def _about(passage: Passage) -> Iterator[str]:
    """One question, or none if no sentence says enough."""
    if passage.language != DEFAULT_LANGUAGE:
        return
    told = [_informative_words(passage.text[start:end]) for start, end in sentences(passage.text)]
    worth = [found for found in told if len(found) >= LEAST]
    if worth:
        number = int(_digest(passage.id), 16)
        chosen = worth[number % len(worth)]
        kept = [word for at, word in enumerate(chosen) if (at + number) % HELD_OUT]
        yield f"What is said about {' '.join(kept[:MOST])}?"


def _informative_words(sentence: str) -> list[str]:
    """The informative words of a sentence as written, each once."""
    found = {word.term: word for word in reversed(words(sentence)) if word.informative}
    inorder = sorted(found.values(), key=lambda word: word.start)
    return [sentence[word.start : word.end] for word in inorder]


def _digest(id_: str) -> str:
    return hashlib.sha256(id_.encode()).hexdigest()
