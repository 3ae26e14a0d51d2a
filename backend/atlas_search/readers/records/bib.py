"""Reading lists of literature: BibTeX, RIS, CSL-JSON, and Zotero's JSON and RDF.

A record is a document of its abstract and notes; without either there is nothing to read.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.encoding import Undecodable, open_text
from atlas_search.readers.markup import plain
from atlas_search.readers.metadata import doi_in
from atlas_search.readers.tables import TEXT
from atlas_search.readers.text import clean

if TYPE_CHECKING:
    from bibtexparser.model import Entry
    from lxml import etree

_OURS = {
    "title": "title primarytitle booktitle",
    "author": "author authors firstauthors creators",
    "editor": "editor editors secondaryauthors",
    "date": "date issued year publicationyear",
    "container_title": "containertitle journal journaltitle journalname publicationtitle booktitle "
    "secondarytitle proceedingstitle encyclopediatitle alternatetitle3 alternatetitle1",
    "volume": "volume",
    "issue": "issue number",
    "pages": "pages page",
    "publisher": "publisher institution school",
    "publication_place": "publisherplace place placepublished address location",
    "doi": "doi",
    "isbn": "isbn",
    "url": "url urls",
    "language": "language langid",
    "archive": "archive library databaseprovider",
    "shelf_mark": "archivelocation callnumber shelfmark",
    "tags": "keywords keyword tags",
    "document_type": "itemtype type typeofreference",
}
"""Names of fields in the formats, without `_` and the like, by our names: the best first."""

_TEXT = ("abstract", "abstractnote", "notes", "note", "annote", "annotation", "notesabstract")
_NOTHING = "{place}: it has neither an abstract nor a note, so there is nothing to read"
_CSL = {"issued", "container-title", "citation-key", "DOI", "abstract", "accessed", "publisher"}
"""Fields by which a record in JSON is known to be one of CSL, beside its type."""

_BLOCK = re.compile(r"</?(?:p|div|br|li|ul|ol|h\d|tr|blockquote|jats:p|jats:title)\b[^<>]*>")
_HTML = re.compile(r"</?(?:[a-z]|h\d|[a-z]{2,6}|blockquote|jats:\w+)(?:\s[^<>]*)?/?>")
_DIGITS = re.compile(r"-?\d{1,4}")
_APART = "\u241e"
_PEOPLE = ("author", "editor")
Fields = Mapping[str, Any]


def reference_draft(fields: Fields, key: str, place: str) -> Read:
    """The document of a record, whose fields have the names of their format."""
    by_name = {re.sub(r"[\W_]", "", str(name)).lower(): value for name, value in fields.items()}
    texts = (text for name in _TEXT for text in _texts(by_name.get(name)))
    text = "\n\n".join(dict.fromkeys(filter(None, map(_readable, texts))))
    text = clean(re.sub(r"\n{3,}", "\n\n", text))
    if not text:
        return Skipped(_NOTHING.format(place=place), key)
    metadata: dict[str, object] = {}
    for ours, names in _OURS.items():
        values = (list(_texts(by_name.get(name))) for name in names.split())
        found = [" ".join(plain(each).split()) for each in next(filter(None, values), [])]
        if found:
            metadata[ours] = found if ours in (*_PEOPLE, "tags") else found[0]
    first, last = (next(_texts(by_name.get(name)), "") for name in ("startpage", "endpage"))
    if first:
        metadata["pages"] = "-".join(filter(None, (first, last)))
    if "doi" in metadata:
        metadata["doi"] = doi_in(str(metadata["doi"]))
    if metadata.get("container_title") == metadata.get("title"):
        metadata.pop("container_title", None)
    kept = {name: value for name, value in metadata.items() if value}
    return Draft(text, str(metadata.get("title", "")), key, kept, speeches_known=True)


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


def _readable(text: str) -> str:
    """The text of a note, which may be a piece of HTML."""
    if not _HTML.search(text):
        return plain(text)
    lines = (" ".join(line.split()) for line in _BLOCK.split(text))
    return "\n\n".join(filter(None, (plain(unescape(_HTML.sub("", line))) for line in lines)))


def references_in(value: object) -> list[Fields]:
    """The records of a JSON file of CSL or Zotero; empty if it is another."""
    items = value.get("items") if isinstance(value, dict) else value
    if not isinstance(items, list):
        return []
    found = (each for each in items if isinstance(each, dict))
    records: list[Fields] = [
        own if isinstance(own := each.get("data"), dict) else each for each in found
    ]
    return records if records and all(map(_is_reference, records)) else []


def _is_reference(item: Fields) -> bool:
    is_csl = "type" in item and not _CSL.isdisjoint(item)
    return "itemType" in item or (is_csl and {*TEXT}.isdisjoint(item))


def json_drafts(items: Iterable[Fields]) -> Iterator[Read]:
    """The documents of records of CSL or Zotero. What Zotero attached to a record is none."""
    for number, item in enumerate(items, start=1):
        if item.get("itemType") == "attachment":
            continue
        authors = item.get("creators")
        if isinstance(authors, list):
            of = [(each.get("creatorType"), each) for each in authors if isinstance(each, dict)]
            item = {**item, "creators": [each for kind, each in of if kind != "editor"]}
            item["editors"] = [each for kind, each in of if kind == "editor"]
        key = next(_texts([item.get(name) for name in ("id", "citationKey", "key", "itemKey")]), "")
        yield reference_draft(item, key or f"record-{number}", f"record {number}")


def rdf_drafts(root: "etree._Element") -> Iterator[Read]:
    """The documents of the records of Zotero's RDF, in a tree whose names are plain."""
    by_id = {each.get("about"): each for each in root}

    def linked(record: "etree._Element", name: str) -> Iterator["etree._Element"]:
        for each in record.iterchildren(name):
            yield from each
            if each.get("resource") in by_id:
                yield by_id[each.get("resource")]

    for number, record in enumerate(root, start=1):
        if record.findtext("itemtype", "attachment") == "attachment":
            continue
        fields: dict[str, Any] = {each.tag: _line(each) for each in record}
        for whole in linked(record, "ispartof"):
            fields |= {each.tag: _line(each) for each in whole if each.tag not in fields}
            fields["containertitle"] = whole.findtext("title")
        for name in ("authors", "editors"):
            people = record.iterfind(f"{name}//person")
            fields[name] = [
                {"family": each.findtext("surname"), "given": each.findtext("givenname")}
                for each in people
            ]
        fields["notes"] = [memo.findtext("value") for memo in linked(record, "isreferencedby")]
        fields["keywords"] = [_line(each) for each in record.iterchildren("subject")]
        fields["url"] = [_line(each) for each in record.iterfind("identifier/uri")]
        yield reference_draft(fields, record.get("about") or f"record-{number}", f"record {number}")


