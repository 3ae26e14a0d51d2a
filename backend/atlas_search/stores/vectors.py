"""Vectors in Chroma: one collection per corpus, ids only, cosine. The only module that knows it.

Importing Chroma takes more than a second, so that waits until a store is opened or written.
"""

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import DamagedStore, SourceError
from atlas_search.stores.links import Linked
from atlas_search.stores.read_only import read_only

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.collection_configuration import CreateHNSWConfiguration

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


class Neighbours(NamedTuple):
    """Passage ids with their cosine similarity, best first."""

    ids: list[str]
    similarities: NDArray[np.float64]


class CorpusVectors(NamedTuple):
    """The passages of one corpus in order: ids, and unit vectors of shape (n, d)."""

    corpus: str
    ids: Sequence[str]
    vectors: NDArray[np.float32]


class ChromaRecord(NamedTuple):
    """One record of a collection that somebody else made."""

    id: str
    text: str
    metadata: Mapping[str, Any]
    vector: NDArray[np.float32]


def _client(folder: Path) -> "Client":
    import chromadb
    from chromadb.api.client import Client
    from chromadb.config import Settings

    with _OPENING:
        client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    assert isinstance(client, Client)  # its declared type lacks `close`
    return client


def _close(client: "Client") -> None:
    with _OPENING:
        client.close()


@contextmanager
def _opened(folder: Path) -> Iterator["Client"]:
    """A client of a folder. Whatever happens, it is closed: to the next one for a folder of this
    name Chroma would give what it still has open."""
    client = _client(folder)
    try:
        yield client
    finally:
        _close(client)


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
        wanted = {_name(corpus.corpus) for corpus in corpora}
        present = {found.name: found for found in client.list_collections()}
        for name in present.keys() - wanted:
            client.delete_collection(name)
        for corpus, ids in gone.items():
            if _name(corpus) in wanted:
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
    """Let searches of a corpus look at `ef` neighbours, more for more of the true nearest.

    It holds from the next opening on.
    """
    with _opened(folder) as client:
        collection = client.get_collection(_name(corpus), embedding_function=None)
        collection.modify(configuration={"hnsw": {"ef_search": ef}})


def count_vectors(folder: Path) -> dict[str, int]:
    """Vectors by corpus in the index in `folder`."""
    with _opened(folder) as client:
        return {
            found.name.removeprefix(_name("")): found.count() for found in client.list_collections()
        }


def _create(client: "Client", corpus: str) -> Any:
    from chromadb.api.collection_configuration import CreateCollectionConfiguration

    configuration = CreateCollectionConfiguration(hnsw=HNSW)
    return client.create_collection(
        _name(corpus), configuration=configuration, embedding_function=None
    )


def _upsert(
    collection: Any, ids: Sequence[str], vectors: NDArray[np.float32], progress: Progress
) -> None:
    # of equal size: of a last one below 1000 Chroma keeps a log, and indexes it at each opening
    for batch in np.array_split(np.arange(len(ids)), -(-len(ids) // BATCH)) if len(ids) else ():
        rows = slice(int(batch[0]), int(batch[-1]) + 1)
        collection.upsert(ids=list(ids[rows]), embeddings=np.asarray(vectors[rows]))
        progress(len(batch))


def _compact(folder: Path) -> None:
    """Give back the pages that Chroma's queue has used: two thirds of its SQLite file."""
    connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
    connection.execute("VACUUM")
    connection.close()


def read_collection(folder: Path, name: str) -> Iterator[ChromaRecord]:
    """The records of a Chroma collection in order of id, its vectors as they are stored.

    It is read from a copy: opening a folder of an older Chroma would change it. Raises SourceError
    if there is no such collection, or if a record lacks a text.
    """
    import chromadb

    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / "chroma"
        shutil.copytree(folder, copy)
        try:
            client = _client(copy)
        except (ValueError, chromadb.errors.ChromaError) as error:
            raise SourceError(f"{folder} cannot be opened as a Chroma folder: {error}") from error
        try:
            names = sorted(collection.name for collection in client.list_collections())
            chosen = name or (names[0] if len(names) == 1 else "")
            if chosen not in names:
                known = ", ".join(names) or "none"
                missing = f"no collection {name!r}" if name else f"{len(names)} collections"
                raise SourceError(
                    f"{folder} has {missing}. Name one with --from-collection; it has: {known}."
                )
            yield from _records(client.get_collection(chosen, embedding_function=None))
        finally:
            _close(client)


def _records(collection: Any) -> Iterator[ChromaRecord]:
    ids = sorted(collection.get(include=[])["ids"])
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        found = collection.get(ids=batch, include=["documents", "metadatas", "embeddings"])
        at = {id_: index for index, id_ in enumerate(found["ids"])}
        for id_ in batch:
            index = at[id_]
            yield ChromaRecord(
                id_,
                found["documents"][index] or "",
                found["metadatas"][index] or {},
                np.asarray(found["embeddings"][index], dtype=np.float32),
            )


def _link(folder: Path, *, lists: bool) -> Linked:
    """The filled indexes (from 1000 vectors on), and the database as `Vectors` opens it.

    Chroma makes the others from its database each time, and would write them into the store.
    """
    filled = {path.parent.name for path in folder.glob(f"*/{_FILLED}")}
    copy = shutil.copyfile if lists else _copy_without_ids
    return Linked(folder, lambda name: name.parent.name in filled, {DATABASE: copy})


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
    """The vectors of some `corpora` of an existing store; with `lists` also their ids."""

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
        """Vectors stored for `corpus`."""
        query = (
            "SELECT COUNT(*) FROM embeddings WHERE segment_id = "
            "(SELECT id FROM segments WHERE collection = ? AND scope = 'METADATA')"
        )
        # Chroma takes .6 s for 229,000, its database .02
        with closing(sqlite3.connect(read_only(self._database), uri=True)) as database:
            (count,) = database.execute(query, (str(self._collections[corpus].id),)).fetchone()
        return int(count)

    def nearest(self, corpus: str, vector: NDArray[np.float32], depth: int) -> Neighbours:
        """Up to `depth` + OVERFETCH neighbours of `vector`. Raises DamagedStore."""
        if corpus not in self._loaded:  # Chroma reads the files of an index when it is first asked
            self._linked.require_files()
        found = self._collections[corpus].query(
            query_embeddings=vector[None, :], n_results=depth + OVERFETCH, include=["distances"]
        )
        self._loaded.add(corpus)
        distances = found["distances"]
        return Neighbours(found["ids"][0], 1.0 - np.asarray(distances[0] if distances else []))

    def items(self, corpus: str) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """All ids of `corpus` in order with their vectors, in batches, if they can be listed."""
        collection = self._collections[corpus]
        ids = sorted(collection.get(include=[])["ids"])
        for start in range(0, len(ids), BATCH):
            found = collection.get(ids=ids[start : start + BATCH], include=["embeddings"])
            order = np.argsort(np.array(found["ids"], dtype=object))
            vectors = np.asarray(found["embeddings"], dtype=np.float32)
            yield [found["ids"][at] for at in order], vectors[order]

    def close(self) -> None:
        """Release the files."""
        self._opened.close()
