"""Writing a whole version of a collection beside the live one, and making it live."""

import platform
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property, partial
from importlib.metadata import version as installed_version
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Self

import numpy as np

from atlas_search.building.change import (
    VersionChange,
    change_of,
    write_change,
    write_recent_vectors,
)
from atlas_search.building.document_ids import KeptDocuments, PlacedDocument, content_digest
from atlas_search.building.materials import Live, Materials
from atlas_search.building.prepare import VERSION as PREPARATION_VERSION
from atlas_search.building.prepare import as_json
from atlas_search.building.reading import Plan
from atlas_search.building.sources import CorpusNote
from atlas_search.building.vectorise import Known, VectorSources, embed_missing, fill
from atlas_search.building.write import (
    REBUILD_SHARE,
    Counter,
    WrittenIndex,
    digests_of_files,
    indexed_corpora,
    room_needed,
    sizes,
    write_index,
    write_qdrant,
    write_records,
)
from atlas_search.core.domain import LONGEST_CONTEXT
from atlas_search.core.errors import DamagedStore
from atlas_search.core.files import crowded, writing
from atlas_search.core.ids import moment
from atlas_search.core.settings import Settings, environment_target
from atlas_search.core.targets import VectorSearch, load_target
from atlas_search.language.text import ANALYSER_VERSION
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.sparse import TermWeights, term_model
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.manifest import (
    SCHEMA_VERSION,
    SHARING_SCHEMA_VERSION,
    Calibration,
    EmbeddingModel,
    Engine,
    Index,
    Manifest,
    Origin,
    bring_to_disk,
    readable_manifest,
)
from atlas_search.stores.order import RECENT, Order
from atlas_search.stores.qdrant import EF_SEARCH, QdrantPlace, remove_unused
from atlas_search.stores.record_writer import SourceRow
from atlas_search.stores.records import Records
from atlas_search.stores.staging import Staging
from atlas_search.stores.term_weights import write_terms
from atlas_search.stores.vectors import HNSW, Embeddings, read_embeddings
from atlas_search.stores.versions import (
    EMBEDDINGS,
    ORDER,
    RECORDS,
    go_live,
    is_part_whole,
    new_name,
    remove_old,
    remove_unless_live,
    versions,
)

Progress = Callable[[str, int, int], None]
"""Function that is told what is being done, how much of it is done, and of how much."""


@dataclass(frozen=True)
class Contents:
    """Contents of a coming version: documents, notes on corpora, and how an origin is read and cut.
    `calibration` is one that came with them; without it that of the version before stays."""

    collection: str
    plan: Plan
    notes: Mapping[str, CorpusNote]
    origins: Mapping[str, Origin]
    calibration: Calibration | None = None

    @cached_property
    def digest(self) -> Callable[[str], str]:
        """Digest that is equal for equal contents, program and model, of which it takes the
        fingerprint: with the index it decides whether to build."""
        return cache(self._digest)

    def _digest(self, model: str) -> str:
        cuts = {
            name: origin.model_dump(exclude={"arguments", "documents", "passages"})
            for name, origin in self.origins.items()
        }
        languages = {
            part.corpus: part.language
            for part in (
                p if isinstance(p, KeptDocuments) else p.found for p in self.plan.documents
            )
        }
        none = CorpusNote()
        notes = {
            corpus: (note.label, language, *filter(None, [note.date, note.description]))
            for corpus, language in languages.items()
            for note in [self.notes.get(corpus, none)]
        }
        settings = [
            *map(as_json, (SCHEMA_VERSION, ANALYSER_VERSION, PREPARATION_VERSION, model, cuts)),
            _fingerprints(self.plan.sources),
            as_json(notes),
        ]
        return content_digest(self.plan.documents, settings)


def _fingerprints(sources: Iterable[SourceRow]) -> str:
    """Return the origin, name and fingerprint of every source as JSON, written by hand: there are
    tens of thousands."""
    text = encode_basestring_ascii
    each = [f'[{text(s.origin)}, {text(s.name)}, "{s.fingerprint.hex()}"]' for s in sources]
    return f"[{', '.join(each)}]"


