"""Files of labels and of ratings."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from atlas_search.documents.export import csv_text
from atlas_search.evaluation.labels.write import ALWAYS, label_fields, labels_text
from atlas_search.server.feedback.labels import Labels, labels_of
from atlas_search.server.feedback.store import Rating
from atlas_search.server.feedback.votes import SCALES

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


def export_feedback(ratings: Sequence[Rating], format: FeedbackFormat) -> FeedbackExport:
    """Labels as lines of JSON or as a table, or every rating as a row.

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
    if not isinstance(value, list):
        return value
    texts = list(map(str, value))
    if any(map(_NOT_ON_A_LINE.search, texts)):
        return json.dumps(texts, ensure_ascii=False)
    return "\n".join(texts)
