"""The fields of a record: their names, and objects inside it as plain values."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

_BLANKS = " \t\r\n"


@lru_cache(maxsize=4096)
def name_of(field: str) -> str:
    """The name of a field in lower case and with underscores: `Speaker Name`: `speaker_name`.

    A dot leads into an object. What stands in `metadata` is named as if it stood beside it.
    """
    name = re.sub(r"^\W+|(?<!\W)\W+$", "", field)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^\w.]+", "_", name).lower().removeprefix("metadata.")


def flat(
    fields: Mapping[str, object], opened: Collection[str] = ()
) -> Iterator[tuple[str, object]]:
    """Names and values of `fields`, those inside `metadata` last; a name may occur twice.

    An object becomes one value per field, named with a dot; an object in it becomes JSON text
    unless `opened` has its name. A list of single values becomes a list of text. A field without
    a name is left out.
    """
    inner = fields.get("metadata")
    if isinstance(inner, Mapping):
        yield from _flat({name: fields[name] for name in fields if name != "metadata"}, "", opened)
        yield from _flat(inner, "", opened)
    else:
        yield from _flat(fields, "", opened)


def is_empty(value: object) -> bool:
    """Whether a value of `flat` says nothing."""
    return value is None or value == "" or value == []


def text_of(value: object) -> str:
    """A value of `flat` as text, with a blank line between the items of a list."""
    if isinstance(value, list):
        return "\n\n".join(str(item) for item in value)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value).strip(_BLANKS)


def _flat(
    fields: Mapping[str, object], prefix: str, opened: Collection[str]
) -> Iterator[tuple[str, object]]:
    for key, value in fields.items():
        name = f"{prefix}{name_of(str(key))}"
        if name == prefix:
            continue
        if isinstance(value, Mapping) and (not prefix or name in opened):
            yield from _flat(value, f"{name}.", opened)
        else:
            yield name, _value(value)


def _value(value: object) -> object:
    if isinstance(value, str):
        return value.strip(_BLANKS)
    if isinstance(value, Mapping):
        return _json(value) if value else None
    if isinstance(value, list):
        if any(isinstance(item, Mapping | list) for item in value):
            return _json(value)
        return [text for item in value if (text := text_of(item))]
    return value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
