"""Writing the documents, words and keyword index of a version."""

import hashlib
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.building.document_ids import FoundDocument, KeptDocuments, PlacedDocument
from atlas_search.building.materials import Live, Materials, Ready, former_places
from atlas_search.building.sources import CorpusNote, label_of
from atlas_search.core.addresses import UNLINKED, URL
from atlas_search.core.domain import Document
from atlas_search.core.errors import SourceError
from atlas_search.core.metadata import Metadata
from atlas_search.core.targets import VectorSearch
from atlas_search.language.languages import SAMPLE, likely_language
from atlas_search.language.text import content_words, words
from atlas_search.readers.metadata import SUCCESSION_NAMES, FieldCounter
from atlas_search.stores import embedded, qdrant
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.keywords import Entry, Keys, change_keywords, write_keywords
from atlas_search.stores.manifest import CorpusStatistics, Engine, Field, IndexRecall, Manifest
from atlas_search.stores.order import RECENT, Order
from atlas_search.stores.passage_ids import PassageIds
from atlas_search.stores.qdrant import QdrantPlace
from atlas_search.stores.record_writer import RecordWriter, SourceRow, metadata_values
from atlas_search.stores.terms import TokenTable, TokenWriter
from atlas_search.stores.vectors import (
    HNSW,
    AnyEmbeddings,
    CorpusVectors,
    Embeddings,
    Vectors,
    change_vectors,
    count_vectors,
    set_ef_search,
    write_vectors,
)
from atlas_search.stores.verify import index_recall, neighbours
from atlas_search.stores.versions import (
    CHROMA,
    EMBEDDINGS,
    IDS,
    KEYWORDS,
    ORDER,
    PARTS,
    RECORDS,
    TOKENS,
    WORDS,
    check_files,
    file_digest,
)
from atlas_search.stores.words import WordWriter

BYTES_BESIDE_VECTORS = 3900  # text, words, ids and links of a passage of 800 characters


def room_needed(passages: int, dimension: int) -> int:
    """Estimate the bytes of a version of so many passages: vectors, also in the index, and the
    rest."""
    return passages * ((2 + 4) * dimension + BYTES_BESIDE_VECTORS)


_OF_EACH = 2_000  # characters of a document by which the language of its corpus is told


@dataclass
class _Corpus:
    language: str
    sample: str = ""
    is_kept: bool = False
    documents: int = 0
    passages: int = 0
    characters: int = 0
    words: int = 0
    tokens: int = 0
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)


class _Sizes(NamedTuple):
    """The sources of documents of one corpus and origin, and how many characters each document
    has."""

    corpus: str
    origin: str
    sources: Sequence[str]
    characters: Sequence[int]


