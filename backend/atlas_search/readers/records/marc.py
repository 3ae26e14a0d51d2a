"""Reading catalogue records: MARC 21 and UNIMARC, as ISO 2709 (.mrc) or as XML.

The text of a record is its title, imprint, notes, contents and subjects, as they are written.
Fields: https://www.loc.gov/marc/bibliographic, https://www.ifla.org/unimarc-formats.
"""

import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, NamedTuple
from unicodedata import combining

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.markup import plain
from atlas_search.readers.metadata import doi_in

if TYPE_CHECKING:
    from lxml import etree

Field = tuple[str, Sequence[tuple[str, str]]]
"""A tag, and its subfields with their codes; a control field is one without a code."""


class _Format(NamedTuple):
    """Fields by their use, as patterns of tags, and where facts stand: `260|264 c`."""

    title: str
    text: str
    subjects: str
    names: str
    facts: Mapping[str, str]


_MARC21 = _Format(
    "245 abfgknps",
    r"130|24[0-7]|25\d|26[04]|300|351|362|4[49]0|5\d\d|7[34]0|752|773|78[05]|830",
    r"6\d\d",
    r"[17](?:00|10|11|20)",
    {
        "publisher": "260|264 b",
        "publication_place": "260|264 a",
        "date": "260|264 c",
        "isbn": "020 a",
        "container_title": "773 t",
        "archive": "852 ab",
        "shelf_mark": "852 hijm;090 ab;050 ab;099 a",
        "url": "856 u",
        "identifier": "024 a",
    },
)
_UNIMARC = _Format(
    "200 aehi",
    r"200|205|21[04]|215|225|3\d\d|410|46\d|5\d\d",
    r"60\d|61[06]",
    r"7[012]\d",
    {
        "publisher": "210|214 c",
        "publication_place": "210|214 a",
        "date": "210|214 d",
        "isbn": "010 a",
        "container_title": "461|463 t",
        "archive": "995|930 bc",
        "shelf_mark": "995 k;930 a",
        "url": "856 u",
        "identifier": "017 a",
    },
)
# of an authority record: the heading, other forms of it, and what is said of it
_AUTHORITY = _Format("1.. abcdgqtxyz", r"4\d\d|5\d\d|6[678]\d", "$", r"$", {"url": "856 u"})

_MARC8 = "iso8859-1"
"""The name of MARC-8 in pymarc."""

_OTHER = "record {number} is neither in UTF-8 nor in MARC-8: say in which encoding (`--encoding`)"
_END = b"\x1d"
_LONGEST = 100  # names of one record
_ENDS = " ,;:/="
_UNSORTED = dict.fromkeys((0x88, 0x89, 0x98, 0x9C))  # marks around `The` and the like
_YEAR = re.compile(r"\d{4}")


def marc_draft(leader: str, fields: Sequence[Field], place: str) -> Read:
    """The document of a record; `place` is its key if it has no control number."""
    linked = [(_linked(tag, parts), parts) for tag, parts in fields]
    tags = {tag for tag, _ in linked}
    form = _MARC21 if "245" in tags or "200" not in tags else _UNIMARC
    form = _AUTHORITY if leader[6:7] == "z" else form
    texts = [_line(parts) for tag, parts in linked if re.fullmatch(form.text, tag)]
    subjects = [_line(parts, " – ") for tag, parts in linked if re.fullmatch(form.subjects, tag)]
    named = [(tag, parts) for tag, parts in linked if re.fullmatch(form.names, tag)]
    title = _first(linked, form.title)
    key = next((parts[0][1].strip() for tag, parts in fields if tag == "001" and parts), "")
    names = list(dict.fromkeys(filter(None, (_name(parts, form) for _, parts in named))))
    text = "\n\n".join(
        filter(
            None,
            [
                "" if title and any(title in each for each in texts) else title,
                *texts,
                "\n".join(dict.fromkeys(_line(parts) for _, parts in named)),
                f"Subjects: {'; '.join(dict.fromkeys(subjects))}" if subjects else "",
            ],
        )
    )
    if not text:
        return Skipped("it holds no text", key or place)
    coded = next((parts[0][1] for tag, parts in fields if tag == "008" and parts), "")
    facts: dict[str, object] = {
        name: _first(linked, where).removesuffix(".") for name, where in form.facts.items()
    }
    facts["doi"] = doi_in(str(facts.pop("identifier", "")))
    if not facts.get("date") and _YEAR.fullmatch(coded[7:11]):
        facts["date"] = coded[7:11]
    facts |= {"author": names[:_LONGEST], "tags": [each.rstrip(".") for each in subjects]}
    metadata = {name: value for name, value in facts.items() if value}
    return Draft(text, title, key or place, metadata, speeches_known=True)


