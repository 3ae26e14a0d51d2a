"""Which source files to read again, and all documents of the coming version."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from atlas_search.build.corpora import Sources
from atlas_search.build.document_ids import FoundDocument, Kept, Placed, place
from atlas_search.build.file_digests import FileDigests
from atlas_search.build.isolation.limits import Limits
from atlas_search.build.isolation.pool import read_files
from atlas_search.build.live_version import Live
from atlas_search.build.placing import place_beside
from atlas_search.build.prepare import Preparation
from atlas_search.build.source_file import SourceFile
from atlas_search.build.staged_file import TRY_AGAIN, StagingOfFiles
from atlas_search.core.errors import SourceError
from atlas_search.providers.embedding import Embedder
from atlas_search.stores.record_writer import SourceRow
from atlas_search.stores.staging import Staging

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """Every document of the coming version in order, the sources they come from, files read."""

    documents: Sequence[Kept | Placed]
    sources: Sequence[SourceRow]
    read: int


def read_sources(
    sources: Sources,
    preparation: Preparation,
    limits: Limits,
    live: Live | None,
    staging: Staging,
    digests: FileDigests,
    embedder: Embedder,
    progress: Progress,
    *,
    every: bool = False,
) -> Plan:
    """Read the files that neither the live version nor the staging area has as they are now.

    With `every` those that the live version has are read again too. A file that meets one of the
    `limits` is left out, with a remark; one that cannot be read for now keeps its documents, and is
    read the next time. Documents of other origins are kept. Raises SourceError if no file of this
    origin gives one.
    """
    origin = preparation.origin
    records = _Records.of(live, origin)
    known = {name: _as_it_was_read(row, again=every) for name, row in records.sources.items()}
    total = len(sources.files)
    progress(0, total)
    sorted_out = _Sorted(known, records, staging, preparation, limits)
    for file in sources.files:
        sorted_out.add(file, digests)
        progress(sorted_out.at_hand, total)
    unread = sorted_out.unread
    stage = StagingOfFiles(preparation, limits, staging, digests, embedder)
    with closing(read_files(preparation, limits, [file for file, _ in unread])) as reading:
        for done, (file, given) in enumerate(reading, start=1):
            stage.add(file, unread[done - 1][1], given)
            progress(total - len(unread) + done, total)
    digests.keep()
    kept, new = sorted_out.after_reading()
    rows = [source for source in (live.sources if live else []) if source.origin != origin]
    rows += [*kept.values(), *staging.sources(origin, new)]
    stay = records.staying(kept, staging.kept(origin), new)
    staged = _documents_of_staging(staging, origin, new)
    if not staged and not (stay & records.is_own).any():
        raise SourceError(_nothing(sources, rows, origin))
    languages = _languages(sources, preparation, records, stay, staged)
    documents = _placed(live, stay, staged, languages)
    return Plan(documents, sorted(rows, key=lambda row: (row.origin, row.name)), len(unread))


@dataclass
class _Sorted:
    """The files of one origin: those that stay as the live version has them, and new ones.

    `known` are the sources of the live version, by name; `unread` are the new files that the
    staging area does not have as they are now, with their fingerprints.
    """

    known: dict[str, SourceRow]
    records: "_Records"
    staging: Staging
    preparation: Preparation
    limits: Limits
    stay: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    unread: list[tuple[SourceFile, bytes]] = field(default_factory=list)

    @property
    def at_hand(self) -> int:
        """How many of the files so far need not be read."""
        return len(self.stay) + len(self.new) - len(self.unread)

    def add(self, file: SourceFile, digests: FileDigests) -> None:
        """Sort out the next file."""
        before = self.known.get(file.name)
        try:
            fingerprint = self.preparation.fingerprint(file, digests.of)
        except OSError as error:
            fingerprint = b"unreadable"
            if file.name in self.records.had:
                # a disk that is away for a moment must not empty the collection
                reason = f"cannot be read now ({error.strerror})"
                self.known[file.name] = _kept(self.known[file.name], reason)
                self.stay.append(file.name)
                return
        if before and self._is_of(before.fingerprint, fingerprint):
            self.stay.append(file.name)
            return
        self.new.append(file.name)
        asked = self.records.told(file, before, self.preparation)
        is_staged = self._is_of(self._staged.get(file.name), fingerprint)
        if not is_staged or not _would_keep(asked, self._kept_by_source.get(file.name, {})):
            self.unread.append((asked, fingerprint))

    def _is_of(self, kept: bytes | None, fingerprint: bytes) -> bool:
        """Whether what is kept of a file is of it as it is now: read, or beyond the limits."""
        return kept == fingerprint or kept == self.limits.fingerprint(fingerprint)

    def after_reading(self) -> tuple[dict[str, SourceRow], list[str]]:
        """The sources that stay, by name, and the names of the others.

        One of the live version that turned out to be unreadable for now stays too.
        """
        had = [name for name in self.new if name in self.records.had]
        away = {
            row.name: _kept(self.known[row.name], "; ".join(reason for _, reason in row.remarks))
            for row in self.staging.sources(self.preparation.origin, had)
            if row.fingerprint == TRY_AGAIN
        }
        stay = {name: self.known[name] for name in self.stay}
        return stay | away, [name for name in self.new if name not in away]

    @cached_property
    def _staged(self) -> Mapping[str, bytes]:
        return self.staging.fingerprints(self.preparation.origin)

    @cached_property
    def _kept_by_source(self) -> Mapping[str, Mapping[str, bytes]]:
        return self.staging.kept(self.preparation.origin)


@dataclass(frozen=True)
class _Records:
    """What the live version has of one origin: sources by name, and which documents are its own."""

    live: Live | None
    sources: Mapping[str, SourceRow]
    is_own: NDArray[np.bool_]

    @classmethod
    def of(cls, live: Live | None, origin: str) -> Self:
        if live is None:
            return cls(None, {}, np.zeros(0, dtype=bool))
        sources = {source.name: source for source in live.sources if source.origin == origin}
        is_own = np.array([own == origin for own in live.columns.origins], dtype=bool)
        return cls(live, sources, is_own)

    @cached_property
    def documents(self) -> Mapping[str, Sequence[int]]:
        """The indices of its documents by the name of their source."""
        found: dict[str, list[int]] = {}
        if self.live:
            sources = self.live.columns.sources
            for index in np.flatnonzero(self.is_own).tolist():
                found.setdefault(sources[index], []).append(index)
        return found

    @cached_property
    def had(self) -> frozenset[str]:
        """The names of the sources that gave a document."""
        return frozenset(self.documents.keys() & self.sources.keys())

    def told(
        self, file: SourceFile, before: SourceRow | None, preparation: Preparation
    ) -> SourceFile:
        """The file with the digests of its documents, if all but its bytes is as it was `before`.

        Most records of a table are the same when one of them has changed.
        """
        own = self.documents.get(file.name)
        if self.live is None or not own or before is None or not before.content:
            return file
        if preparation.fingerprint_before(file, before.content) != before.fingerprint:
            return file
        keys, digests = self.live.columns.keys, self.live.columns.digests
        return file._replace(known={keys[index]: digests[index] for index in own})

    def staying(
        self,
        names: Collection[str],
        keys: Mapping[str, Collection[str]],
        changed: Iterable[str],
    ) -> NDArray[np.bool_]:
        """Which documents stay: those of other origins, of the sources with some `names`, and of
        each `changed` source those with the `keys` that are given for it."""
        stay = ~self.is_own
        if self.live is None:
            return stay
        columns = self.live.columns
        own = [source in names for source in columns.sources]
        stay |= np.array(own, dtype=bool)
        for name in changed:
            kept = keys.get(name, ())
            for index in self.documents.get(name, ()):
                stay[index] = columns.keys[index] in kept
        return stay


_KEPT = "; what was read before is kept"


def _kept(source: SourceRow, reason: str) -> SourceRow:
    """A source that cannot be read now, with what it had before."""
    return source._replace(remarks=(*source.remarks, ("", reason + _KEPT)))


def _as_it_was_read(source: SourceRow, *, again: bool) -> SourceRow:
    """A source without what was said while it could not be read; `again` if it is to be read."""
    if not source.remarks and not again:  # as most are
        return source
    remarks = tuple((key, said) for key, said in source.remarks if not said.endswith(_KEPT))
    fingerprint = TRY_AGAIN if again else source.fingerprint
    return source._replace(remarks=remarks, fingerprint=fingerprint)


def _would_keep(file: SourceFile, taken: Mapping[str, bytes]) -> bool:
    """Whether reading the file now would keep the same documents as when it was staged.

    Another version may have become live since, whose equal documents were cut in another way.
    """
    return all(file.known.get(key) == digest for key, digest in taken.items())


def _documents_of_staging(
    staging: Staging, origin: str, names: Iterable[str]
) -> list[FoundDocument]:
    return [
        FoundDocument(corpus, source, provenance, kept=False, number=number)
        for number, corpus, source, provenance in staging.provenances(origin, list(names))
    ]


def _languages(
    sources: Sources,
    preparation: Preparation,
    records: _Records,
    stay: NDArray[np.bool_],
    staged: Iterable[FoundDocument],
) -> Mapping[str, str]:
    """The language of each corpus that the sources of this origin fill: what they say of it, or
    else the one it has."""
    fillers: dict[str, str] = {}
    if records.live:
        columns, own = records.live.columns, (stay & records.is_own).tolist()
        each = zip(columns.corpora, columns.sources, own, strict=True)
        fillers = {corpus: source for corpus, source, is_own in each if is_own}
    fillers |= {found.corpus: found.source for found in staged}
    rules = {file.name: file.rule for file in sources.files}
    return {
        corpus: preparation.language(rules[source], corpus) for corpus, source in fillers.items()
    }


def _placed(
    live: Live | None,
    stay: NDArray[np.bool_],
    staged: Iterable[FoundDocument],
    languages: Mapping[str, str],
) -> Sequence[Kept | Placed]:
    """All documents in order, each in the language of its corpus."""
    found = [replace(each, language=languages[each.corpus]) for each in staged]
    if live is None:
        return place(found)
    known = live.manifest.languages
    turned = {corpus for corpus, language in languages.items() if known.get(corpus) != language}
    if turned:
        is_turned = np.array([corpus in turned for corpus in live.columns.corpora], dtype=bool)
        again = [live.found(index) for index in np.flatnonzero(stay & is_turned).tolist()]
        found += [replace(each, language=languages[each.corpus]) for each in again]
        stay = stay & ~is_turned
    return place_beside(live, stay, found)


def _nothing(sources: Sources, rows: Iterable[SourceRow], origin: str) -> str:
    reasons = [f"{name}: {reason}" for name, reason in sources.left_out]
    reasons += [
        f"{row.name}: {reason}" for row in rows if row.origin == origin for _, reason in row.remarks
    ]
    found = "; ".join(reasons[:3]) or "there is no file of this kind"
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return f"There is nothing to build: no source file gave a document ({found}{more})."
