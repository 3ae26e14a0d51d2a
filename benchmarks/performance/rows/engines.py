"""What the engines alone take to replace documents: the floor below a build."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import CHROMA, KEYWORDS
from benchmarks.performance.embedder import Given
from benchmarks.performance.fresh import processor

BATCH = 5000  # Chroma refuses more than 5461 at once


def change(store: str, work: str, documents: int) -> dict[str, float]:
    """Seconds of processor by engine to remove the last `documents` and to add them again, changed.

    Of a copy of the indexes in `store`. Passages are removed and added whole, as somebody would who
    has the engines and nothing else; texts are words already, vectors at hand.
    """
    folder = Path(store)
    version = folder / Manifest.read(folder).version
    parts = [part for part in (CHROMA, KEYWORDS) if (version / part).exists()]
    for part in parts:
        shutil.copytree(version / part, Path(work) / part)
    opened = EmbeddedStore(folder)
    total = len(opened.corpus_of_documents(np.arange(opened.manifest.documents)))
    first = int(np.searchsorted(opened.tokens.document_of, max(total - documents, 0)))
    rows = np.arange(first, opened.manifest.passages)
    passages = opened.passages(rows.tolist())
    opened.close()
    vectors = Given().embed([f"{passage.text} changed" for passage in passages])
    by_corpus: dict[str, list[int]] = {}
    for at, passage in enumerate(passages):
        by_corpus.setdefault(passage.corpus, []).append(at)
    began = processor()
    if CHROMA in parts:  # small corpora are compared without an index
        _change_chroma(Path(work) / CHROMA, passages, by_corpus, vectors)
    between = processor()
    _change_tantivy(Path(work) / KEYWORDS, passages, rows, max(total - documents, 0), total)
    return {"Chroma": between - began, "tantivy": processor() - between}


def _change_chroma(
    folder: Path, passages: list[Any], by_corpus: dict[str, list[int]], vectors: Any
) -> None:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    held = {collection.name: collection for collection in client.list_collections()}
    for corpus, places in by_corpus.items():
        collection = held.get(f"corpus-{corpus}")
        if collection is None:  # small corpora may be compared without an index
            continue
        for start in range(0, len(places), BATCH):
            batch = places[start : start + BATCH]
            ids = [passages[at].id for at in batch]
            collection.delete(ids=ids)
            collection.add(ids=[f"{id_}+" for id_ in ids], embeddings=vectors[batch])


def _change_tantivy(folder: Path, passages: list[Any], rows: Any, first: int, end: int) -> None:
    index = tantivy.Index.open(str(folder))
    bodies = [passage.text.lower().replace(".", "") for passage in passages]
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    gone = tantivy.Query.term_set_query(index.schema, "document", list(range(first, end)))
    writer.delete_documents_by_query(gone)
    for row, passage, body in zip(rows.tolist(), passages, bodies, strict=True):
        document = tantivy.Document(corpus=passage.corpus, body=body)
        document.add_unsigned("row", row)
        document.add_unsigned("document", end)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
