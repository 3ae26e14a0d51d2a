"""What a reader hands to the build: documents, and reports on files it could not read."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from backend.domain import Document, MetadataValue
from backend.errors import SourceError


@dataclass(frozen=True)
class Skipped:
    """A file that gave no document, and why."""

    source: str
    reason: str


Read = Document | Skipped

MAX_NUMBER = 1e15  # beyond it a number is an identifier, and SQLite would round it


def corpus_folders(root: Path) -> list[Path]:
    """The sub-folders of `root`, one per corpus. Raises SourceError if there are none."""
    if not root.is_dir():
        raise SourceError(f"{root} is not a folder. Give a folder with one sub-folder per corpus.")
    folders = sorted(path for path in root.iterdir() if path.is_dir() and path.name[0] != ".")
    if not folders:
        raise SourceError(f"{root} has no sub-folder. Put each corpus into a folder of its own.")
    for folder in folders:
        if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?", folder.name) or (
            folder.name == "all"
        ):
            raise SourceError(
                f"{folder}: a corpus id begins and ends with a letter or digit, holds only "
                "letters, digits, `_` and `-`, and is not `all`. Rename the folder."
            )
    return folders


def label_of(corpus: str) -> str:
    """A readable label for a corpus id: `legal_us` becomes `Legal US`."""
    return " ".join(
        part.upper() if len(part) <= 2 else part.capitalize() for part in re.split("[_-]", corpus)
    )


def document_ids(corpus: str, files: Iterable[Path]) -> dict[Path, str]:
    """A URL-safe id for each file of a corpus, relative to its folder.

    `2019/Case name.txt` becomes `<corpus>.2019.Case-name`. Files whose ids would be equal all get
    a digest of their path, so an id never depends on which file is read first.
    """
    ids = {file: f"{corpus}.{_slug(file)}" for file in files}
    taken: dict[str, int] = {}
    for id_ in ids.values():
        taken[id_] = taken.get(id_, 0) + 1
    return {file: id_ if taken[id_] == 1 else f"{id_}-{_digest(file)}" for file, id_ in ids.items()}


def normal_metadata(raw: Mapping[str, object]) -> dict[str, MetadataValue]:
    """Metadata with keys in lower case, dates as ISO text, lists as tuples of text."""
    metadata: dict[str, MetadataValue] = {}
    for key, value in raw.items():
        if value is None or value == "" or value == []:
            continue
        if isinstance(value, datetime):
            value = value.date()
        field = str(key).strip().lower()
        # a bare year is a number in YAML
        metadata[field] = str(value) if field == "date" else _value(value)
    return metadata


def _value(value: object) -> MetadataValue:
    if isinstance(value, list | tuple | set):
        return tuple(str(_value(item)) for item in value)
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) and abs(value) < MAX_NUMBER:  # NaN is not
        return value
    return str(value).strip()


def _slug(file: Path) -> str:
    return ".".join(
        re.sub(r"[^A-Za-z0-9_-]+", "-", part).strip("-") or "x"
        for part in file.with_suffix("").parts
    )


def _digest(file: Path) -> str:
    return hashlib.sha256(file.as_posix().encode()).hexdigest()[:8]
