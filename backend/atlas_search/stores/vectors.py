"""Vectors of passages: in mapped files by row, and in Chroma, which only this module knows.

Chroma finds neighbours, in one collection per corpus, of ids only. The files give the exact vector
of any passage at once, and let a later build, of this or another text collection, take over what
has been embedded. Importing Chroma takes more than a second: it waits until a store is opened or
written.

Chroma changes its database when it opens it, and tantivy makes a lock beside its index. So that a
version never changes, and can be served from a read-only disk, both open a temporary folder of
their own (`Linked`): links to the files, and copies of what is written to. Folders of processes
that were killed are removed by the next that makes one.
"""

import fcntl
import os
import shutil
import sqlite3
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from atlas_search.core.errors import ConfigurationError, DamagedStore, SourceError, UnwritableFolder
from atlas_search.core.files import CLOSED, is_full
from atlas_search.stores.arrays import FloatArray as FloatArray
from atlas_search.stores.arrays import IntArray, Splice, Spliced, map_array, reading
from atlas_search.stores.order import RECENT, Order
from atlas_search.stores.record_writer import read_only

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.collection_configuration import CreateHNSWConfiguration


HalfArray = NDArray[np.float16]
AT_ONCE = 512  # vectors: what is gathered stays in the cache of the processor
Similarities = Callable[[IntArray, NDArray[np.float32]], FloatArray]
"""Return the cosines of passages, ascending rows, and a unit vector."""


def cosines(vectors: HalfArray, vector: NDArray[np.float32]) -> FloatArray:
    """Return the cosines of `vectors` (n, d) and `vector`, all of unit length.

    They are worked out in half precision, which changes one by less than .001 (measured: 1e-4 of
    384 numbers, 3e-4 of 32). Those of equal vectors are equal, wherever they stand.
    """
    import numkong  # takes .08 s; NumPy turns each number of half precision into another first

    result = np.empty(len(vectors))
    if len(vectors):
        numkong.cdist(vector.astype(np.float16)[None], vectors, "dot", out=result[None])
    return result


class Cosines:
    """Cosines of one unit `vector`: what a leg has compared is there when signals are measured.

    Several threads may keep some; `of` is called when all of them have ended.
    """

    def __init__(self, vector: NDArray[np.float32], similarities: Similarities):
        self.vector = vector
        self._similarities = similarities
        self._kept: dict[int, FloatArray] = {}

    def keep(self, first: int, found: FloatArray) -> None:
        """Keep the cosines of passages that stand together, from the row `first` on."""
        self._kept[first] = found

    def of(self, rows: IntArray) -> FloatArray:
        """Return the cosines of the passages in ascending `rows`, from -1 to 1."""
        result = np.empty(len(rows))
        done = 0
        for first in sorted(self._kept):
            kept = self._kept[first]
            start, end = np.searchsorted(rows, [first, first + len(kept)]).tolist()
            self._compare(rows[done:start], result[done:start])
            kept.take(rows[start:end] - first, out=result[start:end])
            done = end
        self._compare(rows[done:], result[done:])
        return result

    def _compare(self, rows: IntArray, result: FloatArray) -> None:
        if len(rows):
            result[:] = self._similarities(rows, self.vector)


VECTORS, DIGESTS, TOKENS, SUMS = "vectors.npy", "digests.npy", "tokens.npy", "sums.npy"
SPREAD = 4
"""Comparing so many times as many vectors that stand together takes less than copying some."""