class Counter:
    """Counter of documents as they pass, in order of corpus."""

    def __init__(self) -> None:
        self._corpora: dict[str, _Corpus] = {}
        self._sizes: list[_Sizes] = []
        self._fields = FieldCounter()
        self.origins: dict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, found: FoundDocument, document: Document, words: int, passages: int) -> None:
        """Count one document, its words and its passages."""
        corpus = self._corpora.setdefault(found.corpus, _Corpus(found.language))
        corpus.documents += 1
        corpus.passages += passages
        corpus.characters += len(document.text)
        corpus.words += words
        if len(corpus.sample) < SAMPLE:
            corpus.sample += document.text[:_OF_EACH]
        corpus.digest.update(found.provenance.digest)
        origin = found.provenance.origin
        self._sizes.append(_Sizes(found.corpus, origin, [found.source], [len(document.text)]))
        self._fields.add([document.metadata])
        self.origins[origin][0] += 1
        self.origins[origin][1] += passages

    def keep(
        self,
        kept: KeptDocuments,
        characters: Sequence[int],
        words: IntArray,
        passages: IntArray,
        metadata: Iterable[Metadata],
    ) -> None:
        """Count documents that stay: of each the characters, words, passages and metadata."""
        corpus = self._corpora.setdefault(kept.corpus, _Corpus(kept.language))
        corpus.is_kept = True
        corpus.documents += len(kept.documents)
        corpus.passages += len(kept.rows)
        corpus.characters += sum(characters)
        corpus.words += int(words.sum())
        corpus.digest.update(b"".join(kept.digests))
        for origin, is_own in kept.of_origins():
            sources, sizes = compress(kept.sources, is_own), compress(characters, is_own)
            self._sizes.append(_Sizes(kept.corpus, origin, list(sources), list(sizes)))
            self.origins[origin][0] += sum(is_own)
            self.origins[origin][1] += int(passages[is_own].sum())
        self._fields.add(metadata)

    def passages(self) -> dict[str, int]:
        return {id_: corpus.passages for id_, corpus in self._corpora.items()}

    def fields(self) -> dict[str, Field]:
        return self._fields.statistics()

    def corpora(
        self,
        notes: Mapping[str, CorpusNote],
        sources: Iterable[SourceRow],
        tokens: IntArray,
        before: Mapping[str, str],
    ) -> tuple[CorpusStatistics, ...]:
        """Return the statistics of every corpus; `tokens` are those of all passages in order.

        `before` are the languages that corpora read like in the version before: a corpus of which
        something stays is not judged by what is new.

        Size and time of a file with documents of several corpora are shared by characters.
        """
        size, seconds = self._shares(sources)
        ends = np.cumsum([0, *(corpus.passages for corpus in self._corpora.values())])
        return tuple(
            CorpusStatistics(
                id=id_,
                label=note.label or label_of(id_),
                documents=corpus.documents,
                passages=corpus.passages,
                characters=corpus.characters,
                words=corpus.words,
                tokens=int(tokens[ends[number] : ends[number + 1]].sum()),
                bytes=round(size[id_]),
                seconds=round(seconds[id_], 3),
                digest=corpus.digest.hexdigest(),
                language=corpus.language,
                date=note.date,
                description=note.description,
                reads_like=before.get(id_, "")
                if corpus.is_kept
                else likely_language(corpus.sample),
            )
            for number, (id_, corpus) in enumerate(self._corpora.items())
            for note in [notes.get(id_) or CorpusNote()]
        )

    def _shares(self, sources: Iterable[SourceRow]) -> tuple[dict[str, float], dict[str, float]]:
        corpus_of, shared = self._corpora_of_sources()
        size: dict[str, float] = defaultdict(float)
        seconds: dict[str, float] = defaultdict(float)
        for name, origin, *_, of_bytes, of_seconds in sources:
            corpus = corpus_of[origin].get(name)
            if corpus is None:  # it gave no document
                continue
            own = shared.get((origin, name)) if shared else None
            if own is None:  # as of nearly all
                size[corpus] += of_bytes
                seconds[corpus] += of_seconds
                continue
            whole = sum(own.values())
            for each, count in own.items():
                size[each] += of_bytes * (count / whole)
                seconds[each] += of_seconds * (count / whole)
        return size, seconds

    def _corpora_of_sources(
        self,
    ) -> tuple[Mapping[str, Mapping[str, str]], Mapping[tuple[str, str], Mapping[str, int]]]:
        """Return a corpus of each source, by its origin and name, and how many characters those
        that filled several gave each of them."""
        corpus_of: dict[str, dict[str, str]] = defaultdict(dict)
        shared: dict[tuple[str, str], dict[str, int]] = {}
        for given in self._sizes:
            known = corpus_of[given.origin]
            own = dict.fromkeys(given.sources, given.corpus)
            for name in known.keys() & own.keys():
                if known[name] != given.corpus:
                    shared[given.origin, name] = {}
            known |= own
        for given in self._sizes if shared else ():
            for name, count in zip(given.sources, given.characters, strict=True):
                if (result := shared.get((given.origin, name))) is not None:
                    result[given.corpus] = result.get(given.corpus, 0) + count
        return corpus_of, shared


def field_statistics(metadata: Iterable[Metadata]) -> dict[str, Field]:
    """Count every metadata field of some documents, as a collection of them alone has it."""
    counter = FieldCounter()
    counter.add(metadata)
    return counter.statistics()


REBUILD_SHARE = 0.2
"""Vectors removed or replaced, of all, from which the index is built anew: it never forgets them,
and each makes a search a little longer."""


@dataclass(frozen=True)
class WrittenRecords:
    """Statistics of a written version, the ids of all passages, and where each stood in the live
    version with all its document says; -1 for the others."""

    counter: Counter
    ids: Sequence[str]
    stood: IntArray
    tokens: TokenTable


