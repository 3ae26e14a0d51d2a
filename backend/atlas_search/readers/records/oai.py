"""Reading answers of OAI-PMH 2.0: records in Dublin Core, or in a format that is read anyway.

https://www.openarchives.org/OAI/openarchivesprotocol.html, https://www.dublincore.org/documents/dces
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from atlas_search.core.addresses import is_link
from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.markup import plain
from atlas_search.readers.metadata import doi_in
from atlas_search.readers.records.bib import readable

if TYPE_CHECKING:
    from lxml import etree

ROOT = "oai-pmh"
_DC = "dc"
_OURS = {
    "creator": "author",
    "subject": "tags",
    "type": "document_type",
    **{each: each for each in "contributor coverage language publisher rights source".split()},
}
"""Elements of Dublin Core, and our names for them."""
_LISTS = ("author", "contributor", "tags")
_VOCABULARY = ("info:", "http:", "https:")
_TIME = re.compile(r"\dT\d")
_EMPTY = "the repository gives no metadata of it"
DELETED = "the repository has deleted it"


def oai_drafts(
    root: "etree._Element", drafts_of: Callable[["etree._Element"], Iterator[Read]]
) -> Iterator[Read]:
    """The documents of the records in a tree whose names are plain.

    What is not Dublin Core is left to `drafts_of`.
    """
    for number, record in enumerate(root.iterfind("*/record"), start=1):
        key = identifier_of(record) or f"record-{number}"
        inner = record.find("metadata/*")
        if inner is None:
            yield Skipped(DELETED if is_deleted(record) else _EMPTY, key)
        elif inner.tag == _DC:
            yield _dublin_core_draft(record, key)
        else:
            for read in drafts_of(deepcopy(inner)):
                yield replace(read, key=f"{key}.{read.key}" if read.key else key)


def identifier_of(record: "etree._Element") -> str:
    """The identifier by which a repository knows a record."""
    return (record.findtext("header/identifier") or "").strip()


def is_deleted(record: "etree._Element") -> bool:
    """Say if a record is only the notice that there is none any more."""
    header = record.find("header")
    return header is not None and header.get("status") == "deleted"


def _dublin_core_draft(record: "etree._Element", key: str) -> Read:
    """The document of a record: its description, else what a catalogue would say of it."""
    fields = _fields(record)
    metadata = dublin_core(record)
    titles = fields.get("title", [])
    text = description(record)
    if not text:
        names = [*fields.get("creator", []), *fields.get("contributor", [])]
        imprint = [*fields.get("publisher", []), str(metadata.get("date", ""))]
        subjects = "; ".join(fields.get("subject", []))
        lines = ["\n".join(titles), "\n".join(names), ", ".join(filter(None, imprint))]
        text = "\n\n".join(filter(None, [*lines, f"Subjects: {subjects}" if subjects else ""]))
    if not text:
        return Skipped("it holds no text", key)
    return Draft(text, "".join(titles[:1]), key, metadata, speeches_known=True)


def description(record: "etree._Element") -> str:
    """The descriptions of a record in Dublin Core, which may be pieces of HTML."""
    stated = record.iterfind(f"metadata/{_DC}/description")
    texts = (readable("".join(each.itertext())).strip() for each in stated)
    return "\n\n".join(dict.fromkeys(filter(None, texts)))


def dublin_core(record: "etree._Element") -> dict[str, object]:
    """Metadata of a record in Dublin Core, by our names."""
    fields = _fields(record)
    metadata: dict[str, object] = {
        ours: fields[name] if ours in _LISTS or len(fields[name]) > 1 else fields[name][0]
        for name, ours in _OURS.items()
        if name in fields
    }
    own = [each for each in fields.get("type", []) if not each.startswith(_VOCABULARY)]
    doi = next(filter(None, map(doi_in, fields.get("identifier", []))), "")
    pages = [each for each in links(record) if not each.lower().endswith(".pdf")]
    metadata |= {
        "title": next(iter(fields.get("title", [])), ""),
        "document_type": (own or fields.get("type") or [""])[0],
        "date": _date(fields.get("date", [])),
        "doi": doi,
        "url": next(iter([*pages, *links(record)]), f"https://doi.org/{doi}" if doi else ""),
        **{
            name: [each for each in fields.get(name, []) if not each.startswith(_VOCABULARY)]
            for name in ("identifier", "relation")
        },
        "oai_identifier": identifier_of(record),
        "sets": [(each.text or "").strip() for each in record.iterfind("header/setspec")],
    }
    return {name: value for name, value in metadata.items() if value}


def links(record: "etree._Element") -> Sequence[str]:
    """The addresses on the web that it names, those of itself before those of what is related."""
    fields = _fields(record)
    named = [*fields.get("identifier", []), *fields.get("relation", [])]
    return list(filter(is_link, named))


def _date(stated: Sequence[str]) -> str:
    """The date of what is described: times are those at which a repository took it in."""
    days = [each for each in stated if not _TIME.search(each)]
    return next(iter(days or sorted(stated)), "")


def _fields(record: "etree._Element") -> Mapping[str, list[str]]:
    """The values of each element, all on one line."""
    fields: dict[str, list[str]] = {}
    for element in record.iterfind(f"metadata/{_DC}/*"):
        value = " ".join(plain("".join(element.itertext())).split())
        if value and value not in fields.setdefault(element.tag, []):
            fields[element.tag].append(value)
    return {name: values for name, values in fields.items() if values}
