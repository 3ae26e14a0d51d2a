"""Labels of questions, their columns in this and other tools, and how a cell is read."""

import ast
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal, Self, cast, get_args

from pydantic import ConfigDict, TypeAdapter, with_config

from atlas_search.core.errors import SourceError

Decision = Literal["ANSWER", "ABSTAIN", "BLOCK"]
Value = str | float | bool
Filter = Value | tuple[Value, ...] | Mapping[str, Value | None]
"""As in a search: a value, several of which one must match, or `{"from": ..., "to": ...}`."""


class Split(StrEnum):
    """Weights and thresholds are tuned on DEV; figures are reported on TEST."""

    DEV = "dev"
    TEST = "test"


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class GoldSpan:
    """A place that answers: characters of a document's text from `start` to before `end`."""

    document_id: str
    start: int
    end: int


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Label:
    """One question, and what is known about its answer.

    `answers` are references, any of which is right. What is relevant is known as documents,
    passages or places; `grades` says how relevant documents and passages are, by their id: 1 if it
    says nothing, 0 for what was looked at and is not.
    `should_answer` says whether the collection holds the answer where neither gold documents nor
    references do, and `expected_decision` what becomes of the question. `split` is empty where the
    set has none. `corpus_filter` and `filters` are asked with the question.
    """

    id: str
    split: str
    category: str
    question: str
    answers: tuple[str, ...] = ()
    gold_document_ids: frozenset[str] = frozenset()
    kind: str = ""
    should_answer: bool | None = None
    gold_passage_ids: frozenset[str] = frozenset()
    gold_spans: tuple[GoldSpan, ...] = ()
    grades: Mapping[str, int] = field(default_factory=dict)
    corpus_filter: tuple[str, ...] = ()
    filters: Mapping[str, Filter] = field(default_factory=dict)
    expected_decision: Decision | None = None

    @property
    def answerable(self) -> bool:
        """Return whether the collection holds the answer."""
        if self.expected_decision is not None:
            return self.expected_decision == "ANSWER"
        if self.should_answer is not None:
            return self.should_answer
        return self.located or bool(self.answers)

    @property
    def located(self) -> bool:
        """Return whether it is known where the answer stands."""
        return bool(self.gold_document_ids or self.gold_passage_ids or self.gold_spans)

    @property
    def relevance(self) -> Mapping[str, int]:
        """Return how relevant each gold document is, 1 or more, those of places among them."""
        return {id_: self.grades.get(id_, 1) for id_ in sorted(self.gold_names)}

    @property
    def gold_names(self) -> frozenset[str]:
        """The documents that answer, those of places among them."""
        return self.gold_document_ids | {span.document_id for span in self.gold_spans}


_YES, _NO = {"true", "yes", "y", "1", "1.0"}, {"false", "no", "n", "0", "0.0"}
_DECISION_NAMES: Mapping[Decision, str] = {
    "ANSWER": "answer answered answerable answerwithcaveats",
    "ABSTAIN": (
        "abstain abstained refuse refused refusal decline declined noanswer unanswerable clarify"
    ),
    "BLOCK": "block blocked",
}
_DECISIONS = {name: decision for decision, all_ in _DECISION_NAMES.items() for name in all_.split()}
_SPLITS = {"val": "dev", "validation": "dev"}
_FILTERS = TypeAdapter(dict[str, Filter])
_TEXT_KEYS = ("text", "content", "quote")
_DOCUMENT_KEYS = ("document_id", "doc_id", "document", "doc", "source_document", "source")
_START_KEYS = ("start", "start_char", "start_index", "begin")
_END_KEYS = ("end", "end_char", "end_index")


def is_blank(value: object) -> bool:
    """Return whether a field says nothing: it is absent, empty, or holds blank texts alone."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, list | tuple | dict):
        return all(map(is_blank, value))
    return value is None


def text_of(value: object) -> str:
    """A single text; a number as it is written."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    raise ValueError(f"a text is wanted, not {_kind(value)}")


def name_of(value: object) -> str:
    """A single text without blanks around it."""
    return text_of(value).strip()


def texts_of(value: object) -> tuple[str, ...]:
    """Texts, each once: a list, an object with such a list as its `text`, or a cell.

    Several texts of a cell are JSON, or a list as Python writes it, or stand on lines of their
    own, or are joined by `|`.
    """
    return _each(value, r"[\n\r|]+")


def quotes_of(value: object) -> tuple[str, ...]:
    """Quoted texts, as `texts_of`, but a cell that is no list is one quote, whatever is in it."""
    return _each(value, "")


