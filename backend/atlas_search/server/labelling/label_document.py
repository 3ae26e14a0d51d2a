"""A label as the page sends and shows it: with passages instead of ids alone."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from atlas_search.asking import MAX_QUESTION
from atlas_search.atlas import Atlas
from atlas_search.core.domain import Passage
from atlas_search.core.errors import NotFound, RequestError
from atlas_search.evaluation.labels.label import Label, Span
from atlas_search.output.search_document import PassageOut

MAX_GRADE = 3
MOST_MARKS = 1000
USUAL = ("answerable", "unanswerable")
"""Categories of who names none: they follow what is known of the answer."""
_NAME = Field("", max_length=200)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SpanBody(_Strict):
    """Words that answer: characters of a document's text, and what stands there."""

    document_id: str = Field(max_length=1000)
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    quote: str


class LabelBody(_Strict):
    """A label as somebody saves it; `revision` is that of the label they began with.

    `marks` say how relevant passages are, from 0 to 3; `documents` are known to be relevant
    without a passage.
    """

    id: str = Field(min_length=1, max_length=200)
    revision: str = ""
    question: str = Field(min_length=1, max_length=MAX_QUESTION)
    answers: list[str] = Field(default_factory=list, max_length=50)
    marks: dict[str, int] = Field(default_factory=dict, max_length=MOST_MARKS)
    spans: list[SpanBody] = Field(default_factory=list, max_length=MOST_MARKS)
    documents: list[str] = Field(default_factory=list, max_length=MOST_MARKS)
    should_answer: bool | None = None
    category: str = _NAME
    split: str = _NAME


class LabelOut(LabelBody):
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
    _check_grades(body.marks)
    passages, missing = passages_of(atlas, body.marks)
    _check_known(missing, before)
    spans = tuple(sorted({_span(span, atlas, before) for span in body.spans}, key=_by_place))
    documents = _documents(body, passages, spans, before)
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
    )
    if not question:
        raise RequestError("Write the question.")
    if not label.located and label.should_answer is None and label.expected_decision is None:
        raise RequestError(
            "Mark a passage that answers, or say whether the collection answers the question."
        )
    category = body.category.strip()
    if category in ("", *USUAL):
        category = USUAL[0] if label.answerable else USUAL[1]
    return replace(label, category=category)


def document_of(label: Label, revision: str, atlas: Atlas) -> LabelOut:
    """What the page shows of a label."""
    marks = {id_: label.grades.get(id_, 1) for id_ in label.gold_passage_ids}
    marks |= {id_: 0 for id_, grade in label.grades.items() if not grade}
    found, missing = passages_of(atlas, marks)
    missing = [id_ for id_ in missing if marks[id_]]
    there = {passage.id for passage in found}
    marks = {id_: grade for id_, grade in marks.items() if grade or id_ in there}
    of_passages = {passage.document_id for passage in found} | {
        s.document_id for s in label.gold_spans
    }
    around = {p.id: p for span in label.gold_spans for p in _around(span, atlas)}
    shown = {passage.id: passage for passage in found} | around
    return LabelOut(
        id=label.id,
        revision=revision,
        question=label.question,
        answers=list(label.answers),
        marks={id_: marks[id_] for id_ in sorted(marks)},
        spans=[_span_body(span, atlas) for span in label.gold_spans],
        documents=sorted(label.gold_document_ids - of_passages),
        should_answer=label.should_answer,
        category=label.category,
        split=label.split,
        passages=[PassageOut.model_validate(p.to_dict()) for _, p in sorted(shown.items())],
        missing=missing,
    )


def passages_of(atlas: Atlas, ids: Iterable[str]) -> tuple[list[Passage], list[str]]:
    """The passages of the collection, and the ids of those that are not there, in order."""
    found, missing = [], []
    for id_ in sorted(ids):
        try:
            found.append(atlas.passage(id_))
        except NotFound:
            missing.append(id_)
    return found, missing


def _documents(
    body: LabelBody, passages: Iterable[Passage], spans: Iterable[Span], before: Label | None
) -> dict[str, int]:
    """Gold documents with their grades: a document has that of its best passage.

    One that is known without a passage keeps the grade it had.
    """
    known = before.grades if before else {}
    found = {id_: max(known.get(id_, 1), 1) for id_ in body.documents}
    found |= {span.document_id: 1 for span in spans if span.document_id not in found}
    for passage in passages:
        if grade := body.marks[passage.id]:
            id_ = passage.document_id
            found[id_] = max(found.get(id_, 1), grade)
    return found


def _kept_zeros(before: Label | None, atlas: Atlas) -> dict[str, int]:
    """What another program has judged as not relevant, and is no passage: the page has no marks
    for documents."""
    zeros = [id_ for id_, grade in before.grades.items() if not grade] if before else []
    return dict.fromkeys(passages_of(atlas, zeros)[1], 0)


def _check_grades(marks: Mapping[str, int]) -> None:
    for grade in marks.values():
        if not 0 <= grade <= MAX_GRADE:
            raise RequestError(f"A grade goes from 0 to {MAX_GRADE}; {grade} is none.")


def _span(body: SpanBody, atlas: Atlas, before: Label | None) -> Span:
    span = Span(body.document_id, body.start, body.end)
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


def _span_body(span: Span, atlas: Atlas) -> SpanBody:
    try:
        quote = atlas.document(span.document_id).text[span.start : span.end]
    except NotFound:
        quote = ""
    return SpanBody(document_id=span.document_id, start=span.start, end=span.end, quote=quote)


def _around(span: Span, atlas: Atlas) -> list[Passage]:
    """The passages that hold the beginning of a span."""
    try:
        passages: Mapping[str, Passage] = {p.id: p for p in atlas.passages(span.document_id)}
    except NotFound:
        return []
    return [p for p in passages.values() if p.start <= span.start < p.end]


def _by_place(span: Span) -> tuple[str, int, int]:
    return span.document_id, span.start, span.end
