"""Metadata as the store keeps it, and what a collection's fields hold."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from atlas_search.core.metadata import Metadata, MetadataValue
from atlas_search.language.dates import bounds, iso_day
from atlas_search.language.text import distinct

if TYPE_CHECKING:
    from atlas_search.stores.manifest import Field

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
    """Say if a value of `flat` says nothing."""
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
        if name in _PERSONS and (persons := _persons(value)):
            yield name, persons
        elif isinstance(value, Mapping) and (not prefix or name in opened):
            yield from _flat(value, f"{name}.", opened)
        else:
            yield name, _value(value)


def _value(value: object) -> object:
    if isinstance(value, str):
        return value.strip(_BLANKS)
    if isinstance(value, Mapping):
        return _as_json(value) if value else None
    if isinstance(value, list):
        if any(isinstance(item, Mapping | list) for item in value):
            return _as_json(value)
        return [text for item in value if (text := text_of(item))]
    return value


_PERSONS = frozenset("author authors creator creators editor editors".split())
_FAMILY, _GIVEN = ("family", "last", "last_name", "surname"), ("given", "first", "first_name")


def _persons(value: object) -> list[str]:
    """The names of persons that are objects: `{"family": "Roe", "given": "Ann"}`, `{"name": …}`."""
    items, names = value if isinstance(value, list) else [value], []
    if not any(isinstance(item, Mapping) for item in items):
        return []
    for item in items:
        if isinstance(item, Mapping):
            parts = {name_of(str(key)): text_of(part) for key, part in item.items()}
            both = [next((parts[n] for n in of if n in parts), "") for of in (_FAMILY, _GIVEN)]
            item = ", ".join(filter(None, both)) if both[0] else parts.get("name", "")
        names.append(item.strip() if isinstance(item, str) else "")
    return names if all(names) else []


_DOI = re.compile(r"\b10\.\d{4,9}/\S+")


def doi_in(text: str) -> str:
    """The DOI of `https://doi.org/10.1000/182` and the like; empty if there is none."""
    match = _DOI.search(text)
    return match[0].rstrip(";,.") if match else ""


class Nested(str):
    """Objects inside a value as JSON, which is no text to read."""


def _as_json(value: object) -> Nested:
    return Nested(json.dumps(value, ensure_ascii=False, default=str))


MAX_NUMBER = 1e15  # beyond it a number is an identifier, and SQLite would round it
MOST_FREQUENT = 20
MAX_VALUES = 10_000
"""Distinct values that are counted for each field."""

DATE_NAMES = (
    *("datepublished", "publicationdate", "published", "publishedat", "pubdate"),
    *("sittingdate", "datetime", "timestamp", "createdat", "year"),
)
"""Fields that state the date of a document, without `_` and the like, the best first."""

SUCCESSION_NAMES = {
    "superseded_by": ("supersededby", "replacedby", "isreplacedby", "repealedby", "obsoletedby"),
    "supersedes": ("replaces", "repeals", "obsoletes"),
}
"""Fields that name what took a document's place, or whose place it took, without `_` and the like.
Each is kept as it is, and its value under the one name that answers know, too."""

_SECONDS = re.compile(r"([1-9]\d{8,9}|[1-9]\d{11,12})(?:\.\d*)?", re.ASCII)
_DIGITS = 10  # of seconds; milliseconds have more
_LONGEST_COUNTED = 200  # characters; nobody chooses a longer value from a list
_SEVERAL = (list, tuple, set, frozenset)
_SPLIT = {"tags", "keywords"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_DATE_FIELD = re.compile(r"date$|year$|_on$|_at$")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATED_SHARE = 0.9  # the rest may be `undated`


def typed_metadata(
    raw: Mapping[str, object], defaults: Mapping[str, object] = {}
) -> dict[str, MetadataValue]:
    """Type what a source says about a document, as the store has it; typing it again is no change.

    Field names are in lower case, their blanks `_`. Dates become ISO text, lists tuples of text
    without repeats, mappings JSON, truth values, NaN and numbers from MAX_NUMBER on text. `date` is
    always text, of a datetime only its day; where there is none, the first of DATE_NAMES that is
    one stands for it. What took its place is `superseded_by`, too (SUCCESSION_NAMES). `tags` and
    `keywords` given as one text are split at `;`, without one at `,`; an author never is. Empty
    values are left out; `defaults` fill what is missing then.
    """
    own = _with_date(_with_succession(_type_fields(raw)))
    missing = {name: value for name, value in _type_fields(defaults).items() if name not in own}
    return _with_date(_with_succession(own | missing))


def _type_fields(raw: Mapping[str, object]) -> dict[str, MetadataValue]:
    fields = {}
    for key, value in raw.items():
        name = "_".join(_clean(str(key)).lower().split())
        typed = _type_value(name, value)
        if name and typed not in ("", ()):
            fields[name] = typed
    return fields


def _type_value(name: str, value: object) -> MetadataValue:
    if name == "date":
        return _date(value)
    if name in _SPLIT and not isinstance(value, _SEVERAL):
        value = value.split(";" if ";" in value else ",") if isinstance(value, str) else [value]
    if isinstance(value, _SEVERAL):
        texts = [text for item in value if (text := _text(item))]
        return distinct(texts if isinstance(value, list | tuple) else sorted(texts))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if abs(value) < MAX_NUMBER else _text(value)  # NaN is not below it
    return _text(value)


def _date(value: object) -> str:
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a year in a column with gaps
    typed = _type_value("", value)
    return "; ".join(typed) if isinstance(typed, tuple) else str(typed)


def _with_date(fields: dict[str, MetadataValue]) -> dict[str, MetadataValue]:
    if "date" not in fields and (day := _other_date(fields)):
        return fields | {"date": day}
    return fields


def _with_succession(fields: dict[str, MetadataValue]) -> dict[str, MetadataValue]:
    by_name = _by_plain_name(fields)
    succession = {
        known: next(by_name[name] for name in names if name in by_name)
        for known, names in SUCCESSION_NAMES.items()
        if known not in fields and by_name.keys() & {*names}
    }
    return fields | succession


def _by_plain_name(fields: Mapping[str, MetadataValue]) -> dict[str, MetadataValue]:
    return {re.sub(r"[\W_]", "", name): value for name, value in fields.items()}


def _other_date(fields: Mapping[str, MetadataValue]) -> str:
    """The date that another field states: a day if it is one, else as it is written."""
    by_name = _by_plain_name(fields)
    for name in DATE_NAMES:
        written = _date(by_name.get(name))
        if name != "year" and (day := _epoch(written)):
            return day
        if days := bounds(written):
            return iso_day(days[0]) if days[0] == days[1] else written
    return ""


def _epoch(written: str) -> str:
    """The day of so many seconds or milliseconds since 1970, if it is after 1973."""
    match = _SECONDS.fullmatch(written)
    if not match:
        return ""
    seconds = int(match[1]) / (1000 if len(match[1]) > _DIGITS else 1)
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(Decimal(value))  # str(int) raises for thousands of digits
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return _clean(value.decode(errors="replace"))
    if isinstance(value, (Mapping, *_SEVERAL)):
        return _json(value) if value else ""
    return _clean(str(value))


def _clean(text: str) -> str:
    """`text` that can be written as UTF-8, on one line."""
    if not text.isascii():
        # as UTF-16 the halves of one character meet again
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _CONTROL.sub(" ", text).strip()


def _json(value: object) -> str:
    try:
        return _clean(json.dumps(value, ensure_ascii=False, default=_plain))
    except (TypeError, ValueError):  # a key that is not text, or a value that contains itself
        return _clean(str(value))


def _plain(value: object) -> object:
    if isinstance(value, set | frozenset):
        return sorted(map(_text, value))
    return dict(value) if isinstance(value, Mapping) else _text(value)


@dataclass
class _Count:
    says_date: bool
    documents: int = 0
    lists: int = 0
    numbers: int = 0
    dates: int = 0
    days: int = 0
    capped: bool = False
    by_value: Counter[str | int | float] = field(default_factory=Counter)
    long: set[int] = field(default_factory=set)


class FieldCounter:
    """Counts metadata fields while documents pass; its memory grows with the fields only.

    A field with a list in any document is a `list`. It is a `date` if its name ends in `date`,
    `year`, `_on` or `_at` and nine in ten values are dates, or if each value is a day
    (`1954-05-17`, with or without a time). It is a `number` if each value is one.
    """

    def __init__(self, max_values: int = MAX_VALUES):
        self._max_values = max_values
        self._counts: dict[str, _Count] = {}

    def add(self, documents: Iterable[Metadata]) -> None:
        columns: dict[str, list[MetadataValue]] = defaultdict(list)
        for metadata in documents:
            for name, value in metadata.items():
                columns[name].append(value)
        for name, values in columns.items():
            count = self._counts.get(name)
            if count is None:
                count = self._counts[name] = _Count(bool(_DATE_FIELD.search(name)))
            count.documents += len(values)
            # most documents share their values with others: each is looked at once
            for value, times in Counter(values).items():
                if isinstance(value, tuple):
                    count.lists += times
                    for item in distinct(value):
                        self._add_value(count, item, times)
                else:
                    _add_type(count, value, times)
                    self._add_value(count, value, times)

    def _add_value(self, count: _Count, value: str | int | float, times: int) -> None:
        is_long = isinstance(value, str) and len(value) > _LONGEST_COUNTED
        if value in count.by_value or len(count.by_value) + len(count.long) < self._max_values:
            if is_long:
                count.long.add(hash(value))
            else:
                count.by_value[value] += times
        elif hash(value) not in count.long:
            count.capped = True

    def statistics(self) -> dict[str, "Field"]:
        """Return the statistics by field name, in order.

        Of each field the MOST_FREQUENT values are listed, the most frequent first, then by text;
        a value first seen after the cap was reached is not among them.
        """
        return {name: _statistics(count) for name, count in sorted(self._counts.items())}


def _add_type(count: _Count, value: str | int | float, times: int) -> None:
    if not isinstance(value, str):
        count.numbers += times
    if count.says_date:
        count.dates += times * (bounds(str(value)) is not None)
    elif isinstance(value, str) and _DAY.match(value):
        count.days += times * (bounds(value) is not None)


def _statistics(count: _Count) -> "Field":
    # 0.3 seconds with pydantic, which a process that only reads does without
    from atlas_search.stores.manifest import Field

    ordered = sorted(count.by_value.items(), key=lambda item: (-item[1], str(item[0]), repr(item)))
    return Field(
        type=_type(count),
        documents=count.documents,
        values=len(count.by_value) + len(count.long),
        capped=count.capped,
        counts={str(value): times for value, times in ordered[:MOST_FREQUENT]},
    )


def _type(count: _Count) -> Literal["date", "number", "list", "text"]:
    if count.lists:
        return "list"
    if count.dates >= _DATED_SHARE * count.documents or count.days == count.documents:
        return "date"
    return "number" if count.numbers == count.documents else "text"
