"""Materials of a version: documents kept from the live version, and staged ones."""

import shlex
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atlas_search.building.document_ids import (
    FoundDocument,
    KeptDocuments,
    PlacedDocument,
    place,
    require_apart,
)
from atlas_search.building.kept_files import INGEST
from atlas_search.core.domain import Document, Passage, passage_id
from atlas_search.core.errors import AtlasError, DamagedStore, MissingStore, OutdatedStore
from atlas_search.core.metadata import Metadata
from atlas_search.language.text import ANALYSER_VERSION, TextSpan, terms_and_parts
from atlas_search.readers.files import READERS
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.keywords import Keys
from atlas_search.stores.manifest import Manifest, Origin
from atlas_search.stores.order import Order
from atlas_search.stores.record_files import DocumentColumns
from atlas_search.stores.record_writer import PassageRow, Provenance, SourceRow
from atlas_search.stores.records import Records, metadata_of
from atlas_search.stores.staged import text_digest
from atlas_search.stores.staging import Staging
from atlas_search.stores.terms import TokenTable, TokenWriter
from atlas_search.stores.vectors import AnyEmbeddings, read_embeddings
from atlas_search.stores.verify import recover_order
from atlas_search.stores.versions import (
    EMBEDDINGS,
    KEYWORDS,
    ORDER,
    RECENT_RECORDS,
    RECORDS,
    STAGING,
    TOKENS,
    WORDS,
    check_files,
    damaged_files,
    files_of,
    files_written_later,
    is_part_whole,
    versions,
)
from atlas_search.stores.words import WordTable

Defaults = Callable[[str], Mapping[str, object] | None]
"""The options of a source type with their defaults; None if they are not known."""


def remedy(
    folder: Path, manifest: Manifest, damaged: Collection[str], defaults: Defaults = lambda _: None
) -> str:
    """Return a sentence with the commands for the parts of a collection that are damaged.

    Where the documents themselves are, only their sources bring them back, or an earlier version.
    """
    if RECORDS not in damaged:
        return f"Run `atlas store repair {folder.name}`."
    commands = [
        f"`{_command(folder.name, kind, origin, defaults)}`"
        for kind, origin in manifest.origins.items()
        if kind in {INGEST, *READERS.names()}  # an import has what other programs wrote, too
    ] or ["`atlas store import`"]
    others = [
        each.version
        for each in versions(folder)
        if each.version != manifest.version
        # versions share files, and then their damage
        and is_part_whole(folder / each.version, each, RECORDS)
    ]
    back = f" or go back: `atlas store rollback {folder.name}`" if others else ""
    return f"Build it again from its sources: {', '.join(commands)}{back}."


def _command(collection: str, kind: str, origin: Origin, known: Defaults) -> str:
    """Return the command that builds one origin of a collection again, as it was built."""
    if kind == INGEST:
        return shlex.join(["atlas", "store", "ingest", collection, "--force"])
    parts = ["atlas", "create", kind, *origin.arguments.get("source", ["SOURCE"])]
    parts += ["--collection", collection]
    defaults = known(kind)
    for name, value in origin.arguments.items():
        option = name.replace("_", "-")
        if name == "source" or value is None or _is_needless(name, value, defaults):
            continue
        if isinstance(value, bool):
            parts.append(f"--{option}" if value else f"--no-{option}")
        else:
            parts += [f"--{option}", str(value)]
    return shlex.join([*parts, "--force"])


def _is_needless(name: str, value: object, defaults: Mapping[str, object] | None) -> bool:
    return defaults is not None and (name not in defaults or value == defaults[name])


@dataclass(frozen=True)
class Ready:
    """A document as it will be written: `words`, `parts` and `contexts` are terms of the writer's
    table for each passage, stems of `language`.
    """

    document: Document
    language: str
    provenance: Provenance
    passages: Sequence[PassageRow]
    words: Sequence[IntArray]
    parts: Sequence[IntArray]
    contexts: Sequence[IntArray]