@dataclass(frozen=True)
class Embeddings:
    """Unit vectors (n, d), text digests (n, 32) and the model's token counts (n), mapped from disk.

    Half precision finds the same nearest in half the memory and time. `sums` (n) are the XXH3 of
    the vectors: one can be taken from a large file that was not read.
    """

    vectors: HalfArray
    digests: NDArray[np.uint8]
    tokens: IntArray
    sums: NDArray[np.uint64]

    def is_whole(self, row: int) -> bool:
        """Return whether a vector is as it was written, by its sum."""
        return _sum(self.vectors[row]) == int(self.sums[row])

    @property
    def pieces(self) -> Sequence["Embeddings"]:
        """Embeddings that lie in files of their own: these."""
        return (self,)

    def similarities(self, rows: IntArray, vector: NDArray[np.float32]) -> FloatArray:
        """Return the cosines of `vector` and the vectors of ascending `rows`."""
        return _similarities(self.vectors, rows, vector)

    def rows_of(self, digests: Collection[bytes]) -> dict[bytes, int]:
        """Return the first row of each text, by digest, as far as there is one."""
        if not digests or not len(self.digests):
            return {}
        # the first eight bytes tell nearly all apart
        begin = np.ascontiguousarray(self.digests[:, :8]).view(np.uint64)[:, 0]
        heads = np.array([int.from_bytes(d[:8], sys.byteorder) for d in digests], dtype=np.uint64)
        result: dict[bytes, int] = {}
        for row in np.flatnonzero(np.isin(begin, heads)).tolist():
            digest = self.digests[row].tobytes()
            if digest in digests:
                result.setdefault(digest, row)
        return result

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Map the files of `folder`. Raises DamagedStore if one is missing or unreadable."""
        with reading(f"The vectors in {folder}"):
            result = cls(*(map_array(folder / n) for n in (VECTORS, DIGESTS, TOKENS, SUMS)))
        if not len(result.vectors) == len(result.digests) == len(result.tokens):
            raise DamagedStore(f"The files in {folder} disagree. Run `atlas store repair`.")
        return result

    @classmethod
    def create(cls, folder: Path, count: int, dimension: int) -> Self:
        """Make new files for `count` passages, to be filled row by row."""
        folder.mkdir(parents=True)
        shapes = {
            VECTORS: ("<f2", (count, dimension)),
            DIGESTS: ("u1", (count, 32)),
            TOKENS: ("<i4", (count,)),
            SUMS: ("<u8", (count,)),
        }
        return cls(
            *(_new_array(folder / name, kind, shape) for name, (kind, shape) in shapes.items())
        )

    def flush(self) -> None:
        """Bring what was filled in to disk, with its sums."""
        self.sums[:] = [_sum(vector) for vector in self.vectors]
        for array in (self.vectors, self.digests, self.tokens, self.sums):
            if isinstance(array, np.memmap):
                array.flush()


class SplicedEmbeddings:
    """Embeddings of a version that was not written whole; otherwise as `Embeddings`."""

    def __init__(self, splice: Splice, base: Embeddings, recent: Embeddings):
        self.pieces: Sequence[Embeddings] = (base, recent)
        self.vectors = Spliced(splice, base.vectors, recent.vectors)
        self.digests = Spliced(splice, base.digests, recent.digests)
        self.tokens: IntArray = Spliced(splice, base.tokens, recent.tokens)[:]
        self._splice = splice

    def similarities(self, rows: IntArray, vector: NDArray[np.float32]) -> FloatArray:
        places = self._splice.at(rows)
        result = np.empty(len(rows))
        is_recent = places >= self._splice.first
        for piece, own, first in zip(
            self.pieces, (~is_recent, is_recent), (0, self._splice.first), strict=True
        ):
            result[own] = _similarities(piece.vectors, places[own] - first, vector)
        return result


AnyEmbeddings = Embeddings | SplicedEmbeddings


def read_embeddings(folder: Path, order: Order | None) -> AnyEmbeddings:
    """Map the embeddings in `folder`, with the `order` of a version that was not written whole.

    Raises DamagedStore.
    """
    base = Embeddings.read(folder)
    if order is None:
        return base
    return SplicedEmbeddings(order.splice, base, Embeddings.read(folder / RECENT))


def read_vectors(folder: Path, order: Order | None) -> HalfArray | Spliced:
    """Map the vectors alone, whatever else is damaged. Raises OSError, ValueError or EOFError."""
    base: HalfArray = map_array(folder / VECTORS)
    return Spliced(order.splice, base, map_array(folder / RECENT / VECTORS)) if order else base


def _similarities(vectors: HalfArray, rows: IntArray, vector: NDArray[np.float32]) -> FloatArray:
    first, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    if end - first > SPREAD * len(rows):
        parts = [rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE)]
        return np.concatenate([cosines(vectors[part], vector) for part in parts])
    every = cosines(vectors[first:end], vector)
    return every if len(every) == len(rows) else every[rows - first]


def _new_array(path: Path, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map a new file of zeros and take its room: a full disk would end the process later."""
    array = np.lib.format.open_memmap(path, "w+", np.dtype(kind), shape)
    with path.open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def _sum(vector: HalfArray) -> int:
    return xxhash.xxh3_64_intdigest(np.ascontiguousarray(vector).data)


