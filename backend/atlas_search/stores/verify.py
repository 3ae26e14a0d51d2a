"""Checking every part of a version against its manifest, and the parts against each other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atlas_search.core.domain import Passage
from atlas_search.core.errors import AtlasError, DamagedStore
from atlas_search.language.text import ANALYSER_VERSION, TextSpan, distinct, words
from atlas_search.stores.digests import check_files, files_of, without_digest
from atlas_search.stores.embeddings import Embeddings, text_digest
from atlas_search.stores.index_recall import DEPTH, index_recall, sample
from atlas_search.stores.keywords import Keywords
from atlas_search.stores.manifest import FILE_NAME, Manifest
from atlas_search.stores.records import Records
from atlas_search.stores.tokens import TokenTable
from atlas_search.stores.vectors import Vectors
from atlas_search.stores.versions import CHROMA, EMBEDDINGS, KEYWORDS, RECORDS, TOKENS, WORDS
from atlas_search.stores.word_writer import WordWriter
from atlas_search.stores.words import WordTable, no_words

LEAST_RECALL = 0.95
WORSE = 0.01  # most by which an index that searches ask may find less than when it was measured
SAME = 1e-3  # most by which a vector in the index may differ from the one it was made from


_Check = Callable[[Path, Manifest], str]


@dataclass(frozen=True)
class Finding:
    """What was found in one part: its problem, empty if it is whole, and what was checked."""

    part: str
    checked: str
    problem: str = ""


def verify(folder: Path, manifest: Manifest) -> list[Finding]:
    """Check all parts of a version; nothing is changed."""
    checks: dict[str, tuple[_Check, tuple[str, ...]]] = {
        FILE_NAME: (_check_manifest, ()),
        RECORDS: (_check_records, ()),
        EMBEDDINGS: (_check_embeddings, (RECORDS,)),
        TOKENS: (_check_tokens, (RECORDS,)),
        WORDS: (_check_words, (RECORDS,)),
        KEYWORDS: (_check_keywords, (TOKENS,)),
        CHROMA: (_check_chroma, (RECORDS, EMBEDDINGS)),
    }
    findings: list[Finding] = []
    for part, (check, needed) in checks.items():
        damaged = [found.part for found in findings if found.problem and found.part in needed]
        findings.append(_finding(folder / manifest.version, manifest, part, check, damaged))
    return findings


def _finding(
    version: Path, manifest: Manifest, part: str, check: _Check, damaged: Sequence[str]
) -> Finding:
    try:
        check_files(version, manifest, part)
        _require(not damaged, f"cannot be checked: {' and '.join(damaged)} must be whole for that")
        return Finding(part, check(version, manifest))
    except (AtlasError, OSError) as error:
        return Finding(part, "", str(error))
    except Exception as error:
        # SQLite, zlib, NumPy, tantivy and Chroma each raise their own for what they cannot read
        return Finding(part, "", f"cannot be read ({type(error).__name__}: {error})")


def _check_manifest(version: Path, manifest: Manifest) -> str:
    _require(Manifest.read(version) == manifest, "the version's own is another")
    return "the version's own is the same"


def _check_records(version: Path, manifest: Manifest) -> str:
    records = Records(version / RECORDS, manifest.languages)
    try:
        _require(records.check() == "ok", f"SQLite: {records.check()}")
        counts = records.passage_counts()
        _require(sum(counts) == manifest.passages, f"it has {sum(counts)} passages")
        _require(len(counts) == manifest.documents, f"it has {len(counts)} documents")
        for index in range(len(counts)):
            document, passages = records.stored_document(index)
            for passage in passages:
                cut = document.text[passage.start : passage.end]
                _require(bool(cut) and passage.text == cut, f"{passage.id} is not in its document")
    finally:
        records.close()
    return f"{len(counts)} documents, every span of {sum(counts)} passages"


def _check_embeddings(version: Path, manifest: Manifest) -> str:
    found = Embeddings.read(version / EMBEDDINGS)
    shape = (manifest.passages, manifest.embedding.dimension)
    _require(found.vectors.shape == shape, f"the vectors have shape {found.vectors.shape}")
    lengths = np.linalg.norm(found.vectors, axis=1)
    _require(bool(np.all(np.abs(lengths - 1) < SAME)), "there are vectors not of unit length")
    for passage in _passages(version, manifest, range(manifest.passages)):
        same = found.digests[passage.row].tobytes() == text_digest(passage.embedded)
        _require(same, f"vector {passage.row} is not that of its passage")
    return f"{manifest.passages} vectors and the texts they belong to"


def _check_tokens(version: Path, manifest: Manifest) -> str:
    by = f"they were analysed by another version of Atlas ({manifest.analyser})"
    _require(manifest.analyser == ANALYSER_VERSION, by)
    table = TokenTable.read(version / TOKENS)
    _require(table.passages == manifest.passages, f"it has {table.passages} passages")
    terms = list(table.vocabulary)
    rows = sample(table.passages)
    for passage in _passages(version, manifest, rows):
        stored = [terms[id_] for id_ in table.words.row(passage.row)]
        same = stored == [word.term for word in words(passage.text, passage.language)]
        _require(same, f"the words of passage {passage.row} are not those of its text")
    return f"{table.passages} passages, the words of {len(rows)} analysed again"


def _check_words(version: Path, manifest: Manifest) -> str:
    _require(bool(files_of(manifest, WORDS)), no_words(manifest.collection).removesuffix("."))
    by = f"they were analysed by another version of Atlas ({manifest.analyser})"
    _require(manifest.analyser == ANALYSER_VERSION, by)
    table = WordTable.read(version / WORDS)
    _require(table.documents == manifest.documents, f"it has {table.documents} documents")
    _require(len(table.firsts) == manifest.passages, f"it has {len(table.firsts)} passages")
    records = Records(version / RECORDS, manifest.languages)
    documents = sample(table.documents)
    try:
        for index in documents:
            document, passages = records.stored_document(index)
            whole = WordWriter()
            spans = [TextSpan(passage.start, passage.end) for passage in passages]
            whole.add(document.text, manifest.languages[document.corpus], spans)
            first = passages[0].row if passages else 0
            same = table.is_same(index, first, whole.table())
            _require(same, f"the words of document {index} are not those of its text")
    finally:
        records.close()
    return f"{len(table.tokens)} words, those of {len(documents)} documents read again"


def _check_keywords(version: Path, manifest: Manifest) -> str:
    keywords = Keywords(version / KEYWORDS)
    _require(keywords.count == manifest.passages, f"it has {keywords.count} passages")
    table = TokenTable.read(version / TOKENS)
    terms = list(table.vocabulary)
    rows = sample(table.passages)
    corpora = _corpora(manifest)
    for row in rows:
        found = distinct(terms[id_] for id_ in table.words.row(row))
        document = int(table.document_of[row])
        siblings = int(np.count_nonzero(table.document_of == document))
        hits = keywords.matching(corpora[row], found, siblings, [document])
        _require(not found or row in hits.rows, f"passage {row} is not found by its words")
    keywords.close()
    return f"{keywords.count} passages, {len(rows)} found by their words"


def _check_chroma(version: Path, manifest: Manifest) -> str:
    records = Records(version / RECORDS, manifest.languages)
    ids = records.passage_ids()
    records.close()
    embeddings = Embeddings.read(version / EMBEDDINGS)
    vectors = Vectors(version / CHROMA, [corpus.id for corpus in manifest.corpora])
    recalls: dict[str, float] = {}
    try:
        start = 0
        for corpus in manifest.corpora:
            rows = {id_: at for at, id_ in enumerate(ids[start : start + corpus.passages])}
            own = embeddings.vectors[start : start + corpus.passages]
            start += corpus.passages
            seen = 0
            for found, stored in vectors.items(corpus.id):
                strange = [id_ for id_ in found if id_ not in rows]
                _require(not strange, f"{corpus.id} has {strange[:1]}, which is no passage")
                expected = own[[rows[id_] for id_ in found]]
                off = float(np.abs(stored - expected).max(initial=0.0))
                _require(off < SAME, f"{corpus.id} has vectors that are not the passages'")
                seen += len(found)
            _require(seen == corpus.passages, f"{corpus.id} has {seen} vectors")
            recalls[corpus.id] = index_recall(vectors, corpus.id, rows, own)
    finally:
        vectors.close()
    for name, recall in recalls.items():
        measured = manifest.index_recalls.get(name)
        least = measured.recall - WORSE if measured else LEAST_RECALL
        _require(recall >= least, f"{name} finds only {recall:.1%} of the true nearest passages")
    worst = min(recalls.values(), default=1.0)
    unproven = "".join(
        f"; {name} has no digest: `atlas store verify --write` gives it one"
        for name in without_digest(manifest)
    )
    return (
        f"{len(ids)} vectors; {worst:.1%} or more of the {DEPTH} nearest found in each corpus"
        f"{unproven}"
    )


def _passages(version: Path, manifest: Manifest, rows: range | list[int]) -> Iterator[Passage]:
    records = Records(version / RECORDS, manifest.languages)
    try:
        for start in range(0, len(rows), 1000):
            yield from records.passages(rows[start : start + 1000])
    finally:
        records.close()


def _corpora(manifest: Manifest) -> list[str]:
    return [corpus.id for corpus in manifest.corpora for _ in range(corpus.passages)]


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise DamagedStore(problem)
