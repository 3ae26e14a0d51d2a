"""Label sets: a row read as a label, and the labels of a file."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from atlas_search.core.errors import SourceError
from atlas_search.evaluation import labels
from atlas_search.evaluation.labels import (
    GoldSpan,
    Label,
    LabelColumns,
    LabelRow,
    Meaning,
    Split,
    columns_of,
    not_a_label,
)

_READ: Mapping[Meaning, Callable[[object], object]] = {
    "id": labels.name_of,
    "question": labels.text_of,
    "answers": labels.texts_of,
    "gold documents": labels.ids_of,
    "gold passages": labels.ids_of,
    "gold places": labels.places_of,
    "quotes": labels.quotes_of,
    "should answer": labels.yes_or_no,
    "should decline": labels.yes_or_no,
    "expected decision": labels.decision_of,
    "category": labels.name_of,
    "kind": labels.name_of,
    "corpora": labels.corpora_of,
    "filters": labels.filters_of,
    "split": labels.split_of,
}
_ANSWERED: Mapping[Meaning, object] = {
    "should answer": True,
    "should decline": False,
    "expected decision": "ANSWER",
}
"""What each column says of a question that should be answered."""


@dataclass(frozen=True)
class ReadLabel:
    """A label as its file has it: gold documents by whatever name they have there.

    `quotes` are texts that stand somewhere in them, `others` all texts of columns without a
    meaning, but for those of a system. With `is_named` the id is the file's own.
    """

    label: Label
    place: str
    quotes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    is_named: bool = True


@dataclass(frozen=True)
class _Fields:
    """The values of a row by meaning, and the columns that they come from."""

    place: str
    known: dict[Meaning, Any] = field(default_factory=dict)
    columns: dict[Meaning, str] = field(default_factory=dict)
    irrelevant: set[str] = field(default_factory=set)
    """Documents and passages with a grade of 0 or less."""

    def texts(self, meaning: Meaning) -> tuple[str, ...]:
        """The texts of a meaning; none if no column has it."""
        return tuple(self.known.get(meaning, ()))

    def add(self, meaning: Meaning, column: str, value: object) -> None:
        """Two columns may say the same; of two lists one may hold the other."""
        before = self.known.setdefault(meaning, value)
        if before == value:
            self.columns.setdefault(meaning, column)
        elif isinstance(before, tuple) and isinstance(value, tuple) and _hold(before, value):
            self.known[meaning] = max(before, value, key=len)
        else:
            raise not_a_label(
                self.place,
                f"`{self.columns[meaning]}` and `{column}` both say the {meaning}, and differ: "
                f"{before!r} and {value!r}. Leave one of them out.",
            )

    def add_grades(self, column: str, grades: Mapping[str, int]) -> None:
        """Grades of documents and passages by their id."""
        relevant = {id_: grade for id_, grade in grades.items() if grade > 0}
        self.irrelevant.update(grades.keys() - relevant.keys())
        self.add("grades", column, relevant)


def read_label(row: LabelRow, columns: LabelColumns) -> ReadLabel | None:
    """The label of a row; None if its question is empty. Raises SourceError with its place."""
    fields = _fields(row, columns)
    if "question" not in fields.known:
        return None
    others = (row.fields.get(name) for name in columns.unused if name not in columns.of_a_system)
    return ReadLabel(
        _label(fields, columns),
        row.place,
        fields.texts("quotes"),
        tuple(text for value in others for text in labels.strings_in(value)),
        "id" in fields.known,
    )


def distinct_ids(found: Iterable[ReadLabel]) -> list[ReadLabel]:
    """The labels, each with an id of its own. Raises SourceError if the file gives one twice."""
    places: dict[str, str] = {}
    distinct = []
    for one in found:
        id_, count = one.label.id, 1
        if one.is_named and id_ in places:
            raise not_a_label(one.place, f"its id {id_!r} is that of {places[id_]} too")
        while id_ in places:
            count += 1
            id_ = f"{one.label.id}-{count}"
        places[id_] = one.place
        distinct.append(replace(one, label=replace(one.label, id=id_)))
    return distinct


def _fields(row: LabelRow, columns: LabelColumns) -> _Fields:
    if not any(columns.meanings.get(name) == "question" for name in row.fields):
        raise not_a_label(
            row.place, f"it has no question, but {', '.join(row.fields) or 'nothing'}"
        )
    fields = _Fields(row.place)
    for name, value in row.fields.items():
        if meaning := columns.meanings.get(name):
            _read(fields, meaning, name, value)
    return fields


def _read(fields: _Fields, meaning: Meaning, column: str, value: object) -> None:
    if labels.is_blank(value):
        return
    try:
        if meaning == "grades":
            _read_grades(fields, column, value)
            return
        fields.add(meaning, column, _READ[meaning](value))
        if meaning == "gold documents" and isinstance(value, Mapping):
            fields.add_grades(column, labels.grades_of(value))
    except ValueError as error:
        raise not_a_label(fields.place, f"`{column}`: {error}") from error


def _read_grades(fields: _Fields, column: str, value: object) -> None:
    grade = labels.grade_of(value)
    if grade is None:
        fields.add_grades(column, labels.grades_of(value))
    else:
        fields.add("grades", column, grade)


def _label(fields: _Fields, columns: LabelColumns) -> Label:
    known = fields.known
    gold, grades = _gold(fields)
    label = Label(
        id=known.get("id") or _digest(known["question"]),
        split=known.get("split", ""),
        category=known.get("category", ""),
        question=known["question"],
        answers=fields.texts("answers"),
        gold_document_ids=gold,
        kind=known.get("kind", ""),
        should_answer=_should_answer(fields, columns),
        gold_passage_ids=frozenset(fields.texts("gold passages")) - fields.irrelevant,
        gold_spans=_places(fields, gold),
        grades=grades,
        corpus_filter=fields.texts("corpora"),
        filters=known.get("filters", {}),
        expected_decision=known.get("expected decision"),
    )
    if label.category:
        return label
    return replace(label, category="answerable" if label.answerable else "unanswerable")


def _gold(fields: _Fields) -> tuple[frozenset[str], dict[str, int]]:
    gold = frozenset(fields.texts("gold documents")) - fields.irrelevant
    grades = fields.known.get("grades", {})
    if isinstance(grades, dict):
        return gold | (grades.keys() - set(fields.texts("gold passages"))), grades
    if len(gold) == 1:
        return (gold, dict.fromkeys(gold, grades)) if grades > 0 else (frozenset(), {})
    raise not_a_label(
        fields.place,
        f"`{fields.columns['grades']}` is one grade, and there are {len(gold)} gold documents: "
        'give the grades as {"document": 2}',
    )


def _places(fields: _Fields, gold: frozenset[str]) -> tuple[GoldSpan, ...]:
    spans: tuple[GoldSpan, ...] = fields.known.get("gold places", ())
    if strange := sorted({span.document_id for span in spans} & fields.irrelevant):
        raise not_a_label(
            fields.place,
            f"`{fields.columns['gold places']}` and `{fields.columns['grades']}` contradict each "
            f"other: a place is in {strange[0]}, whose grade is 0 or less",
        )
    if len(gold) == 1:
        only = min(gold)
        return tuple(
            span if span.document_id else replace(span, document_id=only) for span in spans
        )
    if all(span.document_id for span in spans):
        return spans
    raise not_a_label(
        fields.place,
        f"`{fields.columns['gold places']}`: a place has no document_id, and there are {len(gold)} "
        "gold documents that it may stand in",
    )


def _should_answer(fields: _Fields, columns: LabelColumns) -> bool | None:
    """Return whether it should be answered; None if no column says so.

    Where no column is about answers, quotes say that there is one.
    """
    known = fields.known
    stated = {
        fields.columns[meaning]: known[meaning] == wanted
        for meaning, wanted in _ANSWERED.items()
        if meaning in known
    }
    if len(set(stated.values())) > 1:
        told = ", ".join(f"`{c}` says {'answer' if v else 'decline'}" for c, v in stated.items())
        raise not_a_label(fields.place, f"its columns contradict each other: {told}")
    if stated:
        is_said = known.keys() & {"should answer", "should decline"}
        return next(iter(stated.values())) if is_said else None
    only_quoted = "quotes" in known and "answers" not in columns.meanings.values()
    return True if only_quoted else None


def _hold(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return set(one) <= set(other) or set(other) <= set(one)


def _digest(question: str) -> str:
    return f"q-{hashlib.sha256(' '.join(question.casefold().split()).encode()).hexdigest()[:12]}"


REMARK = (
    "the references are verdicts on statements (supported, refuted, not mentioned): they are not "
    "compared with answers, and what is not mentioned should be declined"
)

# the classes of SNLI, MultiNLI, ContractNLI, FEVER, SciFact and HealthVer
_SPOKEN_OF = {
    *("entailment", "entailed", "contradiction", "contradict", "contradicts", "contradicted"),
    *("support", "supports", "supported", "refute", "refutes", "refuted"),
}
_UNMENTIONED = {"notmentioned", "notenoughinfo", "notenoughinformation", "nei", "neutral"}


def are_verdicts(references: Iterable[str]) -> bool:
    """Return whether the references of a whole set, of which there are some, are all verdicts."""
    given = {_plain_verdict(reference) for reference in references}
    return bool(given) and given <= _SPOKEN_OF | _UNMENTIONED


def is_unmentioned(references: Sequence[str]) -> bool:
    """Return whether the verdict, if any, is that the sources say nothing of the statement."""
    return bool(references) and all(
        _plain_verdict(reference) in _UNMENTIONED for reference in references
    )


def read_verdicts(rows: Sequence[LabelRow]) -> tuple[Sequence[LabelRow], bool]:
    """The rows with `should_answer` in place of verdicts, and whether there were any."""
    meanings = columns_of(name for row in rows for name in row.fields).meanings
    columns = [name for name, meaning in meanings.items() if meaning == "answers"]
    references = [_references(row.fields, columns) for row in rows]
    if not are_verdicts(reference for each in references for reference in each):
        return rows, False
    return [
        LabelRow(row.place, _decided(row.fields, columns, each))
        for row, each in zip(rows, references, strict=True)
    ], True


def _references(fields: Mapping[str, object], columns: Iterable[str]) -> list[str]:
    """Return what stands in the columns; other things than texts are told when the row is read."""
    found: list[str] = []
    for name in columns:
        value = fields.get(name)
        if not labels.is_blank(value):
            try:
                found += labels.texts_of(value)
            except ValueError:
                found.append(str(value))
    return found


def _decided(
    fields: Mapping[str, object], columns: Iterable[str], references: Sequence[str]
) -> dict[str, object]:
    rest = {name: value for name, value in fields.items() if name not in columns}
    return rest | {"should_answer": not is_unmentioned(references)} if references else rest


def _plain_verdict(reference: str) -> str:
    return re.sub(r"[\W_]+", "", reference).casefold()


EVERY_SPLIT = "all"
"""Asks for all questions, whatever their split."""


@dataclass(frozen=True)
class LabelSet:
    """The labels of a file or folder, in its order.

    Its form, the meanings of its columns and the warnings are of the whole file, whatever the
    split.
    """

    path: Path
    read: tuple[ReadLabel, ...]
    form: str
    columns: LabelColumns
    warnings: tuple[str, ...] = ()

    @property
    def labels(self) -> list[Label]:
        """The labels."""
        return [one.label for one in self.read]

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of its splits, sorted."""
        return tuple(sorted({one.label.split for one in self.read} - {""}))

    def choose_split(self, asked: str | None) -> str:
        """The split that is asked for, empty for all.

        Without a word it is `test`, on which figures are reported, where there is one, else all.
        """
        if asked is None:
            return Split.TEST if Split.TEST in self.splits else ""
        return "" if asked == EVERY_SPLIT else asked

    def of_split(self, split: str) -> Self:
        """The labels of one split; all for an empty name. Raises SourceError if there are none."""
        if not split:
            return self
        chosen = tuple(one for one in self.read if one.label.split == split)
        if not chosen:
            known = ", ".join(self.splits)
            has = f"it has {known}" if known else "its labels have no split: leave --split out"
            raise SourceError(f"{self.path} has no split `{split}`; {has}.")
        return replace(self, read=chosen)
