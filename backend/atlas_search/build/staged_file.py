"""Putting what a file gives into the staging area: all of it, or a remark on why not."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from atlas_search.build.corpora import SourceFile
from atlas_search.build.file_digests import FileDigests
from atlas_search.build.isolation.limits import End, Limits
from atlas_search.build.precomputed import check_vectors
from atlas_search.build.prepare import (
    Preparation,
    Prepared,
    Remark,
    VectoredDocument,
    content_of,
    size_of,
)
from atlas_search.providers.embedding import Embedder
from atlas_search.stores.record_writer import SourceRow
from atlas_search.stores.staging import KeptDocument, StagedDocument, Staging

TRY_AGAIN = b"left out"
"""In place of a fingerprint, of a file that may well be read the next time: that of no file."""

_CHANGED = b"changed"  # the same of a file that was written to while it was read


class _LeftOut(Exception):
    """A file met a limit after it had given documents."""

    def __init__(self, end: End):
        self.end = end


@dataclass(frozen=True)
class StagingOfFiles:
    """Takes what the files of one origin give."""

    preparation: Preparation
    limits: Limits
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
        """The same; vectors that come with a file are checked before any of it counts as read."""
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
        """What tells the next build whether to read the file again."""
        if end.again:
            return TRY_AGAIN
        if not self._is_still(file, fingerprint):
            return _CHANGED
        return self.limits.fingerprint(fingerprint) if end.failure else fingerprint

    def _is_still(self, file: SourceFile, fingerprint: bytes) -> bool:
        """Whether a file is as it was before it was read: what was read may be neither that, nor
        what the next build finds."""
        try:
            return self.preparation.fingerprint(file, self.digests.of) == fingerprint
        except OSError:
            return False
