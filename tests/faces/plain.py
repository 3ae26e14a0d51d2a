"""What is left of a document when all that differs from run to run is taken out."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.places import ROOT

GONE = "~"
"""Stands for a value that differs from run to run."""

VOLATILE = frozenset(
    "trace_id span_id qa_id session_id created collection_version version content_digest digest "
    "embedding_digest fingerprint runtime seconds durations timings_ms disk".split()
)
LONGEST = 2000  # characters of a text that is kept whole
SHOWN = 300  # of a longer one

_PATTERNS = (
    (re.compile(r"\b\d{8}T\d{6}\.\d{6}-[0-9a-f]{8}\b"), "VERSION"),
    (re.compile(r"\b\d{8}T\d{6}-[0-9a-f]{8}\b"), "JOB"),
    (re.compile(r"\bonnxruntime \d[\w.]*"), "onnxruntime VERSION"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)"), "MOMENT"),
    (re.compile(r"http://127\.0\.0\.1:\d{4,5}"), "http://SERVER"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "ID"),
)


def plain(value: Any, places: Mapping[str, str], volatile: frozenset[str] = VOLATILE) -> Any:
    """`value` with numbers rounded, and `volatile` fields, moments and paths replaced."""
    if isinstance(value, Mapping):
        return {
            str(key): _masked(each, places) if key in volatile else plain(each, places, volatile)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain(each, places, volatile) for each in value]
    if isinstance(value, str):
        return plain_text(value, places)
    if isinstance(value, float):
        return round(value, 4)
    known = value is None or isinstance(value, bool | int)
    return value if known else f"{type(value).__name__} {value}"


def _masked(value: Any, places: Mapping[str, str]) -> Any:
    """Whether there is a value can still be seen, and that a dictionary is a description."""
    if isinstance(value, Mapping):
        numbers = all(isinstance(each, int | float) for each in value.values())
        return {str(key): GONE for key in value} if numbers else plain(value, places)
    return GONE if value not in (None, "") else value


def plain_text(text: str, places: Mapping[str, str]) -> str:
    """`text` with folders, moments, versions and ids replaced."""
    for place in sorted([*places, str(ROOT)], key=len, reverse=True):
        text = text.replace(place, places.get(place, "ROOT"))
    for pattern, name in _PATTERNS:
        text = pattern.sub(name, text)
    return text


def sum_of(value: object) -> str:
    """A short digest of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def cut(text: str, longest: int = LONGEST, shown: int = SHOWN) -> Any:
    """A text, or of a longer one its length, digest and beginning."""
    if len(text) <= longest:
        return text
    return {"characters": len(text), "sha256": sum_of(text), "begins": text[:shown]}


def cut_all(value: Any, longest: int = LONGEST, shown: int = SHOWN) -> Any:
    """`value` with its long texts cut."""
    if isinstance(value, Mapping):
        return {key: cut_all(each, longest, shown) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [cut_all(each, longest, shown) for each in value]
    return cut(value, longest, shown) if isinstance(value, str) else value


def brief(value: Any) -> Any:
    """`value` with digests for what passages and citations repeat of their documents."""
    if isinstance(value, list):
        return [brief(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: brief(each) for key, each in value.items()}
    if "passage_id" in found:
        if found.get("metadata"):
            found["metadata"] = f"sha256 {sum_of(found['metadata'])}"
        if "signals" in found and "text" in found:
            found["text"] = f"sha256 {sum_of(found['text'])}"
    return found
