"""Reading lists of literature: BibTeX, RIS, CSL-JSON, and Zotero's JSON and RDF.

A record is a document of its abstract and notes; without either there is nothing to read. The files
that it names are sources of their own, which get its metadata (`building/sheets.py`).
"""

import json
import logging
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.encoding import Undecodable, open_text
from atlas_search.readers.markup import plain, words
from atlas_search.readers.metadata import doi_in
from atlas_search.readers.tables import TEXT, Record
from atlas_search.readers.text import clean

if TYPE_CHECKING:
    from bibtexparser.model import Entry
    from lxml import etree

_OURS = {
    "title": "title primarytitle casename nameofact booktitle",
    "author": "author authors firstauthors creators",
    "editor": "editor editors secondaryauthors",
    "translator": "translator translators",
    "recipient": "recipient recipients",
    "date": "date issued year publicationyear datedecided dateenacted",
    "container_title": "containertitle journal journaltitle journalname publicationtitle booktitle "
    "secondarytitle proceedingstitle encyclopediatitle alternatetitle3 alternatetitle1",
    "volume": "volume",
    "issue": "issue number",
    "pages": "pages page",
    "publisher": "publisher institution school university",
    "court": "court",
    "publication_place": "publisherplace place placepublished address location",
    "doi": "doi",
    "isbn": "isbn",
    "url": "url urls",
    "language": "language langid",
    "archive": "archive library nameofdatabase databaseprovider",
    "shelf_mark": "archivelocation accessionnumber callnumber shelfmark",
    "tags": "keywords keyword tags",
    "collections": "collections",
    "citation_key": "citationkey citekey",
    "zotero_key": "zoterokey",
    "zotero_library": "zoterolibrary",
    "document_type": "itemtype type typeofreference",
}
"""Names of fields in the formats, without `_` and the like, by our names: the best first."""

ABSTRACT = ("abstract", "abstractnote", "notesabstract")
NOTES = ("notes", "note", "annote", "annotation")
_NOTHING = "{place}: it has neither an abstract nor a note, so there is nothing to read"
_CSL = {"issued", "container-title", "citation-key", "DOI", "abstract", "accessed", "publisher"}
"""Fields by which a record in JSON is known to be one of CSL, beside its type."""

_BLOCK = re.compile(r"</?(?:p|div|br|li|ul|ol|h\d|tr|blockquote|jats:p|jats:title)\b[^<>]*>")
_HTML = re.compile(r"</?(?:[a-z]|h\d|[a-z]{2,6}|blockquote|jats:\w+)(?:\s[^<>]*)?/?>")
_DIGITS = re.compile(r"-?\d{1,4}")
_APART = "\u241e"
_PEOPLE = ("author", "editor", "translator", "recipient")
_OF_ZOTERO = re.compile(r"zotero\.org/((?:users|groups)/(?:local/)?\w+)/items/(\w+)")
_ON_THE_WEB = re.compile(r"(?:https?|ftp|doi):", re.IGNORECASE)
Fields = Mapping[str, Any]


def _record(fields: Fields, key: str, place: str) -> Record:
    """A record whose fields have the names of their format."""
    by_name = {re.sub(r"[\W_]", "", str(name)).lower(): value for name, value in fields.items()}
    return Record(key, place, by_name)


def reference_draft(record: Record) -> Read:
    """The document of a record."""
    text = clean(text_in(record, (*ABSTRACT, *NOTES)))
    if not text:
        return Skipped(_NOTHING.format(place=record.place), record.key)
    metadata = reference_metadata(record)
    title = str(metadata.get("title", ""))
    return Draft(text, title, record.key, metadata, speeches_known=True)


def text_in(record: Record, names: Sequence[str]) -> str:
    """The text of a record: of its ABSTRACT, its NOTES or both."""
    texts = (readable(text) for name in names for text in _texts(record.fields.get(name)))
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(dict.fromkeys(filter(None, texts))))


def reference_metadata(record: Record) -> dict[str, object]:
    """Metadata of a record, by our names."""
    by_name = record.fields
    metadata: dict[str, object] = {}
    for ours, names in _OURS.items():
        values = (list(_texts(by_name.get(name))) for name in names.split())
        found = [" ".join(plain(each).split()) for each in next(filter(None, values), [])]
        if found:
            several = (*_PEOPLE, "tags", "collections")
            metadata[ours] = found if ours in several else found[0]
    first, last = (next(_texts(by_name.get(name)), "") for name in ("startpage", "endpage"))
    if first:
        metadata["pages"] = "-".join(filter(None, (first, last)))
    if "doi" in metadata:
        metadata["doi"] = doi_in(str(metadata["doi"]))
    if metadata.get("container_title") == metadata.get("title"):
        metadata.pop("container_title", None)
    return {name: value for name, value in metadata.items() if value}


