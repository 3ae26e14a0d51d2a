"""`/api/feedback`: what readers say of answers."""

from typing import Literal

from flask import Response, g
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag as ApiTag
from flask_openapi3.types import ResponseDict
from pydantic import BaseModel, ConfigDict, Field

from atlas_search.core.errors import RequestError, shown
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.server.access.caller import Caller, present_caller
from atlas_search.server.ask import ByAnswer
from atlas_search.server.feedback.export import FeedbackFormat, export_feedback
from atlas_search.server.feedback.feedback import Feedback
from atlas_search.server.feedback.rated import RatedAnswer
from atlas_search.server.feedback.store import Rating, Wanted
from atlas_search.server.feedback.votes import (
    SCALES,
    Backing,
    FeedbackBody,
    Mark,
    Relevance,
    Scale,
    Thumb,
    Vote,
    changed,
    new_marks,
)
from atlas_search.server.metrics import count_feedback
from atlas_search.server.problems import Problem
from atlas_search.server.schemas.requests import Day, Identifier

ANONYMOUS = "anonymous"
MOST = 200  # ratings of one page


class ByVoter(BaseModel):
    """Who says it, where no keys are used."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: Identifier | None = Field(None, description="As in the body of `POST /api/feedback`")


class FeedbackQuery(ByVoter):
    """Which ratings."""

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
    """What one person says of an answer, and of which; its texts are empty if none are kept."""

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


class FeedbackExportQuery(BaseModel):
    """What kind of file: labels as `jsonl` or `csv`, or the `ratings` as a table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    """Ratings of answers."""
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
            count_feedback(metrics, name, value)
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
        own = _wanted(query)
        if not _reads_all(caller):
            own = own._replace(owner=caller.owner, voter=_voter(caller, query.user_id))
        total, ratings = feedback.page(own, query.limit, query.offset)
        listed = [_listed(rating, caller) for rating in ratings]
        return {"total": total, "feedback": listed}

    @blueprint.get("/feedback/export", summary="Labels, and all ratings", responses=_FILE)
    def get_export(query: FeedbackExportQuery) -> Response:
        wanted = Wanted(collection=query.collection or feedback.collection)
        exported = export_feedback(feedback.every(wanted), query.format)
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

    return blueprint


def _voter(caller: Caller, user_id: str | None) -> str:
    """Who says it: the key, or where none are used who they say they are."""
    if caller.key:
        return caller.key.id
    return caller.owner or user_id or ANONYMOUS


def _reads_all(caller: Caller) -> bool:
    return "administrator" in caller.rights and caller.sees_everything


def _wanted(query: FeedbackQuery) -> Wanted:
    since = query.since.isoformat() if query.since else ""
    return Wanted(None, query.user_id or "", query.target, query.collection, since)


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


def _state(rating: Rating, caller: Caller) -> dict[str, object]:
    return FeedbackOut.model_validate(_said(rating, caller)).model_dump(mode="json")


def _listed(rating: Rating, caller: Caller) -> dict[str, object]:
    about = rating.answer.model_dump(include=set(ListedFeedbackOut.model_fields))
    listed = ListedFeedbackOut.model_validate(about | _said(rating, caller))
    return listed.model_dump(mode="json")


def _said(rating: Rating, caller: Caller) -> dict[str, object]:
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
        "citations": {str(number): said for number, said in vote.citations.items()},
        "updated": rating.updated or None,
        "sent": rating.sent,
    }
