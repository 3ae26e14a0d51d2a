"""The engine of Qdrant, in a server or in this process, which only this module knows.

A version that is written whole has a collection there, of one point for each passage: its id is the
passage's row, `dense` its vector, `bm25` the weights of its terms (`stores/terms.py`), `corpus` the
tenant it belongs to. The collection never changes: later versions that share the files of this one
share it too, so that nothing has to be switched but the manifest, and what came since is compared
here, as with any engine. What a filter allows the records decide, since a condition on a date that
is uncertain or on the words of a section is none that Qdrant knows.

In this process the collection is a folder beside the versions. The index of vectors may miss a few
of the nearest; of weights every passage with a term is found.
"""

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.addresses import login_of
from atlas_search.core.errors import AtlasError, ConfigurationError, DamagedStore, EngineUnavailable
from atlas_search.core.files import write_whole
from atlas_search.core.registry import require
from atlas_search.core.targets import VectorSearch
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.local import LocalStore, best
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.store import LegHits, Scope
from atlas_search.stores.terms import BLOCK, FloatArray, TokenTable, idf, saturation
from atlas_search.stores.vectors import HalfArray

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_edge import EdgeShard

    from atlas_search.core.settings import Settings

DENSE, BM25, CORPUS = "dense", "bm25", "corpus"
FOLDER = "qdrant"
"""Folder beside the versions, of the collections that are searched in this process."""
EXACT_UP_TO = 20_000
"""Passages of a corpus. Up to here comparing every one here takes as long as asking a server."""
M, EF_CONSTRUCTION, EF_SEARCH = 16, 200, 400
BATCH = 250  # points: a server takes messages of 32 MB, and one of 3,072 numbers is of 60 KB
FULL_SCAN = 20_000  # kilobytes of vectors of a corpus in a segment, up to which it has no graph
OVERFETCH = 16  # ties come in any order; they are ordered by row
SAME = 1e-6  # most by which single precision makes two equal scores differ
SCORED_AT_ONCE = 2_000  # passages in a scope that are scored here, as fast as to ask for them
TIMEOUT = 30  # seconds


@dataclass(frozen=True)
class QdrantPlace:
    """Where the collections of Qdrant lie: in a server at `url`, or beside versions in `folder`."""

    folder: Path
    url: str = ""
    key: str = ""

    @classmethod
    def of(cls, settings: "Settings") -> Self:
        """Return the place of the configured collection. Raises ConfigurationError."""
        if login_of(settings.qdrant_url):
            raise ConfigurationError(
                "QDRANT_URL holds a name or a password, which logs would show. Take it out, and "
                "set QDRANT_API_KEY."
            )
        key = settings.qdrant_api_key.get_secret_value()
        return cls(settings.collection_folder, settings.qdrant_url, key)

    @property
    def shown(self) -> str:
        """The place as errors name it."""
        return f"the Qdrant server at {self.url}" if self.url else str(self.folder / FOLDER)


class PassagePoint(NamedTuple):
    """A passage of the base: its row, its corpus, ids and weights of its terms, and its vector if
    the engine is to have that."""

    row: int
    corpus: str
    terms: IntArray
    weights: FloatArray
    vector: HalfArray | None


class Points(ABC):
    """A collection of Qdrant. Safe to use from several threads.

    `models` is the library that makes requests to it.
    """

    def __init__(self, models: Any):
        self._models = models

    def nearest(self, corpus: str, vector: NDArray[np.float32], limit: int, ef: int) -> LegHits:
        """Return at most `limit` points of a corpus by cosine, best first."""
        params = self._models.SearchParams(hnsw_ef=ef)
        return self._query(vector.tolist(), DENSE, corpus, limit, params)

    def weighted(self, corpus: str, terms: IntArray, weights: FloatArray, limit: int) -> LegHits:
        """Return at most `limit` points by the weights of these terms; "" is every corpus."""
        sparse = self._models.SparseVector(indices=terms.tolist(), values=weights.tolist())
        return self._query(sparse, BM25, corpus, limit, None)

    @abstractmethod
    def _query(self, query: Any, using: str, corpus: str, limit: int, params: Any) -> LegHits: ...

    @abstractmethod
    def count(self) -> int: ...

    @abstractmethod
    def close(self) -> None: ...


