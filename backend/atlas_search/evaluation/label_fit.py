"""Labels held against a collection: documents, quotes, and what was understood of a file."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple, Protocol, get_args

from atlas_search.atlas import Atlas
from atlas_search.building.prepare import slug
from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.label_set import LabelSet, ReadLabel
from atlas_search.evaluation.labels import GoldSpan, Label

Way = Literal["id", "id without corpus", "record id", "file name", "title"]
"""How a document was recognised, the surest first."""

_AROUND = ".,;:!?()[]{}<>'\"`"  # what may stand around an id in a text


class NamedDocument(NamedTuple):
    """A document with what it may be called by; `record_id` is empty if its source gave none."""

    id: str
    corpus: str
    title: str
    source: str
    record_id: str = ""


class LabelCollection(Protocol):
    """Collection as labels need it, in this process or on a server."""

    @property
    def corpora(self) -> Iterable[str]:
        """Ids of its corpora."""

    def documents(self) -> Iterable[NamedDocument]:
        """Every document, once."""

    def holds_passage(self, passage_id: str) -> bool:
        """Return whether there is a passage with this id."""

    def text_of(self, document_id: str) -> str:
        """The whole text of a document that it holds."""


@dataclass(frozen=True)
class OpenCollection:
    """A collection that is open in this process."""

    atlas: Atlas

    @property
    def corpora(self) -> list[str]:  # noqa: D102
        return [corpus.id for corpus in self.atlas.corpora]

    def documents(self) -> Iterator[NamedDocument]:  # noqa: D102
        store = self.atlas.services.store
        every = store.documents_of(self.corpora)
        for found in store.list_documents(every, "id", len(every), 0):
            record = str(found.metadata.get("record_id", ""))
            yield NamedDocument(found.id, found.corpus, found.title, found.source, record)

    def holds_passage(self, passage_id: str) -> bool:  # noqa: D102
        return bool(self.atlas.services.store.corpus_holding_passage(passage_id))

    def text_of(self, document_id: str) -> str:  # noqa: D102
        return self.atlas.document(document_id).text


class Match(NamedTuple):
    """A document that was recognised, and how."""

    id: str
    way: Way


class DocumentNames:
    """All names of the documents of a collection. A name counts that only one of them has."""

    def __init__(self, documents: Iterable[NamedDocument]):
        self._named: dict[Way, dict[str, set[str]]] = {way: {} for way in get_args(Way)}
        for document in documents:
            for way, name in _names(document):
                self._named[way].setdefault(name, set()).add(document.id)

    def match(self, name: str) -> Match | None:
        """The document that is called `name`, in the surest way that any is."""
        for way, named in self._named.items():
            for spelling in _spellings(way, name):
                if len(ids := named.get(spelling, ())) == 1:
                    return Match(min(ids), way)
        return None

    def has_id(self, id_: str) -> bool:
        """Return whether a document has this very id."""
        return id_ in self._named["id"]

    def ids_in(self, text: str) -> frozenset[str]:
        """The documents whose very ids are words of a text."""
        return frozenset(w for word in text.split() if self.has_id(w := word.strip(_AROUND)))

    def count(self, name: str) -> int:
        """Return how many documents are called so in one way."""
        counts = (
            len(named.get(spelling, ()))
            for way, named in self._named.items()
            for spelling in _spellings(way, name)
        )
        return max(counts, default=0)


def _names(document: NamedDocument) -> Iterator[tuple[Way, str]]:
    yield "id", document.id
    yield "id without corpus", document.id.removeprefix(f"{document.corpus}.")
    if document.record_id:
        yield "record id", document.record_id
    path = PurePosixPath(document.source)
    for name in {*_tails(path), *_tails(path.with_suffix(""))}:
        yield "file name", name
    if document.title.strip():
        yield "title", _folded(document.title)


def _spellings(way: Way, name: str) -> tuple[str, ...]:
    if way == "title":
        return (_folded(name),)
    if way == "id without corpus":
        return name, slug(name)
    if way == "file name":  # in a label it may stand in other folders
        return tuple(_tails(PurePosixPath(name.replace("\\", "/"))))
    return (name,)


def _tails(path: PurePosixPath) -> Iterator[str]:
    """A path with fewer and fewer of its folders."""
    return ("/".join(path.parts[start:]) for start in range(len(path.parts)))


def _folded(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", title).casefold().split())


_TEXTS = 64  # of documents at hand: labels of one document mostly follow each other
_SHOWN = 40  # characters of a quote


@dataclass(frozen=True)
class PlacedLabels:
    """Labels with the places of their quotes among the gold ones.

    Of the quotes `found`, some are `repeated`: they stand at several places, and the first counts.
    `missing` names those that stand in no gold document; `unplaced` labels have no gold document to
    look into.
    """

    labels: tuple[Label, ...]
    found: int
    repeated: int
    missing: tuple[str, ...]
    unplaced: int


def place_quotes(
    read: Iterable[ReadLabel], known: Container[str], text_of: Callable[[str], str]
) -> PlacedLabels:
    """Look for the quotes of answerable labels in their gold documents, as far as they are known.

    `text_of` gives the text of a document of `known`.
    """
    text_of = lru_cache(_TEXTS)(text_of)
    labels, repeated, unplaced = [], 0, 0
    found: list[GoldSpan] = []
    missing: list[str] = []
    for one in read:
        gold = sorted(name for name in one.label.gold_names if name in known)
        quotes = one.quotes if one.label.answerable else ()
        unplaced += bool(quotes and not gold)
        places: list[GoldSpan] = []
        for quote in quotes if gold else ():
            all_ = [place for id_ in gold for place in places_of(quote, id_, text_of(id_))]
            places += all_[:1]
            repeated += len(all_) > 1
            missing += [] if all_ else [f"{one.label.id} ({_short(quote)})"]
        found += places
        spans = tuple(dict.fromkeys((*one.label.gold_spans, *places)))
        labels.append(replace(one.label, gold_spans=spans))
    return PlacedLabels(tuple(labels), len(found), repeated, tuple(missing), unplaced)


def places_of(quote: str, document_id: str, text: str) -> Iterator[GoldSpan]:
    """Every place of a text that reads as the quote does, but for its blanks and line ends."""
    if pattern := r"\s+".join(map(re.escape, quote.split())):
        for found in re.finditer(pattern, text):
            yield GoldSpan(document_id, *found.span())


def _short(quote: str) -> str:
    text = " ".join(quote.split())
    return f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text


_LISTED = 5  # names that a message lists


@dataclass(frozen=True)
class Fitted:
    """Labels whose gold documents are called by their ids in the collection.

    `ways` counts the names by how each was recognised, `mentioned` the labels whose documents only
    a column without a meaning names; `unknown` are gold documents and passages that the collection
    lacks, which were allowed.
    """

    placed: PlacedLabels
    ways: Mapping[Way, int]
    mentioned: int
    unknown: tuple[str, ...]

    @property
    def labels(self) -> list[Label]:
        """The labels, in order."""
        return list(self.placed.labels)


def fit_labels(
    labels: LabelSet, collection: LabelCollection, *, allow_unknown_gold: bool = False
) -> Fitted:
    """Call gold documents by their ids in the collection, and find the places of quotes.

    Figures over labels of another collection would be zeros that mean nothing: raises AtlasError
    for corpora, gold documents and passages that it does not hold, the latter two unless allowed.
    """
    _check_corpora(labels, collection)
    names = DocumentNames(collection.documents())
    read = [_with_mentioned(one, names) for one in labels.read]
    ids, ways, missing = _match(read, names)
    unknown = (*missing, *_unknown_passages(labels.labels, collection))
    if unknown and not allow_unknown_gold:
        raise _not_for_this_collection(labels.path, unknown, names)
    renamed = [_rename(one, ids) for one in read]
    placed = place_quotes(renamed, frozenset(ids.values()), collection.text_of)
    mentioned = sum(one is not before for one, before in zip(read, labels.read, strict=True))
    return Fitted(placed, ways, mentioned, unknown)


def _match(
    read: Iterable[ReadLabel], names: DocumentNames
) -> tuple[dict[str, str], Counter[Way], list[str]]:
    """Ids by the names in the labels, how many were recognised in which way, and the others."""
    wanted = sorted({name for one in read for name in one.label.gold_names})
    found = {name: match for name in wanted if (match := names.match(name))}
    ids = {name: match.id for name, match in found.items()}
    ways = Counter(match.way for match in found.values())
    return ids, ways, [name for name in wanted if name not in found]


def _with_mentioned(one: ReadLabel, names: DocumentNames) -> ReadLabel:
    """Return where no gold is known, the documents whose very ids stand in other columns."""
    label = one.label
    if label.located or not label.answerable:
        return one
    found = frozenset[str]().union(*map(names.ids_in, one.others))
    return replace(one, label=replace(label, gold_document_ids=found)) if found else one


def _rename(one: ReadLabel, ids: Mapping[str, str]) -> ReadLabel:
    label = one.label
    gold = frozenset(ids.get(name, name) for name in label.gold_document_ids)
    spans = tuple(
        replace(span, document_id=ids.get(span.document_id, span.document_id))
        for span in label.gold_spans
    )
    grades: dict[str, int] = {}
    for name, grade in label.grades.items():  # of two names of one document the higher grade
        id_ = ids.get(name, name)
        grades[id_] = max(grade, grades.get(id_, grade))
    renamed = replace(label, gold_document_ids=gold, gold_spans=spans, grades=grades)
    return replace(one, label=renamed)


def _check_corpora(labels: LabelSet, collection: LabelCollection) -> None:
    known = sorted(collection.corpora)
    asked = {corpus for label in labels.labels for corpus in label.corpus_filter}
    if unknown := sorted(asked - set(known)):
        raise AtlasError(
            f"The labels {labels.path} ask corpora that the collection does not have: "
            f"{', '.join(unknown[:_LISTED])}. It has {', '.join(known)}."
        )


def _unknown_passages(labels: Iterable[Label], collection: LabelCollection) -> Iterator[str]:
    wanted = sorted({id_ for label in labels for id_ in label.gold_passage_ids})
    return (id_ for id_ in wanted if not collection.holds_passage(id_))


def _not_for_this_collection(
    path: Path, unknown: Sequence[str], names: DocumentNames
) -> AtlasError:
    some = ", ".join(
        f"{name!r} (a name of {count} documents)" if (count := names.count(name)) else repr(name)
        for name in unknown[:_LISTED]
    )
    more = f" and {len(unknown) - _LISTED} more" if unknown[_LISTED:] else ""
    return AtlasError(
        f"The labels {path} are not for this collection, which lacks the gold documents or "
        f"passages {some}{more}. Known are ids, ids of records, file names and titles, if one "
        "document alone has them. With --allow-unknown-gold these count as never found."
    )


_LISTED_COLUMNS = 12  # categories and columns
_NAMED = 5  # quotes and ids


def understood_text(labels: LabelSet) -> str:
    """A few lines: how many labels of what kind, what each column became, and warnings."""
    read = (
        name if name == meaning else f"{name} = {meaning}"
        for name, meaning in labels.columns.meanings.items()
    )
    unused = labels.columns.unused
    not_used = f" Not used: {_some(unused)}." if unused else ""
    splits = Counter(label.split for label in labels.labels if label.split)
    categories = Counter(label.category for label in labels.labels)
    return "\n".join(
        [
            f"{labels.path.name}, {labels.form}: {_counts(labels)}.",
            f"Read: {_some(read)}.{not_used}",
            f"Splits: {_groups(splits)}. Categories: {_groups(categories)}.",
            *(f"Warning: {warning}." for warning in labels.warnings),
        ]
    )


def fitted_text(fitted: Fitted) -> str:
    """Return how gold documents and quotes were recognised; empty if there were none."""
    placed = fitted.placed
    lines = []
    if fitted.ways:
        ways = ", ".join(f"{count} by {way}" for way, count in fitted.ways.items())
        lines.append(f"Gold documents: {ways}.")
    if fitted.mentioned:
        lines.append(f"Named in a column that is not read: those of {fitted.mentioned} labels.")
    if placed.found:
        first = (
            f", {placed.repeated} at several places (the first counts)" if placed.repeated else ""
        )
        lines.append(f"Quotes found in gold documents: {placed.found}{first}.")
    if placed.missing:
        lines.append(f"Warning: in no gold document stand {_count(placed.missing, 'quotes')}.")
    if placed.unplaced:
        lines.append(f"Warning: {placed.unplaced} labels have quotes, and no known gold document.")
    if fitted.unknown:
        lines.append(f"Warning: not in the collection: {_count(fitted.unknown, 'gold ids')}.")
    return "\n".join(lines)


def split_text(asked: LabelSet, split: str) -> str:
    """Return which part of a set is asked."""
    count = len(asked.read)
    return f"Asked: the {count} of the split {split}." if split else f"Asked: all {count}."


def _counts(labels: LabelSet) -> str:
    every = labels.labels
    answerable = sum(label.answerable for label in every)
    references = sum(bool(label.answers) for label in every)
    gold = sum(label.located for label in every)
    quoted = sum(bool(one.quotes) for one in labels.read)
    quotes = f", {quoted} with quotes" if quoted else ""
    return (
        f"{len(every)} questions, {answerable} to be answered and {len(every) - answerable} to be "
        f"declined; {references} with references, {gold} with gold documents{quotes}"
    )


def _groups(counts: Mapping[str, int]) -> str:
    return _some(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def _count(names: Sequence[str], what: str) -> str:
    more = ", ..." if names[_NAMED:] else ""
    return f"{len(names)} {what} ({', '.join(names[:_NAMED])}{more})"


def _some(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join([*names[:_LISTED_COLUMNS], *(["..."] if names[_LISTED_COLUMNS:] else [])])
