"""The cited documents, each once, as bibliographies list them."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from atlas_search.core.domain import MetadataValue
from atlas_search.language.lines import unwrap
from atlas_search.output.answer_document import (
    AnswerDocument,
    CitationOut,
    place_of,
)
from atlas_search.output.dating import Dating, dating
from atlas_search.output.links import Base, permalink

Kind = Literal["case", "statute", "debate", "book", "document"]

_VERSUS = re.compile(r"\w[^\w\s]* vs?\.? [^\W\d_]")
_ACT = re.compile(r"\b(?:Act|Code|Ordinance|Regulations|Rules|Order|Statute)\b[^,:;]*\b\d{4}\W*$")
_DEBATES = re.compile(r"\b(?:debates|hansard|written (?:answers|\w+ ?statements))\b", re.IGNORECASE)
_BOOK = ("publisher", "body")
_OTHER = ("court", "house", "body", "publisher")
_LONGEST_TITLE = 1_000
_KEY = re.compile(r"[a-z0-9._-]+")


@dataclass(frozen=True)
class Stated:
    """Who wrote a document, who issued it, and the citation it states for itself."""

    authors: tuple[str, ...]
    body: str
    source: str


@dataclass(frozen=True)
class Reference:
    """A cited document.

    `key` is ASCII, depends on nothing but the document's id, and differs from others in more than
    capitals. `body` is the court, house or publisher, `source` the citation the source states for
    itself. `quotes` are one line each: place (section or page), headings,
    speaker, quoted text and permalink.
    """

    key: str
    kind: Kind
    title: str
    authors: tuple[str, ...]
    dating: Dating
    body: str
    source: str
    url: str
    quotes: tuple[str, ...]


def references(answers: Sequence[AnswerDocument], base: Base) -> list[Reference]:
    """One for every document cited in `answers`, in order of its first citation."""
    cited = [(each, answer.collection) for answer in answers for each in answer.citations]
    return references_of(cited, base)


def references_of(citations: Iterable[tuple[CitationOut, str]], base: Base) -> list[Reference]:
    """One for every document of `citations`, each with its collection.

    The collection is part of its key where two collections have a document of that id.
    """
    documents: dict[tuple[str, str], list[CitationOut]] = {}
    for cited, collection in citations:
        documents.setdefault((cited.document_id, collection), []).append(cited)
    found = Counter(id_ for id_, _ in documents)
    return [
        _reference(cited, base.of(of), _key(id_ if found[id_] == 1 else f"{id_}-{of}"))
        for (id_, of), cited in documents.items()
    ]


def stated_by(cited: CitationOut) -> Stated:
    """What the metadata of `cited` states."""
    metadata = cited.metadata
    fields = _BOOK if kind_of(cited) == "book" else _OTHER
    return Stated(
        authors=tuple(_texts(metadata.get("author"))),
        body=next(filter(None, (_text(metadata.get(field)) for field in fields)), ""),
        source=_text(metadata.get("source")),
    )


def one_line(text: str) -> str:
    """`text` without control characters, every run of white space one blank."""
    kept = (" " if unicodedata.category(char) == "Cc" else char for char in unwrap(text))
    return " ".join("".join(kept).split())


def kind_of(cited: CitationOut) -> Kind:
    """What `cited` is: what its metadata states as `kind`, else what metadata and title show."""
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
    return "book" if metadata.keys() & {"publisher", "isbn"} else "document"


def _reference(citations: Sequence[CitationOut], base_url: str, key: str) -> Reference:
    first = citations[0]
    stated = stated_by(first)
    return Reference(
        key=key,
        kind=kind_of(first),
        title=one_line(first.title),
        authors=stated.authors,
        dating=dating(one_line(first.date or "")),
        body=stated.body,
        source=stated.source,
        url=one_line(first.url or ""),
        quotes=tuple(dict.fromkeys(_quote(cited, base_url) for cited in citations)),
    )


def _quote(cited: CitationOut, base_url: str) -> str:
    place = ", ".join(filter(None, (place_of(cited), cited.section, cited.speaker)))
    return one_line(f"{place}: “{cited.quote}” {permalink(base_url, cited.passage_id)}")


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
