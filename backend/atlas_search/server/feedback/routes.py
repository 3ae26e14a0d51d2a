"""`/api/feedback`: the ratings that readers give answers, and their export as labels."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from flask import Response, g
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag as ApiTag
from flask_openapi3.types import ResponseDict
from pydantic import BaseModel, Field

from atlas_search.answer.request import Identifier
from atlas_search.core.errors import RequestError, shown
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.documents.export import csv_text
from atlas_search.evaluation.label_files import ALWAYS, label_fields, labels_text
from atlas_search.evaluation.labels import Label, Split
from atlas_search.evaluation.metrics import without_markers
from atlas_search.search.request import Day
from atlas_search.server.access.caller import Caller, present_caller
from atlas_search.server.ask import ByAnswer
from atlas_search.server.feedback.delivery import Feedback
from atlas_search.server.feedback.store import (
    SCALES,
    AnswerRating,
    Backing,
    FeedbackBody,
    Mark,
    RatedAnswer,
    RatingFilter,
    Relevance,
    Scale,
    Thumb,
    Vote,
    changed,
    new_marks,
)
from atlas_search.server.problems import Problem
from atlas_search.server.requests import Strict

Reason = Literal["no_text", "follow_up", "contradictory", "inconclusive"]
"""The reason why a rated question is no label.

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
    """One rating's verdict on its question; `answerable` is None if it does not say."""

    answerable: bool | None
    gold: frozenset[str]
    not_gold: frozenset[str]
    answer: str = ""


def labels_of(ratings: Iterable[AnswerRating]) -> Labels:
    """The labels that ratings of one collection make; see docs/feedback.md for the rules."""
    left_out: Counter[Reason] = Counter()
    by_question: dict[str, list[AnswerRating]] = defaultdict(list)
    for rating in ratings:
        answer = rating.answer
        # without its text a question is known by its answer alone
        name = " ".join(_question(answer).casefold().split()) or f"\0{answer.created}{answer.qa_id}"
        by_question[name].append(rating)
    labels = []
    for name, of_one in by_question.items():
        result = _label(name, of_one)
        if isinstance(result, Label):
            labels.append(result)
        else:
            left_out[result] += 1
    return Labels(tuple(sorted(labels, key=lambda label: label.id)), dict(left_out))


def _label(name: str, ratings: Sequence[AnswerRating]) -> Label | Reason:
    if not ratings[0].answer.question:
        return "no_text"
    ratings = [rating for rating in ratings if not rating.answer.follow_up]
    if not ratings:
        return "follow_up"
    answer = ratings[0].answer
    if _disagree(ratings):
        return "contradictory"
    findings = [_finding(rating) for rating in ratings]
    verdicts = {finding.answerable for finding in findings} - {None}
    if not verdicts:
        return "inconclusive"
    if len(verdicts) > 1:
        return "contradictory"
    digest = hashlib.sha256(f"{answer.collection}\0{name}".encode()).hexdigest()
    label_id, split = f"{CATEGORY}-{digest[:12]}", _split(digest)
    if verdicts == {False}:
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


def _finding(rating: AnswerRating) -> _Finding:
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


def _documents(rating: AnswerRating) -> tuple[frozenset[str], frozenset[str]]:
    """The documents that the rating says hold an answer, and those of which it says they do not."""
    answer, vote = rating.answer, rating.vote
    document_of = {place.passage_id: place.document_id for place in answer.passages}
    verdicts = [(document_of[id_], what == "relevant") for id_, what in vote.passages.items()]
    verdicts += [
        (answer.citations[number - 1].document_id, what == "supports")
        for number, what in vote.citations.items()
    ]
    yes = frozenset(document for document, good in verdicts if good)
    return yes, frozenset(document for document, _ in verdicts) - yes


def _disagree(ratings: Sequence[AnswerRating]) -> bool:
    """Check for an answer that has thumbs both up and down."""
    thumbs = defaultdict(set)
    for rating in ratings:
        answer = rating.answer
        thumbs[answer.decision, answer.answer].add(rating.vote.thumb)
    return any({"up", "down"} <= values for values in thumbs.values())


def _question(answer: RatedAnswer) -> str:
    return answer.standalone or answer.question


def _split(digest: str) -> Split:
    """Choose the split by the digest: each holds half of the questions, always the same ones."""
    return Split.TEST if int(digest[-1], 16) % 2 else Split.DEV


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


FeedbackFormat = Literal["jsonl", "csv", "ratings"]
FEEDBACK_FORMATS: tuple[FeedbackFormat, ...] = get_args(FeedbackFormat)

_LABEL = (*ALWAYS, "should_answer")
_ANSWER = (
    *("created", "qa_id", "session_id", "target", "composite_target", "provider", "model"),
    *("collection", "collection_version", "decision", "reason", "question", "answer", "trace_id"),
)
_RATING = (
    *("user_id", "updated", "thumb", *SCALES, "tags", "comment"),
    *("relevant_passages", "irrelevant_passages", "supporting", "not_supporting"),
)
# what would be read back as several values, or as a list
_NOT_ON_A_LINE = re.compile(r"[\n\r|]|^\s*\[")