def files_of(record: Record) -> list[str]:
    """The paths that it names, as it writes them; none of addresses on the web."""
    names = ("files", "fileattachments1", "fileattachments2", "figure", "urls")
    given = [(name, text) for name in names for text in _texts(record.fields.get(name))]
    return [
        re.sub(r"^file:/*(?=/)", "", unquote(text)) if text.startswith("file:") else text
        for name, text in given
        if text.startswith("file:") or not (name == "urls" or _ON_THE_WEB.match(text))
    ]


def _texts(value: object) -> Iterator[str]:
    """The texts in a value: of persons, dates, tags and notes as CSL and Zotero write them."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            each = _date(each) if "date-parts" in each else _named(each)
        if isinstance(each, str | int | float) and str(each).strip():
            yield str(each).strip()


def _named(value: Fields) -> object:
    names = [str(value[n]) for n in ("family", "lastName", "given", "firstName") if value.get(n)]
    inner = (value[n] for n in ("literal", "name", "raw", "tag", "note") if n in value)
    return ", ".join(names) or next(inner, "")


def _date(value: Fields) -> str:
    """`1999-05-03`, `1901-1903` or `c. 1901` of a date in CSL."""
    ends = [part for part in value["date-parts"] or () if isinstance(part, list)]
    numbers = [[str(n).zfill(2) for n in part if _DIGITS.fullmatch(str(n))] for part in ends]
    days = ["-".join(part) for part in numbers if part]
    if len(days) > 1 and all(len(part) == 1 for part in numbers):
        return "-".join(days[:2])
    return f"{'c. ' if value.get('circa') else ''}{next(iter(days), '')}"


def readable(text: str) -> str:
    """The text of a note, which may be a piece of HTML."""
    if not _HTML.search(text):
        return plain(text)
    lines = (" ".join(line.split()) for line in _BLOCK.split(text))
    return "\n\n".join(filter(None, (plain(unescape(_HTML.sub("", line))) for line in lines)))


def references_in(value: object) -> list[dict[str, Any]]:
    """The records of a JSON file of CSL or Zotero; empty if it is another."""
    items = value.get("items") if isinstance(value, dict) else value
    if not isinstance(items, list):
        return []
    found = (each for each in items if isinstance(each, dict))
    records: list[dict[str, Any]] = [
        own if isinstance(own := each.get("data"), dict) else each for each in found
    ]
    if not (records and all(map(_is_reference, records))):
        return []
    named = value.get("collections") if isinstance(value, dict) else None
    pairs = named.items() if isinstance(named, dict) else ()
    known = {key: each for key, each in pairs if isinstance(each, dict)}
    paths = paths_of({key: (each.get("name"), each.get("parent")) for key, each in known.items()})
    members = {key: {*map(str, each.get("items") or ())} for key, each in known.items()}
    for item in records:
        keys = item.get("collections")
        own = {*map(str, keys)} if isinstance(keys, list) else set()
        item["collections"] = [
            path
            for key, path in paths.items()
            if key in own or str(item.get("itemID")) in members[key]
        ]
    return records


def paths_of(collections: Mapping[Any, tuple[Any, Any]]) -> dict[Any, str]:
    """`Ports > Dues` of each collection by its key, from its name and the key of its parent."""

    def path(key: str) -> str:
        name, parent = collections[key]
        return f"{path(parent)} > {name}" if parent in collections else name

    return {key: path(key) for key in collections}


def _is_reference(item: Fields) -> bool:
    is_csl = "type" in item and not _CSL.isdisjoint(item)
    return "itemType" in item or (is_csl and {*TEXT}.isdisjoint(item))


def json_records(items: Sequence[Fields]) -> Iterator[Record]:
    """The records of CSL or Zotero, with the notes and files of their children."""
    wholes = {str(item["key"]) for item in items if item.get("key") and not item.get("parentItem")}
    children: dict[str, list[Fields]] = defaultdict(list)
    for item in items:
        children[str(item.get("parentItem") or "")].append(item)
    for number, item in enumerate(items, start=1):
        is_file = item.get("itemType") == "attachment"
        if (is_file and not item.get("path")) or str(item.get("parentItem")) in wholes:
            continue
        inner = children[str(item["key"])] if item.get("key") else []
        notes = [item.get("notes"), *(each.get("note") for each in inner)]
        fields = {**item, "notes": [text for each in notes for text in _texts(each)]}
        given = item.get("attachments")
        attached = [*(given if isinstance(given, list) else ()), *inner, *([item] * is_file)]
        fields["files"] = [
            each.get("path") or each.get("localPath") if isinstance(each, dict) else each
            for each in attached
        ]
        if isinstance(people := item.get("creators"), list):
            of = [(each.get("creatorType"), each) for each in people if isinstance(each, dict)]
            fields["creators"] = [each for kind, each in of if kind not in _PEOPLE[1:]]
            for role in _PEOPLE[1:]:
                fields[f"{role}s"] = [each for kind, each in of if kind == role]
        if match := _OF_ZOTERO.search(f"{item.get('uri')} {item.get('id')}"):
            fields["zoterolibrary"], fields["zoterokey"] = match.groups()
        key = next(_texts([item.get(name) for name in ("id", "citationKey", "key", "itemKey")]), "")
        yield _record(fields, key or f"record-{number}", f"record {number}")


def rdf_records(root: "etree._Element") -> Iterator[Record]:
    """The records of Zotero's RDF, in a tree whose names are plain."""
    by_id = {each.get("about"): each for each in root}

    def linked(record: "etree._Element", name: str) -> Iterator["etree._Element"]:
        for each in record.iterchildren(name):
            yield from each
            if each.get("resource") in by_id:
                yield by_id[each.get("resource")]

    parts = {
        each.get("about"): [part.get("resource") for part in each.iterchildren("haspart")]
        for each in root.iterchildren("collection")
    }
    above = {part: key for key, inner in parts.items() for part in inner if part in parts}
    paths = paths_of(
        {key: (by_id[key].findtext("title") or "", above.get(key, "")) for key in parts}
    )
    within = defaultdict(list)
    for key, inner in parts.items():
        for part in inner:
            within[part].append(paths[key])
    for number, record in enumerate(root, start=1):
        if record.findtext("itemtype", "attachment") == "attachment":
            continue
        about = record.get("about")
        fields: dict[str, Any] = {each.tag: words(each) for each in record}
        identifiers = [words(each) for each in record.iterchildren("identifier")]
        for whole in linked(record, "ispartof"):
            fields |= {each.tag: words(each) for each in whole if each.tag not in fields}
            fields["containertitle"] = whole.findtext("title")
            identifiers += [words(each) for each in whole.iterchildren("identifier")]
        for name in ("DOI", "ISBN"):
            own = (each.removeprefix(name) for each in identifiers if each.startswith(name + " "))
            fields[name.lower()] = next(own, "")
        if (publisher := record.find("publisher/organization")) is not None:
            fields["publisher"] = publisher.findtext("name")
            fields["place"] = publisher.findtext(".//locality")
        people: dict[str, list[Fields]] = defaultdict(list)
        for each in record.iterfind("*/seq/li/person"):
            role = next(each.iterancestors("seq")).getparent().tag
            people[role if role.removesuffix("s") in _PEOPLE else "authors"].append(
                {"family": each.findtext("surname"), "given": each.findtext("givenname")}
            )
        fields |= {name: people.get(name) for name in (f"{role}s" for role in _PEOPLE)}
        fields["notes"] = [memo.findtext("value") for memo in linked(record, "isreferencedby")]
        subjects = list(record.iterchildren("subject"))
        fields["keywords"] = [words(each) for each in subjects if each.find("lcc") is None]
        fields["callnumber"] = [words(each) for each in subjects if each.find("lcc") is not None]
        fields["archivelocation"] = fields.get("coverage")
        fields["url"] = [words(each) for each in record.iterfind("identifier/uri")]
        fields["files"] = [
            each.get("resource")
            for attached in linked(record, "link")
            for name in ("path", "resource")
            for each in attached.iterchildren(name)
        ]
        fields["collections"] = within.get(about)
        yield _record(fields, about or f"record-{number}", f"record {number}")


