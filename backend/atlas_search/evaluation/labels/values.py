"""What stands in a field or a cell of a label set, as what it means. Each raises ValueError."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import cast, get_args

from pydantic import TypeAdapter

from atlas_search.evaluation.labels.label import Decision, Filter, Span

_YES, _NO = {"true", "yes", "y", "1", "1.0"}, {"false", "no", "n", "0", "0.0"}
_DECISION_NAMES: Mapping[Decision, str] = {
    "ANSWER": "answer answered answerable",
    "ABSTAIN": ("abstain abstained refuse refused refusal decline declined noanswer unanswerable"),
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
    """Whether a field says nothing: it is absent, empty, or holds blank texts alone."""
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
    """What becomes of a question."""
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


def places_of(value: object) -> tuple[Span, ...]:
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
    if isinstance(parsed, str) and isinstance(value, Cell) and separators:
        parsed = [part.strip() for part in re.split(separators, parsed)]
    items = parsed if isinstance(parsed, list) else [parsed]
    found = [text_of(_text_in(item)) for item in items if not is_blank(item)]
    return tuple(dict.fromkeys(found))


class Cell(str):
    """A text from a cell of a table, which may hold several values."""

    __slots__ = ()


def _parsed(value: object) -> object:
    """The value, a list or an object that is written into a cell as such."""
    if not isinstance(value, Cell):
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


def _place(item: object) -> Span:
    if not isinstance(item, Mapping):
        raise ValueError(
            'a place is wanted as {"document_id": "x", "start": 0, "end": 9}, not ' + _kind(item)
        )
    start, end = _number(item, _START_KEYS), _number(item, _END_KEYS)
    if not 0 <= start < end:
        raise ValueError(f"a place from {start} to {end} holds no character")
    document = next((item[key] for key in _DOCUMENT_KEYS if key in item), "")
    return Span(name_of(document), start, end)


def _number(item: Mapping[object, object], keys: tuple[str, ...]) -> int:
    for key in keys:
        value = item.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    raise ValueError(f"a place needs `{keys[0]}` as a whole number")


def _kind(value: object) -> str:
    kinds = {list: "a list", dict: "an object", str: "a text", type(None): "nothing"}
    return kinds.get(type(value), f"{value!r}")
