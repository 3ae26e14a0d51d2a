"""Calibration of the least cosine at which a passage counts as evidence."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from itertools import islice
from math import ceil, floor
from pathlib import Path
from typing import Literal

import numpy as np

from atlas_search.answer.decide import evidence_of
from atlas_search.atlas import Atlas
from atlas_search.core.domain import Passage
from atlas_search.core.errors import RequestError, SourceError
from atlas_search.evaluation.labels import Label, Split
from atlas_search.evaluation.statistics import FloatArray
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import sentences, words
from atlas_search.stores.manifest import Calibration, Manifest
from atlas_search.stores.store import Store
from atlas_search.stores.versions import go_live, lock

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
class CalibrationQuestions:
    """Questions the collection should answer, and questions it should not."""

    basis: Basis
    good: tuple[str, ...]
    off_topic: tuple[str, ...]


def labelled_questions(labels: Sequence[Label]) -> CalibrationQuestions:
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
    return CalibrationQuestions(
        "labels",
        tuple(label.question for label in chosen if label.answerable),
        off_topic if len(off_topic) >= FEW else (*off_topic, *everyday()),
    )


def make_questions(store: Store, count: int) -> CalibrationQuestions:
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
    return CalibrationQuestions("made", tuple(islice(asked, count)), everyday())


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


LOSE = 0.05
"""Share of good questions that may be lost."""

REJECT = 0.98
"""Share of the bundled off-topic questions that is to be rejected if those lost allow it."""

_STEPS = 10_000  # of a threshold in [0, 1]


@dataclass(frozen=True)
class Choice:
    """A threshold, and the shares of good questions below it and of off-topic ones below it."""

    threshold: float
    lost: float
    rejected: float


def calibrate(
    atlas: Atlas,
    questions: CalibrationQuestions,
    target: str,
    lose: float,
    now: datetime,
    told: Callable[[int, int], None],
) -> Calibration:
    """Ask all questions as an answer would, and choose. Nothing is written.

    `told` is given how many have been asked, and how many there are. Raises as `choose` does.
    """
    total = len(questions.good) + len(questions.off_topic)
    found = []
    for question in (*questions.good, *questions.off_topic):
        found.append(evidence_of(atlas.search(question, target=target, as_of=now.date())))
        told(len(found), total)
    good, off_topic = found[: len(questions.good)], found[len(questions.good) :]
    choice = choose(good, off_topic, questions.basis, lose)
    return Calibration(
        threshold=choice.threshold,
        basis=questions.basis,
        good=len(good),
        off_topic=len(off_topic),
        lost=round(choice.lost, 4),
        rejected=round(choice.rejected, 4),
        content_digest=atlas.services.store.manifest.content_digest,
        created=now.isoformat(timespec="seconds"),
    )


def choose(
    good: Sequence[float], off_topic: Sequence[float], basis: Basis, lose: float = LOSE
) -> Choice:
    """The threshold for answers, from the evidence of questions of both kinds.

    A question is lost or rejected if its evidence is below the threshold, which is never above
    that of the k-th weakest of n good questions, k = floor(lose (n + 1)): so no more than the
    share `lose` of unseen questions of the same kind is lost on average (the quantile of split
    conformal prediction). Below that, labels are balanced. Made questions share words with their
    passage where people's may not: with them the lowest threshold is taken that rejects the share
    REJECT of `off_topic`. Raises RequestError for too few questions.
    """
    allowed = floor(round(lose * (len(good) + 1), 9))
    if not allowed:
        raise RequestError(
            f"{len(good)} good questions are too few to choose what loses at most {lose:.0%} of "
            f"them: give at least {ceil(round(1 / lose, 9)) - 1}, or let more be lost with --lose."
        )
    if not off_topic:
        raise RequestError("Without an off-topic question every threshold is as good as another.")
    wanted, unwanted = np.sort(good), np.sort(off_topic)
    limit = float(wanted[allowed - 1])
    exact = balance(wanted, unwanted, limit) if basis == "labels" else just_above(unwanted, REJECT)
    threshold = floor(round(min(exact, limit) * _STEPS, 6)) / _STEPS
    return Choice(threshold, _below(wanted, threshold), _below(unwanted, threshold))


def balance(good: FloatArray, off_topic: FloatArray, limit: float) -> float:
    """The threshold up to `limit` whose larger error is smallest: good lost, or off-topic kept.

    The middle of the lowest such range, so that both kinds keep the same distance.
    """
    values = np.unique(np.concatenate([[0.0, limit], good, off_topic]))
    values = values[values <= limit]
    if len(values) == 1:
        return limit
    # all thresholds between two neighbouring values do the same as the upper one
    lost = np.searchsorted(good, values[1:]) / len(good)
    kept = 1 - np.searchsorted(off_topic, values[1:]) / len(off_topic)
    best = int(np.argmin(np.maximum(lost, kept)))
    return float(values[best : best + 2].mean())


def just_above(off_topic: FloatArray, share: float) -> float:
    """The lowest threshold that rejects a share of ascending evidence, in steps of a threshold."""
    last = float(off_topic[ceil(round(share * len(off_topic), 9)) - 1])
    return (floor(round(last * _STEPS, 6)) + 1) / _STEPS


def keep(folder: Path, version: str, calibration: Calibration) -> Manifest:
    """Write a calibration into the live manifest and the version's own.

    The version stays the same, and rolling back to it brings its calibration back. Raises
    SourceError if `version` is no longer live, or while a build is running.
    """
    with lock(folder):
        manifest = Manifest.read(folder)
        if manifest.version != version:
            raise SourceError(
                f"{manifest.collection} was built meanwhile: {manifest.version} is live, and the "
                f"questions were asked of {version}. Run `atlas calibrate` again."
            )
        calibrated = manifest.model_copy(update={"calibration": calibration})
        calibrated.write(folder / version)
        go_live(folder, calibrated)
        return calibrated


def _below(values: FloatArray, threshold: float) -> float:
    return float(np.searchsorted(values, threshold) / len(values))
