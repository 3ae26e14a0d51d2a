"""The cited documents, each once, as bibliographies, reference managers and Zotero take them.

CSL-JSON: https://github.com/citation-style-language/schema, `schemas/input/csl-data.json`.
RIS, where a value is one line: https://en.wikipedia.org/wiki/RIS_(file_format) lists the tags.
Items of Zotero: https://api.zotero.org/schema.
"""

import hashlib
import json
import re
import unicodedata
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args
from urllib.parse import quote

from atlas_search.answer.wire import place_of
from atlas_search.core.metadata import MetadataValue
from atlas_search.core.registry import require
from atlas_search.core.wire import CitationOut
from atlas_search.language.dates import OPEN_END, bounds
from atlas_search.language.lines import unwrap
from atlas_search.readers.metadata import doi_in

if TYPE_CHECKING:
    from bibtexparser.model import Entry

_ABOUT = re.compile(
    r"^(?:circa |ca\.? ?|c\.? ?|about |around |approximately |approx\.? |~)|[~%]$", re.IGNORECASE
)

Parts = tuple[int, ...]
"""A year, a year and a month, or a day."""


@dataclass(frozen=True)
class Dating:
    """A date as the source writes it, and what it says.

    `parts` are one, or the first and last of a span; none if it is open at one end or no date.
    """

    written: str
    parts: tuple[Parts, ...] = ()
    circa: bool = False


def dating(written: str) -> Dating:
    """Read the date `written`."""
    written = written.strip()
    plain = _ABOUT.sub("", written)
    days = bounds(plain) if bounds(written) else None
    if days is None:
        days, plain = bounds(written), written
    if days is None or days[0] < "0" or days[1] == OPEN_END:  # before our era, or open
        return Dating(written)
    return Dating(written, _parts(*map(date.fromisoformat, days)), circa=plain != written)


def _parts(first: date, last: date) -> tuple[Parts, ...]:
    """The shortest parts that mean the days from `first` to `last`."""
    months = first.day == 1 and last.day == monthrange(last.year, last.month)[1]
    years = months and first.month == 1 and last.month == 12
    count = 1 if years else 2 if months else 3
    start, end = (tuple(day.timetuple()[:count]) for day in (first, last))
    return (start,) if start == end else (start, end)


class Base(NamedTuple):
    """The address of a server, and the collection that it shows unasked; empty if nobody knows."""

    url: str
    default: str = ""

    def of(self, collection: str) -> str:
        """The beginning of permalinks into a collection."""
        if not self.default or collection in ("", self.default):
            return self.url
        return f"{self.url}/?collection={quote(collection, safe='')}"


def permalink(base: str, passage_id: str) -> str:
    """The address at which a passage is shown; `base` comes from `Base.of`."""
    return f"{base}{'&' if '?' in base else '/?'}passage={quote(passage_id, safe='')}"


Kind = Literal["case", "statute", "debate", "book", "article", "document"]

_VERSUS = re.compile(r"\w[^\w\s]* vs?\.? [^\W\d_]")
_ACT = re.compile(r"\b(?:Act|Code|Ordinance|Regulations|Rules|Order|Statute)\b[^,:;]*\b\d{4}\W*$")
_DEBATES = re.compile(r"\b(?:debates|hansard|written (?:answers|\w+ ?statements))\b", re.IGNORECASE)
_NAMES = {
    "author": ("author", "authors", "creator", "creators", "dccreator"),
    "doi": ("doi", "identifier", "dcidentifier"),
    "container": ("containertitle", "journal", "journaltitle", "publicationtitle", "booktitle"),
    "volume": ("volume",),
    "issue": ("issue",),
    "pages": ("pages", "pagerange"),
    "archive": ("archive", "repository"),
    "shelf_mark": ("shelfmark", "callnumber", "archivelocation", "referencecode"),
}
"""Metadata that states a fact, without `_` and the like, the best first."""
_BOOK = ("publisher", "body")
_OTHER = ("court", "house", "body", "publisher")
_LONGEST_TITLE = 1_000
_KEY = re.compile(r"[a-z0-9._-]+")