class FeedbackExport(NamedTuple):
    """A file: its text, media type and name, and of how many labels it is."""

    text: str
    media_type: str
    name: str
    labels: Labels


def export_feedback(ratings: Sequence[AnswerRating], format: FeedbackFormat) -> FeedbackExport:
    """Write labels as lines of JSON or as a table, or every rating as a row.

    In tables several values of a cell stand on lines of their own, or are a list in JSON where one
    has lines itself. No spreadsheet computes a cell.
    """
    labels = labels_of(ratings)
    if format == "jsonl":
        text = labels_text(labels.labels)
        return FeedbackExport(text, "application/jsonl; charset=utf-8", "labels.jsonl", labels)
    if format == "csv":
        text = _table(_LABEL, map(label_fields, labels.labels))
        return FeedbackExport(text, "text/csv; charset=utf-8", "labels.csv", labels)
    text = _table((*_ANSWER, *_RATING), map(_row, ratings))
    return FeedbackExport(text, "text/csv; charset=utf-8", "ratings.csv", labels)


def _row(rating: AnswerRating) -> dict[str, object]:
    vote = rating.vote
    about: dict[str, object] = rating.answer.model_dump(include=set(_ANSWER))
    marks: dict[str, object] = {
        "user_id": rating.voter,
        "updated": rating.updated,
        "thumb": vote.thumb,
        **{scale: vote.scores.get(scale) for scale in SCALES},
        "tags": vote.tags,
        "comment": vote.comment,
        "relevant_passages": _named(vote.passages, "relevant"),
        "irrelevant_passages": _named(vote.passages, "irrelevant"),
        "supporting": _named(vote.citations, "supports"),
        "not_supporting": _named(vote.citations, "does_not_support"),
    }
    return about | marks


def _named(marks: Mapping[str, str] | Mapping[int, str], value: str) -> list[str]:
    return [str(name) for name, what in marks.items() if what == value]


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    cells = ({column: _cell(value) for column, value in row.items()} for row in rows)
    return csv_text(columns, cells)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, list):
        return value
    texts = list(map(str, value))
    if any(map(_NOT_ON_A_LINE.search, texts)):
        return json.dumps(texts, ensure_ascii=False)
    return "\n".join(texts)


ANONYMOUS = "anonymous"
MOST = 200  # ratings of one page


class ByVoter(Strict):
    """The voter, where no keys are used."""

    user_id: Identifier | None = Field(None, description="As in the body of `POST /api/feedback`")


class FeedbackQuery(ByVoter):
    """The ratings wanted."""

    target: str = Field("", description="Only of answers of this target")
    collection: str = Field("", description="Only of answers from this collection")
    since: Day | None = Field(None, description="Only those changed on this day (UTC) or later")
    limit: int = Field(50, ge=1, le=MOST)
    offset: int = Field(0, ge=0, le=10**9, description="Ratings to pass over")


class FeedbackOut(BaseModel):
    """All that one person says of an answer now.

    `sent` is true once Phoenix has it; what is kept here alone is never sent. `trace_id` is empty
    for those who may not see traces, and of an answer that was not traced.
    """

    qa_id: str
    trace_id: str
    user_id: str
    thumb: Thumb | None
    scores: dict[Scale, Mark | None]
    tags: list[str]
    comment: str | None
    passages: dict[str, Relevance]
    citations: dict[str, Backing]
    updated: str | None = Field(description="When it was last changed, in UTC (ISO 8601)")
    sent: bool


class ListedFeedbackOut(FeedbackOut):
    """The rating of an answer by one person; its texts are empty if none are kept."""

    created: str
    target: str
    composite_target: str
    collection: str
    collection_version: str
    decision: Literal["ANSWER", "ABSTAIN", "BLOCK"]
    reason: str
    question: str
    answer: str


class FeedbackListOut(BaseModel):
    """A page of ratings, the last changed first."""

    total: int
    feedback: list[ListedFeedbackOut]


class FeedbackExportQuery(Strict):
    """The kind of file: labels as `jsonl` or `csv`, or the `ratings` as a table."""

    format: FeedbackFormat = "jsonl"
    collection: str = Field(
        "", description="Of answers from this collection; the configured one if absent"
    )


_FILE: ResponseDict = {
    200: {
        "description": "The file; `Content-Disposition` names it",
        "content": {
            "application/jsonl": {"schema": {"type": "string"}},
            "text/csv": {"schema": {"type": "string"}},
        },
        "headers": {
            "Content-Disposition": {"schema": {"type": "string"}},
            "X-Labels": {"description": "How many labels there are", "schema": {"type": "string"}},
            "X-Left-Out": {
                "description": "How many rated questions are no label, by reason",
                "schema": {"type": "string"},
            },
        },
    }
}
_STATE: ResponseDict = {200: FeedbackOut}
_FOUND = _STATE | {404: Problem}


