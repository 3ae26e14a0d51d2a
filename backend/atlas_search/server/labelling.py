"""Pages to label questions, for one person, and to rate the answers of a run, for several.

An application answers only who has one of its keys, and only on the routes that its page needs:
those of `atlas serve` that are not named here are not there.
"""

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Annotated, Literal

from flask import Response, g, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.openapi import OpenAPI
from pydantic import Field

from atlas_search.answer.wire import AnswerDocument, place_of
from atlas_search.atlas import Atlas
from atlas_search.core.domain import Passage
from atlas_search.core.errors import NotAllowed, NotFound, RequestError, UnknownCaller
from atlas_search.core.files import bundled_folder
from atlas_search.core.settings import Settings
from atlas_search.core.wire import PassageOut
from atlas_search.evaluation.labels import Decision, GoldSpan, Label
from atlas_search.evaluation.people import (
    LabelFile,
    Rating,
    Ratings,
    SavedLabel,
    answer_digest,
    digest_of,
    own_order,
    rater_name,
)
from atlas_search.search.request import MAX_QUESTION
from atlas_search.server.access.caller import NOBODY, Caller, present_caller, rule_key
from atlas_search.server.access.origin import origin_gate, origins
from atlas_search.server.api import StrictJSON, read_body
from atlas_search.server.app import forbid
from atlas_search.server.metrics import heed_privacy, speak_again
from atlas_search.server.page import PageFiles
from atlas_search.server.problems import Problem, problem_response, validation_response
from atlas_search.server.requests import Strict

HOST = "127.0.0.1"
MAX_BODY = 1024 * 1024  # bytes

Page = Literal["label.html", "rate.html"]
OPEN = frozenset({"GET /", "GET /static/<path:name>"})
"""The page itself, which tells nothing of the collection."""


def page_app(
    page: Page,
    settings: Settings,
    keys: Mapping[str, str],
    blueprints: Mapping[APIBlueprint, frozenset[str]],
    *,
    host: str = HOST,
    url: str = "",
) -> OpenAPI:
    """The application of a page, with the routes that are named for each blueprint.

    `keys` have the name of who comes with each. The page is known by its `host`, and by the `url`
    that people open if it is another.
    """
    app = OpenAPI(
        "atlas",
        doc_ui=False,
        validation_error_status=400,
        validation_error_model=Problem,
        validation_error_callback=validation_response,
        static_folder=None,
    )
    app.json = StrictJSON(app)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    app.register_error_handler(Exception, problem_response)
    app.before_request(heed_privacy)
    app.teardown_request(speak_again)
    app.before_request(origin_gate(origins(_own_settings(settings, host, url))))
    app.before_request(_gate(keys, frozenset().union(*blueprints.values())))
    app.before_request(read_body)
    app.after_request(_forbid)
    for blueprint in blueprints:
        app.register_api(blueprint)
    files = PageFiles(bundled_folder("frontend"))
    app.add_url_rule("/", view_func=lambda: files.page(page))
    app.add_url_rule("/static/<path:name>", "page", files.send)
    return app


def _own_settings(settings: Settings, host: str, url: str) -> Settings:
    """Keep no name of the server: the page has its own."""
    return settings.model_copy(
        update={
            "atlas_host": host,
            "atlas_address": "",
            "atlas_public_url": url,
            "atlas_allowed_hosts": "",
            "atlas_allowed_origins": "",
        }
    )


def _gate(keys: Mapping[str, str], routes: frozenset[str]) -> Callable[[], None]:
    """Return what to call before each request. It raises UnknownCaller and NotAllowed."""

    def admit() -> None:
        if request.url_rule is None:
            return  # there is no such route, which is said later
        rule = rule_key(request.method, request.url_rule.rule)
        g.caller = _caller(keys)
        if rule in OPEN:
            return
        if rule not in routes:
            raise NotAllowed("This route is closed.")
        if not g.caller.is_known:
            raise UnknownCaller(
                "This page needs the key that stands at the end of the address that was printed "
                "when it was started."
            )

    return admit


def _caller(keys: Mapping[str, str]) -> Caller:
    secret = (request.authorization and request.authorization.token) or ""
    for key, name in keys.items():
        if hmac.compare_digest(secret.encode(), key.encode()):
            return Caller(frozenset({"anyone", "reader"}), name=name, sees_traces=True)
    return NOBODY


def _forbid(response: Response) -> Response:
    if not response.cache_control.immutable:
        response.headers["Cache-Control"] = "no-store"
    return forbid(response, request.path)


