"""Writing the parts of a version: documents, words, vectors, keyword index, vector index."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atlas_search.build.document_ids import Placed
from atlas_search.build.live_version import Kept, Live, Materials, Ready
from atlas_search.build.statistics import Counted, Counter
from atlas_search.core.errors import SourceError
from atlas_search.core.web_address import UNLINKED, URL
from atlas_search.language.text import content_words, words
from atlas_search.readers.metadata import SUCCESSION_NAMES
from atlas_search.stores import embedded
from atlas_search.stores.digests import check_files, file_digest
from atlas_search.stores.embeddings import Embeddings
from atlas_search.stores.index_recall import index_recall
from atlas_search.stores.keywords import Entry, Keys, change_keywords, write_keywords
from atlas_search.stores.manifest import IndexRecall
from atlas_search.stores.record_writer import RecordWriter, SourceRow, metadata_values
from atlas_search.stores.token_writer import TokenWriter
from atlas_search.stores.tokens import IntArray, TokenTable
from atlas_search.stores.vectors import (
    HNSW,
    CorpusVectors,
    Vectors,
    change_vectors,
    count_vectors,
    set_ef_search,
    write_vectors,
)
from atlas_search.stores.versions import CHROMA, KEYWORDS, PARTS, RECORDS, TOKENS, WORDS
from atlas_search.stores.word_writer import WordWriter

REBUILD_SHARE = 0.2
"""Vectors removed or replaced, of all, from which the index is built anew: it never forgets them,
and each makes a search a little longer."""

LEAST_RECALL = 0.99
MOST_EF = 16_000
"""Neighbours a search looks at; 1000 take 6 ms in a corpus of 229,000, and so many about 70."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Written:
    """What was written of a version: its statistics, the ids of all passages, and where each
    stood in the live version with all its document says; -1 for the others."""

    counter: Counter
    ids: Sequence[str]
    stood: IntArray


def write_records(
    folder: Path,
    parts: Sequence[Kept | Placed],
    sources: Iterable[SourceRow],
    materials: Materials,
) -> Written:
    """Write documents, words and keyword index."""
    kept = any(isinstance(part, Kept) for part in parts)
    tokens, all_words, counter = TokenWriter(), WordWriter(), Counter()
    records = RecordWriter(folder / RECORDS, materials.live.folder / RECORDS if kept else None)
    ids: list[str] = []
    seen: set[str] = set()
    ready_from = materials.reader(tokens)
    for source in sources:
        records.source(source)
    for part in parts:
        if isinstance(part, Kept):
            added = materials.passage_ids[part.rows.start : part.rows.stop]
            _require_new(seen, added, _sources_of(part, materials))
            records.keep(part.documents, part.rows)
            counted = _keep_words(part, materials, tokens, all_words)
        else:
            ready = ready_from(part)
            added = [passage.id for passage in ready.passages]
            _require_new(seen, added, _sources_of(part, materials))
            records.document(ready.document, ready.provenance, ready.passages)
            counted = [_add_words(part, ready, tokens, all_words)]
        for each in counted:
            counter.add(each)
        ids += added
    records.close()
    table = tokens.table()
    table.write(folder / TOKENS)
    all_words.table().write(folder / WORDS)
    stood, documents = _stood(table, parts)
    target = folder / KEYWORDS
    if not (kept and _change_keywords(target, table, counter, stood, documents, materials)):
        keys = Keys.plain(table.passages, len(documents))
        write_keywords(target, _entries(table, counter, keys.rows, keys))
    return Written(counter, ids, stood)


def _sources_of(part: Kept | Placed, materials: Materials) -> Callable[[int], str]:
    """What gives the source of a passage by its place in the part."""
    if isinstance(part, Placed):
        return lambda _: part.found.source
    first_rows = materials.live.first_rows[part.documents.start : part.documents.stop]

    def source(at: int) -> str:
        document = np.searchsorted(first_rows, part.rows.start + at, side="right") - 1
        return part.places[int(document)].found.source

    return source


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
    before = Keys.read(source) or Keys.plain(*materials.live.size)
    keys = before.after(stood, stood_documents)
    if keys.tombstones > REBUILD_SHARE * table.passages:
        return False
    gone = np.setdiff1d(before.documents, keys.documents).tolist()
    entries = _entries(table, counter, np.flatnonzero(stood < 0), keys)
    change_keywords(source, folder, keys, gone, entries)
    return True


