"""The build shared by every source type: documents in, a live collection out."""

import hashlib
import json
import platform
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version as installed_version
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from backend.dates import bounds
from backend.domain import Document, MetadataValue
from backend.embedding import Embedder
from backend.errors import DamagedStore, MissingStore, SourceError
from backend.stores.cache import EmbeddingCache, text_digest
from backend.stores.keywords import Entry, write_keywords
from backend.stores.manifest import (
    SCHEMA_VERSION,
    Chunking,
    CorpusStatistics,
    EmbeddingModel,
    Manifest,
)
from backend.stores.records import MetadataRow, PassageRow, RecordWriter
from backend.stores.store import KEYWORDS, RECORDS, VECTORS
from backend.stores.tokens import IntArray
from backend.stores.vectors import write_vectors
from backend.text import ANALYSER_VERSION, Span, content_words, identifier_parts, words
from create.chunk import line_of, page_of, passage_spans
from create.source import Read, Skipped, label_of

COMMIT_EVERY = 256  # passages embedded between two commits of the cache
_VERSION = re.compile(r"\.?\d{8}T\d{6}\.\d{6}-[0-9a-f]{8}(\.partial)?")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Options:
    """How to build. Sizes in characters; `force` rebuilds what has not changed."""

    collection: str
    size: int = 1000
    overlap: int = 100
    force: bool = False


@dataclass(frozen=True)
class FileReport:
    """What became of one source file: its passages, or why it was skipped."""

    source: str
    passages: int
    reason: str = ""


@dataclass(frozen=True)
class BuildReport:
    """What a build did. `embedded` counts passages that were not in the cache."""

    manifest: Manifest
    files: tuple[FileReport, ...]
    embedded: int
    unchanged: bool


@dataclass(frozen=True)
class _Chunked:
    """A document with its passages' spans and the row of its first passage."""

    document: Document
    spans: tuple[Span, ...]
    row: int

    def text(self, span: Span) -> str:
        return self.document.text[span.start : span.end]


def build(
    folder: Path, read: Iterable[Read], embedder: Embedder, options: Options, progress: Progress
) -> BuildReport:
    """Build the collection in `folder` and make it live in one atomic step.

    The version before stays in place. Raises SourceError if there is nothing to build, if the
    options contradict each other, or if another build of the collection is running.
    """
    _check(options)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".build.lock", timeout=0):
            return _build(folder, list(read), embedder, options, progress)
    except Timeout:
        raise SourceError(
            f"Another build of {options.collection} is running. Wait for it, or end it."
        ) from None


def _build(
    folder: Path, read: list[Read], embedder: Embedder, options: Options, progress: Progress
) -> BuildReport:
    started = time.monotonic()
    chunked = _chunk_all(read, options)
    digest = _content_digest(chunked, embedder, options)
    files = _file_reports(read, chunked)
    live = _live(folder)
    if live and live.content_digest == digest and not options.force:
        return BuildReport(live, files, embedded=0, unchanged=True)

    chunk_seconds = time.monotonic() - started
    cache = EmbeddingCache(folder, f"{embedder.info.digest}:{embedder.info.pooling}")
    try:
        texts = [item.text(span) for item in chunked for span in item.spans]
        ids, embedded = _embed(texts, embedder, cache, progress)
        embed_seconds = time.monotonic() - started - chunk_seconds
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{digest[:8]}"
        partial = folder / f".{name}.partial"
        partial.mkdir()
        _write_parts(partial, chunked, ids, cache)
    finally:
        cache.close()
    partial.rename(folder / name)
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        collection=options.collection,
        version=name,
        content_digest=digest,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        corpora=_corpus_statistics(chunked),
        embedding=EmbeddingModel(**asdict(embedder.info)),
        chunking=Chunking(splitter="recursive", size=options.size, overlap=options.overlap),
        analyser=ANALYSER_VERSION,
        truncated_share=_truncated_share(texts, embedder),
        fields=_field_counts(chunked),
        built_with=_versions(),
        durations={
            "chunk": round(chunk_seconds, 3),
            "embed": round(embed_seconds, 3),
            "total": round(time.monotonic() - started, 3),
        },
        sizes={part: _size(folder / name / part) for part in (VECTORS, RECORDS, KEYWORDS)},
    )
    manifest.write(folder / name)
    manifest.write(folder)
    _remove_old(folder, {name, *([live.version] if live else [])})
    return BuildReport(manifest, files, embedded, unchanged=False)