MAX_GRADE = 3
USUAL = ("answerable", "unanswerable")
"""Categories of who names none: they follow what is known of the answer."""


class SpanBody(Strict):
    """Words that answer: characters of a document's text, and what stands there."""

    document_id: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str


class _Fields(Strict):
    """Label as the page shows it. Other programs write labels too: nothing is bounded here.

    `marks` say how relevant passages are, from 0 to 3; `documents` are known to be relevant
    without a passage, or to be more relevant than their passages.
    """

    id: str
    revision: str = ""
    question: str
    answers: list[str] = Field(default_factory=list)
    marks: dict[str, int] = Field(default_factory=dict)
    spans: list[SpanBody] = Field(default_factory=list)
    documents: list[str] = Field(default_factory=list)
    should_answer: bool | None = None
    category: str = ""
    split: str = ""


class LabelBody(_Fields):
    """A label as somebody saves it; `revision` is that of the label they began with."""

    id: str = Field(min_length=1)
    question: str = Field(min_length=1, max_length=MAX_QUESTION)


class LabelOut(_Fields):
    """A label with the passages that it marks, and the ids of those that are not there."""

    passages: list[PassageOut]
    missing: list[str]


def label_of(body: LabelBody, atlas: Atlas, before: Label | None) -> Label:
    """The label that a body says, with what `before` says that the page does not show.

    What it names must be in the collection, or have been in the label before. Raises NotFound and
    RequestError.
    """
    question = body.question.strip()
    answers = tuple(dict.fromkeys(text.strip() for text in body.answers if text.strip()))
    _check_grades(body.marks, before)
    passages, missing = passages_of(atlas, body.marks)
    _check_known(missing, before)
    by_place = attrgetter("document_id", "start", "end")
    spans = tuple(sorted({_span(span, atlas, before) for span in body.spans}, key=by_place))
    documents = _documents(body, passages, spans, _known_besides(before, atlas))
    grades = _kept_zeros(before, atlas) | documents | body.marks
    label = replace(
        before or Label(body.id, "", "", ""),
        question=question,
        answers=answers,
        split=body.split.strip(),
        should_answer=body.should_answer,
        gold_document_ids=frozenset(documents),
        gold_passage_ids=frozenset(id_ for id_, grade in body.marks.items() if grade),
        gold_spans=spans,
        grades={id_: grades[id_] for id_ in sorted(grades)},
        expected_decision=_decision(body, before),
    )
    if not question:
        raise RequestError("Enter the question.")
    unknown = label.should_answer is None and label.expected_decision is None
    if unknown and not label.located and not label.answers:
        raise RequestError(
            "Mark a passage that answers, write a reference answer, or say whether the collection "
            "answers the question."
        )
    category = body.category.strip()
    if category in ("", *USUAL):
        category = USUAL[0] if label.answerable else USUAL[1]
    return replace(label, category=category)


def document_of(label: Label, revision: str, atlas: Atlas) -> LabelOut:
    """Return what the page shows of a label."""
    marks = _marks(label)
    passages, missing = passages_of(atlas, marks)
    missing = [id_ for id_ in missing if marks[id_]]
    there = {passage.id for passage in passages}
    marks = {id_: grade for id_, grade in marks.items() if grade or id_ in there}
    around = {p.id: p for span in label.gold_spans for p in _around(span, atlas)}
    shown = {passage.id: passage for passage in passages} | around
    return LabelOut(
        id=label.id,
        revision=revision,
        question=label.question,
        answers=list(label.answers),
        marks={id_: marks[id_] for id_ in sorted(marks)},
        spans=[_span_body(span, atlas) for span in label.gold_spans],
        documents=sorted(_known_besides(label, atlas)),
        should_answer=label.should_answer,
        category=label.category,
        split=label.split,
        passages=[PassageOut.model_validate(p) for _, p in sorted(shown.items())],
        missing=missing,
    )


def passages_of(atlas: Atlas, ids: Iterable[str]) -> tuple[list[Passage], list[str]]:
    """The passages of the collection, and the ids of those that are not there, in order."""
    passages, missing = [], []
    for id_ in sorted(ids):
        try:
            passages.append(atlas.passage(id_))
        except NotFound:
            missing.append(id_)
    return passages, missing


def _documents(
    body: LabelBody,
    passages: Iterable[Passage],
    spans: Iterable[GoldSpan],
    besides: Mapping[str, int],
) -> dict[str, int]:
    """Gold documents with their grades: a document has that of its best passage.

    One that is known besides keeps the grade it had, unless a passage has a better one.
    """
    follow = _that_follow(passages, body.marks, spans)
    return follow | {id_: max(besides.get(id_, 1), follow.get(id_, 1)) for id_ in body.documents}