@dataclass(frozen=True)
class StatedFacts:
    """The authors of a document, the body that issued it, the citation it states for itself, where
    it appeared and where it is kept. `container` is the journal or the book it is a part of."""

    authors: tuple[str, ...]
    body: str
    source: str
    doi: str
    container: str
    volume: str
    issue: str
    pages: str
    archive: str
    shelf_mark: str


@dataclass(frozen=True)
class Reference:
    """A cited document.

    `key` is ASCII, depends on nothing but the document's id, and differs from others in more than
    capitals. `quotes` are one line each: place (section or page), headings, speaker, quoted text
    and permalink. `zotero` is the address of the item in Zotero that the document came from.
    """

    key: str
    kind: Kind
    title: str
    stated: StatedFacts
    dating: Dating
    url: str
    quotes: tuple[str, ...]
    zotero: str = ""


def references_of(citations: Iterable[tuple[CitationOut, str]], base: Base) -> list[Reference]:
    """One for every document of `citations` (each with its collection), in order of first citation.

    The collection is part of its key where two collections have a document of that id.
    """
    documents: dict[tuple[str, str], list[CitationOut]] = {}
    for cited, collection in citations:
        documents.setdefault((cited.document_id, collection), []).append(cited)
    counts = Counter(id_ for id_, _ in documents)
    return [
        _reference(cited, base.of(of), _key(id_ if counts[id_] == 1 else f"{id_}-{of}"))
        for (id_, of), cited in documents.items()
    ]


def stated_by(cited: CitationOut) -> StatedFacts:
    """Read the metadata of `cited`."""
    metadata = cited.metadata
    fields = _BOOK if kind_of(cited) in ("book", "article") else _OTHER
    facts = _facts(metadata)
    pages = _text(facts.get("pages"))
    authors = [name.strip() for each in _texts(facts.get("author")) for name in each.split(";")]
    return StatedFacts(
        authors=tuple(filter(None, authors)),
        body=next(filter(None, (_text(metadata.get(field)) for field in fields)), ""),
        source=_text(metadata.get("source")),
        doi=doi_in(_text(facts.get("doi"))),
        # a number alone may say how many pages a book has
        pages=pages if re.search(r"\d\D+\d", pages) or "container" in facts else "",
        **{name: _text(facts.get(name)) for name in _TEXTS},
    )


_TEXTS = ("container", "volume", "issue", "archive", "shelf_mark")


def _facts(metadata: Mapping[str, MetadataValue]) -> dict[str, MetadataValue]:
    by_name = {re.sub(r"[\W_]", "", name): value for name, value in metadata.items()}
    return {
        fact: next(by_name[name] for name in names if name in by_name)
        for fact, names in _NAMES.items()
        if by_name.keys() & {*names}
    }


def person(author: str) -> tuple[str, str] | None:
    """The family and given name of `Erdős, Pál`; None of any other form, which stays whole."""
    family, comma, given = author.partition(", ")
    return (family, given) if comma and given and "," not in given else None


def one_line(text: str) -> str:
    """`text` without control characters, every run of white space one blank."""
    characters = (" " if unicodedata.category(char) == "Cc" else char for char in unwrap(text))
    return " ".join("".join(characters).split())


def kind_of(cited: CitationOut) -> Kind:
    """The kind of `cited`: as its metadata states it, else as metadata and title show it."""
    metadata, title = cited.metadata, cited.title
    stated = _text(metadata.get("kind", "")).lower()
    kinds: tuple[Kind, ...] = get_args(Kind)
    if stated in kinds:
        return kinds[kinds.index(stated)]
    if metadata.keys() & {"house", "parliament"} or _DEBATES.search(_text(metadata.get("series"))):
        return "debate"
    if "court" in metadata or _VERSUS.search(title):
        return "case"
    # of a longer one only the end: whoever sends it chooses how long the search takes
    if _ACT.search(title[-_LONGEST_TITLE:]):
        return "statute"
    if "container" in _facts(metadata):
        return "article"
    return "book" if metadata.keys() & {"publisher", "isbn"} else "document"


