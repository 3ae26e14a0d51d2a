"""Records of a table or a JSON file as drafts: which field is the text, which the id."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Annotated

import typer

from atlas_search.core.domain import CONTEXT_JOINT, Segment
from atlas_search.core.errors import SourceError
from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.fields import flat, is_empty, name_of, text_of
from atlas_search.readers.text_files import clean, pages

TEXT = ("text", "body", "content", "speech")
ID = ("id", "_id")
HEADINGS = ("part", "chapter", "heading")
"""What stands above a record's text, the outermost first; `section` is below them."""

LAST_PAGE = 5000
"""The highest `page` of a record that is taken for a page number."""

_LONGEST_NAME = 1_000  # characters of a heading or a speaker: each passage is read with them
_NAMED = 20  # fields that a message lists
_SECTION_NUMBER = re.compile(r"\d+[A-Za-z]{0,3}(?:\.\d+)*(?:\(\w{1,5}\))*")

TextColumn = Annotated[
    str,
    typer.Option(
        help=f"Fields of the text, joined by commas (default: first of {', '.join(TEXT)})"
    ),
]
IdColumn = Annotated[
    str, typer.Option(help=f"Field of the record's id (default: first of {', '.join(ID)})")
]
TitleColumn = Annotated[str, typer.Option(help="Field of the title")]
MetadataColumns = Annotated[
    str, typer.Option(help="Fields kept as metadata, joined by commas (default: all)")
]
Rename = Annotated[
    str,
    typer.Option(
        help="old=new, joined by commas, for instance speaker_name=speaker,when=date; the other "
        "options use the new names"
    ),
]


@dataclass(frozen=True)
class Record:
    """A record as its file has it.

    `key` names it if it has no id, `place` tells where it stands: `line 5`.
    """

    key: str
    place: str
    fields: Mapping[str, object]
    remark: str = ""


@dataclass(frozen=True)
class Columns:
    """What the fields of a record are, by their names as `name_of` writes them.

    Several text fields are joined by blank lines. Without any it is the first of TEXT that a
    record has, without an id the first of ID. All other fields are metadata, or those named in
    `metadata`. Fields are renamed first: all else speaks of the new names.
    """

    text: tuple[str, ...] = ()
    id: str = ""
    title: str = "title"
    metadata: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, str]:
        """The settings as `Reader.options` has them."""
        return {
            "text_column": ",".join(self.text),
            "id_column": self.id,
            "title_column": self.title,
            "metadata_columns": ",".join(self.metadata),
            "rename": ",".join(f"{old}={new}" for old, new in self.rename.items()),
        }

    @cached_property
    def opened(self) -> frozenset[str]:
        """The objects inside objects that some option names a part of."""
        paths = (*self.text, self.id, self.title, *self.metadata, *self.rename)
        return frozenset(
            path[: dot.start()] for path in paths for dot in list(re.finditer(r"\.", path))[1:]
        )

    def texts(self, names: Collection[str]) -> tuple[str, ...]:
        """Which of the fields `names` hold the text."""
        if self.text:
            return tuple(name for name in self.text if name in names)
        return tuple(name for name in TEXT if name in names)[:1]

    def lacking(self, names: Iterable[str]) -> str:
        """Why a record or a table of the fields `names` has no text."""
        wanted = " or ".join(f"`{name}`" for name in self.text or TEXT)
        some = [f"`{name}`" for name in islice(names, _NAMED + 1)]
        had = ", ".join([*some[:_NAMED], "..."] if some[_NAMED:] else some) or "none"
        return f"no field {wanted}; the fields are {had}: name the text with `--text-column`"


def renames(option: str) -> dict[str, str]:
    """New names of fields by their old ones, from `--rename`. Raises SourceError."""
    pairs = [pair.partition("=") for pair in option.split(",") if pair.strip()]
    if not all(equals and name_of(old) and name_of(new) for old, equals, new in pairs):
        raise SourceError(f"--rename {option}: give `old=new`, or several joined by commas.")
    return {name_of(old): name_of(new) for old, _, new in pairs}


