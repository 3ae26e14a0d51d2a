"""Votes as labels: questions of which readers said what the collection should answer."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atlas_search.evaluation.labels.label import Label, Split
from atlas_search.evaluation.reply import without_markers
from atlas_search.server.feedback.rated import RatedAnswer
from atlas_search.server.feedback.store import Rating

Reason = Literal["no_text", "follow_up", "contradictory", "inconclusive"]
"""Why a rated question is no label.

no_text        the question was not kept
follow_up      it depends on what was asked before
contradictory  one reader says the opposite of another
inconclusive   nobody says what the right answer, or its source, is
"""

CATEGORY = "feedback"
DECLINED = "declined"
"""The kind of a question that readers say is rightly declined: its subject may be there."""


@dataclass(frozen=True)
class Labels:
    """The labels of a collection, by id, and how many rated questions are none, by reason."""

    labels: tuple[Label, ...]
    left_out: Mapping[Reason, int]


@dataclass(frozen=True)
class _Finding:
    """What one rating says of its question: `answerable` is None if it does not say."""

    answerable: bool | None
    gold: frozenset[str]
    not_gold: frozenset[str]
    answer: str = ""


def labels_of(ratings: Iterable[Rating]) -> Labels:
    """The labels that ratings of one collection make; see docs/feedback.md for the rules."""
    left_out: Counter[Reason] = Counter()
    asked: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        answer = rating.answer
        # without its text a question is known by its answer alone
        name = " ".join(_question(answer).casefold().split()) or f"\0{answer.created}{answer.qa_id}"
        asked[name].append(rating)
    labels = []
    for name, of_one in asked.items():
        found = _label(name, of_one)
        if isinstance(found, Label):
            labels.append(found)
        else:
            left_out[found] += 1
    return Labels(tuple(sorted(labels, key=lambda label: label.id)), dict(left_out))


def _label(name: str, ratings: Sequence[Rating]) -> Label | Reason:
    if not ratings[0].answer.question:
        return "no_text"
    ratings = [rating for rating in ratings if not rating.answer.follow_up]
    if not ratings:
        return "follow_up"
    answer = ratings[0].answer
    if _disagree(ratings):
        return "contradictory"
    findings = [_finding(rating) for rating in ratings]
    said = {finding.answerable for finding in findings} - {None}
    if not said:
        return "inconclusive"
    if len(said) > 1:
        return "contradictory"
    digest = hashlib.sha256(f"{answer.collection}\0{name}".encode()).hexdigest()
    label_id, split = f"{CATEGORY}-{digest[:12]}", _split(digest)
    if said == {False}:
        return Label(label_id, split, CATEGORY, _question(answer), (), frozenset(), DECLINED)
    gold = _union(f.gold for f in findings) - _union(f.not_gold for f in findings)
    answers = dict.fromkeys(finding.answer for finding in findings if finding.answer)
    return Label(
        label_id,
        split,
        CATEGORY,
        _question(answer),
        tuple(answers),
        gold,
        should_answer=None if gold else True,
    )


def _finding(rating: Rating) -> _Finding:
    answer, vote = rating.answer, rating.vote
    yes, no = _documents(rating)
    if answer.decision == "ANSWER" and vote.thumb == "up":
        cited = frozenset(place.document_id for place in answer.citations)
        text = without_markers(answer.answer)
        return _Finding(True, (yes | cited) - no, no, text)
    if answer.decision != "ANSWER" and vote.thumb == "up":
        # of chosen corpora or documents alone it says nothing of the others
        return _Finding(None if answer.narrowed else False, frozenset(), frozenset())
    missed = answer.decision != "ANSWER" and vote.thumb == "down"
    return _Finding(True if yes or missed else None, yes, no)


def _documents(rating: Rating) -> tuple[frozenset[str], frozenset[str]]:
    """The documents that the rating says hold an answer, and those of which it says they do not."""
    answer, vote = rating.answer, rating.vote
    document_of = {place.passage_id: place.document_id for place in answer.passages}
    said = [(document_of[id_], what == "relevant") for id_, what in vote.passages.items()]
    said += [
        (answer.citations[number - 1].document_id, what == "supports")
        for number, what in vote.citations.items()
    ]
    yes = frozenset(document for document, good in said if good)
    return yes, frozenset(document for document, _ in said) - yes


def _disagree(ratings: Sequence[Rating]) -> bool:
    """Whether the same answer has thumbs up and down."""
    thumbs = defaultdict(set)
    for rating in ratings:
        answer = rating.answer
        thumbs[answer.decision, answer.answer].add(rating.vote.thumb)
    return any({"up", "down"} <= given for given in thumbs.values())


def _question(answer: RatedAnswer) -> str:
    return answer.standalone or answer.question


def _split(digest: str) -> Split:
    """Half of the questions each, always the same ones."""
    return Split.TEST if int(digest[-1], 16) % 2 else Split.DEV


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)