def write_records(
    folder: Path,
    parts: Sequence[KeptDocuments | PlacedDocument],
    sources: Iterable[SourceRow],
    materials: Materials,
    engine: Engine,
) -> WrittenRecords:
    """Write documents, words and, if it is of the engine, the keyword index."""
    kept = any(isinstance(part, KeptDocuments) for part in parts)
    tokens, all_words, counter = TokenWriter(), WordWriter(), Counter()
    records = RecordWriter(folder / RECORDS, materials.live.record_files if kept else ())
    ids: list[str] = []
    passages: list[int] = []
    seen: set[str] = set()
    ready_from = materials.reader(tokens)
    for source in sources:
        records.source(source)
    for part in parts:
        if isinstance(part, KeptDocuments):
            added = materials.passage_ids[part.rows.start : part.rows.stop]
            _require_new(seen, added, part, materials)
            for run in materials.live.runs(part.documents, part.rows):
                records.keep(*run)
            _keep_words(part, materials, tokens, all_words, counter)
        else:
            ready = ready_from(part)
            added = [passage.id for passage in ready.passages]
            _require_new(seen, added, part, materials)
            records.document(ready.document, ready.provenance, ready.passages)
            add_words(part, ready, tokens, all_words, counter)
        ids += added
        passages.append(len(added))
    records.close()
    PassageIds.of(ids).write(folder / IDS)
    table = tokens.table()
    table.write(folder / TOKENS)
    all_words.table().write(folder / WORDS)
    stood, documents = former_places(parts, passages)
    target = folder / KEYWORDS
    if engine == "embedded" and not (
        kept and _change_keywords(target, table, counter, stood, documents, materials)
    ):
        keys = Keys.plain(table.passages, len(documents))
        write_keywords(target, _entries(table, counter, keys.rows, keys))
    return WrittenRecords(counter, ids, stood, table)


def _change_keywords(
    folder: Path,
    table: TokenTable,
    counter: Counter,
    stood: IntArray,
    stood_documents: IntArray,
    materials: Materials,
) -> bool:
    """Write the keyword index from that of the live version; False if too much has changed."""
    source = materials.keywords
    if source is None:
        return False
    before = materials.live.keyword_keys
    keys = before.after(stood, stood_documents)
    if keys.tombstones > REBUILD_SHARE * table.passages:
        return False
    gone = np.setdiff1d(before.documents, keys.documents).tolist()
    entries = _entries(table, counter, np.flatnonzero(stood < 0), keys)
    change_keywords(source, folder, keys, gone, entries)
    return True


def _keep_words(
    kept: KeptDocuments,
    materials: Materials,
    tokens: TokenWriter,
    all_words: WordWriter,
    counter: Counter,
) -> None:
    """Take over the words of documents that stay as they are, and count them."""
    table, words_of_documents = materials.words_of_live
    characters, metadata = materials.live.described(kept)
    fields = [field for own in metadata for field, _ in metadata_values(own)]
    tokens.keep(table, kept.documents, kept.rows, kept.corpus, fields)
    sizes = all_words.keep(words_of_documents, kept.documents, kept.rows)
    counter.keep(kept, characters, sizes, materials.live.passages_of(kept), metadata)


def add_words(
    place: PlacedDocument,
    ready: Ready,
    tokens: TokenWriter,
    all_words: WordWriter,
    counter: Counter,
) -> None:
    """Add the words of a document that is new, or has changed, and count it."""
    document, language = ready.document, ready.language
    tokens.document(
        document.corpus,
        tokens.ids(word.term for word in words(document.context_title, language)),
        [
            (field, tokens.ids(_match_terms(field, value, language)))
            for field, value in metadata_values(document.metadata)
        ],
    )
    for each in zip(ready.words, ready.parts, ready.contexts, strict=True):
        tokens.passage(*each)
    size = all_words.add(document.text, language, [passage.span for passage in ready.passages])
    counter.add(place.found, document, size, len(ready.passages))


def _require_new(
    seen: set[str], added: Sequence[str], part: KeptDocuments | PlacedDocument, materials: Materials
) -> None:
    """Raise SourceError if an id that came with its passage is another's."""
    for row, id_ in enumerate(
        added, start=part.rows.start if isinstance(part, KeptDocuments) else 0
    ):
        if id_ not in seen:
            seen.add(id_)
        elif isinstance(part, PlacedDocument):
            raise two_passages(id_, part.found.source)
        else:
            document = np.searchsorted(materials.live.first_rows, row, side="right") - 1
            raise two_passages(id_, materials.live.columns.sources[int(document)])


