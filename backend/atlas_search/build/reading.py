"""Which source files to read again, and all documents of the coming version."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from atlas_search.build.corpora import SourceFile, Sources
from atlas_search.build.document_ids import FoundDocument, Placed, place
from atlas_search.build.live_version import Live
from atlas_search.build.precomputed import check_vectors
from atlas_search.build.prepare import Preparation, prepare
from atlas_search.core.errors import SourceError
from atlas_search.providers.embedding import Embedder
from atlas_search.stores.record_writer import SourceRow
from atlas_search.stores.staging import Staging

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """Every document of the coming version in order, the sources they come from, files read."""

    documents: list[Placed]
    sources: list[SourceRow]
    read: int


def read_sources(
    sources: Sources,
    preparation: Preparation,
    live: Live | None,
    staging: Staging,
    embedder: Embedder,
    progress: Progress,
    *,
    every: bool = False,
) -> Plan:
    """Read the files that neither the live version nor the staging area has as they are now.

    With `every` those that the live version has are read again too.
    Documents of other origins are kept. Raises SourceError if no file of this origin gives one.
    """
    origin = preparation.origin
    kept_sources = live.records.sources() if live else []
    known = {source.name: source for source in kept_sources if source.origin == origin}
    staged = staging.fingerprints(origin)
    kept, new, read = [], [], 0
    progress(0, len(sources.files))
    for done, file in enumerate(sources.files, start=1):
        try:
            fingerprint = preparation.fingerprint(file)
            same = not every and file.name in known and known[file.name].fingerprint == fingerprint
        except OSError as error:
            fingerprint, same = b"unreadable", file.name in known
            if same:
                # a disk that is away for a moment must not empty the collection
                reason = f"cannot be read now ({error.strerror}); what was read before is kept"
                known[file.name] = replace(known[file.name], remarks=(("", reason),))
        if same:
            kept.append(file.name)
        else:
            new.append(file.name)
            if staged.get(file.name) != fingerprint:
                _stage(preparation, file, fingerprint, staging, embedder)
                read += 1
        progress(done, len(sources.files))
    rows = [source for source in kept_sources if source.origin != origin]
    rows += [known[name] for name in kept] + list(staging.sources(origin, new))
    found = [
        *_documents_to_keep(live, origin, set(kept)),
        *_documents_of_staging(staging, origin, new),
    ]
    documents = place(_in_their_languages(found, sources, preparation))
    if not any(document.found.provenance.origin == origin for document in documents):
        raise SourceError(_nothing(sources, rows, origin))
    return Plan(documents, sorted(rows, key=lambda row: (row.origin, row.name)), read)


def _stage(
    preparation: Preparation,
    file: SourceFile,
    fingerprint: bytes,
    staging: Staging,
    embedder: Embedder,
) -> None:
    prepared = prepare(preparation, file, fingerprint)
    if prepared.vectors:
        # before the source counts as read: foreign vectors must be refused every time
        digests, tokens, vectors = check_vectors(prepared, embedder)
        staging.add_vectors(embedder.fingerprint, digests, tokens, vectors)
    staging.add(prepared.source, prepared.documents)


def _documents_to_keep(live: Live | None, origin: str, names: set[str]) -> Iterable[FoundDocument]:
    if live is None:
        return []
    return [
        found for found in live.found if found.provenance.origin != origin or found.source in names
    ]


def _documents_of_staging(
    staging: Staging, origin: str, names: Iterable[str]
) -> Iterable[FoundDocument]:
    return [
        FoundDocument(corpus, source, provenance, kept=False, number=number)
        for number, corpus, source, provenance in staging.provenances(origin, list(names))
    ]


def _in_their_languages(
    found: Iterable[FoundDocument], sources: Sources, preparation: Preparation
) -> Iterable[FoundDocument]:
    """A corpus has one language: what the sources of this origin say, or else the one it has."""
    rules = {file.name: file.rule for file in sources.files}
    stated = {
        each.corpus: preparation.language(rules[each.source], each.corpus)
        for each in found
        if each.provenance.origin == preparation.origin
    }
    return [replace(each, language=stated.get(each.corpus, each.language)) for each in found]


def _nothing(sources: Sources, rows: Iterable[SourceRow], origin: str) -> str:
    reasons = [f"{name}: {reason}" for name, reason in sources.left_out]
    reasons += [
        f"{row.name}: {reason}" for row in rows if row.origin == origin for _, reason in row.remarks
    ]
    found = "; ".join(reasons[:3]) or "there is no file of this kind"
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return f"There is nothing to build: no source file gave a document ({found}{more})."
