"""Files of labels and of ratings."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from atlas_search.evaluation.labels.label import Label
from atlas_search.output.table import csv_text
from atlas_search.server.feedback.labels import Labels, labels_of
from atlas_search.server.feedback.store import Rating
from atlas_search.server.feedback.votes import SCALES

FeedbackFormat = Literal["jsonl", "csv", "ratings"]
FEEDBACK_FORMATS: tuple[FeedbackFormat, ...] = get_args(FeedbackFormat)

_LABEL = (
    *("id", "split", "category", "question", "answers", "gold_document_ids", "kind"),
    "should_answer",
)
_ANSWER = (
    *("created", "qa_id", "session_id", "target", "composite_target", "provider", "model"),
    *("collection", "collection_version", "decision", "reason", "question", "answer", "trace_id"),
)
_RATING = (
    *("user_id", "updated", "thumb", *SCALES, "tags", "comment"),
    *("relevant_passages", "irrelevant_passages", "supporting", "not_supporting"),
)


class FeedbackExport(NamedTuple):
    """A file: its text, media type and name, and of how many labels it is."""

    text: str
    media_type: str
    name: str
    labels: Labels


def export_feedback(ratings: Sequence[Rating], format: FeedbackFormat) -> FeedbackExport:
    """Labels as lines of JSON or as a table, or every rating as a row.

    In tables several values of a cell stand on lines of their own, and no spreadsheet computes one.
    """
    labels = labels_of(ratings)
    if format == "jsonl":
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in _lines(labels))
        return FeedbackExport(text, "application/jsonl; charset=utf-8", "labels.jsonl", labels)
    if format == "csv":
        text = _table(_LABEL, _lines(labels))
        return FeedbackExport(text, "text/csv; charset=utf-8", "labels.csv", labels)
    text = _table((*_ANSWER, *_RATING), map(_row, ratings))
    return FeedbackExport(text, "text/csv; charset=utf-8", "ratings.csv", labels)


def _lines(labels: Labels) -> list[dict[str, object]]:
    return [_line(label) for label in labels.labels]


def _line(label: Label) -> dict[str, object]:
    line: dict[str, object] = {
        "id": label.id,
        "split": label.split,
        "category": label.category,
        "question": label.question,
        "answers": list(label.answers),
        "gold_document_ids": sorted(label.gold_document_ids),
        "kind": label.kind,
    }
    if label.should_answer is not None:
        line["should_answer"] = label.should_answer
    return line


def _row(rating: Rating) -> dict[str, object]:
    vote = rating.vote
    about: dict[str, object] = rating.answer.model_dump(include=set(_ANSWER))
    said: dict[str, object] = {
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
    return about | said


def _named(said: Mapping[str, str] | Mapping[int, str], wanted: str) -> list[str]:
    return [str(name) for name, what in said.items() if what == wanted]


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    cells = ({column: _cell(value) for column, value in row.items()} for row in rows)
    return csv_text(columns, cells)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return "\n".join(map(str, value)) if isinstance(value, list) else value
