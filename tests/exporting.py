"""Answers to export, and the libraries that read exports again."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import bibtexparser
import rispy
from bibtexparser.middlewares import LatexDecodingMiddleware
from hypothesis import strategies as st

from atlas_search.documents.export import Format, export

BASE = "http://atlas.test:8000"
LINK = f"{BASE}/?passage=legal_uk.r-v-r-1991%3A10-42"
NASTY = "50% {of} \\emph{it} & $5 #1 a_b <b>x</b> ~^ \"q\" `` '' -- |c| 'naïve' שלום 漢字"
TEXTS = st.text(max_size=40)


def citation(**changes: object) -> dict[str, Any]:
    return {
        "marker": "[legal_uk.r-v-r-1991 p1]",
        "passage_id": "legal_uk.r-v-r-1991:10-42",
        "document_id": "legal_uk.r-v-r-1991",
        "corpus": "legal_uk",
        "title": "R v R",
        "page": 1,
        "section": "DECISION",
        "speaker": None,
        "date": "1991-10-23",
        "url": "https://www.bailii.org/uk/cases/UKHL/1991/12.html",
        "start": 10,
        "end": 42,
        "quote": "A husband can be guilty of rape.",
        "metadata": {
            "court": "House of Lords",
            "author": "Lord Keith of Kinkel",
            "source": "[1991] UKHL 12",
        },
    } | changes


def answer(*citations: Mapping[str, object], **changes: object) -> dict[str, Any]:
    cited = list(citations)
    return {
        "qa_id": "q1",
        "session_id": "s1",
        "trace_id": "0" * 32,
        "created": "2026-01-02T03:04:05Z",
        "question": "Can a husband be guilty?",
        "decision": "ANSWER",
        "reason": {"code": "answered", "message": "The passages support an answer."},
        "answer": "He can.",
        "sentences": [{"text": "He can.", "citations": [*range(len(cited))], "grounded": True}],
        "citations": cited,
        "target": "default",
        "collection": "atlas_demo",
        "collection_version": "v1",
        "usage": {"provider": "extractive", "model": "", "prompt_tokens": 0},
    } | changes


def refused(**changes: object) -> dict[str, Any]:
    reason = {"code": "no_evidence", "message": "No passage is similar enough."}
    fields = {"decision": "ABSTAIN", "reason": reason, "answer": None, "sentences": []}
    return answer(**(fields | {"qa_id": "q2", "created": "2026-01-02T03:05:00Z"} | changes))


def text(format: Format, *documents: Mapping[str, object]) -> str:
    return export(documents, format, BASE).text


def bibtex_entries(written: str) -> list[Any]:
    library = bibtexparser.parse_string(written, append_middleware=[LatexDecodingMiddleware()])
    assert library.failed_blocks == []
    return library.entries


def ris_entries(written: str) -> list[dict[str, Any]]:
    return rispy.loads(written, delimiter_tags_mapping={})


def csl_items(written: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(written)
    return items


def rows(written: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written, newline="")))