def _reference(citations: Sequence[CitationOut], base_url: str, key: str) -> Reference:
    first = citations[0]
    return Reference(
        key=key,
        kind=kind_of(first),
        title=one_line(first.title),
        stated=stated_by(first),
        dating=dating(one_line(first.date or "")),
        url=one_line(first.url or ""),
        quotes=tuple(dict.fromkeys(_quote(cited, base_url) for cited in citations)),
        zotero=_item_in_zotero(first.metadata),
    )


def _item_in_zotero(metadata: Mapping[str, MetadataValue]) -> str:
    key, library = (_text(metadata.get(f"zotero_{name}")) for name in ("key", "library"))
    place = library if library.startswith("groups/") else "library"
    return f"zotero://select/{place}/items/{key}" if key else ""


def _quote(cited: CitationOut, base_url: str) -> str:
    place = ", ".join(filter(None, (place_of(cited), cited.section, cited.speaker)))
    said = f"“{cited.quote}” {permalink(base_url, cited.passage_id)}"
    return one_line(f"{place}: {said}" if place else said)


def _key(document_id: str) -> str:
    if _KEY.fullmatch(document_id):
        return document_id
    ascii_only = unicodedata.normalize("NFKD", document_id).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9._]+", "-", ascii_only.lower()).strip("-")
    digest = hashlib.sha256(document_id.encode()).hexdigest()[:8]
    return f"{slug}-{digest}" if slug else digest


def _texts(value: MetadataValue | None) -> Iterable[str]:
    values = value if isinstance(value, tuple) else () if value is None else (value,)
    return filter(None, (one_line(str(each)) for each in values))


def _text(value: MetadataValue | None) -> str:
    return "; ".join(_texts(value))


# BibTeX counts braces even after a backslash, so a brace in a text is never written as one
_SPECIAL = str.maketrans(
    {
        "\\": r"{\textbackslash}",
        "{": r"\ensuremath{\lbrace}",
        "}": r"\ensuremath{\rbrace}",
        "<": r"\ensuremath{<}",
        ">": r"\ensuremath{>}",
        "|": r"\ensuremath{|}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
        "`": r"{\textasciigrave}",
    }
    | {character: f"\\{character}" for character in "$&%#_"}
)
_LIGATURE = re.compile(r"([-',])(?=\1)")  # which LaTeX would set as one dash or quotation mark
_SAFE_IN_URL = "%/:?#[]@!$&'()*+,;=~"


def bibtex(references: Sequence[Reference]) -> str:
    """One entry for each cited document; its `annote` holds the quotes. Raises MissingLibrary."""
    require("export", "The format bibtex")
    from bibtexparser.entrypoint import write_string
    from bibtexparser.library import Library

    library = Library([_entry_bibtex(reference) for reference in references])
    return write_string(library)


def _entry_bibtex(reference: Reference) -> "Entry":
    # programs discard types they do not know, such as biblatex's @jurisdiction; @misc they all read
    stated = reference.stated
    type_ = reference.kind if reference.kind in ("book", "article") else "misc"
    fields = {
        # the inner braces keep capitals
        "title": f"{{{_latex(reference.title)}}}",
        "author": " and ".join(map(_name_bibtex, stated.authors)),
        "journal": _latex(stated.container),
        "volume": _latex(stated.volume),
        "number": _latex(stated.issue),
        "pages": re.sub(r" ?[-–—]+ ?", "--", stated.pages.translate(_SPECIAL)),
        "organization" if type_ == "misc" else "publisher": _latex(stated.body),
        "year": _year(reference.dating) or _latex(reference.dating.written),
        "date": _edtf(reference.dating),
        "howpublished": _latex(stated.source),
        "library": _latex(", ".join(filter(None, (stated.archive, stated.shelf_mark)))),
        # programs take it as it is, but for braces
        "doi": quote(stated.doi, safe=_SAFE_IN_URL + "<>"),
        "url": quote(reference.url, safe=_SAFE_IN_URL),
        "annote": _latex(" ".join(reference.quotes)),
    }
    from bibtexparser.model import Entry, Field

    return Entry(
        type_, reference.key, [Field(name, value) for name, value in fields.items() if value]
    )


