"""What the manifest says about corpora, counted while documents are written."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import NamedTuple

import numpy as np

from atlas_search.build.corpora import label_of
from atlas_search.build.document_ids import FoundDocument, Kept
from atlas_search.core.domain import Metadata
from atlas_search.readers.metadata import FieldCounter
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.manifest import CorpusStatistics, Field
from atlas_search.stores.record_writer import SourceRow


@dataclass
class _Corpus:
    language: str
    documents: int = 0
    passages: int = 0
    characters: int = 0
    words: int = 0
    tokens: int = 0
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)


class Counted(NamedTuple):
    """What is counted of a document: its characters, words and passages, and its metadata."""

    found: FoundDocument
    characters: int
    words: int
    passages: int
    metadata: Metadata


class _Sizes(NamedTuple):
    """The sources of documents of one corpus and origin, and how many characters each document
    has."""

    corpus: str
    origin: str
    sources: Sequence[str]
    characters: Sequence[int]


class Counter:
    """Counts documents as they pass, in order of corpus."""

    def __init__(self) -> None:
        self._corpora: dict[str, _Corpus] = {}
        self._sizes: list[_Sizes] = []
        self._fields = FieldCounter()
        self.origins: dict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, counted: Counted) -> None:
        """Count one document and its passages."""
        found = counted.found
        corpus = self._corpora.setdefault(found.corpus, _Corpus(found.language))
        corpus.documents += 1
        corpus.passages += counted.passages
        corpus.characters += counted.characters
        corpus.words += counted.words
        corpus.digest.update(found.provenance.digest)
        origin = found.provenance.origin
        self._sizes.append(_Sizes(found.corpus, origin, [found.source], [counted.characters]))
        self._fields.add([counted.metadata])
        self.origins[origin][0] += 1
        self.origins[origin][1] += counted.passages

    def keep(
        self,
        kept: Kept,
        characters: Sequence[int],
        words: IntArray,
        passages: IntArray,
        metadata: Iterable[Metadata],
    ) -> None:
        """Count documents that stay, and their passages; of each what `Counted` says."""
        corpus = self._corpora.setdefault(kept.corpus, _Corpus(kept.language))
        corpus.documents += len(kept.documents)
        corpus.passages += len(kept.rows)
        corpus.characters += sum(characters)
        corpus.words += int(words.sum())
        corpus.digest.update(b"".join(kept.digests))
        for origin, is_own in kept.of_origins():
            sources, sizes = compress(kept.sources, is_own), compress(characters, is_own)
            self._sizes.append(_Sizes(kept.corpus, origin, list(sources), list(sizes)))
            self.origins[origin][0] += sum(is_own)
            self.origins[origin][1] += int(passages[is_own].sum())
        self._fields.add(metadata)

    def passages(self) -> dict[str, int]:
        """Passages by corpus, in order."""
        return {id_: corpus.passages for id_, corpus in self._corpora.items()}

    def fields(self) -> dict[str, Field]:
        """Every metadata field with its most frequent values."""
        return _fields_of(self._fields)

    def corpora(
        self, labels: Mapping[str, str], sources: Iterable[SourceRow], tokens: IntArray
    ) -> tuple[CorpusStatistics, ...]:
        """The statistics of every corpus; `tokens` are those of all passages in order.

        Size and time of a file with documents of several corpora are shared by characters.
        """
        size, seconds = self._shares(sources)
        ends = np.cumsum([0, *(corpus.passages for corpus in self._corpora.values())])
        return tuple(
            CorpusStatistics(
                id=id_,
                label=labels.get(id_) or label_of(id_),
                documents=corpus.documents,
                passages=corpus.passages,
                characters=corpus.characters,
                words=corpus.words,
                tokens=int(tokens[ends[number] : ends[number + 1]].sum()),
                bytes=round(size[id_]),
                seconds=round(seconds[id_], 3),
                digest=corpus.digest.hexdigest(),
                language=corpus.language,
            )
            for number, (id_, corpus) in enumerate(self._corpora.items())
        )

    def _shares(self, sources: Iterable[SourceRow]) -> tuple[dict[str, float], dict[str, float]]:
        corpus_of, shared = self._corpora_of_sources()
        size: dict[str, float] = defaultdict(float)
        seconds: dict[str, float] = defaultdict(float)
        for name, origin, *_, of_bytes, of_seconds in sources:
            corpus = corpus_of[origin].get(name)
            if corpus is None:  # it gave no document
                continue
            own = shared.get((origin, name)) if shared else None
            if own is None:  # as of nearly all
                size[corpus] += of_bytes
                seconds[corpus] += of_seconds
                continue
            whole = sum(own.values())
            for each, count in own.items():
                size[each] += of_bytes * (count / whole)
                seconds[each] += of_seconds * (count / whole)
        return size, seconds

    def _corpora_of_sources(
        self,
    ) -> tuple[Mapping[str, Mapping[str, str]], Mapping[tuple[str, str], Mapping[str, int]]]:
        """A corpus of each source, by its origin and name, and how many characters those that
        filled several gave each of them."""
        corpus_of: dict[str, dict[str, str]] = defaultdict(dict)
        shared: dict[tuple[str, str], dict[str, int]] = {}
        for given in self._sizes:
            known = corpus_of[given.origin]
            own = dict.fromkeys(given.sources, given.corpus)
            for name in known.keys() & own.keys():
                if known[name] != given.corpus:
                    shared[given.origin, name] = {}
            known |= own
        for given in self._sizes if shared else ():
            for name, count in zip(given.sources, given.characters, strict=True):
                if (found := shared.get((given.origin, name))) is not None:
                    found[given.corpus] = found.get(given.corpus, 0) + count
        return corpus_of, shared


def field_statistics(metadata: Iterable[Metadata]) -> dict[str, Field]:
    """Every metadata field of some documents, as a collection of them alone has it."""
    counter = FieldCounter()
    counter.add(metadata)
    return _fields_of(counter)


def _fields_of(counter: FieldCounter) -> dict[str, Field]:
    return {
        name: Field(
            type=found.type,
            documents=found.documents,
            values=found.values,
            capped=found.capped,
            counts={str(value): count for value, count in found.counts},
        )
        for name, found in counter.statistics().items()
    }