class Live:
    """The live version, as a source for the next one. Its index is not opened.

    Words and vectors are taken from it as far as they are whole. Raises MissingStore or
    DamagedStore if its documents cannot be read.
    """

    def __init__(self, folder: Path, manifest: Manifest, *, recovers_order: bool = False):
        """Check and open it; with `recovers_order` a damaged order is taken from the documents."""
        self.manifest = manifest
        self.folder = folder / manifest.version
        self._has_whole_documents = False
        self._check_few_documents()
        if recovers_order:
            self.order: Order | None = recover_order(self.folder)
        else:
            self._check(ORDER)
            self.order = Order.read(self.folder / ORDER)
        self.records = Records.of_version(self.folder, manifest, self.order)

    @property
    def record_files(self) -> Sequence[Path]:
        """File of its documents, and that of those which are recent if it has one."""
        recent = [RECENT_RECORDS] if RECENT_RECORDS in self.manifest.files else []
        return [self.folder / name for name in (RECORDS, *recent)]

    def require_documents(self) -> None:
        """Raise DamagedStore if its documents are not as they were written; all are read, once.

        What is taken over gets a new digest, and damage would never be found again. What is linked
        keeps its own.
        """
        if not self._has_whole_documents:
            self._check(RECORDS)
            self._has_whole_documents = True

    def _check_few_documents(self) -> None:
        """Check those that are recent, and what was written to after the version was."""
        names = files_of(self.manifest, RECORDS)
        with self._naming_remedy(RECORDS):
            few = {*files_written_later(self.folder, names), RECENT_RECORDS} & {*names}
            if problems := damaged_files(self.folder, self.manifest, few):
                raise DamagedStore("; ".join(problems.values()))

    def _check(self, part: str) -> None:
        with self._naming_remedy(part):
            check_files(self.folder, self.manifest, part)

    @contextmanager
    def _naming_remedy(self, part: str) -> Iterator[None]:
        try:
            yield
        except DamagedStore as error:
            folder = self.folder.parent
            raise DamagedStore(
                f"{folder.name} is damaged: {error}. {remedy(folder, self.manifest, {part})}"
            ) from error

    @cached_property
    def embeddings(self) -> AnyEmbeddings:
        """Vectors. Raises DamagedStore."""
        self._check(EMBEDDINGS)
        return read_embeddings(self.folder / EMBEDDINGS, self.order)

    @cached_property
    def tokens(self) -> TokenTable:
        """Words of its passages. Raises DamagedStore."""
        self._check(TOKENS)
        passages_of = [*self.passages_by_corpus.values()]
        return TokenTable.of_version(self.folder / TOKENS, self.order, passages_of)

    @cached_property
    def words(self) -> WordTable:
        """Words of its documents. Raises DamagedStore."""
        self._check(WORDS)
        return WordTable.of_version(self.folder / WORDS, self.order, self.document_of)

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of its passages and documents."""
        return self.manifest.passages, self.manifest.documents

    @property
    def passages_by_corpus(self) -> dict[str, int]:
        return {corpus.id: corpus.passages for corpus in self.manifest.corpora}

    @property
    def documents_by_corpus(self) -> dict[str, range]:
        ends = np.cumsum([0, *(corpus.documents for corpus in self.manifest.corpora)]).tolist()
        ranges = (range(first, end) for first, end in pairwise(ends))
        return dict(zip((corpus.id for corpus in self.manifest.corpora), ranges, strict=True))

    @cached_property
    def first_rows(self) -> IntArray:
        """First passage row of each document, and the number of rows last."""
        return np.concatenate([[0], np.cumsum(self.records.passage_counts())])

    def passages_of(self, kept: KeptDocuments) -> IntArray:
        """Return the number of passages of each document of a run."""
        passages: IntArray = np.diff(
            self.first_rows[kept.documents.start : kept.documents.stop + 1]
        )
        return passages

    def runs(self, documents: range, rows: range) -> Iterator[tuple[range, range]]:
        """Split documents that follow each other, and their passages, into ranges of their keys."""
        if self.order is None:
            yield documents, rows
            return
        keys = self.order.documents[documents.start : documents.stop]
        first_rows = self.first_rows[documents.start : documents.stop + 1]
        passages = np.append(self.order.rows, 0)[first_rows[:-1]]
        counts = np.diff(first_rows)
        is_new = (np.diff(keys) != 1) | (passages[1:] != passages[:-1] + counts[:-1])
        begins = [0, *(np.flatnonzero(is_new) + 1).tolist(), len(keys)]
        for first, end in pairwise(begins):
            row = int(passages[first])
            own = range(row, row + int(counts[first:end].sum()))
            yield range(int(keys[first]), int(keys[first]) + end - first), own

    @cached_property
    def keyword_keys(self) -> Keys:
        return Keys.read(self.folder / KEYWORDS) or Keys.plain(*self.size)

    @property
    def in_index(self) -> NDArray[np.bool_]:
        """Mask of the passages that the vector index has as they are."""
        indexed = self.manifest.index.corpora
        counts = self.passages_by_corpus
        result = np.repeat([corpus in indexed for corpus in counts], list(counts.values()))
        return result if self.order is None else result & ~self.order.is_recent

    @property
    def left_in_index(self) -> dict[str, tuple[str, int, bytes]]:
        """Corpus of what the vector index has besides, by id; it has no row, and no text."""
        gone = self.order.gone if self.order else {}
        indexed = self.manifest.index.corpora
        return {id_: (corpus, -1, b"") for corpus in indexed for id_ in gone.get(corpus, ())}

    @property
    def document_of(self) -> IntArray:
        return np.repeat(np.arange(len(self.first_rows) - 1), np.diff(self.first_rows))

    @cached_property
    def sources(self) -> Sequence[SourceRow]:
        return self.records.sources()

    @cached_property
    def columns(self) -> DocumentColumns:
        corpora = [id_ for id_, own in self.documents_by_corpus.items() for _ in own]
        return self.records.document_columns(corpora)

    def found(self, index: int) -> FoundDocument:
        columns = self.columns
        corpus = columns.corpora[index]
        language = self.manifest.languages[corpus]
        return FoundDocument(
            corpus, columns.sources[index], columns.provenance(index), True, index, language
        )

    def kept(self, documents: range) -> KeptDocuments:
        corpus = self.columns.corpora[documents.start]
        first, end = self.first_rows[[documents.start, documents.stop]].tolist()
        language = self.manifest.languages[corpus]
        return KeptDocuments(corpus, language, documents, range(first, end), self.columns)

    def placed(self, kept: KeptDocuments) -> list[PlacedDocument]:
        """Return the documents of a run, each by itself."""
        return [
            PlacedDocument(id_, self.found(index))
            for id_, index in zip(kept.ids, kept.documents, strict=True)
        ]

    def described(self, kept: KeptDocuments) -> tuple[list[int], list[Metadata]]:
        """Return the length of each document of a run, and its metadata as written."""
        own = slice(kept.documents.start, kept.documents.stop)
        return list(self.columns.characters[own]), metadata_of(self.columns.metadata[own])

    @contextmanager
    def reporting_damage(self) -> Iterator[None]:
        """Turn any error in the block into DamagedStore if its documents are damaged.

        What they then say is read by JSON and zlib too, each of which has errors of its own.
        """
        try:
            yield
        except AtlasError:
            raise
        except Exception:
            self.require_documents()
            raise

    def close(self) -> None:
        self.records.close()


def open_live(folder: Path, *, or_none: bool) -> Live | None:
    """Return the live version, or None if there is none that this Atlas can read, or it is empty.

    Raises DamagedStore if its documents cannot be read, unless it may be None then; all of them are
    read to see that. In any case it does if there are whole versions, but nothing says which one is
    live: what is built would take their place.
    """
    manifest = _live_manifest(folder, or_none=or_none)
    if manifest is None or not manifest.documents:
        return None
    try:
        live = Live(folder, manifest)
        if or_none:
            try:
                live.require_documents()
            except DamagedStore:
                live.close()
                raise
        return live
    except DamagedStore:
        if or_none:
            return None
        raise


def _live_manifest(folder: Path, *, or_none: bool) -> Manifest | None:
    try:
        return Manifest.read(folder)
    except OutdatedStore:
        return None
    except MissingStore as error:
        # a first build that was killed just before its version went live goes on
        if versions(folder) and not (folder / STAGING).exists():
            raise DamagedStore(str(error)) from error
        return None
    except DamagedStore:
        if or_none and not versions(folder):
            return None
        raise


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage before it has a vector: its text's digest and length, and how to get the text."""

    digest: bytes
    length: int
    kept: bool
    number: int