def _name_bibtex(author: str) -> str:
    """A person's name, which programs take apart; any other in braces, which keep it whole."""
    text = _latex(author)
    return text if person(author) and " and " not in author else f"{{{text}}}"


def _latex(text: str) -> str:
    """`text` in LaTeX, every other character kept: encoders of libraries would normalise it."""
    return _LIGATURE.sub(r"\g<0>{}", text.translate(_SPECIAL))


def _year(dating: Dating) -> str:
    return f"{dating.parts[0][0]:04}" if dating.parts else ""


def _edtf(dating: Dating) -> str:
    """The date as biblatex reads it: `1954-05-17`, `1957~`, `1901/1903`."""
    return "/".join(_point(parts) + "~" * dating.circa for parts in dating.parts)


def _point(parts: Parts) -> str:
    return "-".join((f"{parts[0]:04}", *(f"{part:02}" for part in parts[1:])))


TYPES_CSL: Mapping[Kind, str] = {
    "case": "legal_case",
    "statute": "legislation",
    "debate": "hearing",
    "book": "book",
    "article": "article-journal",
    "document": "document",
}


def csl_json(references: Sequence[Reference]) -> str:
    """One item for each cited document; its `note` holds the quotes, one a line."""
    items = [_item_csl(reference) for reference in references]
    return json.dumps(items, ensure_ascii=False, indent=2) + "\n"


def _item_csl(reference: Reference) -> dict[str, object]:
    stated = reference.stated
    item = {
        "id": reference.key,
        "type": TYPES_CSL[reference.kind],
        "title": reference.title,
        "author": [_name_csl(author) for author in stated.authors],
        "issued": _date_csl(reference.dating),
        "publisher" if reference.kind in ("book", "article") else "authority": stated.body,
        "container-title": stated.container,
        "volume": stated.volume,
        "issue": stated.issue,
        "page": stated.pages,
        "archive": stated.archive,
        "archive_location" if stated.archive else "call-number": stated.shelf_mark,
        "DOI": stated.doi,
        "URL": reference.url,
        "note": "\n".join(filter(None, (stated.source, *reference.quotes))),
    }
    return {name: value for name, value in item.items() if value}


def _name_csl(author: str) -> dict[str, str]:
    """A judge's title or an institution has no family name."""
    names = person(author)
    return {"family": names[0], "given": names[1]} if names else {"literal": author}


def _date_csl(dating: Dating) -> dict[str, object]:
    if not dating.parts:
        return {"literal": dating.written} if dating.written else {}
    date: dict[str, object] = {"date-parts": dating.parts}
    return date | {"circa": True} if dating.circa else date


TYPES_RIS: Mapping[Kind, str] = {
    "case": "CASE",
    "statute": "STAT",
    "debate": "HEAR",
    "book": "BOOK",
    "article": "JOUR",
    "document": "GEN",
}


def ris(references: Sequence[Reference]) -> str:
    """One entry for each cited document; its notes are the quotes. Raises MissingLibrary."""
    require("export", "The format ris")
    import rispy

    class Writer(rispy.RisWriter):  # type: ignore[misc]
        def set_header(self, count: int) -> str:  # noqa: ARG002
            """Without rispy's number above each entry, which is not part of the format."""
            return ""

    entries = [_entry_ris(reference) for reference in references]
    return str(rispy.dumps(entries, implementation=Writer))


