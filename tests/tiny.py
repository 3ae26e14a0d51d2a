"""Tiny collections for tests: built from a few texts with hashes for vectors, and read back."""

import hashlib
import json
import shutil
import sqlite3
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atlas_search.building.chunking import chunking
from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.go_live import Indexing
from atlas_search.building.sources import Sources, by_folder
from atlas_search.building.workers import ReadingLimits
from atlas_search.providers.embedding import Embedder
from atlas_search.readers import Reader
from atlas_search.readers.tables import CsvReader, JsonlReader
from atlas_search.readers.text import TxtReader
from atlas_search.readers.xml.read import XmlReader
from atlas_search.stores.keywords import KeywordIndex
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.terms import TokenTable
from atlas_search.stores.vectors import SUMS, VECTORS, Embeddings, Vectors
from atlas_search.stores.versions import (
    CHROMA,
    EMBEDDINGS,
    KEYWORDS,
    RECENT_RECORDS,
    RECORDS,
    TOKENS,
    WORDS,
)

HNSW = Indexing("hnsw")
"""A vector index of every corpus, however small."""
READERS: dict[str, Reader] = {
    "txt": TxtReader(),
    "csv": CsvReader(),
    "jsonl": JsonlReader(),
    "xml": XmlReader(),
}
FARM = {
    "farm/sheep.md": "---\ntitle: On sheep\ndate: 1901\n---\nSheep give wool.\n",
    "farm/cows.txt": "Cows give milk.\n",
    "town/trade.txt": "Merchants sell cloth.\n",
}


def silent(*_: object) -> None:
    """Take no notice of progress."""


def write_sources(root: Path, files: Mapping[str, str]) -> Path:
    """Make `root` hold exactly these files."""
    shutil.rmtree(root, ignore_errors=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root


def build_tiny(
    sources: Path | Sources,
    folder: Path,
    embedder: Embedder,
    *,
    kind: str = "txt",
    force: bool = False,
    arguments: Mapping[str, Any] | None = None,
    indexing: Indexing = HNSW,
    **cut: Any,
) -> BuildReport:
    """Build or update the collection in `folder`; a folder of sources has a corpus a sub-folder."""
    reader = READERS[kind]
    given = dict(arguments or {"source": [str(sources)]})
    found = sources if isinstance(sources, Sources) else by_folder([sources], reader.suffixes, "")
    # to start a process takes longer than to read what is tiny
    options = BuildOptions(
        folder.name,
        kind,
        chunking(**cut),
        force,
        given,
        limits=ReadingLimits(0),
        indexing=indexing,
    )
    return build(folder, found, reader, embedder, options, silent)


def document_ids(folder: Path) -> list[str]:
    """The id of every document of the live version, in order."""
    return [row["id"] for row in rows(folder, "SELECT id FROM documents ORDER BY document")]


def rows(folder: Path, query: str) -> list[dict[str, Any]]:
    """What a query of the live version's documents gives, as if they were in one file."""
    connection = sqlite3.connect(live(folder) / RECORDS)
    connection.row_factory = sqlite3.Row
    if (live(folder) / RECENT_RECORDS).exists():
        connection.execute("ATTACH DATABASE ? AS recent", (str(live(folder) / RECENT_RECORDS),))
        stays = "document NOT IN (SELECT document FROM recent.gone)"
        is_read = "(origin, name) NOT IN (SELECT origin, name FROM recent.gone_sources)"
        tables = dict.fromkeys(("documents", "passages", "metadata", "texts"), stays)
        for table, condition in (tables | {"sources": is_read}).items():
            connection.execute(
                f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE {condition} "
                f"UNION ALL SELECT * FROM recent.{table}"
            )
    found = [dict(row) for row in connection.execute(query)]
    connection.close()
    return found


def write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    """Put a changed manifest in the place of a collection's, with a digest of all it says."""
    said = {name: value for name, value in content.items() if name != "digest"}
    digest = hashlib.sha256(json.dumps(said).encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(said | {"digest": digest}))


def live(folder: Path) -> Path:
    """The folder of the live version."""
    return folder / Manifest.read(folder).version


def index(folder: Path) -> dict[str, tuple[list[str], NDArray[np.float32]]]:
    """Ids in order and vectors of every corpus in the live version's Chroma folder."""
    corpora = [corpus.id for corpus in Manifest.read(folder).corpora]
    opened = Vectors(live(folder) / CHROMA, corpora, lists=True)
    found = {corpus: next(opened.items(corpus)) for corpus in corpora}
    opened.close()
    return found


def keyword_hits(folder: Path, term: str) -> list[str]:
    """Ids of the passages of all corpora that the live version's keyword index finds for a stem."""
    ids = [row["id"] for row in rows(folder, "SELECT id FROM passages ORDER BY row")]
    keywords = KeywordIndex(live(folder) / KEYWORDS)
    corpora = [corpus.id for corpus in Manifest.read(folder).corpora]
    return [ids[row] for c in corpora for row in sorted(keywords.matching(c, [term], 1000).rows)]


def contents(folder: Path) -> dict[str, Any]:
    """All that the live version holds but its vectors, so that equal stores give equal values.

    Words are compared by the digests of their files, so byte for byte; the keyword index by the
    passages of every stem, for its scores count removed ones for a while; Chroma by its ids.
    """
    manifest = Manifest.read(folder)
    said = manifest.model_dump(mode="json", include={"content_digest", "fields", "truncated_share"})
    parts = (TOKENS, WORDS, EMBEDDINGS)
    arrays = {n: d for n, d in manifest.files.items() if n.split("/")[0] in parts}
    del arrays[f"{EMBEDDINGS}/{VECTORS}"], arrays[f"{EMBEDDINGS}/{SUMS}"]
    keywords = KeywordIndex(live(folder) / KEYWORDS)
    terms = TokenTable.read(live(folder) / TOKENS).vocabulary
    tables = ("documents", "passages", "metadata")
    return {
        "manifest": said,
        "corpora": [c.model_dump(exclude={"seconds", "reads_like"}) for c in manifest.corpora],
        "origins": {k: o.model_dump(exclude={"arguments"}) for k, o in manifest.origins.items()},
        "arrays": arrays,
        "sources": rows(folder, "SELECT name, origin, fingerprint, remarks, bytes FROM sources"),
        **{table: rows(folder, f"SELECT * FROM {table} ORDER BY rowid") for table in tables},
        "texts": [
            zlib.decompress(row["content"]).decode()
            for row in rows(folder, "SELECT content FROM texts ORDER BY document, block")
        ],
        "keywords": {
            (corpus.id, term): sorted(keywords.matching(corpus.id, [term], 1000).rows.tolist())
            for corpus in manifest.corpora
            for term in terms
        },
        "chroma": {corpus: ids for corpus, (ids, _) in index(folder).items()},
    }


def all_vectors(folder: Path) -> NDArray[np.float32]:
    """The vectors of all passages as the live version keeps them, then as its index does."""
    kept = Embeddings.read(live(folder) / EMBEDDINGS).vectors
    return np.concatenate([kept, *(found for _, found in index(folder).values())])


def json_lines(texts: Mapping[str, str]) -> str:
    """A JSON Lines file: a document for each id."""
    return "".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in texts.items())
