"""Choice of the source files to read again, and all documents of the coming version."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress
from operator import attrgetter
from typing import Self

import numpy as np
from numpy.typing import NDArray

from atlas_search.building.document_ids import FoundDocument, KeptDocuments, PlacedDocument, place
from atlas_search.building.materials import Live, place_beside
from atlas_search.building.prepare import (
    Preparation,
    Prepared,
    Remark,
    VectoredDocument,
    content_of,
    size_of,
)
from atlas_search.building.source_file import FileDigests, SourceFile
from atlas_search.building.sources import Sources
from atlas_search.building.vectorise import check_vectors
from atlas_search.building.workers import End, ReadingLimits, read_files
from atlas_search.core.errors import SourceError
from atlas_search.providers.embedding import Embedder
from atlas_search.stores.record_writer import SourceRow
from atlas_search.stores.staged import KeptDocument, StagedDocument
from atlas_search.stores.staging import Staging

TRY_AGAIN = b"left out"
"""In place of a fingerprint, of a file that may well be read the next time: that of no file."""

_CHANGED = b"changed"  # the same of a file that was written to while it was read


class _LeftOut(Exception):
    """A file met a limit after it had given documents."""

    def __init__(self, end: End):
        self.end = end


@dataclass(frozen=True)
class StagingOfFiles:
    """Staging of what the files of one origin give."""

    preparation: Preparation
    limits: ReadingLimits
    staging: Staging
    digests: FileDigests
    embedder: Embedder

    def add(self, file: SourceFile, fingerprint: bytes, given: Iterator[Prepared | End]) -> None:
        """Stage a file piece by piece, so that it may be larger than memory.

        Raises SourceError for vectors that another model made.
        """
        try:
            rows = self._rows(file, fingerprint, self._with_vectors(file, given))
            self.staging.add(self.preparation.origin, file.name, rows)
        except _LeftOut as left_out:
            end = left_out.end
            row = self._row(file, fingerprint, [("", end.failure)], end)
            self.staging.add(self.preparation.origin, file.name, [row])

    def _with_vectors(
        self, file: SourceFile, given: Iterator[Prepared | End]
    ) -> Iterator[Prepared | End]:
        """Check vectors that come with a file before any of it counts as read."""
        remarks = []
        for first in given:
            if not isinstance(first, Remark):
                break
            remarks.append(first)
        if not isinstance(first, VectoredDocument):
            return chain(remarks, [first], given)
        whole = [*remarks, first, *given]
        if isinstance(end := whole[-1], End) and end.failure:
            raise _LeftOut(end)
        documents = [each for each in whole if isinstance(each, VectoredDocument)]
        digests, tokens, vectors = check_vectors(file.name, documents, self.embedder)
        self.staging.add_vectors(self.embedder.fingerprint, digests, tokens, vectors)
        return iter(whole)

    def _rows(
        self, file: SourceFile, fingerprint: bytes, given: Iterator[Prepared | End]
    ) -> Iterator[StagedDocument | KeptDocument | SourceRow]:
        remarks: list[tuple[str, str]] = []
        for each in given:
            match each:
                case Remark(text, key):
                    remarks.append((key, text))
                case VectoredDocument(staged, _):
                    yield staged
                case StagedDocument() | KeptDocument():
                    yield each
                case End():
                    if each.failure:
                        raise _LeftOut(each)
                    yield self._row(file, fingerprint, remarks, each)

    def _row(
        self, file: SourceFile, fingerprint: bytes, remarks: list[tuple[str, str]], end: End
    ) -> SourceRow:
        return SourceRow(
            name=file.name,
            origin=self.preparation.origin,
            fingerprint=self._mark(file, fingerprint, end),
            remarks=tuple(remarks),
            bytes=size_of(file),
            seconds=end.seconds,
            content=content_of(file, self.digests.of),
        )

    def _mark(self, file: SourceFile, fingerprint: bytes, end: End) -> bytes:
        """Return what tells the next build whether to read the file again."""
        if end.again:
            return TRY_AGAIN
        if not self._is_still(file, fingerprint):
            return _CHANGED
        return self.limits.fingerprint(fingerprint) if end.failure else fingerprint

    def _is_still(self, file: SourceFile, fingerprint: bytes) -> bool:
        """Return whether a file is as it was before it was read: what was read may be neither that,
        nor what the next build finds."""
        try:
            return self.preparation.fingerprint(file, self.digests.of) == fingerprint
        except OSError:
            return False


Progress = Callable[[int, int], None]

LOOKED_AT = 1000
"""Files that are looked at between two reports of progress, unless they have changed."""


@dataclass(frozen=True)
class Plan:
    """Documents of the coming version in order, their sources, and the number of files read."""

    documents: Sequence[KeptDocuments | PlacedDocument]
    sources: Sequence[SourceRow]
    read: int


def read_sources(
    sources: Sources,
    preparation: Preparation,
    limits: ReadingLimits,
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
    records = _LiveOrigin.of(live, origin)
    total = len(sources.files)
    progress(0, total)
    sorting = _Sorting(records, records.known(again=every), staging, preparation, limits)
    for start in range(0, total, LOOKED_AT):
        changed = sorting.changed_among(sources.files[start : start + LOOKED_AT], digests)
        progress(len(sorting.stay), total)
        for file, before in changed:
            sorting.add(file, before, digests)
            progress(len(sorting.stay), total)
    unread = sorting.unread()
    progress(total - len(unread), total)
    stage = StagingOfFiles(preparation, limits, staging, digests, embedder)
    with closing(read_files(preparation, limits, [file for file, _ in unread])) as reading:
        for done, (file, given) in enumerate(reading, start=1):
            stage.add(file, unread[done - 1][1], given)
            progress(total - len(unread) + done, total)
    digests.keep()
    kept, new = sorting.after_reading()
    rows = [source for source in (live.sources if live else []) if source.origin != origin]
    rows += [*kept, *staging.sources(origin, new)]
    stay = records.staying(kept, staging.kept(origin), new)
    staged = _documents_of_staging(staging, origin, new)
    if not staged and not (stay & records.is_own).any():
        raise SourceError(_nothing(sources, rows, origin))
    languages = _languages(sources, preparation, records, stay, staged)
    documents = _placed(live, stay, staged, languages)
    rows.sort(key=attrgetter("name"))  # which makes no pairs, as both at once would
    rows.sort(key=attrgetter("origin"))
    return Plan(documents, rows, len(unread))


@dataclass
class _Sorting:
    """The files of one origin: those that stay as the live version has them, and new ones.

    `known` are the sources of the live version, by name, that are not among them yet; of the `new`
    ones there is what they were before, and their fingerprint.
    """

    records: "_LiveOrigin"
    known: dict[str, SourceRow]
    staging: Staging
    preparation: Preparation
    limits: ReadingLimits
    stay: list[SourceRow] = field(default_factory=list)
    new: list[tuple[SourceFile, SourceRow | None, bytes]] = field(default_factory=list)

    def changed_among(
        self, files: Sequence[SourceFile], digests: FileDigests
    ) -> list[tuple[SourceFile, SourceRow | None]]:
        """Return the files of these that may have changed, with what they were; the others stay.

        There are tens of thousands of the others: of each nothing more is asked.
        """
        contents = digests.unchanged([file.location for file in files])
        prints = self.preparation.fingerprints_of(files, contents)
        changed = []
        for file, content, fingerprint in zip(files, contents, prints, strict=True):
            before = self.known.pop(file.name, None)
            # with parts it is as it was only if all of them are
            if content and not file.parts and before and before.fingerprint == fingerprint:
                self.stay.append(before)
            else:
                changed.append((file, before))
        return changed

    def add(self, file: SourceFile, before: SourceRow | None, digests: FileDigests) -> None:
        """Sort out a file that may have changed."""
        try:
            fingerprint = self.preparation.fingerprint(file, digests.of)
        except OSError as error:
            fingerprint = b"unreadable"
            if before and file.name in self.records.names_with_documents:
                # a disk that is away for a moment must not empty the collection
                self.stay.append(
                    _keep_with_remark(before, f"cannot be read now ({error.strerror})")
                )
                return
        if before and self._is_of(before.fingerprint, fingerprint):
            self.stay.append(before)
        else:
            self.new.append((file, before, fingerprint))

    def unread(self) -> list[tuple[SourceFile, bytes]]:
        """Return the new files that the staging area does not have as they are now."""
        documents = self.records.documents_of({file.name for file, _, _ in self.new})
        staged = self.staging.fingerprints(self.preparation.origin)
        taken = self.staging.kept(self.preparation.origin)
        result = []
        for file, before, fingerprint in self.new:
            own = documents.get(file.name, ())
            asked = self.records.with_known_digests(file, before, own, self.preparation)
            is_staged = self._is_of(staged.get(file.name), fingerprint)
            if not is_staged or not _would_keep(asked, taken.get(file.name, {})):
                result.append((asked, fingerprint))
        return result

    def _is_of(self, kept: bytes | None, fingerprint: bytes) -> bool:
        """Return whether what is kept of a file is of it as it is now: read, or beyond the
        limits."""
        return kept == fingerprint or kept == self.limits.fingerprint(fingerprint)

    def after_reading(self) -> tuple[list[SourceRow], list[str]]:
        """Return the sources that stay, and the names of the others.

        One of the live version that turned out to be unreadable for now stays too.
        """
        before = {file.name: row for file, row, _ in self.new if row}
        had = before.keys() & self.records.documents_of(before.keys()).keys()
        away = {
            row.name: _keep_with_remark(
                before[row.name], "; ".join(reason for _, reason in row.remarks)
            )
            for row in self.staging.sources(self.preparation.origin, sorted(had))
            if row.fingerprint == TRY_AGAIN
        }
        new = [file.name for file, _, _ in self.new if file.name not in away]
        return [*self.stay, *away.values()], new


@dataclass(frozen=True)
class _LiveOrigin:
    """Documents of one origin in the live version: its sources, and which documents are its own."""

    live: Live | None
    sources: Sequence[SourceRow]
    is_own: NDArray[np.bool_]

    @classmethod
    def of(cls, live: Live | None, origin: str) -> Self:
        if live is None:
            return cls(None, (), np.zeros(0, dtype=bool))
        sources = [source for source in live.sources if source.origin == origin]
        origins = live.columns.origins
        is_own = np.fromiter(map(origin.__eq__, origins), bool, len(origins))
        return cls(live, sources, is_own)

    def known(self, *, again: bool) -> dict[str, SourceRow]:
        """Return its sources by name, without what was said while they could not be read.

        With `again` they are to be read again.
        """
        result = {source.name: source for source in self.sources}
        for source in self.sources:
            if source.remarks or again:  # as few have
                result[source.name] = _as_it_was_read(source, again=again)
        return result

    @cached_property
    def names_with_documents(self) -> frozenset[str]:
        """Names of the sources that gave a document."""
        if self.live is None:
            return frozenset()
        gave = frozenset(compress(self.live.columns.sources, self.is_own.tolist()))
        return gave & {source.name for source in self.sources}

    def documents_of(self, names: Collection[str]) -> Mapping[str, Sequence[int]]:
        """Return the indices of the documents of some sources, by name."""
        result: dict[str, list[int]] = {}
        if self.live:
            sources = self.live.columns.sources
            for index in [index for index, name in enumerate(sources) if name in names]:
                if self.is_own[index]:
                    result.setdefault(sources[index], []).append(index)
        return result

    def with_known_digests(
        self,
        file: SourceFile,
        before: SourceRow | None,
        own: Sequence[int],
        preparation: Preparation,
    ) -> SourceFile:
        """Return the file with the digests of its `own` documents, if all but its bytes is as it
        was `before`.

        Most records of a table are the same when one of them has changed.
        """
        if self.live is None or not own or before is None or not before.content:
            return file
        if preparation.fingerprint_of(file, before.content) != before.fingerprint:
            return file
        keys, digests = self.live.columns.keys, self.live.columns.digests
        return file._replace(known={keys[index]: digests[index] for index in own})

    def staying(
        self,
        sources: Iterable[SourceRow],
        keys: Mapping[str, Collection[str]],
        changed: Collection[str],
    ) -> NDArray[np.bool_]:
        """Return which documents stay: those of other origins, of some `sources`, and of each
        `changed` source those with the `keys` that are given for it."""
        stay = ~self.is_own
        if self.live is None:
            return stay
        columns = self.live.columns
        names = {source.name for source in sources}
        stay |= np.fromiter(map(names.__contains__, columns.sources), bool, len(stay))
        for name, own in self.documents_of(set(changed)).items():
            kept = keys.get(name, ())
            for index in own:
                stay[index] = columns.keys[index] in kept
        return stay


_KEPT = "; what was read before is kept"


def _keep_with_remark(source: SourceRow, reason: str) -> SourceRow:
    """Return a source that cannot be read now, with what it had before."""
    return source._replace(remarks=(*source.remarks, ("", reason + _KEPT)))


def _as_it_was_read(source: SourceRow, *, again: bool) -> SourceRow:
    """Return a source without what was said while it could not be read; `again` if it is to be
    read."""
    remarks = tuple((key, said) for key, said in source.remarks if not said.endswith(_KEPT))
    fingerprint = TRY_AGAIN if again else source.fingerprint
    return source._replace(remarks=remarks, fingerprint=fingerprint)


def _would_keep(file: SourceFile, taken: Mapping[str, bytes]) -> bool:
    """Return whether reading the file now would keep the same documents as when it was staged.

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
    records: _LiveOrigin,
    stay: NDArray[np.bool_],
    staged: Iterable[FoundDocument],
) -> Mapping[str, str]:
    """Return the language of each corpus that the sources of this origin fill: what they say of it,
    or else the one it has."""
    fillers: dict[str, str] = {}
    if records.live:
        sources_of, own = records.live.columns.sources, stay & records.is_own
        for corpus, documents in records.live.documents_by_corpus.items():
            filled = np.flatnonzero(own[documents.start : documents.stop])
            if len(filled):
                fillers[corpus] = sources_of[documents.start + int(filled[-1])]
    fillers |= {each.corpus: each.source for each in staged}
    names = set(fillers.values())
    rules = {file.name: file.rule for file in sources.files if file.name in names}
    return {
        corpus: preparation.language(rules[source], corpus) for corpus, source in fillers.items()
    }