def ids_of(value: object) -> tuple[str, ...]:
    """Ids or names, as `texts_of`; in a cell also joined by `;`. Of a mapping its keys."""
    if isinstance(parsed := _parsed(value), dict):
        return tuple(id_ for id_, grade in _grades(parsed).items() if grade > 0)
    return tuple(id_.strip() for id_ in _each(value, r"[\n\r|;]+"))


def grades_of(value: object) -> dict[str, int]:
    """Grades of documents and passages; those of 0 or less are not relevant."""
    parsed = _parsed(value)
    if not isinstance(parsed, dict):
        raise ValueError(f'grades are wanted as {{"document": 2}}, not {_kind(parsed)}')
    return _grades(parsed)


def grade_of(value: object) -> int | None:
    """A grade of the one gold document; None if these are grades by document."""
    parsed = _parsed(value)
    if isinstance(parsed, dict):
        return None
    try:
        return whole_number(parsed)
    except ValueError:
        raise ValueError(f"a grade is a whole number, not {value!r}") from None


def whole_number(value: object) -> int:
    """A grade: 2, 2.0, or either as a text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is no number")
    if isinstance(value, int):
        return value
    number = float(value)
    if not number.is_integer():  # NaN and infinity neither
        raise ValueError(f"{value!r} is no whole number")
    return int(number)


def yes_or_no(value: object) -> bool:
    """True or false, in a few spellings."""
    found = name_of(value).casefold()
    if found not in _YES | _NO:
        raise ValueError(f"true or false is wanted, not {value!r}")
    return found in _YES


def decision_of(value: object) -> Decision:
    """Return what becomes of a question."""
    found = _DECISIONS.get(re.sub(r"[\s_-]+", "", name_of(value)).casefold())
    if not found:
        raise ValueError(f"{value!r} is none of {', '.join(get_args(Decision))}")
    return found


def split_of(value: object) -> str:
    """The name of a split in small letters; `val` and `validation` are `dev`."""
    found = name_of(value).casefold()
    return _SPLITS.get(found, found)


def corpora_of(value: object) -> tuple[str, ...]:
    """Ids of corpora; none for `all`."""
    found = tuple(part.strip() for part in _each(value, r"[\n\r|;,]+"))
    return () if found == ("all",) else found


def filters_of(value: object) -> dict[str, Filter]:
    """Filters as in a search."""
    return _FILTERS.validate_python(_parsed(value))


def places_of(value: object) -> tuple[GoldSpan, ...]:
    """Places: one or a list of objects with a document, a start and an end.

    The document is empty if a place does not name it.
    """
    parsed = _parsed(value)
    items = parsed if isinstance(parsed, list) else [parsed]
    return tuple(map(_place, items))


def strings_in(value: object) -> Iterator[str]:
    """Every text in a value, however deep; a cell with a list in it by its items."""
    parsed = _parsed(value)
    if isinstance(parsed, str):
        yield from (part for line in re.split(r"[\n\r|;]+", parsed) if (part := line.strip()))
    elif isinstance(parsed, dict):
        for item in parsed.values():
            yield from strings_in(item)
    elif isinstance(parsed, list):
        for item in parsed:
            yield from strings_in(item)


def _each(value: object, separators: str) -> tuple[str, ...]:
    parsed = _parsed(value)
    if isinstance(parsed, dict):
        parsed = _text_in(parsed)
    if isinstance(parsed, str) and isinstance(value, CellText) and separators:
        parsed = [part.strip() for part in re.split(separators, parsed)]
    items = parsed if isinstance(parsed, list) else [parsed]
    found = [text_of(_text_in(item)) for item in items if not is_blank(item)]
    return tuple(dict.fromkeys(found))


class CellText(str):
    """A text from a cell of a table, which may hold several values."""

    __slots__ = ()


def _parsed(value: object) -> object:
    """The value, a list or an object that is written into a cell as such."""
    if not isinstance(value, CellText):
        return value
    text = value.strip()
    if text[:1] + text[-1:] not in ("[]", "{}"):
        return value
    try:
        return cast(object, json.loads(text))
    except (ValueError, RecursionError):
        pass
    try:  # as pandas writes a list into a table
        return cast(object, ast.literal_eval(text))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return value


def _text_in(value: object) -> object:
    if isinstance(value, Mapping):
        for key in _TEXT_KEYS:
            if key in value:
                return value[key]
    return value


def _grades(value: Mapping[object, object]) -> dict[str, int]:
    found = {}
    for id_, grade in value.items():
        try:
            found[name_of(id_)] = whole_number(grade)
        except ValueError:
            raise ValueError(f"the grade of {id_} is {grade!r}, and not a whole number") from None
    return found


def _place(item: object) -> GoldSpan:
    if not isinstance(item, Mapping):
        raise ValueError(
            'a place is wanted as {"document_id": "x", "start": 0, "end": 9}, not ' + _kind(item)
        )
    start, end = _number(item, _START_KEYS), _number(item, _END_KEYS)
    if not 0 <= start < end:
        raise ValueError(f"a place from {start} to {end} holds no character")
    document = next((item[key] for key in _DOCUMENT_KEYS if key in item), "")
    return GoldSpan(name_of(document), start, end)


def _number(item: Mapping[object, object], keys: tuple[str, ...]) -> int:
    for key in keys:
        value = item.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    raise ValueError(f"a place needs `{keys[0]}` as a whole number")


def _kind(value: object) -> str:
    kinds = {list: "a list", dict: "an object", str: "a text", type(None): "nothing"}
    return kinds.get(type(value), f"{value!r}")


Meaning = Literal[
    "id",
    "question",
    "answers",
    "gold documents",
    "gold passages",
    "gold places",
    "quotes",
    "grades",
    "should answer",
    "should decline",
    "expected decision",
    "category",
    "kind",
    "corpora",
    "filters",
    "split",
]

NAMES: Mapping[Meaning, str] = {
    "id": "id qid question_id query_id label_id example_id",
    "question": "question query prompt user_input",
    "answers": (
        "answer answers reference references reference_answer reference_answers ground_truth "
        "ground_truths ground_truth_answer ground_truth_answers gold_answer gold_answers "
        "expected_answer expected_answers expected_output correct_answer correct_answers"
    ),
    "gold documents": (
        "gold_document_ids gold_document_id gold_documents gold_document gold_doc_ids gold_doc_id "
        "gold_docs gold_doc doc_ids doc_id document_ids document_id relevant_docs relevant_doc_ids "
        "relevant_documents relevant_document_ids relevant_ids source_documents source_document "
        "source_docs source_doc expected_documents expected_document_ids expected_docs "
        "expected_doc_ids expected_sources required_citation_doc_ids"
    ),
    "gold passages": (
        "gold_passage_ids gold_passage_id gold_passages gold_chunk_ids gold_chunk_id gold_chunks "
        "relevant_chunks relevant_chunk_ids relevant_passages relevant_passage_ids chunk_ids "
        "chunk_id passage_ids passage_id expected_chunk_ids expected_chunks expected_passage_ids "
        "expected_passages context_ids contexts_ids reference_context_ids"
    ),
    "gold places": "gold_spans gold_span spans",
    "quotes": (
        "quote quotes evidence evidences evidence_text reference_contexts reference_context "
        "ground_truth_context ground_truth_contexts gold_context gold_contexts gold_snippet "
        "gold_snippets gold_text expected_context expected_contexts"
    ),
    "grades": "grades relevance relevances graded_relevance qrels",
    "should answer": "should_answer answerable is_answerable has_answer",
    "should decline": (
        "is_impossible unanswerable is_unanswerable is_negative should_decline should_abstain "
        "no_answer"
    ),
    "expected decision": "expected_decision decision expected_outcome",
    "category": "category question_type query_type synthesizer_name",
    "kind": "kind",
    "corpora": "corpus_filter corpora corpus collection_filter",
    "filters": "filters filter metadata_filters metadata_filter",
    "split": "split",
}
"""The names of each meaning; case, `_`, `-` and blanks do not matter."""

WEAK: Mapping[Meaning, str] = {
    "question": "text input",
    "category": "type",
    "split": "set",
    "quotes": "contexts context",
}
"""Names with this meaning only where no column has one of NAMES."""

INSIDE = "metadata."
"""Begins the names of fields inside a field `metadata`."""

IN_METADATA: frozenset[Meaning] = frozenset(
    {"should answer", "should decline", "category", "kind", "split"}
)
"""What is also read from inside it: what else stands there speaks of the source."""

_SAYS_WHAT: tuple[Meaning, ...] = (
    *("answers", "gold documents", "gold passages", "gold places", "quotes", "grades"),
    *("should answer", "should decline", "expected decision"),
)
# beside references they are what a system said and found when it was asked
_OF_A_SYSTEM, _REFERENCES = {"answer", "contexts"}, {"groundtruth", "groundtruths", "reference"}
_EXPORTED = {"qaid", "decision"}
# what RAGAS and DeepEval call what a system said and found, and what tables of runs do
_ALWAYS_OF_A_SYSTEM = re.compile(r"responses?|actualoutput|(retriev|predict)\w*")


@dataclass(frozen=True)
class LabelColumns:
    """Meanings of columns by their names as written, and the names that mean nothing here.

    Of these some are `of_a_system`: what it said and found when it was asked.
    """

    meanings: Mapping[str, Meaning]
    unused: tuple[str, ...]
    of_a_system: frozenset[str] = frozenset()

    @property
    def says_what_is_right(self) -> bool:
        """Return whether any column says what the right answer is, or whether there is one."""
        return not set(_SAYS_WHAT).isdisjoint(self.meanings.values())

    def used_as_filter(self, field: str) -> Self:
        """Use a column of this name that means nothing else, inside `metadata` too, as a filter."""
        names = {field, f"{INSIDE}{field}"}
        used: dict[str, Meaning] = {name: "filters" for name in self.unused if name in names}
        unused = tuple(name for name in self.unused if name not in used)
        return replace(self, meanings={**self.meanings, **used}, unused=unused)


def columns_of(names: Iterable[str]) -> LabelColumns:
    """Return what columns with these names mean together."""
    names = tuple(dict.fromkeys(names))
    asked = _of_the_system(names)
    known = {
        name: meaning
        for name in names
        if (meaning := _STRONG.get(_plain(name))) and _plain(name) not in asked
    }
    taken = set(known.values())
    # a `type` in metadata is the question's, a `text` or `context` there is not
    for name in names:
        meaning = _WEAK.get(_plain(name.removeprefix(INSIDE)))
        own = not name.startswith(INSIDE) or meaning in IN_METADATA
        if meaning and own and meaning not in taken and _plain(name) not in asked:
            known[name] = meaning
            taken.add(meaning)
    for name in names:
        meaning = _STRONG.get(_plain(name.removeprefix(INSIDE)))
        if name.startswith(INSIDE) and meaning in IN_METADATA and meaning not in taken:
            known[name] = meaning
            taken.add(meaning)
    ordered = {name: known[name] for name in names if name in known}
    unused = tuple(name for name in names if name not in known)
    return LabelColumns(ordered, unused, frozenset(n for n in unused if _is_of_a_system(n, asked)))


def are_exported_answers(names: Iterable[str]) -> bool:
    """Return whether a table holds answers as Atlas exports them, and not what is right."""
    return {_plain(name) for name in names} >= _EXPORTED


def understood_names() -> str:
    """The names of a question and of what is most often known, for a message."""
    shown: tuple[Meaning, ...] = ("question", "answers", "gold documents")
    return "; ".join(f"{meaning}: {', '.join(NAMES[meaning].split()[:4])}" for meaning in shown)


def _of_the_system(names: Iterable[str]) -> set[str]:
    found = {_plain(name) for name in names}
    return _OF_A_SYSTEM if found >= _OF_A_SYSTEM and found & _REFERENCES else set()


def _is_of_a_system(name: str, asked: Container[str]) -> bool:
    plain = _plain(name.removeprefix(INSIDE))
    return plain in asked or bool(_ALWAYS_OF_A_SYSTEM.fullmatch(plain))


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


def _by_name(meanings: Mapping[Meaning, str]) -> dict[str, Meaning]:
    return {_plain(name): meaning for meaning, names in meanings.items() for name in names.split()}


_STRONG, _WEAK = _by_name(NAMES), _by_name(WEAK)


@dataclass(frozen=True)
class LabelRow:
    """A row by its fields, as named in the file; `place` is the file and the line or record."""

    place: str
    fields: Mapping[str, object]


@dataclass(frozen=True)
class Rows:
    """All rows of a set, in order: `form` is what it was read as, `remarks` what is told of it."""

    form: str
    rows: Sequence[LabelRow]
    remarks: tuple[str, ...] = ()


def opened(row: LabelRow) -> LabelRow:
    """The row with what stands inside its `metadata` as fields of its own."""
    inner = row.fields.get("metadata")
    if not isinstance(inner, Mapping):
        return row
    fields = {name: value for name, value in row.fields.items() if name != "metadata"}
    return LabelRow(row.place, fields | {f"{INSIDE}{name}": value for name, value in inner.items()})


def not_a_label(place: str, reason: object) -> SourceError:
    """The error of a row, which names its place."""
    return SourceError(f"{place}: not a label: {reason}")


def nothing_understood(path: Path, found: str, wanted: str) -> SourceError:
    """The error of a file in which there is no label at all."""
    return SourceError(f"{path}: no labels are understood: {found}. What is understood: {wanted}.")