@dataclass(frozen=True)
class Indexing:
    """Engine of a coming version: `vector_search` and `engine` are as in `Index`, and stay as they
    were without a value. Collections of Qdrant lie at `place`, by default beside the versions."""

    vector_search: VectorSearch | None = None
    engine: Engine | None = None
    place: QdrantPlace | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the engine of the settings and their default target."""
        target = load_target(settings.targets_directory, settings.test_target, environment_target())
        place = QdrantPlace.of(settings)
        return cls(target.vector_search, settings.search_engine or None, place)


@dataclass(frozen=True)
class Site:
    """Place where a version is built, and its materials.

    `fresh` builds the index anew in any case, `whole` writes all parts anew. `beside` are other
    collections, whose vectors of equal texts are taken over.
    """

    folder: Path
    live: Live | None
    staging: Staging
    embedder: Embedder
    progress: Progress
    fresh: bool = False
    reanalyse: bool = False
    whole: bool = False
    beside: Sequence[Path] = ()
    indexing: Indexing = field(default_factory=Indexing)

    @property
    def how(self) -> VectorSearch:
        before = self.live.manifest.index.vector_search if self.live else "auto"
        return self.indexing.vector_search or before

    @property
    def engine(self) -> Engine:
        before = self.live.manifest.index.engine if self.live else "embedded"
        return self.indexing.engine or before

    @property
    def place(self) -> QdrantPlace:
        return self.indexing.place or QdrantPlace(self.folder)


def write_version(site: Site, contents: Contents) -> tuple[Manifest, int]:
    """Write a version and give its manifest, which nothing names yet, and the texts embedded."""
    started = time.monotonic()
    materials = Materials(site.live, site.staging, reanalyse=site.reanalyse)
    change = None
    is_whole = site.fresh or site.whole or not materials.is_analysed or not _same_model(site)
    if site.live and not is_whole:
        documents = contents.plan.documents
        change = change_of(site.live, documents, materials, site.how, site.engine)
    if site.live and not (change and change.only_links):
        site.live.require_documents()
    parts = change.parts if change else materials.parts(contents.plan.documents)
    known = Known(site.folder, site.embedder.fingerprint, site.live, site.beside)
    vectors = embed_missing(
        parts,
        materials,
        known,
        site.embedder,
        site.staging,
        partial(site.progress, "Embedding passages"),
        are_whole=bool(change),
    )
    embed_seconds = time.monotonic() - started
    digest = contents.digest(site.embedder.fingerprint)
    name = new_name(digest)
    dimension = site.embedder.info.dimension
    needed = room_needed(change.order.recent if change else vectors.passages, dimension)
    with _partial_folder(site.folder, name, needed) as unfinished:
        if change:
            parts_written = _write_change(site, contents, change, materials, vectors, unfinished)
        else:
            parts_written = _write_whole(
                site, contents, parts, materials, known, vectors, unfinished, name
            )
        manifest = _manifest(site, contents, name, digest, unfinished, parts_written)
        total = time.monotonic() - started
        durations = {"embed": round(embed_seconds, 3), "write": round(total - embed_seconds, 3)}
        manifest = manifest.model_copy(update={"durations": durations})
        manifest.write(unfinished)
        # before the version is named: the manifest must never lie
        bring_to_disk(unfinished, *unfinished.rglob("*"))
    weigh_terms(site.folder, manifest, site.embedder, site.progress)
    return manifest, vectors.embedded


def weigh_terms(folder: Path, manifest: Manifest, embedder: Embedder, progress: Progress) -> None:
    """Weigh the terms of a version on disk that the SPARSE_MODEL has not weighed yet, if there is
    one; what the other versions on disk have stays."""
    model = term_model(embedder)
    if model is None:
        return
    version = folder / manifest.version
    digests = _text_digests(version)
    kept: set[bytes] = set()
    for other in versions(folder):
        with suppress(DamagedStore):
            kept.update(_text_digests(folder / other.version))
    records = Records.of_version(version, manifest, Order.read(version / ORDER))
    row_of = {digest: row for row, digest in enumerate(digests)}

    def weigh(batch: Sequence[bytes]) -> list[TermWeights]:
        passages = records.passages([row_of[digest] for digest in batch])
        return model.passages([passage.embedded for passage in passages])

    stage = partial(progress, "Weighing terms")
    with closing(records):
        write_terms(folder, model.fingerprint, digests, kept, weigh, stage)


def _text_digests(version: Path) -> list[bytes]:
    """Return the digest of what was embedded for each passage. Raises DamagedStore."""
    result = read_embeddings(version / EMBEDDINGS, Order.read(version / ORDER))
    return [digest.tobytes() for digest in result.digests[:]]


@dataclass(frozen=True)
class _Parts:
    """Parts of a version, as the manifest tells of them.

    `taken_over` are the digests of the files that it shares with another; none if it is whole.
    """

    counter: Counter
    tokens: IntArray
    index: WrittenIndex
    taken_over: Mapping[str, str]


def _write_whole(
    site: Site,
    contents: Contents,
    parts: Sequence[KeptDocuments | PlacedDocument],
    materials: Materials,
    known: Known,
    vectors: VectorSources,
    folder: Path,
    name: str,
) -> _Parts:
    site.progress("Writing documents", 0, 1)
    written = write_records(folder, parts, contents.plan.sources, materials, site.engine)
    site.progress("Writing documents", 1, 1)
    embeddings = Embeddings.create(
        folder / EMBEDDINGS, vectors.passages, site.embedder.info.dimension
    )
    fill(embeddings, vectors, known.live, site.staging, site.embedder.fingerprint)
    corpora = indexed_corpora(written.counter.passages(), site.how, site.engine)
    before = None if site.fresh or not _same_model(site) else site.live
    tell = partial(site.progress, "Writing the vector index")
    if site.engine == "qdrant":
        in_qdrant = f"{contents.collection}-{name}"
        index = write_qdrant(site.place, in_qdrant, written, embeddings, corpora, tell)
    else:
        index = write_index(folder, written, embeddings, before, corpora, tell)
    return _Parts(written.counter, embeddings.tokens, index, {})


def _write_change(
    site: Site,
    contents: Contents,
    change: VersionChange,
    materials: Materials,
    vectors: VectorSources,
    folder: Path,
) -> _Parts:
    site.progress("Writing documents", 0, 1)
    counter = write_change(folder, change, contents.plan.sources, materials)
    recent = Embeddings.create(
        folder / EMBEDDINGS / RECENT, change.order.recent, site.embedder.info.dimension
    )
    write_recent_vectors(recent, change, vectors, site.staging, site.embedder.fingerprint)
    site.progress("Writing documents", 1, 1)
    embeddings = read_embeddings(folder / EMBEDDINGS, change.order)
    before = change.live.manifest
    corpora = counter.passages()
    recalls = {c: recall for c, recall in before.index_recalls.items() if c in corpora}
    index = WrittenIndex(
        indexed_corpora(corpora, site.how, site.engine),
        before.vector_tombstones,
        recalls,
        before.index.name,
        before.index.mean_length,
    )
    return _Parts(counter, embeddings.tokens, index, change.taken_over)


@contextmanager
def _partial_folder(folder: Path, name: str, needed: int) -> Iterator[Path]:
    """Make a folder that gets the name of a version once all is written; removed if that fails.

    Raises UnwritableFolder if the disk is full: the next build needs the room, of `needed` bytes.
    """
    unfinished = folder / f".{name}.partial"
    with writing(folder, needed):
        unfinished.mkdir()
        try:
            with crowded(folder, needed):
                yield unfinished
        except BaseException:  # Ctrl-C too
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        unfinished.rename(folder / name)


LAST_STAGE = "Going live"
"""Stage before the new version is live. What ends the build until then leaves the old one."""


def write_live(site: Site, contents: Contents) -> tuple[Manifest, int]:
    """Write a version and make it live in the place of the one before, as `write_version`."""
    manifest, embedded = write_version(site, contents)
    with remove_unless_live(site.folder, manifest.version):
        site.progress(LAST_STAGE, 0, 1)
        make_live(site, manifest)
    site.progress(LAST_STAGE, 1, 1)
    return manifest, embedded


def make_live(site: Site, manifest: Manifest) -> None:
    """Make a written version live in one step, and remove all but it and the one before."""
    folder = site.folder
    kept = {site.live.manifest.version} if site.live else _older(folder)
    go_live(folder, manifest)
    with suppress(OSError):  # it is live; the next build removes them
        remove_old(folder, {manifest.version, *kept})
        remove_unused(site.place, {each.index.name for each in versions(folder)})


def _older(folder: Path) -> set[str]:
    """Return what there is to go back to where the live version is damaged, and does not share
    that."""
    live = readable_manifest(folder)
    damaged = live.version if live else ""
    return {
        each.version
        for each in versions(folder)
        if each.version != damaged and is_part_whole(folder / each.version, each, RECORDS)
    }


def _manifest(
    site: Site, contents: Contents, name: str, digest: str, folder: Path, parts: _Parts
) -> Manifest:
    counter, tokens, index = parts.counter, parts.tokens, parts.index
    info = asdict(site.embedder.info) | {"fingerprint": site.embedder.fingerprint}
    known = site.live.manifest.corpora if site.live else ()
    before = {corpus.id: corpus.reads_like for corpus in known}
    long = int(np.count_nonzero(tokens > site.embedder.info.max_tokens))
    return Manifest(
        schema_version=SHARING_SCHEMA_VERSION if parts.taken_over else SCHEMA_VERSION,
        collection=contents.collection,
        version=name,
        content_digest=digest,
        created=moment(),
        corpora=counter.corpora(contents.notes, contents.plan.sources, tokens, before),
        embedding=EmbeddingModel(**info),
        index=_index(index, site.how, site.engine),
        origins={
            kind: origin.model_copy(
                update={"documents": counter.origins[kind][0], "passages": counter.origins[kind][1]}
            )
            for kind, origin in sorted(contents.origins.items())
        },
        analyser=ANALYSER_VERSION,
        truncated_share=round(long / max(1, len(tokens)), 4),
        fields=counter.fields(),
        built_with=_versions(),
        durations={},
        sizes=sizes(folder),
        files=digests_of_files(folder, parts.taken_over),
        vector_tombstones=index.tombstones,
        index_recalls=index.recalls,
        calibration=contents.calibration or _calibration(site),
    )


def _calibration(site: Site) -> Calibration | None:
    return site.live.manifest.calibration if site.live and _same_model(site) else None


def _index(index: WrittenIndex, how: VectorSearch, engine: Engine) -> Index:
    hnsw = {**HNSW, "ef_search": EF_SEARCH} if engine == "qdrant" else HNSW
    return Index(
        corpora=index.corpora,
        vector_search=how,
        engine=engine,
        name=index.name,
        mean_length=index.mean_length,
        context=("title", "section", "speaker"),
        context_characters=LONGEST_CONTEXT,
        algorithm="hnsw",
        **{name: value for name, value in hnsw.items() if name in Index.model_fields},
        rebuild_share=REBUILD_SHARE,
        keywords="tantivy" if engine == "embedded" else engine,
    )


def _same_model(site: Site) -> bool:
    return bool(site.live and site.live.manifest.embedding.fingerprint == site.embedder.fingerprint)


def _versions() -> dict[str, str]:
    packages = ("atlas-research-search", "chromadb", "tantivy", "sentence-transformers", "torch")
    return {
        "python": platform.python_version(),
        **{package: installed_version(package) for package in packages},
    }