def former_places(
    parts: Sequence[KeptDocuments | PlacedDocument], passages: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Return where each passage and document of a coming version stands in the live one; -1 for
    new.

    `passages` are how many each part has.
    """
    none = np.zeros(0, dtype=np.int64)
    rows, documents = [none], [none]
    for part, count in zip(parts, passages, strict=True):
        if isinstance(part, KeptDocuments):
            rows.append(np.arange(part.rows.start, part.rows.stop))
            documents.append(np.arange(part.documents.start, part.documents.stop))
        else:
            rows.append(np.full(count, -1))
            documents.append(np.full(1, -1))
    return np.concatenate(rows), np.concatenate(documents)


_ContextIds = Callable[[str, str, str], IntArray]


class Materials:
    """The live version and the staging area as one source of documents."""

    def __init__(self, live: Live | None, staging: Staging, *, reanalyse: bool = False):
        self._live = live
        self._staging = staging
        self._reanalyse = reanalyse

    @property
    def live(self) -> Live:
        """Live version; only for documents that were kept from it."""
        assert self._live is not None
        return self._live

    def cuts(self, place: PlacedDocument) -> list[Cut]:
        """Return the passages of a document, in order."""
        if not place.found.kept:
            staged = self._staging.passages(place.found.number)
            return [Cut(digest, length, False, number) for number, digest, length in staged]
        first, end = self.live.first_rows[place.found.number : place.found.number + 2]
        rows = range(int(first), int(end))
        if self._embeddings is None:
            texts = [passage.embedded for passage in self.live.records.passages(rows)]
            return [Cut(text_digest(t), 0, True, r) for r, t in zip(rows, texts, strict=True)]
        return [Cut(self._embeddings.digests[row].tobytes(), 0, True, row) for row in rows]

    @cached_property
    def _embeddings(self) -> AnyEmbeddings | None:
        """Embeddings of the live version, or None if they are damaged."""
        try:
            return self.live.embeddings
        except DamagedStore:
            return None

    def texts(self, cuts: Sequence[Cut]) -> list[str]:
        """Return what is embedded for passages, in order."""
        kept = [cut.number for cut in cuts if cut.kept]
        texts = dict(zip(kept, self.live.records.passages(kept), strict=True)) if kept else {}
        return [
            texts[cut.number].embedded if cut.kept else self._staging.texts([cut.number])[0]
            for cut in cuts
        ]

    def parts(
        self, documents: Iterable[KeptDocuments | PlacedDocument]
    ) -> list[KeptDocuments | PlacedDocument]:
        """Return all documents in order, none as kept unless its words can be taken over."""
        if self._keeps_words:
            return list(documents)
        return [
            place
            for part in documents
            for place in (self.live.placed(part) if isinstance(part, KeptDocuments) else [part])
        ]

    @cached_property
    def passage_ids(self) -> list[str]:
        return self.live.records.passage_ids()

    @cached_property
    def words_of_live(self) -> tuple[TokenTable, WordTable]:
        """Words of its passages and of its documents. Raises DamagedStore."""
        return self.live.tokens, self.live.words

    @cached_property
    def keywords(self) -> Path | None:
        """Folder of the live version's keyword index; None without one that is whole."""
        if self.live.manifest.index.engine != "embedded":
            return None
        try:
            check_files(self.live.folder, self.live.manifest, KEYWORDS)
        except DamagedStore:
            return None
        return self.live.folder / KEYWORDS

    def passages(self, place: PlacedDocument) -> int:
        """Return the number of passages of a document."""
        if not place.found.kept:
            return len(self._staging.passages(place.found.number))
        first, end = self.live.first_rows[place.found.number : place.found.number + 2]
        return int(end - first)

    @property
    def _keeps_words(self) -> bool:
        """Return whether the words of the live version can be taken over, or must be found anew."""
        if not self.is_analysed:
            return False
        try:
            return bool(self.words_of_live)
        except DamagedStore:
            return False

    def reader(self, writer: TokenWriter) -> Callable[[PlacedDocument], Ready]:
        """Return a function that brings a document into the form in which it is written."""

        @lru_cache(maxsize=4096)  # most passages of a document have the same
        def context_ids(section: str, speaker: str, language: str) -> IntArray:
            return np.concatenate(_analyse(f"{section}\n{speaker}", language, writer))

        def ready(place: PlacedDocument) -> Ready:
            if not place.found.kept:
                return self._read_staged(place, writer, context_ids)
            language = place.found.language
            document, passages = self.live.records.stored_document(place.found.number)
            term_ids = [_analyse(p.text, language, writer) for p in passages]
            return Ready(
                replace(document, id=place.id),
                language,
                place.found.provenance,
                [_rename(passage, place.id) for passage in passages],
                [of_words for of_words, _ in term_ids],
                [of_parts for _, of_parts in term_ids],
                [context_ids(p.section, p.speaker, language) for p in passages],
            )

        return ready

    @property
    def is_analysed(self) -> bool:
        """Return whether there is a live version, and its words are those that its texts give
        now."""
        if self._live is None or self._reanalyse:
            return False
        return self._live.manifest.analyser == ANALYSER_VERSION

    def _read_staged(
        self, place: PlacedDocument, writer: TokenWriter, context_ids: _ContextIds
    ) -> Ready:
        staged = self._staging.document(place.found.number)
        return Ready(
            replace(staged.document, id=place.id),
            place.found.language,
            staged.provenance,
            [
                replace(p.row, id=p.row.id or passage_id(place.id, *p.row.span))
                for p in staged.passages
            ],
            [writer.ids(p.words) for p in staged.passages],
            [writer.ids(p.parts) for p in staged.passages],
            [
                context_ids(p.row.section, p.row.speaker, place.found.language)
                for p in staged.passages
            ],
        )


def _rename(passage: Passage, document_id: str) -> PassageRow:
    span = TextSpan(passage.start, passage.end)
    given = passage.id != passage_id(passage.document_id, *span)
    return PassageRow(
        passage.id if given else passage_id(document_id, *span),
        span,
        passage.page,
        passage.line,
        passage.section,
        passage.speaker,
        passage.locators,
        passage.printed_page,
        passage.ocr_confidence,
    )


def _analyse(text: str, language: str, writer: TokenWriter) -> tuple[IntArray, IntArray]:
    terms, parts = terms_and_parts(text, language)
    return writer.ids(terms), writer.ids(parts)


def place_beside(
    live: Live, stay: NDArray[np.bool_], found: Iterable[FoundDocument]
) -> list[KeptDocuments | PlacedDocument]:
    """Order documents by corpus and id: those of the live version that `stay`, and others.

    One that stays is placed by itself if it gets another id, for that depends on all documents.
    """
    others, columns, stay = list(found), live.columns, stay.copy()
    touched = {(each.corpus, each.provenance.stem) for each in others}
    gone = np.flatnonzero(~stay).tolist()
    touched.update((columns.corpora[index], columns.stems[index]) for index in gone)
    stems = {stem for _, stem in touched}
    again = [
        index
        for index in [index for index, stem in enumerate(columns.stems) if stem in stems]
        if stay[index] and (columns.corpora[index], columns.stems[index]) in touched
    ]
    alone = []
    for each in place([*others, *map(live.found, again)]):
        index = each.found.number
        if each.found.kept and stay[index]:
            if columns.ids[index] == each.id:
                continue
            stay[index] = False
        alone.append(each)
    return list(_in_order(live, stay, alone))


def _in_order(
    live: Live, stay: NDArray[np.bool_], alone: Sequence[PlacedDocument]
) -> Iterator[KeptDocuments | PlacedDocument]:
    """Return runs of documents that stay, and in their places those that stand `alone`."""
    ids, of_corpora = live.columns.ids, live.documents_by_corpus
    places = [_place(ids, of_corpora, each) for each in alone]
    for each, at in zip(alone, places, strict=True):
        if at < len(ids) and stay[at] and ids[at] == each.id:
            require_apart([(each.id, live.found(at)), (each.id, each.found)])
    turns = np.flatnonzero(stay[1:] != stay[:-1]) + 1
    ends = [documents.stop for documents in of_corpora.values()]
    edges = np.unique(np.concatenate([[0], turns, ends, places])).tolist()
    waiting = 0
    for start, end in pairwise(map(int, edges)):
        while waiting < len(alone) and places[waiting] == start:
            yield alone[waiting]
            waiting += 1
        if stay[start]:
            yield live.kept(range(start, end))
    yield from alone[waiting:]


def _place(ids: Sequence[str], of_corpora: Mapping[str, range], document: PlacedDocument) -> int:
    """Return where a document belongs among those of the live version, by corpus and id."""
    corpus = document.found.corpus
    if corpus in of_corpora:
        return bisect_left(ids, document.id, of_corpora[corpus].start, of_corpora[corpus].stop)
    return sum(len(documents) for id_, documents in of_corpora.items() if id_ < corpus)