def _placed(
    live: Live | None,
    stay: NDArray[np.bool_],
    staged: Iterable[FoundDocument],
    languages: Mapping[str, str],
) -> Sequence[KeptDocuments | PlacedDocument]:
    """Order all documents, each in the language of its corpus."""
    result = [replace(each, language=languages[each.corpus]) for each in staged]
    if live is None:
        return place(result)
    known, of_corpora = live.manifest.languages, live.documents_by_corpus
    turned = {corpus for corpus, language in languages.items() if known.get(corpus) != language}
    if turned:
        is_turned = np.zeros(len(stay), dtype=bool)
        for corpus in turned & of_corpora.keys():
            is_turned[of_corpora[corpus].start : of_corpora[corpus].stop] = True
        again = [live.found(index) for index in np.flatnonzero(stay & is_turned).tolist()]
        result += [replace(each, language=languages[each.corpus]) for each in again]
        stay = stay & ~is_turned
    return place_beside(live, stay, result)


def _nothing(sources: Sources, rows: Iterable[SourceRow], origin: str) -> str:
    reasons = [f"{name}: {reason}" for name, reason in sources.left_out]
    reasons += [
        f"{row.name}: {reason}" for row in rows if row.origin == origin for _, reason in row.remarks
    ]
    found = "; ".join(reasons[:3]) or "there is no file of this kind"
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return f"There is nothing to build: no source file gave a document ({found}{more})."
