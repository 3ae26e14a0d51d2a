"""What is reported of the replies: how many are given, how many are right, how many held back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atlas_search.answer.quotes.scores import LIKELY
from atlas_search.stores.terms import FloatArray
from benchmarks.quality.statistics import Estimate
from benchmarks.truth.asking import Reply
from benchmarks.truth.draws import Flags, area, curve, draw, share, threshold
from benchmarks.truth.judging import MEASURES, Measure, is_right
from benchmarks.truth.questions import Group, Half

Section = Literal["alone", "together"]

DEFAULT = "default"
MEAN = "mean of sets"
COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
LOST = (0.02, 0.05)
EVERYTHING = -1.0
"""The threshold that every score reaches."""


@dataclass(frozen=True)
class Judged:
    """The replies to the questions of one set, and the measure by which they are judged."""

    replies: Sequence[Reply]
    measure: Measure


@dataclass(frozen=True)
class Cut:
    """What happens at one threshold of the likelihood.

    Shares of answerable questions that are answered, of these answers that are right, and of
    questions of the other groups that are declined; None where there is no such question.
    """

    name: str
    threshold: float
    answered: Estimate | None
    right: Estimate | None
    unanswerable_declined: Estimate | None
    off_topic_declined: Estimate | None


@dataclass(frozen=True)
class Gate:
    """What the evidence alone declines where a share `lost` of good questions was lost on `dev`."""

    lost: float
    threshold: float
    good_declined: Estimate | None
    off_topic_declined: Estimate | None


@dataclass(frozen=True)
class Word:
    """Answers called `likely` or `possible`, and how many of them are right.

    First of answerable questions; then of the unanswerable too, none of which has a right answer.
    """

    word: Literal["likely", "possible"]
    answers: int
    right: Estimate | None
    answers_of_all: int
    right_of_all: Estimate | None


@dataclass(frozen=True)
class Figures:
    """All about one set by one measure in one section, or about MEAN by the strictest of each.

    `questions` counts those of the test half, by group. `curve` are coverage and precision.
    """

    section: Section
    set_name: str
    measure: Measure | None
    questions: dict[Group, int]
    area: Estimate | None
    cuts: tuple[Cut, ...]
    gates: tuple[Gate, ...]
    words: tuple[Word, ...]
    curve: tuple[list[float], list[float]]

    @property
    def name(self) -> str:
        return f"{self.set_name}, {self.measure}" if self.measure else self.set_name

    @property
    def is_strictest(self) -> bool:
        """Whether no other measure of the set is stricter."""
        return not self.measure or self.measure == MEASURES[self.set_name][0]


@dataclass(frozen=True)
class _Sample:
    """Questions of one half; `weights` as `draws` has them."""

    weights: FloatArray
    scores: FloatArray
    evidence: FloatArray
    right: Flags

    def reach(self, needed: float) -> Flags:
        return self.scores >= needed


def all_figures(
    replies: Mapping[Section, Mapping[str, Sequence[Reply]]], needed: float
) -> Iterator[Figures]:
    """By section, each set by each of its measures, then the mean of them if they are several.

    `replies` are those of each set by its name, `needed` is the default likelihood.
    """
    for section, of_sets in replies.items():
        for name, given in of_sets.items():
            for measure in MEASURES[name]:
                yield _figures(section, name, [Judged(given, measure)], needed)
        if len(of_sets) > 1:
            strictest = [Judged(given, MEASURES[name][0]) for name, given in of_sets.items()]
            yield _figures(section, MEAN, strictest, needed)


def _figures(section: Section, name: str, sets: Sequence[Judged], needed: float) -> Figures:
    """The figures of `sets`, of which each counts the same.

    Requires answerable questions in both halves.
    """
    tuned = _sample(sets, "dev", "answerable")
    good = _sample(sets, "test", "answerable")
    unanswerable = _sample(sets, "test", "unanswerable")
    off_topic = _sample(sets, "test", "off-topic")
    thresholds = {DEFAULT: needed, "likely": LIKELY} | {
        f"{c:g}": _likelihood(tuned, c) for c in COVERAGES
    }
    coverage, precision = curve(good.weights[0], good.scores, good.right)
    return Figures(
        section=section,
        set_name=name,
        measure=None if name == MEAN else sets[0].measure,
        questions={
            "answerable": len(good.scores),
            "unanswerable": len(unanswerable.scores),
            "off-topic": len(off_topic.scores),
        },
        area=area(good.weights, good.scores, good.right),
        cuts=tuple(_cut(n, t, good, unanswerable, off_topic) for n, t in thresholds.items()),
        gates=tuple(_gate(lost, tuned, good, off_topic) for lost in LOST),
        words=_words(needed, good, _sample(sets, "test", "answerable", "unanswerable")),
        curve=(coverage.tolist(), precision.tolist()),
    )


def _sample(sets: Sequence[Judged], half: Half, *groups: Group) -> _Sample:
    chosen = [
        [
            (reply.score, reply.evidence, is_right(reply, judged.measure))
            for reply in judged.replies
            if reply.question.half == half and reply.question.group in groups
        ]
        for judged in sets
    ]
    rows = np.array([row for found in chosen for row in found], dtype=np.float64).reshape(-1, 3)
    return _Sample(draw([len(found) for found in chosen]), rows[:, 0], rows[:, 1], rows[:, 2] == 1)


def _likelihood(tuned: _Sample, coverage: float) -> float:
    if coverage == 1:
        return EVERYTHING  # an unseen question may score less than any seen one
    return threshold(tuned.weights[0], tuned.scores, coverage)


def _cut(name: str, needed: float, good: _Sample, unanswerable: _Sample, off_topic: _Sample) -> Cut:
    answered = good.reach(needed)
    return Cut(
        name=name,
        threshold=needed,
        answered=share(good.weights, answered, np.ones_like(answered)),
        right=share(good.weights, good.right, answered),
        unanswerable_declined=_declined(unanswerable, needed),
        off_topic_declined=_declined(off_topic, needed),
    )


def _declined(asked: _Sample, needed: float) -> Estimate | None:
    declined = ~asked.reach(needed)
    return share(asked.weights, declined, np.ones_like(declined))


def _gate(lost: float, tuned: _Sample, good: _Sample, off_topic: _Sample) -> Gate:
    needed = threshold(tuned.weights[0], tuned.evidence, 1 - lost)
    good_declined, off_topic_declined = (
        share(asked.weights, asked.evidence < needed, np.ones_like(asked.right))
        for asked in (good, off_topic)
    )
    return Gate(lost, needed, good_declined, off_topic_declined)


def _words(needed: float, good: _Sample, every: _Sample) -> tuple[Word, ...]:
    likely = max(LIKELY, needed)
    return (
        _word("likely", likely, np.inf, good, every),
        _word("possible", needed, likely, good, every),
    )


def _word(
    word: Literal["likely", "possible"], low: float, high: float, good: _Sample, every: _Sample
) -> Word:
    called, called_of_all = (each.reach(low) & ~each.reach(high) for each in (good, every))
    return Word(
        word=word,
        answers=int(called.sum()),
        right=share(good.weights, good.right, called),
        answers_of_all=int(called_of_all.sum()),
        right_of_all=share(every.weights, every.right, called_of_all),
    )
