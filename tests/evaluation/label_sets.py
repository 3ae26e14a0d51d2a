"""Label sets as files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path


def lines(path: Path, *rows: object) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")
    return path


def benchmark(folder: Path, queries: Sequence[Mapping[str, object]], **qrels: str) -> Path:
    """A benchmark folder: `qrels` by name, `qrels__tsv` beside the queries, others below qrels."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    lines(folder / "queries.jsonl", *queries)
    for name, content in qrels.items():
        own = name == "qrels__tsv"
        path = folder / "qrels.tsv" if own else folder / "qrels" / f"{name}.tsv"
        path.write_text(content, "utf-8")
    if "qrels__tsv" in qrels:
        (folder / "qrels").rmdir()
    return folder