def _stood(table: TokenTable, parts: Sequence[Kept | Placed]) -> tuple[IntArray, IntArray]:
    """Where each passage and document of `table` stood in the live version; -1 for a new one."""
    documents = np.concatenate(
        [
            np.array(part.documents if isinstance(part, Kept) else [-1], dtype=np.int64)
            for part in parts
        ]
    )
    rows = np.full(table.passages, -1)
    first_rows = np.searchsorted(table.document_of, np.arange(len(documents) + 1))
    at = 0
    for part in parts:
        if isinstance(part, Kept):
            start = int(first_rows[at])
            rows[start : start + len(part.rows)] = part.rows
        at += len(part.documents) if isinstance(part, Kept) else 1
    return rows, documents


def _keep_words(
    kept: Kept, materials: Materials, tokens: TokenWriter, all_words: WordWriter
) -> list[Counted]:
    """Take over the words of documents that stay as they are."""
    table, words_of_documents = materials.words_of_live
    described = materials.live.records.described(kept.documents)
    fields = [field for _, metadata in described for field, _ in metadata_values(metadata)]
    tokens.keep(table, kept.documents, kept.rows, kept.corpus, fields)
    sizes = all_words.keep(words_of_documents, kept.documents, kept.rows)
    first_rows = materials.live.first_rows[kept.documents.start : kept.documents.stop + 1]
    passages = np.diff(first_rows).tolist()
    return [
        Counted(place.found, characters, size, count, metadata)
        for place, (characters, metadata), size, count in zip(
            kept.places, described, sizes, passages, strict=True
        )
    ]


def _add_words(place: Placed, ready: Ready, tokens: TokenWriter, all_words: WordWriter) -> Counted:
    """Add the words of a document that is new, or has changed."""
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
    return Counted(place.found, len(document.text), size, len(ready.passages), document.metadata)


def _require_new(seen: set[str], added: Sequence[str], source_of: Callable[[int], str]) -> None:
    """Ids that came with their passages may be those of others. Raises SourceError.

    `source_of` gives the source of a passage by its place among those `added`.
    """
    for at, id_ in enumerate(added):
        if id_ in seen:
            raise SourceError(
                f"Two passages have the id {id_!r}, one of them of {source_of(at)}. Build that "
                "source into a collection of its own."
            )
        seen.add(id_)


class WrittenIndex(NamedTuple):
    """`tombstones` are vectors that the index still holds but no longer finds; `recalls` are as in
    `Manifest.index_recalls`."""

    tombstones: int
    recalls: Mapping[str, IndexRecall]


def write_index(
    folder: Path,
    written: Written,
    embeddings: Embeddings,
    live: Live | None,
    progress: Progress,
) -> WrittenIndex:
    """Write the vector index, from the `live` one where little has changed, and see that it finds
    what is near."""
    tombstones = _write_index(folder, written, embeddings, live, progress)
    known = live.manifest.index_recalls if live and tombstones is not None else {}
    recalls = {
        own.corpus: known.get(own.corpus) or _see_to_recall(folder / CHROMA, own)
        for own in _by_corpus(written.ids, embeddings, written.counter.passages())
        if len(own.ids) > embedded.EXACT_UP_TO
    }
    return WrittenIndex(tombstones or 0, recalls)


def _see_to_recall(folder: Path, own: CorpusVectors) -> IndexRecall:
    """Have searches of a corpus look at more and more, until they find LEAST_RECALL of the nearest
    or look at MOST_EF."""
    rows = {id_: row for row, id_ in enumerate(own.ids)}
    ef = HNSW["ef_search"]
    while True:
        index = Vectors(folder, [own.corpus])
        recall = index_recall(index, own.corpus, rows, own.vectors)
        index.close()
        if recall >= LEAST_RECALL or ef >= MOST_EF:
            return IndexRecall(ef_search=ef, recall=round(recall, 4))
        ef *= 2
        set_ef_search(folder, own.corpus, ef)


def _write_index(
    folder: Path,
    written: Written,
    embeddings: Embeddings,
    live: Live | None,
    progress: Progress,
) -> int | None:
    """The tombstones of an index that was changed; None of one that was built anew."""
    done, ids, passages = 0, written.ids, written.counter.passages()

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, len(ids))

    progress(0, len(ids))
    if live:
        try:
            tombstones = _change(folder / CHROMA, written, embeddings, live, advance)
        except Exception:  # Chroma raises errors of many kinds for what it cannot read
            tombstones = None  # a live index that is damaged is no start for another
        if tombstones is not None:
            progress(len(ids), len(ids))
            return tombstones
        shutil.rmtree(folder / CHROMA, ignore_errors=True)
    done = 0
    write_vectors(folder / CHROMA, _by_corpus(ids, embeddings, passages), advance)
    return None


