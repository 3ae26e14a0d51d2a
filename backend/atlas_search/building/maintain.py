"""Changing a collection without its sources: repairing parts, dropping a corpus."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atlas_search.building.go_live import (
    Contents,
    Indexing,
    Progress,
    Site,
    write_live,
    write_version,
)
from atlas_search.building.materials import Live, place_beside
from atlas_search.building.reading import Plan
from atlas_search.building.sources import note_of
from atlas_search.building.write import digests_of_files, sizes
from atlas_search.core.errors import DamagedStore, EmbedderMismatch, MissingStore, SourceError
from atlas_search.providers.embedding import Embedder
from atlas_search.stores.manifest import FILE_NAME, Manifest
from atlas_search.stores.qdrant import QdrantPlace
from atlas_search.stores.staged import text_digest
from atlas_search.stores.staging import Staging
from atlas_search.stores.vectors import VECTORS, Vectors, read_vectors
from atlas_search.stores.verify import SAME, Finding, verify
from atlas_search.stores.versions import (
    CHROMA,
    EMBEDDINGS,
    ORDER,
    RECORDS,
    STAGING,
    TOKENS,
    damaged_files,
    files_of,
    go_live,
    is_as_written,
    lock,
    remove_old,
    remove_unless_live,
    versions,
)

BATCH = 5000


class NeedsSources(SourceError):
    """The documents themselves are damaged: only their sources can bring them back."""


def repair(
    folder: Path, embedder: Embedder, progress: Progress, place: QdrantPlace | None = None
) -> tuple[Manifest, list[Finding], int]:
    """Make damaged parts of the live version anew from those that are whole.

    Gives the live manifest, what was found, and how many passages had to be embedded; nothing is
    changed if nothing is damaged. Versions that share damaged files are removed, and found too.
    Raises NeedsSources if the documents cannot be read, and
    EmbedderMismatch.
    """
    with lock(folder):
        manifest, problem = _readable_manifest(folder)
        findings = verify(folder, manifest, place)
        damaged = {finding.part for finding in findings if finding.problem}
        if problem:
            findings = [Finding(FILE_NAME, "", problem), *findings[1:]]
        if RECORDS in damaged:
            raise NeedsSources(
                f"The documents of {folder.name} are damaged: "
                f"{next(f.problem for f in findings if f.part == RECORDS)}."
            )
        if damaged == {FILE_NAME}:
            manifest.write(folder / manifest.version)
        if damaged <= {FILE_NAME}:
            return manifest, findings, 0
        sharing = _sharing_damage(folder, manifest)
        indexing = Indexing(place=place)
        repaired, embedded = _make_anew(folder, manifest, damaged, embedder, progress, indexing)
        _remove(folder, {manifest.version, *(each.part for each in sharing)})
        return repaired, [*findings, *sharing], embedded


def write_digests(folder: Path) -> Manifest:
    """Put digests and sizes of all files into the manifests of the live version, as they are now.

    For versions of an earlier Atlas, once they have been verified. Raises UnwritableFolder.
    """
    with lock(folder):
        live = Manifest.read(folder)
        version = folder / live.version
        manifest = live.model_copy(
            update={"files": digests_of_files(version, {}), "sizes": sizes(version)}
        )
        manifest.write(version)
        go_live(folder, manifest)
        return manifest


def drop(
    folder: Path,
    corpus: str,
    embedder: Embedder,
    progress: Progress,
    place: QdrantPlace | None = None,
) -> Manifest:
    """Make a version without one corpus live.

    Raises SourceError if that leaves nothing, and EmbedderMismatch.
    """
    with lock(folder), _open_version(folder, Manifest.read(folder), embedder) as (live, staging):
        known = [each.id for each in live.manifest.corpora]
        if corpus not in known or len(known) == 1:
            raise SourceError(
                f"{folder.name} has the corpora {', '.join(known)}: "
                f"{corpus!r} cannot be dropped. Give one of several."
            )
        site = Site(folder, live, staging, embedder, progress, indexing=Indexing(place=place))
        return write_live(site, _contents(live, np.array(live.columns.corpora) != corpus))[0]


def compact(
    folder: Path, embedder: Embedder, progress: Progress, indexing: Indexing | None = None
) -> Manifest | None:
    """Write the live version whole, if it shares files with an earlier one or is to have another
    engine, and make that live.

    None if there is nothing to do. Raises EmbedderMismatch.
    """
    indexing = indexing or Indexing()
    with lock(folder), _open_version(folder, Manifest.read(folder), embedder) as (live, staging):
        if live.order is None and indexing.engine in (None, live.manifest.index.engine):
            return None
        site = Site(folder, live, staging, embedder, progress, whole=True, indexing=indexing)
        return write_live(site, _contents(live))[0]


def make_empty(folder: Path, embedder: Embedder) -> None:
    """Make a collection without documents, for files that are brought in later."""
    with lock(folder):
        staging = Staging(folder / STAGING)
        site = Site(folder, None, staging, embedder, lambda *_: None)
        write_live(site, Contents(folder.name, Plan((), (), 0), {}, {}))
        staging.remove()


def remove_source(
    folder: Path,
    source: tuple[str, str],
    embedder: Embedder,
    progress: Progress,
    place: QdrantPlace | None = None,
) -> Manifest:
    """Make a version without the documents of one source, named by origin and name, live.

    Raises SourceError if there is no such source or that leaves nothing, and EmbedderMismatch.
    """
    with lock(folder), _open_version(folder, Manifest.read(folder), embedder) as (live, staging):
        own = zip(live.columns.origins, live.columns.sources, strict=True)
        stay = np.array([each != source for each in own])
        if stay.all() or not stay.any():
            raise SourceError(
                f"{source[1]} cannot be removed: {folder.name} has no document of it, or no other."
            )
        site = Site(folder, live, staging, embedder, progress, indexing=Indexing(place=place))
        return write_live(site, _contents(live, stay))[0]


@contextmanager
def _open_version(
    folder: Path, manifest: Manifest, embedder: Embedder, *, recovers_order: bool = False
) -> Iterator[tuple[Live, Staging]]:
    """Open a version to be changed, and a staging area, which stays if a build left it.

    Raises EmbedderMismatch: another model would silently embed every passage again.
    """
    model = manifest.embedding
    if model.fingerprint != embedder.fingerprint:
        raise EmbedderMismatch(
            f"{folder.name} was built with {model.name} ({model.provider}), and the settings give "
            f"the vectors of another model: {embedder.info.name} ({embedder.info.provider}). Set "
            f"EMBEDDING_MODEL={model.name}, EMBEDDING_PROVIDER={model.provider}, POOLING and "
            "EMBEDDING_RUNTIME as they were, or build it again with `atlas create`."
        )
    unfinished = (folder / STAGING).exists()
    live = Live(folder, manifest, recovers_order=recovers_order)
    staging = Staging(folder / STAGING)
    try:
        with live.reporting_damage():
            yield live, staging
        if not unfinished:
            staging.remove()
    finally:
        staging.close()
        live.close()


def _make_anew(
    folder: Path,
    manifest: Manifest,
    damaged: set[str],
    embedder: Embedder,
    progress: Progress,
    indexing: Indexing,
) -> tuple[Manifest, int]:
    version = _open_version(folder, manifest, embedder, recovers_order=ORDER in damaged)
    with version as (live, staging):
        if EMBEDDINGS in damaged:
            _rescue_vectors(live, staging, embedder)
            _set_aside(live.folder / EMBEDDINGS)
        site = Site(
            folder,
            live,
            staging,
            embedder,
            progress,
            # without its order nobody knows what the index holds that is gone
            fresh=bool(damaged & {EMBEDDINGS, CHROMA, ORDER}),
            reanalyse=TOKENS in damaged,
            whole=True,
            indexing=indexing,
        )
        repaired, embedded = write_version(site, _contents(live))
        with remove_unless_live(folder, repaired.version):
            go_live(folder, repaired)
        return repaired, embedded


def _sharing_damage(folder: Path, manifest: Manifest) -> list[Finding]:
    """Return the other versions that have a damaged file of this one as theirs."""
    damaged = damaged_files(folder / manifest.version, manifest, manifest.files)
    result = []
    for other in versions(folder):
        shared = [name for name in damaged if _is_same(folder, name, manifest, other)]
        if shared and other.version != manifest.version:
            names = ", ".join(shared)
            result.append(
                Finding(other.version, "", f"it shares {names}, so nobody can go back to it")
            )
    return result


def _is_same(folder: Path, name: str, manifest: Manifest, other: Manifest) -> bool:
    """Return whether a file of two versions is one file."""
    first, second = folder / manifest.version / name, folder / other.version / name
    return first.exists() and second.exists() and first.samefile(second)


def _remove(folder: Path, damaged: Collection[str]) -> None:
    """Remove versions. They must not be ones to go back to even if they are in use, and stay."""
    for version in damaged:
        (folder / version / FILE_NAME).unlink(missing_ok=True)
    remove_old(folder, {each.version for each in versions(folder)})


def _contents(live: Live, stay: NDArray[np.bool_] | None = None) -> Contents:
    """Return what a version with the documents that `stay` is to hold; without it all stay."""
    if stay is None:
        stay = np.ones(live.manifest.documents, dtype=bool)
    origins = zip(live.columns.origins, live.columns.sources, stay.tolist(), strict=True)
    gone = {(origin, source) for origin, source, stays in origins if not stays}
    named = set(compress(live.columns.origins, stay.tolist()))
    # a source with a dropped document is read again by the next build, which finds it missing
    sources = [source for source in live.sources if (source.origin, source.name) not in gone]
    return Contents(
        live.manifest.collection,
        Plan(place_beside(live, stay, ()), sources, 0),
        {c.id: note_of(c) for c in live.manifest.corpora},
        {kind: origin for kind, origin in live.manifest.origins.items() if kind in named},
    )


def _readable_manifest(folder: Path) -> tuple[Manifest, str]:
    """Return the live manifest, and "".

    If it cannot be read, that of the newest version, which becomes live, and what was wrong.
    """
    try:
        return Manifest.read(folder), ""
    except (DamagedStore, MissingStore) as error:
        result = versions(folder)
        if not result:
            raise
        go_live(folder, result[0])
        return result[0], str(error)


def _rescue_vectors(live: Live, staging: Staging, embedder: Embedder) -> None:
    """Stage the vectors that are still good, by the digests of their texts."""
    for rows, vectors in _read_stored(live) if _are_proven(live) else _read_indexed(live):
        texts = [passage.embedded for passage in live.records.passages(rows)]
        staging.add_vectors(
            embedder.fingerprint,
            [text_digest(text) for text in texts],
            embedder.count_tokens(texts),
            vectors,
        )


def _are_proven(live: Live) -> bool:
    """Return whether the files of the vectors are whole, though others beside them are not."""
    names = [n for n in files_of(live.manifest, EMBEDDINGS) if n.endswith(f"/{VECTORS}")]
    try:
        return all(is_as_written(live.folder, live.manifest, name) for name in names)
    except OSError:
        return False


def _read_stored(live: Live) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    vectors = read_vectors(live.folder / EMBEDDINGS, live.order)
    for start in range(0, len(vectors), BATCH):
        batch = vectors[start : start + BATCH].astype(np.float32)
        yield list(range(start, start + len(batch))), batch


def _read_indexed(live: Live) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """Read the passages' vectors in the index; one that is no unit vector is damaged."""
    ids, in_index = live.records.passage_ids(), live.in_index.tolist()
    rows = {id_: row for row, id_ in enumerate(ids) if in_index[row]}
    for corpus in live.manifest.index.corpora:
        for ids, vectors in _readable_items(live.folder / CHROMA, corpus):
            lengths = np.linalg.norm(vectors, axis=1)
            good = [at for at, id_ in enumerate(ids) if id_ in rows and abs(lengths[at] - 1) < SAME]
            yield [rows[ids[at]] for at in good], vectors[good]


def _readable_items(folder: Path, corpus: str) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    try:
        vectors = Vectors(folder, [corpus], lists=True)
        try:
            yield from vectors.items(corpus)
        finally:
            vectors.close()
    except Exception:  # Chroma raises errors of many kinds; what it cannot give is embedded
        return


def _set_aside(folder: Path) -> None:
    """Keep damaged vectors from being taken over."""
    if folder.exists():
        folder.rename(folder.with_name(f"{folder.name}.damaged"))