def _that_follow(
    passages: Iterable[Passage], marks: Mapping[str, int], spans: Iterable[GoldSpan]
) -> dict[str, int]:
    """The documents that are relevant because a passage or words of theirs are, with grades."""
    grades = {span.document_id: 1 for span in spans}
    for passage in passages:
        if grade := marks[passage.id]:
            grades[passage.document_id] = max(grades.get(passage.document_id, 1), grade)
    return grades


def _known_besides(label: Label | None, atlas: Atlas) -> dict[str, int]:
    """The gold documents of which a label says more than follows from their passages."""
    if label is None:
        return {}
    marks = _marks(label)
    follow = _that_follow(passages_of(atlas, marks)[0], marks, label.gold_spans)
    grades = {id_: max(label.grades.get(id_, 1), 1) for id_ in label.gold_document_ids}
    return {id_: grade for id_, grade in grades.items() if grade > follow.get(id_, 0)}


def _marks(label: Label) -> dict[str, int]:
    """The grades of passages; those of 0 may be of documents too."""
    zeros = {id_: 0 for id_, grade in label.grades.items() if not grade}
    return zeros | {id_: label.grades.get(id_, 1) for id_ in label.gold_passage_ids}


def _decision(body: LabelBody, before: Label | None) -> Decision | None:
    """Return the expected decision as it was, or None where `should_answer` contradicts it now:
    a label that contradicts itself cannot be read."""
    known = before.expected_decision if before else None
    agrees = body.should_answer is None or body.should_answer == (known == "ANSWER")
    return known if agrees else None


def _kept_zeros(before: Label | None, atlas: Atlas) -> dict[str, int]:
    """Return the documents that another program judged as not relevant: the page has no marks for
    them."""
    zeros = [id_ for id_, grade in before.grades.items() if not grade] if before else []
    return dict.fromkeys(passages_of(atlas, zeros)[1], 0)


def _check_grades(marks: Mapping[str, int], before: Label | None) -> None:
    known = _marks(before) if before else {}
    for id_, grade in marks.items():
        if not 0 <= grade <= MAX_GRADE and known.get(id_) != grade:
            raise RequestError(f"Grades go from 0 to {MAX_GRADE}; {id_[:200]} was given {grade}.")


def _span(body: SpanBody, atlas: Atlas, before: Label | None) -> GoldSpan:
    span = GoldSpan(body.document_id, body.start, body.end)
    if before and span in before.gold_spans:
        return span
    text = atlas.document(body.document_id).text[body.start : body.end]
    if not text.strip() or text != body.quote:
        raise RequestError(
            f"The marked words {body.quote[:80]!r} do not stand at this place of "
            f"{body.document_id}. Has the collection changed? Search again."
        )
    return span


def _check_known(missing: Iterable[str], before: Label | None) -> None:
    known = {*before.gold_passage_ids, *before.grades} if before else set()
    strange = [id_ for id_ in missing if id_ not in known]
    if strange:
        raise NotFound(f"There is no passage {strange[0][:200]!r} in this collection.")


def _span_body(span: GoldSpan, atlas: Atlas) -> SpanBody:
    try:
        quote = atlas.document(span.document_id).text[span.start : span.end]
    except NotFound:
        quote = ""
    return SpanBody(document_id=span.document_id, start=span.start, end=span.end, quote=quote)


def _around(span: GoldSpan, atlas: Atlas) -> list[Passage]:
    """The passages that hold the beginning of a span."""
    try:
        passages: Mapping[str, Passage] = {p.id: p for p in atlas.passages(span.document_id)}
    except NotFound:
        return []
    return [p for p in passages.values() if p.start <= span.start < p.end]


LABEL_ROUTES = frozenset(
    {"GET /api/labels", "GET /api/label", "PUT /api/label", "DELETE /api/label"}
)
SEARCH_ROUTES = frozenset({"POST /api/search"})


class LabelQuery(Strict):
    """Id of a label, and its revision when it was read."""

    id: str = Field(min_length=1)
    revision: str = ""