def _line(element: "etree._Element") -> str:
    return " ".join("".join(element.itertext()).split())


@dataclass(frozen=True)
class BibReader:
    """Reads BibTeX and RIS."""

    suffixes: ClassVar[frozenset[str]] = frozenset({".bib", ".ris"})
    options: ClassVar[Mapping[str, object]] = {"version": 1}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """One draft or Skipped for every record, in order."""
        try:
            with open_text(path, encoding) as file:
                content = file.read()
        except Undecodable as error:
            yield Skipped(str(error))
            return
        is_empty = True
        for read in _bibtex(content) if path.suffix.lower() == ".bib" else _ris(content):
            is_empty = False
            yield read
        if is_empty:
            yield Skipped("it holds no record" if content.strip() else "the file is empty")


def bib_reader() -> BibReader:
    """Build a collection from lists of literature (BibTeX and RIS): a document an abstract."""
    return BibReader()


def _bibtex(content: str) -> Iterator[Read]:
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
        if not {field.key.lower() for field in entry.fields}.isdisjoint(_TEXT):
            decode.transform_entry(entry, library)  # it takes milliseconds
        fields: dict[str, Any] = {"itemtype": entry.entry_type}
        for field in entry.fields:
            name, value = field.key.lower(), re.sub(r"[{}]", "", str(field.value))
            fields[name] = value.split(_APART) if name in _PEOPLE else value
        fields["keywords"] = re.split(r"\s*[,;]\s*", fields.get("keywords", ""))
        yield reference_draft(fields, entry.key or f"record-{number}", f"line {_place(entry)}")


def _place(entry: "Entry") -> int:
    return (entry.start_line or 0) + 1


def _ris(content: str) -> Iterator[Read]:
    import rispy

    records: Sequence[dict[str, Any]] = rispy.loads(content)
    for number, record in enumerate(records, start=1):
        for name in ("date", "year", "publication_year"):
            if name in record:  # 1887/05/03/spring
                parts = str(record[name]).split("/")
                record[name] = "-".join(part for part in parts[:3] if part.isdigit()) or parts[-1]
        key = str(record.get("id") or f"record-{number}")
        yield reference_draft(record, key, f"record {number}")