def columns_of(text: str, id_: str, title: str, metadata: str, rename: str) -> Columns:
    """Columns from command-line options, where commas separate names. Raises SourceError."""
    return Columns(
        text=_names(text),
        id=name_of(id_),
        title=name_of(title),
        metadata=_names(metadata),
        rename=renames(rename),
    )


def drafts(records: Iterable[Record | Skipped], columns: Columns) -> Iterator[Read]:
    """What each record gives, in order. Of several with the same id the first draft counts."""
    first: dict[str, str] = {}
    for record in records:
        if isinstance(record, Skipped):
            yield record
            continue
        read = _read(record, columns)
        if isinstance(read, Draft):
            place = first.setdefault(read.key, record.place)
            if place != record.place:
                reason = f"{record.place}: duplicate id '{read.key}', first at {place}"
                read = Skipped(reason, read.key)
        yield read


def _names(option: str) -> tuple[str, ...]:
    return tuple(name for part in option.split(",") if (name := name_of(part)))


def _read(record: Record, columns: Columns) -> Read:
    try:
        return _draft(record, columns)
    except RecursionError:
        return Skipped(f"{record.place}: it is nested too deeply", record.key)


def _draft(record: Record, columns: Columns) -> Read:
    fields, remarks = _rename(record.fields, columns)
    id_field, id_ = _id(fields, columns)
    key = id_ or record.key
    text_fields = columns.texts(fields)
    if not text_fields:
        return Skipped(f"{record.place}: {columns.lacking(fields)}", key)
    title = " ".join(text_of(fields.get(columns.title)).split())
    text = clean("\n\n".join(filter(None, (text_of(fields[name]) for name in text_fields))))
    text = text if text.strip() else title
    if not text:
        return Skipped(f"{record.place}: it holds no text", key)
    if columns.id and not id_:
        remarks.append(f"it has no `{columns.id}`")
    return Draft(
        text=text,
        title=title,
        key=key,
        metadata=_metadata(fields, {*text_fields, id_field}, columns.metadata),
        pages=_pages(text, text_of(fields.get("page"))),
        segments=_place(fields),
        remark="; ".join(filter(None, [record.remark, *remarks])),
    )


def _rename(fields: Mapping[str, object], columns: Columns) -> tuple[dict[str, object], list[str]]:
    """The fields by their new names, and a remark on each value whose name was taken."""
    renamed: dict[str, object] = {}
    remarks = []
    for path, value in flat(fields, columns.opened):
        name = columns.rename.get(path, path)
        if is_empty(renamed.get(name)):
            renamed[name] = value
        elif not is_empty(value) and value != renamed[name]:
            remarks.append(f"a second `{name}` is left out")
    return renamed, remarks


def _id(fields: Mapping[str, object], columns: Columns) -> tuple[str, str]:
    """The field of the id and the id, both empty if the record has none."""
    for name in (columns.id,) if columns.id else ID:
        value = fields.get(name)
        if isinstance(value, str | int | float) and not is_empty(value):
            return name, text_of(value)
    return "", ""


def _metadata(
    fields: Mapping[str, object], used: Collection[str], wanted: Collection[str]
) -> dict[str, object]:
    return {
        name: value
        for name, value in fields.items()
        if not is_empty(value) and (name in wanted if wanted else name not in used)
    }


def _pages(text: str, page: str) -> tuple[int, ...]:
    """The pages of a text whose record says, in digits, on which page it stands or begins."""
    number = int(page[:9]) if page.isascii() and page.isdigit() else 1
    return (0,) * (number - 1 if number <= LAST_PAGE else 0) + pages(text)


def _place(fields: Mapping[str, object]) -> tuple[Segment, ...]:
    """Headings, speaker and the number of a section of law, as far as the record has them."""
    names = [
        " ".join(text_of(fields.get(name)).split())[:_LONGEST_NAME]
        for name in (*HEADINGS, "section")
    ]
    *headings, section = names
    is_number = _SECTION_NUMBER.fullmatch(section) is not None
    path = CONTEXT_JOINT.join(filter(None, [*headings, "" if is_number else section]))
    speaker = text_of(fields.get("speaker"))[:_LONGEST_NAME]
    locator = f"s {section}" if is_number else ""
    return (Segment(0, path, speaker, locator),) if path or speaker or locator else ()