def _check(options: Options) -> None:
    if not 50 <= options.size <= 20_000:
        raise SourceError(f"--chunk-size {options.size}: give 50 to 20000 characters.")
    if not 0 <= options.overlap <= options.size // 2:
        raise SourceError(
            f"--chunk-overlap {options.overlap}: give 0 to half the chunk size ({options.size})."
        )


def _chunk_all(read: Iterable[Read], options: Options) -> list[_Chunked]:
    documents = sorted(
        (item for item in read if isinstance(item, Document)), key=lambda d: (d.corpus, d.id)
    )
    if not documents:
        raise SourceError("There is nothing to build: no source file gave a document.")
    chunked = []
    row = 0
    for document in documents:
        spans = tuple(passage_spans(document, options.size, options.overlap))
        chunked.append(_Chunked(document, spans, row))
        row += len(spans)
    return chunked


def _content_digest(chunked: Sequence[_Chunked], embedder: Embedder, options: Options) -> str:
    """Equal for equal documents, model and settings: what decides whether to build at all."""
    digest = hashlib.sha256(
        json.dumps(
            [SCHEMA_VERSION, ANALYSER_VERSION, asdict(embedder.info), options.size, options.overlap]
        ).encode()
    )
    for item in chunked:
        digest.update(_document_digest(item.document))
        digest.update(json.dumps(item.spans).encode())
    return digest.hexdigest()


def _document_digest(document: Document) -> bytes:
    return hashlib.sha256(
        json.dumps(asdict(document), sort_keys=True, default=list).encode()
    ).digest()


def _live(folder: Path) -> Manifest | None:
    try:
        return Manifest.read(folder)
    except (MissingStore, DamagedStore):
        return None


def _embed(
    texts: Sequence[str], embedder: Embedder, cache: EmbeddingCache, progress: Progress
) -> tuple[list[int], int]:
    """The cache id of every text, and how many had to be embedded. Equal texts share a vector."""
    digests = [text_digest(text) for text in texts]
    known = cache.ids(digests)
    new = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
    # texts of like length in one batch need little padding
    queue = sorted(new.items(), key=lambda item: (len(item[1]), item[0]))
    progress(0, len(queue))
    for start in range(0, len(queue), COMMIT_EVERY):
        batch = queue[start : start + COMMIT_EVERY]
        cache.add([digest for digest, _ in batch], embedder.embed([text for _, text in batch]))
        progress(start + len(batch), len(queue))
    known |= cache.ids(new)
    return [known[digest] for digest in digests], len(queue)


def _write_parts(
    folder: Path, chunked: Sequence[_Chunked], embeddings: Sequence[int], cache: EmbeddingCache
) -> None:
    vocabulary: dict[str, int] = {}

    def term_ids(terms: Iterable[str]) -> IntArray:
        return np.array([vocabulary.setdefault(t, len(vocabulary)) for t in terms], dtype=np.int32)

    entries: list[Entry] = []
    writer = RecordWriter(folder / RECORDS)
    for index, item in enumerate(chunked):
        rows = []
        for row, span in enumerate(item.spans, start=item.row):
            text = item.text(span)
            found = words(text)
            stems = [word.term for word in found]
            parts = [
                part for word in found for part in identifier_parts(text[word.start : word.end])
            ]
            entries.append(Entry(row, index, item.document.corpus, [*stems, *parts]))
            rows.append(
                PassageRow(
                    row=row,
                    id=_passage_id(item.document, span),
                    text=text,
                    start=span.start,
                    end=span.end,
                    page=page_of(item.document, span.start),
                    line=line_of(item.document.text, span.start),
                    embedding=embeddings[row],
                    words=term_ids(stems),
                    parts=term_ids(parts),
                )
            )
        writer.document(
            index,
            item.document,
            term_ids(word.term for word in words(item.document.title)),
            [
                MetadataRow(field, value, bounds(str(value)), term_ids(_match_terms(field, value)))
                for field, value in _values(item.document)
            ],
            rows,
        )
    writer.close(vocabulary)
    write_keywords(folder / KEYWORDS, entries)
    write_vectors(
        folder / VECTORS,
        [
            (
                corpus,
                [_passage_id(item.document, span) for item in items for span in item.spans],
                cache.vectors([embeddings[item.row + n] for item in items for n in _range(item)]),
            )
            for corpus, items in _by_corpus(chunked).items()
        ],
    )