def label_blueprint(atlas: Atlas, file: LabelFile) -> APIBlueprint:
    """The labels of one file, about one collection."""
    blueprint = APIBlueprint("labels", __name__, url_prefix="/api")

    @blueprint.get("/labels")
    def get_labels() -> dict[str, object]:
        return {
            "file": str(file.path),
            "drafts": digest_of(file.path),
            "collection": atlas.services.store.manifest.collection,
            "corpora": {corpus.id: corpus.label for corpus in atlas.corpora},
            "labels": [_line(saved) for saved in file.saved()],
        }

    @blueprint.get("/label")
    def get_label(query: LabelQuery) -> dict[str, object]:
        return _document(file.find(query.id), atlas)

    @blueprint.put("/label")
    def put_label(body: LabelBody) -> dict[str, object]:
        before: Label | None = None
        with suppress(NotFound):
            before = file.find(body.id).label
        return _document(file.save(label_of(body, atlas, before), body.revision), atlas)

    @blueprint.delete("/label")
    def delete_label(query: LabelQuery) -> dict[str, object]:
        file.remove(query.id, query.revision)
        return {}

    return blueprint


def _document(saved: SavedLabel, atlas: Atlas) -> dict[str, object]:
    return document_of(saved.label, saved.revision, atlas).model_dump(mode="json")


def _line(saved: SavedLabel) -> dict[str, object]:
    label = saved.label
    return {
        "id": label.id,
        "revision": saved.revision,
        "question": label.question,
        "category": label.category,
        "split": label.split,
        "answerable": label.answerable,
        "relevant": len(label.gold_passage_ids) or len(label.relevance),
    }


RATING_ROUTES = frozenset({"GET /api/rating", "GET /api/ratings", "PUT /api/rating"})
Comment = Annotated[str, Field(max_length=10_000)]


@dataclass(frozen=True)
class Rated:
    """A question of a run with the answer that is rated."""

    label: Label
    answer: AnswerDocument


class RaterQuery(Strict):
    """Name of a rater; whoever has a link of their own needs none."""

    rater: str = ""


class RatingBody(Strict):
    """Rating of an answer; scales may be left out."""

    rater: str = ""
    label_id: str
    scores: dict[str, int] = Field(max_length=100)
    rationales: dict[str, Comment] = Field(default_factory=dict, max_length=100)
    comment: Comment = ""


def rating_blueprint(
    ratings: Ratings,
    rated: Sequence[Rated],
    scales: Sequence[str],
    shares: Mapping[str, Sequence[str]],
    seed: int,
) -> APIBlueprint:
    """The ratings of a run on these of its scales.

    `shares` are the answers of each rater who comes with a key of their own; who comes with one
    that has no name gives theirs, and rates all.
    """
    blueprint = APIBlueprint("ratings", __name__, url_prefix="/api")
    by_id = {one.label.id: one for one in rated}
    digests = {id_: answer_digest(one.answer) for id_, one in by_id.items()}
    run = digest_of(ratings.folder)  # its name might tell the target

    def name_of(name: str) -> str:
        if own := present_caller().name:
            return rater_name(name or own, [own], others=False)
        return rater_name(name, sorted({rating.rater for rating in ratings.all()}), others=True)

    @blueprint.get("/rating")
    def get_rating() -> dict[str, object]:
        return {
            "run": run,
            "rater": present_caller().name,
            "scales": [scale.model_dump() for scale in ratings.scales() if scale.name in scales],
        }

    @blueprint.get("/ratings")
    def get_ratings(query: RaterQuery) -> dict[str, object]:
        rater = name_of(query.rater)
        own = ratings.of_rater(rater, digests)
        order = own_order(shares.get(rater, list(by_id)), rater, seed)
        return {
            "rater": rater,
            "items": [_item(by_id[id_]) for id_ in order],
            "ratings": {id_: _plain(own[id_]) for id_ in order if id_ in own},
        }

    @blueprint.put("/rating")
    def put_rating(body: RatingBody) -> dict[str, object]:
        rater = name_of(body.rater)
        if body.label_id not in shares.get(rater, by_id):
            raise NotFound("There is no such answer among those to rate.")
        ratings.add(_rating(body, rater, digests[body.label_id]))
        return _plain(ratings.of_rater(rater, digests)[body.label_id])

    return blueprint


def _rating(body: RatingBody, rater: str, answer: str) -> Rating:
    """The rating that a body gives an answer. Raises RequestError for an empty one."""
    if not body.scores and not "".join([body.comment, *body.rationales.values()]).strip():
        raise RequestError("Choose a number on a scale, or write a comment.")
    return Rating(
        rater=rater,
        label_id=body.label_id,
        scores=body.scores,
        rationales={name: text.strip() for name, text in body.rationales.items()},
        comment=body.comment.strip(),
        at=datetime.now(UTC),
        answer=answer,
    )


def _plain(rating: Rating) -> dict[str, object]:
    return rating.model_dump(include={"scores", "rationales", "comment"})


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