def _entry_ris(reference: Reference) -> dict[str, object]:
    stated = reference.stated
    start, _, end = re.sub("[–—]+", "-", stated.pages).partition("-")
    entry: dict[str, object] = {
        "type_of_reference": TYPES_RIS[reference.kind],
        "id": reference.key,
        "title": reference.title,
        "authors": list(stated.authors),
        "secondary_title": stated.container,
        "volume": stated.volume,
        "number": stated.issue,
        "start_page": start.strip(),
        "end_page": end.strip(),
        "publisher": stated.body,
        "name_of_database": stated.archive,
        "call_number": stated.shelf_mark,
        "doi": stated.doi,
        "year": _year(reference.dating),
        "date": _date_ris(reference.dating),
        "urls": [reference.url] if reference.url else [],
        "notes": [*filter(None, [stated.source]), *reference.quotes],
    }
    return {label: value for label, value in entry.items() if value}


def _date_ris(dating: Dating) -> str:
    """`1954/05/17/`; what is no single date stands as written in the fourth place."""
    if not dating.written:
        return ""
    if len(dating.parts) != 1 or dating.circa:
        return f"{_year(dating)}///{dating.written}"
    numbers = [f"{number:02}" for number in dating.parts[0]]
    return "/".join((numbers[0].zfill(4), *numbers[1:], *[""] * (4 - len(numbers))))


_FIELDS: Mapping[Kind, tuple[str, str, str, str]] = {
    "case": ("case", "caseName", "dateDecided", "court"),
    "statute": ("statute", "nameOfAct", "dateEnacted", "extra"),
    "debate": ("hearing", "title", "date", "legislativeBody"),
    "book": ("book", "title", "date", "publisher"),
    "article": ("journalArticle", "title", "date", "extra"),
    "document": ("document", "title", "date", "publisher"),
}
"""Zotero's item type of each kind, and the fields of its title, its date and its body."""
_KEPT_AT = {"archive", "archiveLocation"}
_ITS_OWN: Mapping[Kind, set[str]] = {
    "book": {"volume", *_KEPT_AT},
    "article": {"publicationTitle", "volume", "issue", "pages", "DOI", *_KEPT_AT},
    "document": _KEPT_AT,
}
"""Fields of Zotero's type; it reads the other ones from `extra`, a line each."""


def zotero_items(references: Sequence[Reference]) -> list[dict[str, object]]:
    """One item for each document; its quotes are notes below it.

    Of one that is there already it is a note that leads to it: the connector adds to no item.
    """
    return [_note_zotero(each) if each.zotero else _item_zotero(each) for each in references]


def _note_zotero(reference: Reference) -> dict[str, object]:
    lines = [f'<a href="{escape(reference.zotero)}">{escape(reference.title)}</a>']
    lines += map(escape, reference.quotes)
    return {"itemType": "note", "note": "".join(f"<p>{line}</p>" for line in lines)}


def _item_zotero(reference: Reference) -> dict[str, object]:
    kind, title, date, body = _FIELDS[reference.kind]
    stated = reference.stated
    also = {
        "DOI": stated.doi,
        "publicationTitle": stated.container,
        "volume": stated.volume,
        "issue": stated.issue,
        "pages": stated.pages,
        "archive": stated.archive,
        "archiveLocation": stated.shelf_mark,
    }
    own = _ITS_OWN.get(reference.kind, set())
    others = [f"{name}: {value}" for name, value in also.items() if value and name not in own]
    fields = {name: value for name, value in also.items() if name in own} | {
        body: stated.body,
        title: reference.title,
        date: reference.dating.written,
        "url": reference.url,
    }
    extra = "\n".join(filter(None, (fields.pop("extra", ""), stated.source, *others)))
    item: dict[str, object] = {name: value for name, value in fields.items() if value}
    who = "contributor" if reference.kind == "debate" else "author"
    return item | {
        "id": reference.key,
        "itemType": kind,
        "creators": [_name_zotero(author) | {"creatorType": who} for author in stated.authors],
        "extra": extra,
        "notes": [{"note": f"<p>{escape(quote)}</p>"} for quote in reference.quotes],
        "tags": [],
        "attachments": [],
    }


def _name_zotero(author: str) -> dict[str, object]:
    names = person(author)
    if names:
        return {"lastName": names[0], "firstName": names[1]}
    return {"name": author, "fieldMode": 1}