def _range(item: _Chunked) -> range:
    return range(len(item.spans))


def _passage_id(document: Document, span: Span) -> str:
    return f"{document.id}:{span.start}-{span.end}"


def _values(document: Document) -> Iterator[tuple[str, str | float]]:
    for field, value in document.metadata.items():
        yield from ((field, item) for item in (value if isinstance(value, tuple) else (value,)))


def _match_terms(field: str, value: MetadataValue) -> list[str]:
    """The stems that must all stand in a question for this value to match it.

    Nobody types a URL or a full citation, titles have a signal of their own, a date is asked for
    by its year and a person by the last name.
    """
    # a question's function words are dropped too: "House of Lords" must match without its "of"
    stems = [word.term for word in content_words(words(str(value)))]
    if field in {"title", "url", "source", "superseded_by"}:
        return []
    if field in {"date", "author", "speaker"}:
        return stems[:1] if field == "date" else stems[-1:]
    return stems


def _by_corpus(chunked: Iterable[_Chunked]) -> dict[str, list[_Chunked]]:
    groups: dict[str, list[_Chunked]] = {}
    for item in chunked:
        groups.setdefault(item.document.corpus, []).append(item)
    return groups


def _corpus_statistics(chunked: Sequence[_Chunked]) -> tuple[CorpusStatistics, ...]:
    return tuple(
        CorpusStatistics(
            id=corpus,
            label=label_of(corpus),
            documents=len(items),
            passages=sum(len(item.spans) for item in items),
            characters=sum(len(item.document.text) for item in items),
            words=sum(len(item.document.text.split()) for item in items),
            source_digest=hashlib.sha256(
                b"".join(_document_digest(item.document) for item in items)
            ).hexdigest(),
        )
        for corpus, items in _by_corpus(chunked).items()
    )


def _truncated_share(texts: Sequence[str], embedder: Embedder) -> float:
    """The share of passages longer than the model reads."""
    long = sum(
        count > embedder.info.max_tokens
        for start in range(0, len(texts), COMMIT_EVERY)
        for count in embedder.count_tokens(texts[start : start + COMMIT_EVERY])
    )
    return round(long / len(texts), 4)


def _field_counts(chunked: Iterable[_Chunked]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in chunked:
        for field in item.document.metadata:
            counts[field] = counts.get(field, 0) + 1
    return dict(sorted(counts.items()))


def _file_reports(read: Iterable[Read], chunked: Iterable[_Chunked]) -> tuple[FileReport, ...]:
    skipped = [FileReport(i.source, 0, i.reason) for i in read if isinstance(i, Skipped)]
    built = [FileReport(item.document.source, len(item.spans)) for item in chunked]
    return tuple(sorted([*built, *skipped], key=lambda report: report.source))


def _versions() -> dict[str, str]:
    packages = ("atlas-research-search", "chromadb", "tantivy", "sentence-transformers", "torch")
    return {
        "python": platform.python_version(),
        **{package: installed_version(package) for package in packages},
    }


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _remove_old(folder: Path, kept: Collection[str]) -> None:
    """Remove all versions but `kept`, and what killed builds left behind."""
    for path in folder.iterdir():
        if _VERSION.fullmatch(path.name) and path.name not in kept:
            shutil.rmtree(path)
