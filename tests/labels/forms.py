"""Label sets made for tests, in the forms that projects keep them in."""

import json
from collections.abc import Mapping
from pathlib import Path

QUESTION = "Who repairs the bridge?"
OTHER = "Who grinds the corn?"
UNKNOWN = "Who painted the chapel?"


def lines(path: Path, *rows: object) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")
    return path


def document(path: Path, value: object) -> Path:
    """A file of one JSON document."""
    path.write_text(json.dumps(value, indent=2), "utf-8")
    return path


def text(path: Path, content: str) -> Path:
    """A file with this content, its line ends kept."""
    path.write_text(content, "utf-8", newline="")
    return path


def benchmark(folder: Path, queries: list[Mapping[str, object]], **qrels: str) -> Path:
    """A benchmark folder: `qrels` by name, `qrels__tsv` beside the queries, others below qrels."""
    folder.mkdir(exist_ok=True)
    lines(folder / "queries.jsonl", *queries)
    for name, content in qrels.items():
        own = name == "qrels__tsv"
        path = folder / "qrels.tsv" if own else folder / "qrels" / f"{name}.tsv"
        path.parent.mkdir(exist_ok=True)
        text(path, content)
    return folder