def points_of(
    corpus_of: Sequence[str], indexed: Collection[str], table: TokenTable, vectors: HalfArray
) -> Iterator[PassagePoint]:
    """Return the points of all passages in order, `corpus_of` which they are.

    Those of `indexed` corpora have their vectors.
    """
    mean, width = table.mean_length(), len(table.passage_frequency)
    for start in range(0, table.passages, BLOCK):
        rows = np.arange(start, min(start + BLOCK, table.passages))
        columns = [of.take(at) for of, at in table.indexed(rows)]
        cells = np.concatenate([of.row * width + of.value for of in columns])
        distinct, counts = np.unique(cells, return_counts=True)
        row, term = np.divmod(distinct, width)
        weights = saturation(counts, table.lengths(rows)[row], mean)
        ends = np.searchsorted(row, np.arange(len(rows) + 1))
        for at, (first, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            own, corpus = slice(first, end), corpus_of[start + at]
            vector = vectors[start + at] if corpus in indexed else None
            yield PassagePoint(start + at, corpus, term[own], weights[own], vector)


def write_points(
    place: QdrantPlace,
    name: str,
    dimension: int,
    points: Iterable[PassagePoint],
    progress: Callable[[int], None],
) -> None:
    """Write a collection; `progress` is told of each batch. What a killed build left is replaced.

    Raises EngineUnavailable, or MissingLibrary.
    """
    require("qdrant", "The engine qdrant")
    # first, so that what a killed build leaves is removed by the next
    _note(place.folder, _noted(place.folder) | {name: place.url})
    (_write_to_server if place.url else _write_to_folder)(
        place, name, dimension, _batches(points, progress)
    )


def _batches(
    points: Iterable[PassagePoint], progress: Callable[[int], None]
) -> Iterator[list[PassagePoint]]:
    left = iter(points)
    while batch := list(islice(left, BATCH)):
        yield batch
        progress(len(batch))


_NOTES = ".qdrant.json"


def _noted(folder: Path) -> dict[str, str]:
    """Return the address of each collection that builds of this folder have begun to write."""
    try:
        result: dict[str, str] = json.loads((folder / _NOTES).read_text())
    except (OSError, ValueError):
        return {}
    return result


def _note(folder: Path, names: Mapping[str, str]) -> None:
    write_whole(folder / _NOTES, json.dumps(names).encode())


def remove_unused(place: QdrantPlace, used: Collection[str]) -> None:
    """Remove the collections that builds of this folder wrote and no version uses.

    What a server out of reach has stays until the next time.
    """
    noted = _noted(place.folder)
    for name in noted.keys() - used:
        at = replace(place, url=noted[name])
        with suppress(EngineUnavailable, ConfigurationError):
            if at.url:
                with _asking(at) as client:
                    client.delete_collection(name)
            else:
                for left in (name, f".{name}.partial"):
                    shutil.rmtree(place.folder / FOLDER / left, ignore_errors=True)
            del noted[name]
            _note(place.folder, noted)


def is_there(place: QdrantPlace, name: str) -> bool:
    """Return whether there is a collection of this name. Raises EngineUnavailable."""
    require("qdrant", "The engine qdrant")
    if not place.url:
        return (place.folder / FOLDER / name).is_dir()
    with _asking(place) as client:
        return client.collection_exists(name)


def open_points(place: QdrantPlace, name: str) -> Points:
    """Open a collection. Raises DamagedStore without one, EngineUnavailable, or MissingLibrary."""
    if not is_there(place, name):
        raise DamagedStore(
            f"{place.shown} has no whole collection {name}. Run `atlas store repair "
            f"{place.folder.name}`, which writes it from the files of the version, or set "
            "QDRANT_URL to the server that has it."
        )
    return _Server(place, name) if place.url else _Shard(place, name)


# in this process


def _write_to_folder(
    place: QdrantPlace, name: str, dimension: int, batches: Iterable[list[PassagePoint]]
) -> None:
    import qdrant_edge as edge

    folder = place.folder / FOLDER / name
    partial = folder.with_name(f".{name}.partial")
    for left in (folder, partial):
        shutil.rmtree(left, ignore_errors=True)
    partial.mkdir(parents=True)
    shard = edge.EdgeShard.create(
        str(partial),
        edge.EdgeConfig(
            vectors={
                DENSE: edge.EdgeVectorParams(
                    size=dimension,
                    distance=edge.Distance.Dot,
                    datatype=edge.VectorStorageDatatype.Float16,
                )
            },
            sparse_vectors={BM25: edge.EdgeSparseVectorParams()},
            # an index for each corpus, and none over all
            hnsw_config=edge.HnswIndexConfig(
                m=0, payload_m=M, ef_construct=EF_CONSTRUCTION, full_scan_threshold=FULL_SCAN
            ),
            wal_enabled=False,
        ),
    )
    try:
        index = edge.KeywordIndexParams(is_tenant=True)
        shard.update(edge.UpdateOperation.create_field_index(CORPUS, index))
        for batch in batches:
            points = [_point(point, edge.Point, edge.SparseVector) for point in batch]
            shard.update(edge.UpdateOperation.upsert_points(points))
        while shard.optimize():
            pass
        shard.flush()
    finally:
        shard.close()
    partial.rename(folder)


def _point(point: PassagePoint, kind: Callable[..., Any], sparse: Callable[..., Any]) -> Any:
    vectors = {BM25: sparse(indices=point.terms.tolist(), values=point.weights.tolist())}
    if point.vector is not None:
        vectors[DENSE] = point.vector.tolist()
    return kind(id=point.row, vector=vectors, payload={CORPUS: point.corpus})


class _Shard(Points):
    """A collection in this process."""

    def __init__(self, place: QdrantPlace, name: str):
        import qdrant_edge

        super().__init__(qdrant_edge)
        folder = place.folder / FOLDER / name
        try:
            self._shard: EdgeShard = qdrant_edge.EdgeShard.load(str(folder))
        except Exception as error:  # what it raises is of no kind
            raise DamagedStore(
                f"{folder} cannot be opened ({error}). Run `atlas store repair "
                f"{place.folder.name}`."
            ) from error

    def _query(self, query: Any, using: str, corpus: str, limit: int, params: Any) -> LegHits:
        edge = self._models
        is_of = edge.FieldCondition(key=CORPUS, match=edge.MatchValue(corpus))
        hits = self._shard.query(
            edge.QueryRequest(
                query=edge.Query.Nearest(query, using=using),
                filter=edge.Filter(must=[is_of]) if corpus else None,
                limit=limit,
                params=params,
            )
        )
        return _hits(hits)

    def count(self) -> int:
        return self._shard.count(self._models.CountRequest(exact=True))

    def close(self) -> None:
        self._shard.close()


def _hits(hits: Sequence[Any]) -> LegHits:
    rows = np.array([hit.id for hit in hits], dtype=np.int64)
    return LegHits(rows, np.array([hit.score for hit in hits], dtype=np.float64))


# in a server


@contextmanager
def _asking(place: QdrantPlace) -> Iterator["QdrantClient"]:
    client = _client(place)
    try:
        with _told(place):
            yield client
    finally:
        client.close()


def _client(place: QdrantPlace) -> "QdrantClient":
    import qdrant_client

    return qdrant_client.QdrantClient(
        place.url, api_key=place.key or None, timeout=TIMEOUT, check_compatibility=False
    )


@contextmanager
def _told(place: QdrantPlace) -> Iterator[None]:
    """Turn what the client raises into EngineUnavailable, or ConfigurationError for a key."""
    from qdrant_client.common.client_exceptions import QdrantException
    from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code in (401, 403):
            raise ConfigurationError(
                f"{place.shown} takes no request with this key. Set QDRANT_API_KEY."
            ) from error
        raise EngineUnavailable(
            f"{place.shown} refused a request (status {error.status_code}). Its log says why."
        ) from error
    except (ApiException, QdrantException, OSError) as error:
        raise EngineUnavailable(
            f"{place.shown} cannot be reached ({error}). Start it, or set QDRANT_URL."
        ) from error


def _write_to_server(
    place: QdrantPlace, name: str, dimension: int, batches: Iterable[list[PassagePoint]]
) -> None:
    from qdrant_client import models

    with _asking(place) as client:
        client.delete_collection(name)
        client.create_collection(
            name,
            vectors_config={
                DENSE: models.VectorParams(
                    size=dimension,
                    distance=models.Distance.DOT,
                    datatype=models.Datatype.FLOAT16,
                    # an index for each corpus, and none over all
                    hnsw_config=models.HnswConfigDiff(
                        m=0, payload_m=M, ef_construct=EF_CONSTRUCTION
                    ),
                )
            },
            sparse_vectors_config={BM25: models.SparseVectorParams()},
        )
        index = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        client.create_payload_index(name, CORPUS, index)
        for batch in batches:
            points = [_point(point, models.PointStruct, models.SparseVector) for point in batch]
            client.upsert(name, points, wait=True)
        _wait_for_index(client, place, name)


SILENT_SECONDS = 600.0


def _wait_for_index(client: "QdrantClient", place: QdrantPlace, name: str) -> None:
    """Wait until all vectors are in the index. Raises EngineUnavailable if it does not grow."""
    from qdrant_client import models

    indexed, since = -1, monotonic()
    while (state := client.get_collection(name)).status != models.CollectionStatus.GREEN:
        if state.indexed_vectors_count != indexed:
            indexed, since = state.indexed_vectors_count or 0, monotonic()
        if monotonic() - since > SILENT_SECONDS:
            raise EngineUnavailable(f"{place.shown} does not finish the index of {name}.")
        sleep(0.2)


class _Server(Points):
    """A collection in a server."""

    def __init__(self, place: QdrantPlace, name: str):
        from qdrant_client import models

        super().__init__(models)
        self._place, self._name = place, name
        self._client = _client(place)

    def _query(self, query: Any, using: str, corpus: str, limit: int, params: Any) -> LegHits:
        models = self._models
        is_of = models.FieldCondition(key=CORPUS, match=models.MatchValue(value=corpus))
        with _told(self._place):
            answer = self._client.query_points(
                self._name,
                query=query,
                using=using,
                query_filter=models.Filter(must=[is_of]) if corpus else None,
                limit=limit,
                search_params=params,
                with_payload=False,
            )
        return _hits(answer.points)

    def count(self) -> int:
        with _told(self._place):
            return self._client.count(self._name).count

    def close(self) -> None:
        self._client.close()


def open_store(folder: Path, place: QdrantPlace | None = None) -> LocalStore:
    """Open the live version of a collection with the engine that it was written for."""
    manifest = Manifest.read(folder)
    if manifest.index.engine == "qdrant":
        return QdrantStore(folder, manifest, place)
    return EmbeddedStore(folder, manifest)


class QdrantStore(LocalStore):
    """Version whose candidates come from Qdrant, by row."""

    def __init__(self, folder: Path, manifest: Manifest, place: QdrantPlace | None):
        self._place = place or QdrantPlace(folder)
        super().__init__(folder, manifest)

    def _open_engine(self) -> Mapping[str, int]:
        self._points = open_points(self._place, self.manifest.index.name)
        self._using.callback(self._points.close)
        base = self._order.counts.base_rows if self._order else self.manifest.passages
        missing = base - self._points.count()
        return {FOLDER: self.manifest.passages - missing}

    def problem(self) -> str:
        try:
            self._points.count()
        except AtlasError as error:
            return str(error)
        return ""

    def compares_all(self, corpus: str, how: VectorSearch = "auto") -> bool:
        if how == "exact" or corpus not in self.manifest.index.corpora:
            return True
        return how == "auto" and self._indexed[corpus] <= EXACT_UP_TO

    def _nearest_indexed(self, corpus: str, vector: NDArray[np.float32], depth: int) -> IntArray:
        ef = self.manifest.ef_search(corpus)
        return self._sieve(
            corpus, depth, lambda limit: self._points.nearest(corpus, vector, limit, ef)
        )

    def matching(
        self, corpus: str, terms: Sequence[str], depth: int, scope: Scope | None
    ) -> LegHits:
        known = sorted({i for term in terms if (i := self.tokens.vocabulary.get(term, -1)) >= 0})
        ids = np.array(known, dtype=np.int64)
        counts = self.tokens.passage_frequency[ids]
        weights = idf(counts, self.manifest.passages)
        allowed = None if scope is None else self._own(corpus, scope.rows)
        if not known:
            return LegHits(ids, weights)
        if allowed is not None and len(allowed) <= SCORED_AT_ONCE:
            rows = allowed
        else:
            rows = self._sieve(
                corpus,
                depth,
                lambda limit: self._points.weighted(corpus, ids, weights, limit),
                allowed,
            )
            recent = self._recent_of[corpus]
            if allowed is not None:
                recent = recent[np.isin(recent, allowed)]
            rows = np.sort(np.concatenate([rows, recent]))
        # worked out here: a server adds up in another order, and single precision
        scores = self._scores(rows, ids, weights)
        holds = scores > 0
        return best(rows[holds], scores[holds], depth)

    def _scores(self, rows: IntArray, terms: IntArray, weights: FloatArray) -> FloatArray:
        """Return the BM25 of passages for some terms."""
        width = len(terms)
        number: IntArray = np.full(len(self.tokens.passage_frequency), -1, dtype=np.int16)
        number[terms] = np.arange(width)
        counts = np.zeros(len(rows) * width, dtype=np.int64)
        for ragged, at in self.tokens.indexed(rows):
            which = number.take(ragged.joined(at))
            hits = np.flatnonzero(which >= 0)  # one word in a hundred: rows are for these alone
            row = np.searchsorted(np.cumsum(ragged.lengths(at)), hits, side="right")
            counts += np.bincount(row * width + which[hits], minlength=len(counts))
        lengths = self.tokens.lengths(rows)[:, None]
        mean = self.manifest.index.mean_length
        scores: FloatArray = saturation(counts.reshape(-1, width), lengths, mean) @ weights
        return scores

    def _sieve(
        self,
        corpus: str,
        depth: int,
        ask: Callable[[int], LegHits],
        allowed: IntArray | None = None,
    ) -> IntArray:
        """Ask for more and more points of a corpus until `depth` of them are passages that are
        `allowed`, with all that are as good as the last of these."""
        count, gone = self._indexed[corpus], self._gone[corpus]
        if count == gone:
            return np.empty(0, dtype=np.int64)
        limit = depth + 2 * depth * gone // count + OVERFETCH
        if allowed is not None:
            limit = limit * count // len(allowed) + OVERFETCH
        while True:
            hits = ask(limit)
            rows, stands = self._rows_at(hits.rows)
            scores = hits.scores[stands]
            if allowed is not None:
                inside = np.isin(rows, allowed)
                rows, scores = rows[inside], scores[inside]
            is_enough = len(rows) >= depth and scores[depth - 1] - SAME > hits.scores[-1]
            if is_enough or len(hits.rows) < limit:
                return rows
            limit *= 4

    def _rows_at(self, places: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return the rows that stand at places of the base, and at which places there is one."""
        if self._order is None:
            return places, np.ones(len(places), dtype=bool)
        return self._order.splice.items_at(places)

    def _with_terms(self, terms: Sequence[str]) -> IntArray:
        if not terms:
            return np.arange(self.manifest.passages)
        known = [self.tokens.vocabulary.get(term, -1) for term in terms]
        if min(known) < 0:
            return np.empty(0, dtype=np.int64)
        counts = self.tokens.passage_frequency[known]
        rarest = int(np.argmin(counts))
        limit = int(counts[rarest]) + sum(self._gone.values()) + 1
        term = np.array([known[rarest]])
        rows, _ = self._rows_at(self._points.weighted("", term, np.ones(1), limit).rows)
        return np.sort(np.concatenate([rows, *self._recent_of.values()]))