PREFIX = "atlas-open-"


class LinkedFolder:
    """Temporary folder of links, `folder`, until `close` or until nobody refers to it."""

    def __init__(
        self,
        part: Path,
        linked: Callable[[Path], bool] = lambda _: True,
        copies: Mapping[str, Callable[[Path, Path], object]] = MappingProxyType({}),
    ):
        """Link the files whose path below `part` is `linked`; `copies` copy others, by name.

        Raises DamagedStore.
        """
        self._part = part
        self.folder, descriptor = _new_folder()
        self._finalizer = weakref.finalize(self, _release, self.folder, descriptor)
        try:
            self._names = [name for name in _files(part) if linked(name)]
            for name in self._names:
                target = self.folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to((part / name).absolute())
            for copied, copy in copies.items():
                copy(part / copied, self.folder / copied)
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise _error_of(error, part) from error

    def require_files(self) -> None:
        """Raise DamagedStore if a linked file is gone: Chroma would put an empty one there."""
        for name in self._names:
            if not (self.folder / name).exists():
                raise DamagedStore(
                    f"{self._part / name} is gone. Bring the folder back, or run "
                    "`atlas store repair`."
                )

    def close(self) -> None:
        self._finalizer()


def link_or_copy(path: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the disk knows no links."""
    try:
        os.link(path, target)
    except OSError:  # not every disk knows links
        shutil.copyfile(path, target)


def _files(part: Path) -> list[Path]:
    return sorted(
        Path(folder, name).relative_to(part)
        for folder, _, names in os.walk(part, followlinks=True)
        for name in names
        if not name.startswith(".")
    )


def _new_folder() -> tuple[Path, int]:
    """Return a new folder with a lock that lasts as long as this process, and its descriptor."""
    try:
        root = Path(tempfile.gettempdir())
        _remove_abandoned(root)
        while True:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
            # until it is locked, another process may take it for an abandoned one
            try:
                descriptor = os.open(folder, os.O_RDONLY)
            except FileNotFoundError:
                continue
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if folder.exists():
                return folder, descriptor
            os.close(descriptor)
    except OSError as error:
        raise _error_of(error, Path()) from error


def _remove_abandoned(root: Path) -> None:
    for folder in root.glob(f"{PREFIX}*"):
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue  # another user's, or gone
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # in use
        finally:
            os.close(descriptor)


def _error_of(error: OSError | sqlite3.Error, part: Path) -> ConfigurationError:
    """Return the error of a file of `part`, or of a temporary folder that cannot be written."""
    is_closed = isinstance(error, OSError) and error.errno in CLOSED
    if is_full(error) or is_closed or not part.name:
        return UnwritableFolder(
            f"A store is opened through a temporary folder, which cannot be written "
            f"({getattr(error, 'strerror', None) or error}). Make room in the folder for temporary "
            "files, or set TMPDIR to one with room: some MB, and to verify or repair a store of a "
            "million passages 200 MB."
        )
    return DamagedStore(f"{part} cannot be read ({error}). Run `atlas store repair`.")


def _release(folder: Path, descriptor: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(descriptor)


Progress = Callable[[int], None]
_OPENING = threading.RLock()  # Chroma counts the clients of a folder without a lock
HNSW: "CreateHNSWConfiguration" = {
    "space": "cosine",
    # the default of 100 finds 77% of the true 200 nearest in 180,000 passages, 1000 finds 98%;
    # it must be set at creation, a loaded index ignores a later change
    "ef_search": 1000,
    "ef_construction": 200,
    "max_neighbors": 16,
}
DATABASE = "chroma.sqlite3"
_FILLED = "index_metadata.pickle"
_IDS = "embeddings"
_OF_TEXTS = "embedding_fulltext_search"  # the tables of an index of texts, of which there are none
BATCH = 5000  # Chroma refuses more than 5461 at once
OVERFETCH = 16  # Chroma returns ties in any order; the caller orders them by id and cuts


class CorpusVectors(NamedTuple):
    """Passages of one corpus in order: ids, and unit vectors of shape (n, d)."""

    corpus: str
    ids: Sequence[str]
    vectors: HalfArray


class ChromaRecord(NamedTuple):
    """Record of a Chroma collection that somebody else made."""

    id: str
    text: str
    metadata: Mapping[str, Any]
    vector: NDArray[np.float32]


@contextmanager
def _opened(folder: Path) -> Iterator["Client"]:
    """Open a client of a folder. Whatever happens, it is closed: to the next one for a folder of
    this name Chroma would give what it still has open."""
    import chromadb
    from chromadb.api.client import Client
    from chromadb.config import Settings

    with _OPENING:
        client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    assert isinstance(client, Client)  # its declared type lacks `close`
    try:
        yield client
    finally:
        with _OPENING:
            client.close()


def _name(corpus: str) -> str:
    return f"corpus-{corpus}"


def write_vectors(folder: Path, corpora: Iterable[CorpusVectors], progress: Progress) -> None:
    """Write the vectors of all corpora into a new folder; `progress` is told of each batch."""
    with _opened(folder) as client:
        for corpus, ids, vectors in corpora:
            _upsert(_create(client, corpus), ids, vectors, progress)
    _compact(folder)


def change_vectors(
    source: Path,
    folder: Path,
    corpora: Sequence[CorpusVectors],
    gone: Mapping[str, Sequence[str]],
    progress: Progress,
) -> None:
    """Copy the index in `source` to `folder`, remove ids that are `gone` by corpus, then add.

    `corpora` are all that shall be, with their new or replaced vectors; others are dropped.
    """
    _copy(source, folder)
    with _opened(folder) as client:
        names = {_name(corpus.corpus) for corpus in corpora}
        present = {each.name: each for each in client.list_collections()}
        for name in present.keys() - names:
            client.delete_collection(name)
        for corpus, ids in gone.items():
            if _name(corpus) in names:
                for start in range(0, len(ids), BATCH):
                    present[_name(corpus)].delete(ids=list(ids[start : start + BATCH]))
        for corpus, ids, vectors in corpora:
            _upsert(present.get(_name(corpus)) or _create(client, corpus), ids, vectors, progress)
    _compact(folder)


def _copy(source: Path, folder: Path) -> None:
    """Copy an index that others may be opening: Chroma writes into its SQLite file then."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(f"{DATABASE}*"))
    with (
        closing(sqlite3.connect(source / DATABASE)) as present,
        closing(sqlite3.connect(folder / DATABASE)) as copy,
    ):
        present.backup(copy)


def set_ef_search(folder: Path, corpus: str, ef: int) -> None:
    """Let searches look at `ef` neighbours from the next opening on: more find more of the true
    nearest."""
    with _opened(folder) as client:
        collection = client.get_collection(_name(corpus), embedding_function=None)
        collection.modify(configuration={"hnsw": {"ef_search": ef}})


def count_vectors(folder: Path) -> dict[str, int]:
    """Count the vectors of each corpus in the index in `folder`."""
    with _opened(folder) as client:
        return {
            each.name.removeprefix(_name("")): each.count() for each in client.list_collections()
        }


def _create(client: "Client", corpus: str) -> Any:
    from chromadb.api.collection_configuration import CreateCollectionConfiguration

    configuration = CreateCollectionConfiguration(hnsw=HNSW)
    return client.create_collection(
        _name(corpus), configuration=configuration, embedding_function=None
    )


def _upsert(collection: Any, ids: Sequence[str], vectors: HalfArray, progress: Progress) -> None:
    # of equal size: of a last one below 1000 Chroma keeps a log, and indexes it at each opening
    for batch in np.array_split(np.arange(len(ids)), -(-len(ids) // BATCH)) if len(ids) else ():
        rows = slice(int(batch[0]), int(batch[-1]) + 1)
        collection.upsert(
            ids=list(ids[rows]), embeddings=np.asarray(vectors[rows], dtype=np.float32)
        )
        progress(len(batch))


def _compact(folder: Path) -> None:
    """Give back the pages that Chroma's queue has used: two thirds of its SQLite file."""
    connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
    connection.execute("VACUUM")
    connection.close()


def write_collection(folder: Path, name: str, batches: Iterable[Sequence[ChromaRecord]]) -> None:
    """Write records to a new Chroma collection in `folder`, as a program without Atlas reads them.

    Each batch has up to BATCH. Raises SourceError for a name that Chroma does not take.
    """
    from chromadb.api.collection_configuration import CreateCollectionConfiguration
    from chromadb.errors import InvalidArgumentError

    with _opened(folder) as client:
        try:
            collection = client.create_collection(
                name,
                metadata={"hnsw:space": HNSW["space"]},  # where langchain-community looks for it
                configuration=CreateCollectionConfiguration(hnsw=HNSW),
                embedding_function=None,
            )
        except InvalidArgumentError as error:
            raise SourceError(f"Chroma cannot name a collection {name}: {error}") from error
        for batch in batches:
            collection.add(
                ids=[each.id for each in batch],
                documents=[each.text for each in batch],
                metadatas=[dict(each.metadata) for each in batch],
                embeddings=np.stack([each.vector for each in batch]),
            )


OrderKey = Callable[[str, Mapping[str, Any]], tuple[Any, ...]]
"""Return what a record of a collection is ordered by, from its id and its metadata."""


def read_collection(folder: Path, name: str, key: OrderKey) -> Iterator[ChromaRecord]:
    """Read the records of a Chroma collection in the order of `key`, then as they were added.

    Vectors are as they are stored. It is read from a copy: opening a folder of an older Chroma
    would change it. Raises SourceError if there is no such collection.
    """
    import chromadb

    with TemporaryDirectory() as temporary, ExitStack() as opened:
        copy = Path(temporary) / "chroma"
        shutil.copytree(folder, copy)
        try:
            client = opened.enter_context(_opened(copy))
        except (ValueError, chromadb.errors.ChromaError) as error:
            raise SourceError(f"{folder} cannot be opened as a Chroma folder: {error}") from error
        names = sorted(collection.name for collection in client.list_collections())
        chosen = name or (names[0] if len(names) == 1 else "")
        if chosen not in names:
            listed = ", ".join(names) or "none"
            missing = f"no collection {name!r}" if name else f"{len(names)} collections"
            raise SourceError(
                f"{folder} has {missing}. Name one with --from-collection; it has: {listed}."
            )
        yield from _records(client.get_collection(chosen, embedding_function=None), key)


def _records(collection: Any, key: OrderKey) -> Iterator[ChromaRecord]:
    keys: dict[str, tuple[Any, ...]] = {}
    for start in range(0, collection.count(), BATCH):
        page = collection.get(limit=BATCH, offset=start, include=["metadatas"])
        for id_, metadata in zip(page["ids"], page["metadatas"], strict=True):
            keys[id_] = key(id_, metadata or {})
    ids = sorted(keys, key=keys.__getitem__)
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        result = collection.get(ids=batch, include=["documents", "metadatas", "embeddings"])
        at = {id_: index for index, id_ in enumerate(result["ids"])}
        for id_ in batch:
            index = at[id_]
            yield ChromaRecord(
                id_,
                result["documents"][index] or "",
                result["metadatas"][index] or {},
                np.asarray(result["embeddings"][index], dtype=np.float32),
            )


def _link(folder: Path, *, lists: bool) -> LinkedFolder:
    """Link the filled indexes (from 1000 vectors on), and copy the database for `Vectors`.

    Chroma makes the others from its database each time, and would write them into the store.
    """
    filled = {path.parent.name for path in folder.glob(f"*/{_FILLED}")}
    copy = shutil.copyfile if lists else _copy_without_ids
    return LinkedFolder(folder, lambda name: name.parent.name in filled, {DATABASE: copy})


def _copy_without_ids(database: Path, target: Path) -> None:
    """Copy Chroma's database but for its list of ids, which no search reads.

    That is nearly all of the file: of a million passages 180 MB.
    """
    with closing(sqlite3.connect(target, isolation_level=None, uri=True)) as copy:
        copy.execute("PRAGMA synchronous = OFF")
        copy.execute("ATTACH ? AS store", (read_only(database),))
        parts = copy.execute("SELECT type, name, sql FROM store.sqlite_master WHERE sql NOT NULL")
        own = [each for each in parts.fetchall() if not each[1].startswith(_OF_TEXTS)]
        copy.execute("BEGIN")
        for kind, name, sql in own:
            copy.execute(sql)
            if kind == "table" and name != _IDS:
                copy.execute(f'INSERT INTO main."{name}" SELECT * FROM store."{name}"')
        copy.execute("COMMIT")


class Vectors:
    """Vectors of some `corpora` of an existing store; with `lists` their ids can be listed."""

    def __init__(self, folder: Path, corpora: Sequence[str], *, lists: bool = False):
        self.corpora = frozenset(corpora)
        self._database = folder / DATABASE
        if not self._database.is_file():
            raise DamagedStore(f"{folder} is missing. Run `atlas store repair`.")
        self._linked = _link(folder, lists=lists)
        self._loaded: set[str] = set()
        self._opened = ExitStack()
        self._opened.callback(self._linked.close)
        try:
            self._client = self._opened.enter_context(_opened(self._linked.folder))
            present = {collection.name for collection in self._client.list_collections()}
        except Exception as error:  # what Chroma raises for a damaged file is of no one kind
            self.close()
            raise DamagedStore(
                f"{folder} cannot be opened ({error}). Run `atlas store repair`."
            ) from error
        missing = [corpus for corpus in corpora if _name(corpus) not in present]
        if missing:
            self.close()
            raise DamagedStore(
                f"{folder} has no vectors for {', '.join(missing)}. Run `atlas store repair`."
            )
        self._collections = {
            corpus: self._client.get_collection(_name(corpus), embedding_function=None)
            for corpus in corpora
        }

    def count(self, corpus: str) -> int:
        query = (
            "SELECT COUNT(*) FROM embeddings WHERE segment_id = "
            "(SELECT id FROM segments WHERE collection = ? AND scope = 'METADATA')"
        )
        # Chroma takes .6 s for 229,000, its database .02
        with closing(sqlite3.connect(read_only(self._database), uri=True)) as database:
            (count,) = database.execute(query, (str(self._collections[corpus].id),)).fetchone()
        return int(count)

    def nearest(self, corpus: str, vector: NDArray[np.float32], depth: int) -> list[str]:
        """Return the ids of up to `depth` + OVERFETCH neighbours of `vector`, best first.

        Raises DamagedStore.
        """
        if corpus not in self._loaded:  # Chroma reads the files of an index when it is first asked
            self._linked.require_files()
        result = self._collections[corpus].query(
            query_embeddings=vector[None, :], n_results=depth + OVERFETCH, include=[]
        )
        self._loaded.add(corpus)
        ids: list[str] = result["ids"][0]
        return ids

    def items(self, corpus: str) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Return all ids of `corpus` in order with their vectors, in batches; needs `lists`."""
        collection = self._collections[corpus]
        ids = sorted(collection.get(include=[])["ids"])
        for start in range(0, len(ids), BATCH):
            result = collection.get(ids=ids[start : start + BATCH], include=["embeddings"])
            order = np.argsort(np.array(result["ids"], dtype=object))
            vectors = np.asarray(result["embeddings"], dtype=np.float32)
            yield [result["ids"][at] for at in order], vectors[order]

    def close(self) -> None:
        self._opened.close()
