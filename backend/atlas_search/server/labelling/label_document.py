"""A label as the page sends and shows it: with passages instead of ids alone."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from atlas_search.asking import MAX_QUESTION
from atlas_search.atlas import Atlas
from atlas_search.core.domain import Passage
from atlas_search.core.errors import NotFound, RequestError
from atlas_search.documents.search import PassageOut
from atlas_search.evaluation.labels.label import Decision, Label, Span

MAX_GRADE = 3
USUAL = ("answerable", "unanswerable")
"""Categories of who names none: they follow what is known of the answer."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SpanBody(_Strict):
    """Words that answer: characters of a document's text, and what stands there."""

    document_id: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str


class _Fields(_Strict):
    """What the page shows of a label. Other programs write labels too: nothing is bounded here.

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
    spans = tuple(sorted({_span(span, atlas, before) for span in body.spans}, key=_by_place))
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
        raise RequestError("Write the question.")
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
    """What the page shows of a label."""
    marks = _marks(label)
    found, missing = passages_of(atlas, marks)
    missing = [id_ for id_ in missing if marks[id_]]
    there = {passage.id for passage in found}
    marks = {id_: grade for id_, grade in marks.items() if grade or id_ in there}
    around = {p.id: p for span in label.gold_spans for p in _around(span, atlas)}
    shown = {passage.id: passage for passage in found} | around
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
    body: LabelBody, passages: Iterable[Passage], spans: Iterable[Span], besides: Mapping[str, int]
) -> dict[str, int]:
    """Gold documents with their grades: a document has that of its best passage.

    One that is known besides keeps the grade it had, unless a passage has a better one.
    """
    follow = _that_follow(passages, body.marks, spans)
    return follow | {id_: max(besides.get(id_, 1), follow.get(id_, 1)) for id_ in body.documents}


def _that_follow(
    passages: Iterable[Passage], marks: Mapping[str, int], spans: Iterable[Span]
) -> dict[str, int]:
    """The documents that are relevant because a passage or words of theirs are, with grades."""
    found = {span.document_id: 1 for span in spans}
    for passage in passages:
        if grade := marks[passage.id]:
            found[passage.document_id] = max(found.get(passage.document_id, 1), grade)
    return found


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
    """What becomes of the question, as it was; unknown where the answer to `should_answer` is
    another now, for a label that contradicts itself cannot be read."""
    known = before.expected_decision if before else None
    agrees = body.should_answer is None or body.should_answer == (known == "ANSWER")
    return known if agrees else None


def _kept_zeros(before: Label | None, atlas: Atlas) -> dict[str, int]:
    """What another program has judged as not relevant, and is no passage: the page has no marks
    for documents."""
    zeros = [id_ for id_, grade in before.grades.items() if not grade] if before else []
    return dict.fromkeys(passages_of(atlas, zeros)[1], 0)


def _check_grades(marks: Mapping[str, int], before: Label | None) -> None:
    known = _marks(before) if before else {}
    for id_, grade in marks.items():
        if not 0 <= grade <= MAX_GRADE and known.get(id_) != grade:
            raise RequestError(
                f"A grade goes from 0 to {MAX_GRADE}; {grade} of {id_[:200]} is none."
            )


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