def feedback_blueprint(feedback: Feedback, metrics: Metrics) -> APIBlueprint:
    """The routes of ratings."""
    blueprint = APIBlueprint(
        "feedback", __name__, url_prefix="/api", abp_tags=[ApiTag(name="feedback")]
    )

    @blueprint.post("/feedback", summary="Rate an answer", responses=_FOUND | {409: Problem})
    def post_feedback(body: FeedbackBody) -> dict[str, object]:
        g.qa_id = body.qa_id
        caller = present_caller()
        marks: list[tuple[str, str]] = []

        def change(answer: RatedAnswer, vote: Vote) -> Vote:
            _check_parts(answer, body)
            after = changed(vote, body)
            marks[:] = new_marks(vote, after)
            return after

        voter = _voter(caller, body.user_id)
        rating = feedback.change(caller.owner, body.qa_id, voter, change)
        for name, value in marks:
            metrics.count("atlas.feedback", {"name": name, "value": value})
        return _state(rating, caller)

    @blueprint.get(
        "/feedback/<rated_id:qa_id>", summary="Your rating of an answer", responses=_FOUND
    )
    def get_feedback(path: ByAnswer, query: ByVoter) -> dict[str, object]:
        g.qa_id = path.qa_id
        caller = present_caller()
        voter = _voter(caller, query.user_id)
        return _state(feedback.rating(caller.owner, path.qa_id, voter), caller)

    @blueprint.delete("/feedback/<rated_id:qa_id>", summary="Withdraw a rating", responses=_FOUND)
    def delete_feedback(path: ByAnswer, query: ByVoter) -> dict[str, object]:
        g.qa_id = path.qa_id
        caller = present_caller()
        voter = _voter(caller, query.user_id)
        withdrawn = feedback.change(caller.owner, path.qa_id, voter, lambda *_: Vote())
        return _state(withdrawn, caller)

    @blueprint.get("/feedback", summary="Ratings", responses={200: FeedbackListOut})
    def get_list(query: FeedbackQuery) -> dict[str, object]:
        caller = present_caller()
        own = _filter(query)
        if not caller.changes_all:
            own = own._replace(owner=caller.owner, voter=_voter(caller, query.user_id))
        total, ratings = feedback.store.page(own, query.limit, query.offset)
        listed = [_listed(rating, caller) for rating in ratings]
        return {"total": total, "feedback": listed}

    @blueprint.get("/feedback/export", summary="Labels, and all ratings", responses=_FILE)
    def get_export(query: FeedbackExportQuery) -> Response:
        selection = RatingFilter(collection=query.collection or feedback.collection)
        return _file(export_feedback(feedback.store.every(selection), query.format))

    return blueprint


def _file(exported: FeedbackExport) -> Response:
    left_out = (f"{reason}={n}" for reason, n in sorted(exported.labels.left_out.items()))
    return Response(
        exported.text,
        content_type=exported.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{exported.name}"',
            "X-Labels": str(len(exported.labels.labels)),
            "X-Left-Out": ", ".join(left_out),
        },
    )


def _voter(caller: Caller, user_id: str | None) -> str:
    """Identify the voter: by the key, or where none are used by the name they give."""
    if caller.key:
        return caller.key.id
    return caller.owner or user_id or ANONYMOUS


def _filter(query: FeedbackQuery) -> RatingFilter:
    since = query.since.isoformat() if query.since else ""
    return RatingFilter(None, query.user_id or "", query.target, query.collection, since)


def _check_parts(answer: RatedAnswer, body: FeedbackBody) -> None:
    """Refuse votes on what the answer does not have."""
    passages = {place.passage_id for place in answer.passages}
    if unknown := [id_ for id_ in body.passages or () if id_ not in passages]:
        raise RequestError(f"The answer {answer.qa_id} has no passage {shown(unknown)}.")
    numbers = {str(number) for number, _ in enumerate(answer.citations, start=1)}
    if unknown := [number for number in body.citations or () if number not in numbers]:
        raise RequestError(
            f"The answer {answer.qa_id} has {len(numbers)} citations, counted from 1, and none "
            f"with the number {shown(unknown)}."
        )


def _state(rating: AnswerRating, caller: Caller) -> dict[str, object]:
    return FeedbackOut.model_validate(_vote_fields(rating, caller)).model_dump(mode="json")


def _listed(rating: AnswerRating, caller: Caller) -> dict[str, object]:
    about = rating.answer.model_dump(include=set(ListedFeedbackOut.model_fields))
    listed = ListedFeedbackOut.model_validate(about | _vote_fields(rating, caller))
    return listed.model_dump(mode="json")


def _vote_fields(rating: AnswerRating, caller: Caller) -> dict[str, object]:
    vote = rating.vote
    return {
        "qa_id": rating.answer.qa_id,
        "trace_id": rating.answer.trace_id if caller.sees_traces else "",
        "user_id": rating.voter,
        "thumb": vote.thumb,
        "scores": {scale: vote.scores.get(scale) for scale in SCALES},
        "tags": vote.tags,
        "comment": vote.comment or None,
        "passages": vote.passages,
        "citations": {str(number): backing for number, backing in vote.citations.items()},
        "updated": rating.updated or None,
        "sent": rating.sent,
    }
