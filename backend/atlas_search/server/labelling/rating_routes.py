"""What the page of `atlas eval rate` asks for. Nothing it gets says who wrote an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from flask_openapi3.blueprint import APIBlueprint
from pydantic import BaseModel, ConfigDict, Field

from atlas_search.core.errors import NotFound, RequestError
from atlas_search.documents.answer import AnswerDocument, place_of
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.people.lines import digest_of
from atlas_search.evaluation.people.raters import own_order, rater_name
from atlas_search.evaluation.people.ratings import Rating, Ratings, answer_digest

RATING_ROUTES = frozenset({"GET /api/rating", "GET /api/ratings", "PUT /api/rating"})
MAX_COMMENT = 10_000


@dataclass(frozen=True)
class Rated:
    """A question of a run with the answer that is rated."""

    label: Label
    answer: AnswerDocument


class RaterQuery(BaseModel):
    """Who rates."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rater: str


class RatingBody(BaseModel):
    """What somebody says of an answer; scales may be left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rater: str
    label_id: str
    scores: dict[str, int] = Field(max_length=100)
    comment: str = Field("", max_length=MAX_COMMENT)


def rating_blueprint(
    ratings: Ratings,
    rated: Sequence[Rated],
    scales: Sequence[str],
    raters: Sequence[str],
    seed: int,
) -> APIBlueprint:
    """The ratings of a run on these of its scales; without `raters` whoever gives a name rates."""
    blueprint = APIBlueprint("ratings", __name__, url_prefix="/api")
    by_id = {one.label.id: one for one in rated}
    digests = {id_: answer_digest(one.answer) for id_, one in by_id.items()}
    run = digest_of(ratings.folder)  # its name might tell the target

    def name_of(given: str) -> str:
        known = raters or sorted({rating.rater for rating in ratings.all()})
        return rater_name(given, known, others=not raters)

    @blueprint.get("/rating")
    def get_rating() -> dict[str, object]:
        return {
            "run": run,
            "raters": list(raters),
            "scales": [scale.model_dump() for scale in ratings.scales() if scale.name in scales],
            "answers": len(by_id),
        }

    @blueprint.get("/ratings")
    def get_ratings(query: RaterQuery) -> dict[str, object]:
        rater = name_of(query.rater)
        given = ratings.of_rater(rater, digests)
        order = own_order(list(by_id), rater, seed)
        return {
            "rater": rater,
            "items": [_item(by_id[id_]) for id_ in order],
            "ratings": {id_: _plain(given[id_]) for id_ in order if id_ in given},
        }

    @blueprint.put("/rating")
    def put_rating(body: RatingBody) -> dict[str, object]:
        if body.label_id not in by_id:
            raise NotFound("There is no such answer in this run.")
        if not body.scores and not body.comment.strip():
            raise RequestError("Choose a number on a scale, or write a comment.")
        rating = Rating(
            rater=name_of(body.rater),
            label_id=body.label_id,
            scores=body.scores,
            comment=body.comment.strip(),
            at=datetime.now(UTC),
            answer=digests[body.label_id],
        )
        ratings.add(rating)
        return _plain(ratings.of_rater(rating.rater, digests)[rating.label_id])

    return blueprint


def _plain(rating: Rating) -> dict[str, object]:
    return {"scores": dict(rating.scores), "comment": rating.comment}


def _item(rated: Rated) -> dict[str, object]:
    """An answer without what tells its target: citation tokens become numbers."""
    answer = rated.answer
    markers = list(dict.fromkeys(citation.marker for citation in answer.citations))
    text = answer.answer or ""
    for number, marker in enumerate(markers, start=1):
        text = text.replace(marker, f"[{number}]")
    return {
        "label_id": rated.label.id,
        "question": rated.label.question,
        "decision": answer.decision,
        "answer": text,
        "reason": answer.reason.message,
        "references": list(rated.label.answers),
        "quotes": [
            {
                "number": markers.index(citation.marker) + 1,
                "title": citation.title,
                "place": place_of(citation),
                "quote": citation.quote,
            }
            for citation in answer.citations
        ],
    }