@dataclass(frozen=True)
class BibReader:
    """Build a collection from lists of literature (BibTeX, RIS) and the files that they name.

    A record without its file is a document of its abstract and notes.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".bib", ".ris"})
    options: ClassVar[Mapping[str, object]] = {"version": 2}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        try:
            with open_text(path, encoding) as file:
                content = file.read()
        except Undecodable as error:
            yield Skipped(str(error))
            return
        is_empty = True
        # one by one: each has the seconds of a file for itself
        for record in _records_of(content, path.suffix.lower()):
            is_empty = False
            yield record if isinstance(record, Skipped) else reference_draft(record)
        if is_empty:
            yield Skipped("it holds no record" if content.strip() else "the file is empty")


_AS_IT_IS = ("file", "url", "doi")
_LATEX = re.compile(r"[\\$~%&`]|--|''")
"""Signs without which decoding changes nothing but braces: of 535 real entries those with such a
field took 0.2 seconds, all of them 2.2."""
_MOST = 200_000_000
"""Bytes of a list that is searched for names of files: it is read without limits of memory."""
_SUFFIXES = (".bib", ".ris", ".json", ".rdf")
_OF_LITERATURE = re.compile(rb'"(?:config|collections|itemType|attachments|issued|type)"')
_NAMING = re.compile(
    rb"^[^%\n]*\bfile\s*=|^[ \t]*(?:L[124]|UR)[ \t]+-|\"attachments?\"|:Attachment\b", re.M | re.I
)


def names_files(path: str) -> bool:
    """Return whether a file seems to be a list of literature that names files."""
    if not path.lower().endswith(_SUFFIXES):
        return False
    try:
        with open(path, "rb") as file:
            if os.path.getsize(path) > _MOST:
                return False
            head = file.read(4000)
            if path.lower().endswith(".json") and not _OF_LITERATURE.search(head):
                return False  # of tens of thousands, nothing more is read
            return _NAMING.search(head + file.read()) is not None
    except OSError:
        return False


def references_of(path: Path, encoding: str) -> list[Record]:
    """The records of a list of literature; none of a file that is another or cannot be read."""
    suffix = path.suffix.lower()
    if suffix == ".rdf":
        from atlas_search.readers.xml.parse import parse

        parsed = parse(path.read_bytes(), encoding)
        return [] if isinstance(parsed, Skipped) else list(rdf_records(parsed.root))
    with open_text(path, encoding) as file:
        content = file.read()
    if suffix == ".json":
        return list(json_records(references_in(json.loads(content))))
    return [each for each in _records_of(content, suffix) if isinstance(each, Record)]


def _records_of(content: str, suffix: str) -> Iterator[Record | Skipped]:
    return _bibtex(content) if suffix == ".bib" else _ris(content)


def _bibtex(content: str) -> Iterator[Record | Skipped]:
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.middlewares import LatexDecodingMiddleware
    from bibtexparser.middlewares.names import split_multiple_persons_names
    from bibtexparser.model import Entry

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    library = parse_string(content)
    decode = LatexDecodingMiddleware(allow_inplace_modification=True)
    entries = library.entries
    for block in library.failed_blocks:
        whole = block.ignore_error_block  # of one whose key or field occurs twice
        if isinstance(whole, Entry):
            entries.append(whole)
        else:
            yield Skipped(f"line {(block.start_line or 0) + 1}: this entry cannot be read; mend it")
    for number, entry in enumerate(sorted(entries, key=_place), start=1):
        for field in entry.fields:
            if field.key.lower() in _PEOPLE:
                field.value = _APART.join(split_multiple_persons_names(str(field.value)))
            elif field.key.lower() in _AS_IT_IS:
                field.value = re.sub(r"\\([%&#_~])", r"\1", str(field.value))
        latex = [
            field
            for field in entry.fields
            if field.key.lower() not in _AS_IT_IS and _LATEX.search(str(field.value))
        ]
        decode.transform_entry(Entry(entry.entry_type, entry.key, latex), library)
        fields: dict[str, Any] = {"itemtype": entry.entry_type, "citationkey": entry.key}
        for field in entry.fields:
            name, value = field.key.lower(), re.sub(r"[{}]", "", str(field.value))
            fields[name] = value.split(_APART) if name in _PEOPLE else value
        fields["keywords"] = re.split(r"\s*[,;]\s*", fields.get("keywords", ""))
        fields["files"] = list(_paths(fields.get("file", "")))
        yield _record(fields, entry.key or f"record-{number}", f"line {_place(entry)}")


def _paths(value: str) -> Iterator[str]:
    """The paths of `Full text:files/1/a.pdf:application/pdf;:b.pdf:PDF`, or of paths alone."""
    for each in re.split(r"(?<!\\);", value):
        parts = re.split(r"(?<!\\):", each)
        inner = re.sub(r"\\(.)", r"\1", ":".join(parts[1:-1]))
        yield inner if len(parts) > 2 else each.strip()


def _place(entry: "Entry") -> int:
    return (entry.start_line or 0) + 1


def _ris(content: str) -> Iterator[Record]:
    import rispy

    records: Sequence[dict[str, Any]] = rispy.loads(content)
    for number, record in enumerate(records, start=1):
        for name in ("date", "year", "publication_year"):
            if name in record:  # 1887/05/03/spring
                parts = str(record[name]).split("/")
                record[name] = "-".join(part for part in parts[:3] if part.isdigit()) or parts[-1]
        key = str(record.get("id") or f"record-{number}")
        yield _record(record, key, f"record {number}")