def _change(
    target: Path,
    written: Written,
    embeddings: Embeddings,
    live: Live,
    advance: Callable[[int], None],
) -> int | None:
    """Copy and change the live index; None if too much has changed, or the copy is not whole."""
    check_files(live.folder, live.manifest, CHROMA)
    before = _Vectors(live.records.passage_ids(), live.embeddings, live.passages_by_corpus)
    now = _Vectors(written.ids, embeddings, written.counter.passages())
    stays = np.zeros(len(before.ids), dtype=bool)
    stays[written.stood[written.stood >= 0]] = True
    were = before.of(np.flatnonzero(~stays))
    are = now.of(np.flatnonzero(written.stood < 0))
    gone: dict[str, list[str]] = {}
    for id_, (corpus, _, _) in were.items():
        if id_ not in are or are[id_][0] != corpus:
            gone.setdefault(corpus, []).append(id_)
    new: dict[str, list[tuple[int, str]]] = {corpus: [] for corpus in now.passages}
    replaced = 0
    for id_, (corpus, row, digest) in are.items():
        known = were.get(id_)
        if known is None or known[0] != corpus:
            new[corpus].append((row, id_))
        elif known[2] != digest:
            new[corpus].append((row, id_))
            replaced += 1
    tombstones = live.manifest.vector_tombstones + sum(map(len, gone.values())) + replaced
    if tombstones > REBUILD_SHARE * len(now.ids):
        return None
    corpora = [
        CorpusVectors(c, [id_ for _, id_ in found], embeddings.vectors[[row for row, _ in found]])
        for c, found in new.items()
    ]
    change_vectors(live.folder / CHROMA, target, corpora, gone, advance)
    whole = count_vectors(target) == now.passages
    return tombstones if whole else None


class _Vectors(NamedTuple):
    """The passages of a version: their ids and vectors, and how many each corpus has, in order."""

    ids: Sequence[str]
    embeddings: Embeddings
    passages: Mapping[str, int]

    def of(self, rows: IntArray) -> dict[str, tuple[str, int, bytes]]:
        """The corpus, row and text digest of some passages, by id."""
        corpora, ends = list(self.passages), np.cumsum(list(self.passages.values()))
        owners = np.searchsorted(ends, rows, side="right").tolist()
        digests = self.embeddings.digests
        return {
            self.ids[row]: (corpora[owner], row, digests[row].tobytes())
            for row, owner in zip(rows.tolist(), owners, strict=True)
        }


def digests_of_files(folder: Path) -> dict[str, str]:
    """The digest of every file of a version, by its name in there."""
    return {
        path.relative_to(folder).as_posix(): file_digest(path)
        for part in PARTS
        for path in _files(folder / part)
    }


def sizes(folder: Path) -> dict[str, int]:
    """Bytes of every part."""
    return {part: sum(p.stat().st_size for p in _files(folder / part)) for part in PARTS}


def _files(part: Path) -> list[Path]:
    if part.is_file():
        return [part]
    return sorted(p for p in part.rglob("*") if p.is_file() and not p.name.startswith("."))


def _by_corpus(
    ids: Sequence[str], embeddings: Embeddings, passages: dict[str, int]
) -> Iterator[CorpusVectors]:
    start = 0
    for corpus, count in passages.items():
        rows = slice(start, start + count)
        yield CorpusVectors(corpus, ids[rows], embeddings.vectors[rows])
        start += count


def _entries(table: TokenTable, counter: Counter, rows: IntArray, keys: Keys) -> Iterator[Entry]:
    """What the keyword index is to hold of the passages `rows`."""
    terms = np.array(list(table.vocabulary), dtype=object)
    corpora = np.repeat(list(counter.passages()), list(counter.passages().values()))
    documents = table.document_of[rows]
    indexed = table.indexed(rows)
    for at, (row, document) in enumerate(zip(rows.tolist(), documents.tolist(), strict=True)):
        found = [term for of, own in indexed for term in terms[of.row(own[at])]]
        key, of_document = int(keys.rows[row]), int(keys.documents[document])
        yield Entry(key, of_document, str(corpora[row]), found)


def _match_terms(field: str, value: str | float, language: str) -> list[str]:
    """The stems that must all stand in a question for this value to match it.

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