def _linked(tag: str, parts: Sequence[tuple[str, str]]) -> str:
    """The tag of a field; of one in another script (880) that of the field it belongs to."""
    return next((value[:3] for code, value in parts if tag == "880" and code == "6"), tag)


def _line(parts: Sequence[tuple[str, str]], joint: str = " ") -> str:
    """The words of a field: subfields with figures hold codes, `w` and `u` numbers and links."""
    words = (_words(value) for code, value in parts if code.isalpha() and code not in "uw")
    return joint.join(filter(None, words)).replace(" ,", ",")


def _words(value: str) -> str:
    return " ".join(plain(value.translate(_UNSORTED)).split())


def _first(fields: Sequence[Field], where: str) -> str:
    """The subfields of the first of such fields that has them: `852 hi;050 ab`."""
    for pattern, codes in (each.split() for each in where.split(";")):
        of_tag = (parts for tag, parts in fields if re.fullmatch(pattern, tag))
        lines = (_line([part for part in parts if part[0] in codes]) for parts in of_tag)
        if line := next(filter(None, lines), ""):
            return line.rstrip(_ENDS)
    return ""


def _name(parts: Sequence[tuple[str, str]], form: _Format) -> str:
    """`Roe, Anna` of `$a Roe, Anna, $d 1801-1866.`, and of `$a Roe $b Anna` in UNIMARC."""
    own = [_words(value).strip(_ENDS) for code, value in parts if code in ("a", "b")]
    name = (", " if form is _UNIMARC else " ").join(filter(None, own))
    return name if re.search(r"\b\w\.$", name) else name.rstrip(".")


def marcxml_drafts(root: "etree._Element") -> Iterator[Read]:
    """The documents of the records in a tree whose names are plain, whatever stands around."""
    for number, record in enumerate(root.iter("record"), start=1):
        fields: list[Field] = [
            (
                each.get("tag", ""),
                [(sub.get("code", ""), "".join(sub.itertext())) for sub in each.iter("subfield")]
                if each.tag == "datafield"
                else [("", each.text or "")],
            )
            for each in record.iterchildren("controlfield", "datafield")
        ]
        if fields:
            yield marc_draft(record.findtext("leader") or "", fields, f"record-{number}")


@dataclass(frozen=True)
class MarcReader:
    """Build a collection from catalogue records (MARC, .mrc): a document a record."""

    suffixes: ClassVar[frozenset[str]] = frozenset({".mrc", ".marc"})
    options: ClassVar[Mapping[str, object]] = {"version": 2}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """Read records in ISO 2709: in UTF-8, else in the `encoding` that is given, or MARC-8."""
        from pymarc import Record

        warnings.filterwarnings("ignore", module="pymarc")
        logging.getLogger("pymarc").setLevel(logging.CRITICAL)
        number = 0
        with path.open("rb") as file:
            for number, data in enumerate(_records(file), start=1):
                place = f"record-{number}"
                try:
                    record = Record(
                        data,
                        force_utf8=_is_utf8(data),  # UNIMARC does not say it where pymarc looks
                        file_encoding=encoding or _MARC8,
                        hide_utf8_warnings=True,
                    )
                except Exception:  # pymarc raises whatever it trips over
                    if number == 1 and not data[:5].isdigit():
                        yield Skipped("it is not a MARC file, whatever its name says")
                        return
                    yield Skipped(f"record {number} is damaged; export it again", place)
                    continue
                fields = [
                    (each.tag, [("", each.data or "")] if each.control_field else each.subfields)
                    for each in record.fields
                ]
                read = marc_draft(str(record.leader), fields, place)
                is_other = isinstance(read, Draft) and _is_scrambled(read.text)
                yield Skipped(_OTHER.format(number=number), place) if is_other else read
        if not number:
            yield Skipped("the file is empty")


def _records(file: BinaryIO) -> Iterator[bytes]:
    rest = b""
    for block in iter(lambda: file.read(1_000_000), b""):
        *records, rest = (rest + block).split(_END)
        yield from (record.lstrip() + _END for record in records)
    if rest.strip():
        yield rest


def _is_scrambled(text: str) -> bool:
    """Say if it has more marks than letters, as Cyrillic taken for MARC-8."""
    return sum(map(bool, map(combining, text))) > sum(map(str.isalpha, text))


def _is_utf8(data: bytes) -> bool:
    try:
        return not data.isascii() and bool(data.decode())
    except UnicodeDecodeError:
        return False
