"""The rows of JSON: an object a line, a list of objects, or an object with such a list in it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.labels.names import columns_of, understood_names
from atlas_search.evaluation.labels.rows import Row, Rows, not_a_label, nothing_understood

_LISTS = ("labels", "questions", "examples", "data", "dataset", "items", "samples", "rows")
"""What a list of labels is called where an object holds several lists."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MISSING = {"NaN": None, "Infinity": "Infinity", "-Infinity": "-Infinity"}  # of pandas


def json_rows(text: str, path: Path) -> Rows:
    """The rows of a text that begins as JSON does. Raises SourceError with the line or record."""
    try:
        whole = _parse(text)
    except ValueError as error:
        if not _is_object(text.lstrip().split("\n", 1)[0]):
            raise not_a_label(f"{path}:{getattr(error, 'lineno', 1)}", error) from error
        return Rows("lines of JSON", tuple(_lines(text, path)))
    if isinstance(whole, list):
        return Rows("a list in JSON", _records(whole, path))
    if isinstance(whole, dict):
        return _object(whole, path)
    raise nothing_understood(path, f"it holds {str(whole)[:80]!r}", understood_names())


def _lines(text: str, path: Path) -> Iterator[Row]:
    # a line of JSON may hold every other character that ends lines elsewhere
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = f"{path}:{number}"
            try:
                yield _row(_parse(line), place)
            except ValueError as error:
                raise not_a_label(place, error) from error


def _object(whole: Mapping[str, object], path: Path) -> Rows:
    if _is_squad(whole):
        return Rows("SQuAD", tuple(_squad(whole, path)))
    if _is_by_column(whole):
        return Rows("lists by column in JSON", _records(_by_row(whole, path), path))
    if "question" in columns_of(whole).meanings.values():
        return Rows("lines of JSON", (Row(f"{path}:1", whole),))
    lists = {n: cast(list[object], value) for n, value in whole.items() if _is_of_objects(value)}
    known = [name for name in _LISTS if name in lists]
    if len(lists) == 1 or known:
        name = known[0] if known else next(iter(lists))
        return Rows(f"the list `{name}` in JSON", _records(lists[name], path))
    found = f"an object with {', '.join(f'`{name}`' for name in list(whole)[:9]) or 'nothing'}"
    raise nothing_understood(path, found, f"a list of objects; {understood_names()}")


def _records(values: Sequence[object], path: Path) -> tuple[Row, ...]:
    rows = []
    for number, value in enumerate(values, start=1):
        place = f"{path}, record {number}"
        try:
            rows.append(_row(value, place))
        except ValueError as error:
            raise not_a_label(place, error) from error
    return tuple(rows)


def _row(value: object, place: str) -> Row:
    if not isinstance(value, dict):
        raise ValueError(f"a Label is an object with named fields, not {str(value)[:80]!r}")
    return Row(place, value)


def _is_object(line: str) -> bool:
    try:
        return isinstance(_parse(line), dict)
    except ValueError:
        return False


def _is_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _is_by_column(whole: Mapping[str, object]) -> bool:
    meanings = columns_of(whole).meanings
    return any(isinstance(whole[n], list) for n, what in meanings.items() if what == "question")


def _by_row(whole: Mapping[str, object], path: Path) -> list[dict[str, object]]:
    lists = {name: value for name, value in whole.items() if isinstance(value, list)}
    sizes = {name: len(value) for name, value in lists.items()}
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"`{name}` has {size}" for name, size in sizes.items())
        raise SourceError(f"{path}: its lists are of different lengths: {said}.")
    return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def _is_squad(whole: Mapping[str, object]) -> bool:
    data = whole.get("data")
    return isinstance(data, list) and any(isinstance(d, dict) and "paragraphs" in d for d in data)


def _squad(whole: Mapping[str, object], path: Path) -> Iterator[Row]:
    """Each question with its paragraph as a quote from the article, if it has an answer there."""
    for number, article in enumerate(cast(list[dict[str, object]], whole["data"]), start=1):
        place = f"{path}, article {number}"
        try:
            for paragraph in cast(list[dict[str, object]], article["paragraphs"]):
                for asked in cast(list[dict[str, object]], paragraph["qas"]):
                    yield Row(
                        f"{place}, question {asked.get('id', '')}".rstrip(),
                        _squad_fields(asked, paragraph["context"], article.get("title", "")),
                    )
        except (KeyError, TypeError, AttributeError) as error:
            raise not_a_label(place, f"not in the form of SQuAD: {error!r}") from error


def _squad_fields(asked: Mapping[str, object], context: object, title: object) -> dict[str, object]:
    known = ("id", "question", "answers", "is_impossible")
    fields = {name: asked[name] for name in known if name in asked}
    if asked.get("is_impossible"):
        return fields | {"answers": []}
    # spaces of a title are underscores in the published files
    return fields | {"gold_documents": [str(title).replace("_", " ")], "quotes": [context]}


def _parse(text: str) -> object:
    try:
        value = cast(object, json.loads(text, parse_constant=_MISSING.__getitem__))
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError(r"it holds half a character (`\ud800` to `\udfff`)") from None
    return value
