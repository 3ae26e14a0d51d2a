"""Checking every part of a version against its manifest, and the parts against each other."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Passage
from atlas_search.core.errors import AtlasError, DamagedStore
from atlas_search.language.text import ANALYSER_VERSION, TextSpan, distinct, words
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.keywords import KeywordIndex
from atlas_search.stores.manifest import FILE_NAME, Manifest
from atlas_search.stores.order import KeyCounts, Order
from atlas_search.stores.passage_ids import read_ids
from atlas_search.stores.qdrant import FOLDER, QdrantPlace, open_points
from atlas_search.stores.record_files import BY_ROW, RecordFiles
from atlas_search.stores.records import Records
from atlas_search.stores.staged import text_digest
from atlas_search.stores.terms import TokenTable
from atlas_search.stores.vectors import AnyEmbeddings, HalfArray, Vectors, cosines, read_embeddings
from atlas_search.stores.versions import (
    CHROMA,
    EMBEDDINGS,
    IDS,
    KEYWORDS,
    ORDER,
    RECENT_RECORDS,
    RECORDS,
    TOKENS,
    WORDS,
    check_files,
    files_of,
    in_use,
)
from atlas_search.stores.words import WordTable, WordWriter


def keys_of(version: Path) -> tuple[IntArray, IntArray]:
    """Return the keys in the documents of a version, which are sorted by corpus and id."""
    recent = version / RECENT_RECORDS
    with closing(RecordFiles(version / RECORDS, recent if recent.exists() else None)) as files:
        keys = files.rows(
            "SELECT document, corpus, id FROM {documents} d",
            outer="SELECT document FROM {} ORDER BY corpus, id",
        )
        documents = np.array([key for (key,) in keys], dtype=np.int64)
        rows = files.rows("SELECT row, document FROM {passages} p", outer=BY_ROW)
        pairs = np.array(list(map(tuple, rows)), dtype=np.int64).reshape(-1, 2)
    place = np.full(int(documents.max(initial=-1)) + 1, -1)
    place[documents] = np.arange(len(documents))
    return pairs[np.argsort(place[pairs[:, 1]], kind="stable"), 0], documents


def recover_order(version: Path) -> Order:
    """Return what the order of a version must be. What is gone from the base is not known.

    Raises DamagedStore if the words are damaged too, both those of passages and of documents.
    """
    rows, documents = keys_of(version)
    try:
        tokens = TokenTable.read(version / TOKENS)
        base = tokens.passages, tokens.documents
    except DamagedStore:
        words = WordTable.read(version / WORDS)
        base = len(words.firsts), words.documents
    following = int(rows.max(initial=-1)) + 1, int(documents.max(initial=-1)) + 1
    return Order(rows, documents, KeyCounts(*following, *base), {})


DEPTH = 200  # candidates of one leg for one corpus, as a search asks for them
SAMPLE = 100  # passages used as questions, spread over the corpus
NOISE = 0.5  # length of what is added to a passage's vector to make a question of it
LEAST_RECALL = 0.95
WORSE = 0.01  # most by which an index that searches ask may find less than when it was measured
CLOSE = 1e-4  # by which an index may put one before another that is as near in half precision
SAME = 1e-3  # most by which a vector in the index may differ from the one it was made from


class _Version(NamedTuple):
    """Version to be checked, with its `order` if it was not written whole."""

    folder: Path
    manifest: Manifest
    order: Order | None
    place: QdrantPlace

    def records(self) -> AbstractContextManager[Records]:
        return closing(Records.of_version(self.folder, self.manifest, self.order))

    def tokens(self) -> TokenTable:
        passages_of = [corpus.passages for corpus in self.manifest.corpora]
        return TokenTable.of_version(self.folder / TOKENS, self.order, passages_of)

    def embeddings(self) -> AnyEmbeddings:
        return read_embeddings(self.folder / EMBEDDINGS, self.order)


_Check = Callable[[_Version], str]


@dataclass(frozen=True)
class Finding:
    """Result for one part: its problem, empty if it is whole, and what was checked."""

    part: str
    checked: str
    problem: str = ""


def verify(folder: Path, manifest: Manifest, place: QdrantPlace | None = None) -> list[Finding]:
    """Check all parts of a version; nothing is changed, and no build removes it meanwhile.

    Collections of Qdrant lie at `place`, by default beside the versions.
    """
    engine: dict[str, tuple[_Check, tuple[str, ...]]] = {}
    if manifest.index.engine == "qdrant":
        engine[FOLDER] = (_check_qdrant, (TOKENS, EMBEDDINGS))
    else:
        engine[KEYWORDS] = (_check_keywords, (TOKENS,))
        if manifest.index.corpora:
            engine[CHROMA] = (_check_chroma, (RECORDS, EMBEDDINGS))
    checks: dict[str, tuple[_Check, tuple[str, ...]]] = {
        FILE_NAME: (_check_manifest, ()),
        **({ORDER: (_check_order, ())} if files_of(manifest, ORDER) else {}),
        RECORDS: (_check_records, ()),
        IDS: (_check_ids, (RECORDS,)),
        EMBEDDINGS: (_check_embeddings, (RECORDS,)),
        TOKENS: (_check_tokens, (RECORDS,)),
        WORDS: (_check_words, (RECORDS,)),
        **engine,
    }
    version = _Version(
        folder / manifest.version, manifest, _order(folder, manifest), place or QdrantPlace(folder)
    )
    findings: list[Finding] = []
    with ExitStack() as using:
        with suppress(OSError):  # that the folder is gone is found below
            using.enter_context(in_use(version.folder))
        for part, (check, needed) in checks.items():
            damaged = [each.part for each in findings if each.problem and each.part in needed]
            findings.append(_finding(version, part, check, damaged))
    return findings


def _order(folder: Path, manifest: Manifest) -> Order | None:
    """Read the order of a version; a damaged one is made of its documents, to check other parts."""
    version = folder / manifest.version
    try:
        check_files(version, manifest, ORDER)
        return Order.read(version / ORDER)
    except DamagedStore:
        try:
            return recover_order(version)
        except Exception:  # SQLite and NumPy raise their own; the checks tell what is damaged
            return None


def _finding(version: _Version, part: str, check: _Check, damaged: Sequence[str]) -> Finding:
    try:
        check_files(version.folder, version.manifest, part)
        _require(not damaged, f"cannot be checked: {' and '.join(damaged)} must be whole for that")
        return Finding(part, check(version))
    except (AtlasError, OSError) as error:
        return Finding(part, "", str(error))
    except Exception as error:
        # SQLite, zlib, NumPy, tantivy and Chroma each raise their own for what they cannot read
        return Finding(part, "", f"cannot be read ({type(error).__name__}: {error})")


def _check_manifest(version: _Version) -> str:
    same = Manifest.read(version.folder) == version.manifest
    _require(same, "the version's own is another")
    return "the version's own is the same"


def _check_order(version: _Version) -> str:
    order = Order.read(version.folder / ORDER)
    assert order is not None
    rows, documents = keys_of(version.folder)
    same = np.array_equal(order.rows, rows) and np.array_equal(order.documents, documents)
    _require(same, "it is not that of the documents")
    return f"{len(order.rows)} passages, {order.recent} of them beside the base"


def _check_records(version: _Version) -> str:
    manifest = version.manifest
    with version.records() as records:
        _require(records.check() == "ok", f"SQLite: {records.check()}")
        counts = records.passage_counts()
        _require(sum(counts) == manifest.passages, f"it has {sum(counts)} passages")
        _require(len(counts) == manifest.documents, f"it has {len(counts)} documents")
        for index in range(len(counts)):
            document, passages = records.stored_document(index)
            for passage in passages:
                cut = document.text[passage.start : passage.end]
                _require(bool(cut) and passage.text == cut, f"{passage.id} is not in its document")
    return f"{len(counts)} documents, every span of {sum(counts)} passages"


def _check_ids(version: _Version) -> str:
    stored = read_ids(version.folder / IDS, version.order)
    with version.records() as records:
        ids = records.passage_ids()
    _require(len(stored) == len(ids), f"it has {len(stored)} passages")
    rows = np.arange(len(ids))
    _require(stored.of_rows(rows) == ids, "the ids are not those of the passages")
    _require(np.array_equal(stored.rows_of(ids), rows), "passages are not found by their ids")
    return f"the ids of {len(ids)} passages"


def _check_embeddings(version: _Version) -> str:
    manifest = version.manifest
    embeddings = version.embeddings()
    shape = (manifest.passages, manifest.embedding.dimension)
    _require(
        embeddings.vectors.shape == shape, f"the vectors have shape {embeddings.vectors.shape}"
    )
    for piece in embeddings.pieces:
        vectors = piece.vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32))
        _require(bool(np.all(np.abs(lengths - 1) < SAME)), "there are vectors not of unit length")
    for passage in _passages(version, range(manifest.passages)):
        same = embeddings.digests[passage.row].tobytes() == text_digest(passage.embedded)
        _require(same, f"vector {passage.row} is not that of its passage")
    return f"{manifest.passages} vectors and the texts they belong to"


def _check_tokens(version: _Version) -> str:
    _require_analyser(version.manifest)
    table = version.tokens()
    _require(table.passages == version.manifest.passages, f"it has {table.passages} passages")
    terms = {id_: term for term, id_ in table.vocabulary.items()}
    rows = sample(table.passages)
    for passage in _passages(version, rows):
        stored = [terms[id_] for id_ in table.words.row(passage.row).tolist()]
        same = stored == [word.term for word in words(passage.text, passage.language)]
        _require(same, f"the words of passage {passage.row} are not those of its text")
    return f"{table.passages} passages, the words of {len(rows)} analysed again"


def _check_words(version: _Version) -> str:
    manifest = version.manifest
    _require_analyser(manifest)
    with version.records() as records:
        document_of = np.repeat(np.arange(manifest.documents), records.passage_counts())
        table = WordTable.of_version(version.folder / WORDS, version.order, document_of)
        _require(table.documents == manifest.documents, f"it has {table.documents} documents")
        _require(len(table.firsts) == manifest.passages, f"it has {len(table.firsts)} passages")
        documents = sample(table.documents)
        for index in documents:
            document, passages = records.stored_document(index)
            whole = WordWriter()
            spans = [TextSpan(passage.start, passage.end) for passage in passages]
            whole.add(document.text, manifest.languages[document.corpus], spans)
            first = passages[0].row if passages else 0
            same = table.is_same(index, first, whole.table())
            _require(same, f"the words of document {index} are not those of its text")
    return f"{len(table.tokens)} words, those of {len(documents)} documents read again"


def _check_keywords(version: _Version) -> str:
    manifest = version.manifest
    keywords = KeywordIndex(version.folder / KEYWORDS)
    _require(keywords.count == manifest.passages, f"it has {keywords.count} passages")
    table = version.tokens()
    terms = {id_: term for term, id_ in table.vocabulary.items()}
    rows = sample(table.passages)
    corpora = _corpora(manifest)
    for row in rows:
        result = distinct(terms[id_] for id_ in table.words.row(row).tolist())
        document = int(table.document_of[row])
        siblings = int(np.count_nonzero(table.document_of == document))
        hits = keywords.matching(corpora[row], result, siblings, [document])
        _require(not result or row in hits.rows, f"passage {row} is not found by its words")
    keywords.close()
    return f"{keywords.count} passages, {len(rows)} found by their words"


def _check_qdrant(version: _Version) -> str:
    manifest, order = version.manifest, version.order
    index, embeddings, table = manifest.index, version.embeddings(), version.tokens()
    place_of = order.rows if order else np.arange(manifest.passages)
    base = order.counts.base_rows if order else manifest.passages
    corpora = np.array(_corpora(manifest))
    in_base = np.flatnonzero(place_of < base)
    recalls: dict[str, float] = {}
    with closing(open_points(version.place, index.name)) as points:
        _require(points.count() == base, f"it has {points.count()} passages, and not {base}")
        for row in in_base[sample(len(in_base))].tolist():
            own = table.words.row(row)
            rarest = own[np.argmin(table.passage_frequency[own])] if len(own) else -1
            hits = points.weighted(corpora[row], np.array([rarest]), np.ones(1), base + 1).rows
            is_found = rarest < 0 or place_of[row] in hits
            _require(is_found, f"passage {row} is not found by its words")
        for corpus in index.corpora:
            rows = in_base[corpora[in_base] == corpus]
            ef = manifest.ef_search(corpus)

            def find(
                vector: NDArray[np.float32], depth: int, own: IntArray = place_of[rows]
            ) -> IntArray:
                asked = depth + base - len(in_base)
                hits = points.nearest(corpus, vector, asked, ef).rows  # noqa: B023
                places: IntArray = np.searchsorted(own, hits[np.isin(hits, own)])
                return places

            recalls[corpus] = index_recall(find, embeddings.vectors[rows])
    return f"{base} passages; {_least(manifest, recalls)}"


def _check_chroma(version: _Version) -> str:
    manifest = version.manifest
    embeddings = version.embeddings()
    with version.records() as records:
        ids = records.passage_ids()
    in_base = np.ones(len(ids), dtype=bool)
    if version.order:
        in_base = ~version.order.is_recent
    recalls: dict[str, float] = {}
    ends = np.cumsum([0, *(corpus.passages for corpus in manifest.corpora)]).tolist()
    for corpus, (start, end) in zip(manifest.corpora, pairwise(ends), strict=True):
        rows = start + np.flatnonzero(in_base[start:end])
        gone = frozenset(version.order.gone.get(corpus.id, ())) if version.order else frozenset()
        if corpus.id in manifest.index.corpora and (len(rows) or gone):
            positions = {ids[row]: at for at, row in enumerate(rows.tolist())}
            own = embeddings.vectors[rows] if version.order else embeddings.vectors[start:end]
            recalls[corpus.id] = _check_index(version.folder, corpus.id, positions, own, gone)
    return f"{np.count_nonzero(in_base)} vectors; {_least(manifest, recalls)}"


def _least(manifest: Manifest, recalls: Mapping[str, float]) -> str:
    """Return how many of the nearest are found. Raises DamagedStore if it is fewer than before."""
    for name, recall in recalls.items():
        before = manifest.index_recalls.get(name)
        least = before.recall - WORSE if before else LEAST_RECALL
        _require(recall >= least, f"{name} finds only {recall:.1%} of the true nearest passages")
    if not recalls:
        return "no index of vectors"
    worst = min(recalls.values())
    return f"{worst:.1%} or more of the {DEPTH} nearest found in each corpus"


def _check_index(
    folder: Path, corpus: str, rows: Mapping[str, int], own: HalfArray, gone: Collection[str]
) -> float:
    """Check the index of a corpus against its vectors, and give its recall; it may hold the `gone`
    besides."""
    vectors = Vectors(folder / CHROMA, [corpus], lists=True)
    try:
        checked = left = 0
        for each, stored in vectors.items(corpus):
            strange = [id_ for id_ in each if id_ not in rows and id_ not in gone]
            _require(not strange, f"{corpus} has {strange[:1]}, which is no passage")
            at = [n for n, id_ in enumerate(each) if id_ in rows]
            expected = own[[rows[each[n]] for n in at]]
            off = float(np.abs(stored[at] - expected).max(initial=0.0))
            _require(off < SAME, f"{corpus} has vectors that are not the passages'")
            checked += len(at)
            left += len(each) - len(at)
        _require(checked == len(rows), f"{corpus} has {checked} vectors")
        _require(left == len(gone), f"{corpus} has {left} vectors of passages that are gone")
        return index_recall(neighbours(vectors, corpus, rows), own)
    finally:
        vectors.close()


def _passages(version: _Version, rows: range | list[int]) -> Iterator[Passage]:
    with version.records() as records:
        for start in range(0, len(rows), 1000):
            yield from records.passages(rows[start : start + 1000])


def _corpora(manifest: Manifest) -> list[str]:
    return [corpus.id for corpus in manifest.corpora for _ in range(corpus.passages)]


def _require_analyser(manifest: Manifest) -> None:
    by = f"they were analysed by another version of Atlas ({manifest.analyser})"
    _require(manifest.analyser == ANALYSER_VERSION, by)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise DamagedStore(problem)


Find = Callable[[NDArray[np.float32], int], IntArray]
"""Finds the places of at least so many vectors that are near one, best first."""


def neighbours(index: Vectors, corpus: str, rows: Mapping[str, int]) -> Find:
    """Return how the index of a corpus finds places, the `rows` by passage id.

    The index may hold others, which are gone.
    """
    gone = index.count(corpus) - len(rows)

    def find(vector: NDArray[np.float32], depth: int) -> IntArray:
        asked = depth + 2 * depth * gone // max(len(rows), 1)
        ids = index.nearest(corpus, vector, asked)
        return np.array([rows[id_] for id_ in ids if id_ in rows], dtype=np.int64)

    return find


def index_recall(find: Find, vectors: HalfArray) -> float:
    """Measure the mean share of the nearest of some vectors (n, d) that is found, 0 to 1."""
    random = np.random.default_rng(0)
    depth = min(DEPTH, len(vectors))
    result = []
    for at in sample(len(vectors)):
        noise = random.standard_normal(vectors.shape[1], dtype=np.float32)
        query = vectors[at] + NOISE * noise / np.linalg.norm(noise)
        query = (query / np.linalg.norm(query)).astype(np.float32)
        exact = cosines(vectors, query)
        floor = np.partition(exact, -depth)[-depth]
        hits = find(query, depth)[:depth]
        result.append(np.count_nonzero(exact[hits] >= floor - CLOSE) / depth)
    return float(np.mean(result)) if result else 1.0


def sample(count: int) -> list[int]:
    """Return at most SAMPLE numbers from 0 to `count` - 1, evenly spread."""
    return sorted({int(at) for at in np.linspace(0, count - 1, min(SAMPLE, count))})