def two_passages(id_: str, source: str) -> SourceError:
    """Return the error of an id that two passages have."""
    return SourceError(
        f"Two passages have the id {id_!r}, one of them of {source}. Build that source into a "
        "collection of its own."
    )


def digests_of_files(folder: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Digest every file of a version, by its name in there; some digests are `known`."""
    paths = [path for part in (*PARTS, ORDER) for path in _files(folder, part)]
    names = [path.relative_to(folder).as_posix() for path in paths]
    return {
        name: known.get(name) or file_digest(path) for name, path in zip(names, paths, strict=True)
    }


def sizes(folder: Path) -> dict[str, int]:
    """Return the bytes of every part."""
    parts = [part for part in (*PARTS, ORDER) if (folder / part).exists()]
    return {part: sum(p.stat().st_size for p in _files(folder, part)) for part in parts}


def _files(folder: Path, part: str) -> list[Path]:
    result = [*(folder / part).rglob("*"), folder / part, folder / f"{part}.{RECENT}"]
    return sorted(path for path in result if path.is_file() and not path.name.startswith("."))


def entries(
    table: TokenTable,
    rows: IntArray,
    keys: IntArray,
    document_keys: IntArray,
    corpora: NDArray[np.str_],
) -> Iterator[Entry]:
    """Return what the keyword index is to hold of the passages `rows`, which have these keys and
    those of their documents, and are of these corpora."""
    terms = np.array(list(table.vocabulary), dtype=object)
    indexed = table.indexed(rows)
    for at, (key, document, corpus) in enumerate(
        zip(keys.tolist(), document_keys.tolist(), corpora.tolist(), strict=True)
    ):
        result = [term for of, own in indexed for term in terms[of.row(own[at])]]
        yield Entry(key, document, corpus, result)


def _entries(table: TokenTable, counter: Counter, rows: IntArray, keys: Keys) -> Iterator[Entry]:
    corpora = np.repeat(list(counter.passages()), list(counter.passages().values()))
    documents = keys.documents[table.document_of[rows]]
    return entries(table, rows, keys.rows[rows], documents, corpora[rows])


def _match_terms(field: str, value: str | float, language: str) -> list[str]:
    """Return the stems that must all stand in a question for this value to match it.

    Nobody types a URL or a full citation, titles have a signal of their own, a date is asked for
    by its year and a person by the last name.
    """
    # a question's function words are dropped too: "House of Lords" must match without its "of"
    stems = [word.term for word in content_words(words(str(value), language))]
    addresses = {URL, UNLINKED}
    unmatched = {"title", "source", "content_type", "record_id", *addresses, *SUCCESSION_NAMES}
    if field in unmatched:
        return []
    if field == "date":
        return [stem for stem in stems if re.fullmatch("[0-9]{4}", stem)][:1]
    return stems[-1:] if field in {"author", "speaker"} else stems


LEAST_RECALL = 0.99
MOST_EF = 16_000
"""Neighbours a search looks at; 1000 take 6 ms in a corpus of 229,000, and so many about 70."""

Progress = Callable[[int, int], None]


class WrittenIndex(NamedTuple):
    """Vector index of some `corpora`.

    `tombstones` are vectors that it still holds but no longer finds; `recalls` are as in
    `Manifest.index_recalls`, `name` and `mean_length` as in `Index`.
    """

    corpora: tuple[str, ...]
    tombstones: int
    recalls: Mapping[str, IndexRecall]
    name: str = ""
    mean_length: float = 0.0


def write_index(
    folder: Path,
    written: WrittenRecords,
    embeddings: Embeddings,
    live: Live | None,
    corpora: tuple[str, ...],
    progress: Progress,
) -> WrittenIndex:
    """Write the vector index of `corpora`, from the `live` one where little has changed, and see
    that it finds what is near. Without corpora there is none."""
    if not corpora:
        return WrittenIndex((), 0, {})
    now = _Vectors(written.ids, embeddings, written.counter.passages(), corpora)
    tombstones = _write_index(folder / CHROMA, written.stood, now, live, progress)
    known = live.manifest.index_recalls if live and tombstones is not None else {}
    recalls = {
        own.corpus: known.get(own.corpus) or _recall_in_chroma(folder / CHROMA, own)
        for own in now.by_corpus()
        if len(own.ids) > embedded.EXACT_UP_TO
    }
    return WrittenIndex(corpora, tombstones or 0, recalls)


def indexed_corpora(
    passages: Mapping[str, int], how: VectorSearch, engine: Engine
) -> tuple[str, ...]:
    """Return the corpora that get a vector index, of these with so many passages: by `auto` those
    of which a search asks it, which is the most costly part of a build to make."""
    if how == "exact":
        return ()
    least = 0 if how == "hnsw" else exact_up_to(engine)
    return tuple(corpus for corpus, count in passages.items() if count > least)


def exact_up_to(engine: Engine) -> int:
    """Return of how many passages of a corpus an engine is not asked for the nearest."""
    return embedded.EXACT_UP_TO if engine == "embedded" else qdrant.EXACT_UP_TO


def write_qdrant(
    place: QdrantPlace,
    name: str,
    written: WrittenRecords,
    embeddings: Embeddings,
    corpora: tuple[str, ...],
    progress: Progress,
) -> WrittenIndex:
    """Write a collection of Qdrant with the weights of all terms and the vectors of `corpora`, and
    see that it finds what is near."""
    now = _Vectors(written.ids, embeddings, written.counter.passages(), corpora)
    progress(0, len(now.ids))
    corpus_of = [corpus for corpus, count in now.passages.items() for _ in range(count)]
    points = qdrant.points_of(corpus_of, corpora, written.tokens, embeddings.vectors)
    advance = _adding_up(progress, len(now.ids))
    qdrant.write_points(place, name, embeddings.vectors.shape[1], points, advance)
    recalls: dict[str, IndexRecall] = {}
    with closing(qdrant.open_points(place, name)) as index:
        for corpus, rows in now.rows():
            if len(rows) > qdrant.EXACT_UP_TO:
                recalls[corpus] = _recall_in_qdrant(index, corpus, rows, embeddings)
    return WrittenIndex(corpora, 0, recalls, name, written.tokens.mean_length())


def write_missing(folder: Path, manifest: Manifest, place: QdrantPlace, progress: Progress) -> None:
    """Write the collection of Qdrant of a version whose files came from another place, unless it is
    there."""
    index = manifest.index
    if index.engine != "qdrant" or qdrant.is_there(place, index.name):
        return
    version = folder / manifest.version
    table, base = TokenTable.read(version / TOKENS), Embeddings.read(version / EMBEDDINGS)
    order = Order.read(version / ORDER) or Order.whole(table.passages, table.documents)
    corpus_of = np.full(table.passages, "", dtype=object)  # of none, what is gone from the base
    owners = [corpus.id for corpus in manifest.corpora for _ in range(corpus.passages)]
    corpus_of[order.rows[~order.is_recent]] = np.array(owners, dtype=object)[~order.is_recent]
    points = qdrant.points_of(corpus_of.tolist(), index.corpora, table, base.vectors)
    advance = _adding_up(progress, table.passages)
    qdrant.write_points(place, index.name, base.vectors.shape[1], points, advance)


def _adding_up(progress: Progress, total: int) -> Callable[[int], None]:
    """Return what is told of each batch, where `progress` is told of all until then."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    return advance


def _recall_in_qdrant(
    index: qdrant.Points, corpus: str, rows: range, embeddings: Embeddings
) -> IndexRecall:
    def measure(ef: int) -> float:
        def find(vector: NDArray[np.float32], depth: int) -> IntArray:
            places: IntArray = index.nearest(corpus, vector, depth, ef).rows - rows.start
            return places

        return index_recall(find, embeddings.vectors[rows.start : rows.stop])

    return _see_to_recall(measure, qdrant.EF_SEARCH)


def _recall_in_chroma(folder: Path, own: CorpusVectors) -> IndexRecall:
    rows = {id_: row for row, id_ in enumerate(own.ids)}

    def measure(ef: int) -> float:
        if ef > HNSW["ef_search"]:
            set_ef_search(folder, own.corpus, ef)
        with closing(Vectors(folder, [own.corpus])) as index:
            return index_recall(neighbours(index, own.corpus, rows), own.vectors)

    return _see_to_recall(measure, HNSW["ef_search"])


def _see_to_recall(measure: Callable[[int], float], ef: int) -> IndexRecall:
    """Have searches of a corpus look at more and more, until they find LEAST_RECALL of the nearest
    or look at MOST_EF."""
    while (recall := measure(ef)) < LEAST_RECALL and ef < MOST_EF:
        ef *= 2
    return IndexRecall(ef_search=ef, recall=round(recall, 4))


def _write_index(
    folder: Path, stood: IntArray, now: "_Vectors", live: Live | None, progress: Progress
) -> int | None:
    """Return the tombstones of an index that was changed; None of one that was built anew."""
    progress(0, now.indexed)
    if live and live.manifest.index.engine == "embedded" and live.manifest.index.corpora:
        try:
            advance = _adding_up(progress, now.indexed)
            tombstones = _change(folder, stood, now, live, advance)
        except Exception:  # Chroma raises errors of many kinds for what it cannot read
            tombstones = None  # a live index that is damaged is no start for another
        if tombstones is not None:
            progress(now.indexed, now.indexed)
            return tombstones
        shutil.rmtree(folder, ignore_errors=True)
    write_vectors(folder, now.by_corpus(), _adding_up(progress, now.indexed))
    return None


def _change(
    target: Path, stood: IntArray, now: "_Vectors", live: Live, advance: Callable[[int], None]
) -> int | None:
    """Copy and change the live index; None if too much has changed, or the copy is not whole."""
    check_files(live.folder, live.manifest, CHROMA)
    before = _Vectors(
        live.records.passage_ids(),
        live.embeddings,
        live.passages_by_corpus,
        live.manifest.index.corpora,
    )
    in_index = np.append(live.in_index, False)  # the last is what stood nowhere
    stays = np.zeros(len(before.ids), dtype=bool)
    stays[stood[stood >= 0]] = True
    were = before.of(~stays & live.in_index) | live.left_in_index
    are = now.of(~in_index[stood])
    gone: dict[str, list[str]] = {}
    for id_, (corpus, _, _) in were.items():
        if id_ not in are or are[id_][0] != corpus:
            gone.setdefault(corpus, []).append(id_)
    new: dict[str, list[tuple[int, str]]] = {corpus: [] for corpus in now.corpora}
    replaced = 0
    for id_, (corpus, row, digest) in are.items():
        known = were.get(id_)
        if known is None or known[0] != corpus:
            new[corpus].append((row, id_))
        elif known[2] != digest:
            new[corpus].append((row, id_))
            replaced += 1
    tombstones = live.manifest.vector_tombstones + sum(map(len, gone.values())) + replaced
    if tombstones > REBUILD_SHARE * now.indexed:
        return None
    vectors = now.embeddings.vectors
    corpora = [
        CorpusVectors(c, [id_ for _, id_ in each], vectors[[row for row, _ in each]])
        for c, each in new.items()
    ]
    change_vectors(live.folder / CHROMA, target, corpora, gone, advance)
    whole = count_vectors(target) == {corpus: now.passages[corpus] for corpus in now.corpora}
    return tombstones if whole else None


class _Vectors(NamedTuple):
    """The passages of a version: their ids and vectors, and how many each corpus has, in order.

    Only those of `corpora` are in the vector index.
    """

    ids: Sequence[str]
    embeddings: AnyEmbeddings
    passages: Mapping[str, int]
    corpora: Sequence[str]

    @property
    def indexed(self) -> int:
        return sum(self.passages[corpus] for corpus in self.corpora)

    def of(self, chosen: NDArray[np.bool_]) -> dict[str, tuple[str, int, bytes]]:
        """Return the corpus, row and text digest of the chosen passages in the index, by id."""
        digests = self.embeddings.digests
        return {
            self.ids[row]: (corpus, row, digests[row].tobytes())
            for corpus, rows in self.rows()
            for row in (rows.start + np.flatnonzero(chosen[rows.start : rows.stop])).tolist()
        }

    def by_corpus(self) -> Iterator[CorpusVectors]:
        for corpus, rows in self.rows():
            own = slice(rows.start, rows.stop)
            yield CorpusVectors(corpus, self.ids[own], self.embeddings.vectors[own])

    def rows(self) -> Iterator[tuple[str, range]]:
        """Return the rows of each corpus in the index."""
        start = 0
        for corpus, count in self.passages.items():
            if corpus in self.corpora:
                yield corpus, range(start, start + count)
            start += count
