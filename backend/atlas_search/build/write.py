"""Writing the documents, words and keyword index of a version."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atlas_search.build.document_ids import Kept, Placed
from atlas_search.build.live_version import Materials, Ready, standing
from atlas_search.build.statistics import Counted, Counter
from atlas_search.core.addresses import UNLINKED, URL
from atlas_search.core.errors import SourceError
from atlas_search.language.text import content_words, words
from atlas_search.readers.metadata import SUCCESSION_NAMES
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.embedded import PassageIds
from atlas_search.stores.keywords import Entry, Keys, change_keywords, write_keywords
from atlas_search.stores.order import RECENT
from atlas_search.stores.record_writer import RecordWriter, SourceRow, metadata_values
from atlas_search.stores.terms import TokenTable, TokenWriter
from atlas_search.stores.versions import (
    IDS,
    KEYWORDS,
    ORDER,
    PARTS,
    RECORDS,
    TOKENS,
    WORDS,
    file_digest,
)
from atlas_search.stores.words import WordWriter

REBUILD_SHARE = 0.2
"""Vectors removed or replaced, of all, from which the index is built anew: it never forgets them,
and each makes a search a little longer."""


@dataclass(frozen=True)
class Written:
    """What was written of a version: its statistics, the ids of all passages, and where each
    stood in the live version with all its document says; -1 for the others."""

    counter: Counter
    ids: Sequence[str]
    stood: IntArray


def write_records(
    folder: Path,
    parts: Sequence[Kept | Placed],
    sources: Iterable[SourceRow],
    materials: Materials,
) -> Written:
    """Write documents, words and keyword index."""
    kept = any(isinstance(part, Kept) for part in parts)
    tokens, all_words, counter = TokenWriter(), WordWriter(), Counter()
    records = RecordWriter(folder / RECORDS, materials.live.record_files if kept else ())
    ids: list[str] = []
    passages: list[int] = []
    seen: set[str] = set()
    ready_from = materials.reader(tokens)
    for source in sources:
        records.source(source)
    for part in parts:
        if isinstance(part, Kept):
            added = materials.passage_ids[part.rows.start : part.rows.stop]
            _require_new(seen, added, _sources_of(part, materials))
            for run in materials.live.runs(part.documents, part.rows):
                records.keep(*run)
            _keep_words(part, materials, tokens, all_words, counter)
        else:
            ready = ready_from(part)
            added = [passage.id for passage in ready.passages]
            _require_new(seen, added, _sources_of(part, materials))
            records.document(ready.document, ready.provenance, ready.passages)
            counter.add(add_words(part, ready, tokens, all_words))
        ids += added
        passages.append(len(added))
    records.close()
    PassageIds.of(ids).write(folder / IDS)
    table = tokens.table()
    table.write(folder / TOKENS)
    all_words.table().write(folder / WORDS)
    stood, documents = standing(parts, passages)
    target = folder / KEYWORDS
    if not (kept and _change_keywords(target, table, counter, stood, documents, materials)):
        keys = Keys.plain(table.passages, len(documents))
        write_keywords(target, _entries(table, counter, keys.rows, keys))
    return Written(counter, ids, stood)


def _sources_of(part: Kept | Placed, materials: Materials) -> Callable[[int], str]:
    """What gives the source of a passage by its place in the part."""
    if isinstance(part, Placed):
        return lambda _: part.found.source
    first_rows = materials.live.first_rows[part.documents.start : part.documents.stop]

    def source(at: int) -> str:
        document = np.searchsorted(first_rows, part.rows.start + at, side="right") - 1
        return part.sources[int(document)]

    return source


def _change_keywords(
    folder: Path,
    table: TokenTable,
    counter: Counter,
    stood: IntArray,
    stood_documents: IntArray,
    materials: Materials,
) -> bool:
    """Write the keyword index from that of the live version; False if too much has changed."""
    source = materials.keywords
    if source is None:
        return False
    before = materials.live.keyword_keys
    keys = before.after(stood, stood_documents)
    if keys.tombstones > REBUILD_SHARE * table.passages:
        return False
    gone = np.setdiff1d(before.documents, keys.documents).tolist()
    entries = _entries(table, counter, np.flatnonzero(stood < 0), keys)
    change_keywords(source, folder, keys, gone, entries)
    return True


def _keep_words(
    kept: Kept,
    materials: Materials,
    tokens: TokenWriter,
    all_words: WordWriter,
    counter: Counter,
) -> None:
    """Take over the words of documents that stay as they are, and count them."""
    table, words_of_documents = materials.words_of_live
    characters, metadata = materials.live.described(kept)
    fields = [field for own in metadata for field, _ in metadata_values(own)]
    tokens.keep(table, kept.documents, kept.rows, kept.corpus, fields)
    sizes = all_words.keep(words_of_documents, kept.documents, kept.rows)
    counter.keep(kept, characters, sizes, materials.live.passages_of(kept), metadata)


def add_words(place: Placed, ready: Ready, tokens: TokenWriter, all_words: WordWriter) -> Counted:
    """Add the words of a document that is new, or has changed."""
    document, language = ready.document, ready.language
    tokens.document(
        document.corpus,
        tokens.ids(word.term for word in words(document.context_title, language)),
        [
            (field, tokens.ids(_match_terms(field, value, language)))
            for field, value in metadata_values(document.metadata)
        ],
    )
    for each in zip(ready.words, ready.parts, ready.contexts, strict=True):
        tokens.passage(*each)
    size = all_words.add(document.text, language, [passage.span for passage in ready.passages])
    return Counted(place.found, len(document.text), size, len(ready.passages), document.metadata)


def _require_new(seen: set[str], added: Sequence[str], source_of: Callable[[int], str]) -> None:
    """Ids that came with their passages may be those of others. Raises SourceError.

    `source_of` gives the source of a passage by its place among those `added`.
    """
    for at, id_ in enumerate(added):
        if id_ in seen:
            raise two_passages(id_, source_of(at))
        seen.add(id_)


def two_passages(id_: str, source: str) -> SourceError:
    """The error of an id that two passages have."""
    return SourceError(
        f"Two passages have the id {id_!r}, one of them of {source}. Build that source into a "
        "collection of its own."
    )


def digests_of_files(folder: Path, known: Mapping[str, str]) -> dict[str, str]:
    """The digest of every file of a version, by its name in there; of some they are `known`."""
    paths = [path for part in (*PARTS, ORDER) for path in _files(folder, part)]
    names = [path.relative_to(folder).as_posix() for path in paths]
    return {
        name: known.get(name) or file_digest(path) for name, path in zip(names, paths, strict=True)
    }


def sizes(folder: Path) -> dict[str, int]:
    """Bytes of every part."""
    parts = [part for part in (*PARTS, ORDER) if (folder / part).exists()]
    return {part: sum(p.stat().st_size for p in _files(folder, part)) for part in parts}


def _files(folder: Path, part: str) -> list[Path]:
    found = [*(folder / part).rglob("*"), folder / part, folder / f"{part}.{RECENT}"]
    return sorted(path for path in found if path.is_file() and not path.name.startswith("."))


def entries(
    table: TokenTable,
    rows: IntArray,
    keys: IntArray,
    document_keys: IntArray,
    corpora: NDArray[np.str_],
) -> Iterator[Entry]:
    """What the keyword index is to hold of the passages `rows`, which have these keys and those of
    their documents, and are of these corpora."""
    terms = np.array(list(table.vocabulary), dtype=object)
    indexed = table.indexed(rows)
    for at, (key, document, corpus) in enumerate(
        zip(keys.tolist(), document_keys.tolist(), corpora.tolist(), strict=True)
    ):
        found = [term for of, own in indexed for term in terms[of.row(own[at])]]
        yield Entry(key, document, corpus, found)


def _entries(table: TokenTable, counter: Counter, rows: IntArray, keys: Keys) -> Iterator[Entry]:
    corpora = np.repeat(list(counter.passages()), list(counter.passages().values()))
    documents = keys.documents[table.document_of[rows]]
    return entries(table, rows, keys.rows[rows], documents, corpora[rows])


def _match_terms(field: str, value: str | float, language: str) -> list[str]:
    """The stems that must all stand in a question for this value to match it.

    Nobody types a URL or a full citation, titles have a signal of their own, a date is asked for
    by its year and a person by the last name.
    """
    # a question's function words are dropped too: "House of Lords" must match without its "of"
    stems = [word.term for word in content_words(words(str(value), language))]
    addresses = {URL, UNLINKED}
    unmatched = {"title", "source", "content_type", "record_id", *addresses, *SUCCESSION_NAMES}
    if field in unmatched:
        return []
    if field == "date":
        return [stem for stem in stems if re.fullmatch("[0-9]{4}", stem)][:1]
    return stems[-1:] if field in {"author", "speaker"} else stems
