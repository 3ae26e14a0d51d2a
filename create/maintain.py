"""Changing a collection without its sources: repairing parts, dropping a corpus."""

from collections.abc import Callable
from pathlib import Path

from backend.embedding import Embedder
from backend.errors import DamagedStore, MissingStore, SourceError
from backend.stores.embeddings import text_digest
from backend.stores.manifest import Manifest
from backend.stores.vectors import Vectors
from backend.stores.verify import Finding, verify
from backend.stores.versions import (
    CHROMA,
    EMBEDDINGS,
    RECORDS,
    STAGING,
    TOKENS,
    go_live,
    locked,
    remove_old,
    versions,
)
from create.layout import placed
from create.materials import Live
from create.reading import Plan
from create.staging import Staging
from create.version import Contents, Progress, Site, make_live, write_version


class NeedsSources(SourceError):
    """The documents themselves are damaged: only their sources can bring them back."""


def repair(
    folder: Path, embedder: Embedder, progress: Progress
) -> tuple[Manifest, list[Finding], int]:
    """Make damaged parts of the live version anew from those that are whole.

    Gives the live manifest, what was found, and how many passages had to be embedded; nothing is
    changed if nothing is damaged. Raises NeedsSources if the documents cannot be read.
    """
    with locked(folder):
        manifest = _readable_manifest(folder)
        findings = verify(folder, manifest)
        damaged = {finding.part for finding in findings if finding.problem}
        if not damaged:
            return manifest, findings, 0
        if RECORDS in damaged:
            raise NeedsSources(
                f"The documents of {folder.name} are damaged: "
                f"{next(f.problem for f in findings if f.part == RECORDS)}."
            )
        live = Live(folder, manifest)
        staging = Staging(folder / STAGING)
        try:
            if EMBEDDINGS in damaged:
                if CHROMA not in damaged or _whole_index(live):
                    _rescue_vectors(live, staging, embedder)
                _set_aside(live.folder / EMBEDDINGS)
            site = Site(
                folder, live, staging, embedder, progress, fresh=True, reanalyse=TOKENS in damaged
            )
            repaired, embedded = write_version(site, _contents(live, lambda _: True))
            go_live(folder, repaired)
            # the damaged version must not be one to go back to
            whole = {m.version for m in versions(folder)} - {manifest.version}
            remove_old(folder, whole)
            staging.remove()
        finally:
            staging.close()
            live.close()
        return repaired, findings, embedded


def drop(folder: Path, corpus: str, embedder: Embedder, progress: Progress) -> Manifest:
    """Make a version without one corpus live. Raises SourceError if that leaves nothing."""
    with locked(folder):
        live = Live(folder, Manifest.read(folder))
        staging = Staging(folder / STAGING)
        try:
            known = [each.id for each in live.manifest.corpora]
            if corpus not in known or len(known) == 1:
                raise SourceError(
                    f"{folder.name} has the corpora {', '.join(known)}: "
                    f"{corpus!r} cannot be dropped. Give one of several."
                )
            site = Site(folder, live, staging, embedder, progress)
            manifest, _ = write_version(site, _contents(live, lambda each: each != corpus))
            make_live(folder, manifest, live)
        finally:
            staging.close()
            live.close()
        return manifest


def _contents(live: Live, keep: Callable[[str], bool]) -> Contents:
    documents = [found for found in live.found() if keep(found.corpus)]
    named = {(found.provenance.origin, found.source) for found in documents}
    gone = {(f.provenance.origin, f.source) for f in live.found() if not keep(f.corpus)}
    # a source with a dropped document is read again by the next build, which finds it missing
    sources = [
        source for source in live.records.sources() if (source.origin, source.name) not in gone
    ]
    return Contents(
        live.manifest.collection,
        Plan(placed(documents), sources, 0),
        {corpus.id: corpus.label for corpus in live.manifest.corpora},
        {
            kind: origin
            for kind, origin in live.manifest.origins.items()
            if any(kind == known for known, _ in named)
        },
    )


def _readable_manifest(folder: Path) -> Manifest:
    """The live manifest; if it cannot be read, that of the newest version, which becomes live."""
    try:
        return Manifest.read(folder)
    except (DamagedStore, MissingStore):
        found = versions(folder)
        if not found:
            raise
        go_live(folder, found[0])
        return found[0]


def _whole_index(live: Live) -> bool:
    try:
        vectors = Vectors(live.folder / CHROMA, [c.id for c in live.manifest.corpora])
    except DamagedStore:
        return False
    counts = {c.id: vectors.count(c.id) for c in live.manifest.corpora}
    vectors.close()
    return counts == {c.id: c.passages for c in live.manifest.corpora}


def _rescue_vectors(live: Live, staging: Staging, embedder: Embedder) -> None:
    """Stage the vectors that the index holds, by the digests of their texts."""
    if live.manifest.embedding.fingerprint != embedder.fingerprint:
        return
    vectors = Vectors(live.folder / CHROMA, [corpus.id for corpus in live.manifest.corpora])
    rows = {id_: row for row, id_ in enumerate(live.records.passage_ids())}
    for corpus in live.manifest.corpora:
        for ids, found in vectors.items(corpus.id):
            texts = [p.text for p in live.records.passages([rows[id_] for id_ in ids])]
            staging.add_vectors(
                embedder.fingerprint,
                [text_digest(text) for text in texts],
                embedder.count_tokens(texts),
                found,
            )
    vectors.close()


def _set_aside(folder: Path) -> None:
    """Keep damaged vectors from being taken over."""
    if folder.exists():
        folder.rename(folder.with_name(f"{folder.name}.damaged"))
