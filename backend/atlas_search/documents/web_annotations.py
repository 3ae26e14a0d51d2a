"""Citations and notes as annotations of the Web Annotation Data Model (W3C, 2017)."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from atlas_search.answer.wire import AnswerDocument, without_markers
from atlas_search.core.wire import CitationOut
from atlas_search.documents.references import Base, permalink

_CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_GENERATOR = {"type": "Software", "name": "Atlas"}


def web_annotations(answers: Sequence[AnswerDocument], base: Base) -> str:
    """An annotation of each cited place, for every sentence or point that cites it."""
    items = [item for answer in answers for item in _of_answer(answer, base)]
    return _collection("; ".join(dict.fromkeys(answer.question for answer in answers)), items)


def annotated_citations(
    citations: Sequence[tuple[CitationOut, str]], notes: Sequence[str], base: Base
) -> str:
    """An annotation of each place, each with its collection, and the reader's note on it."""
    padded = [*notes, *[""] * len(citations)]
    items = [
        _annotation(cited, base.of(collection), note, "commenting")
        for (cited, collection), note in zip(citations, padded, strict=False)
    ]
    return _collection("Reading list", items)


def _of_answer(answer: AnswerDocument, base: Base) -> Iterator[dict[str, Any]]:
    links = base.of(answer.collection)
    for part in answer.said:
        text = " ".join(without_markers(part.text).split())
        for index in part.citations:
            cited = answer.citations[index]
            yield _annotation(cited, links, text, "describing") | {
                "created": answer.created,
                "generator": _GENERATOR,
            }


def _annotation(cited: CitationOut, links: str, text: str, purpose: str) -> dict[str, Any]:
    source = permalink(links, cited.passage_id)
    key = json.dumps([source, cited.start, cited.end, text, purpose])
    about = {
        "id": f"urn:sha256:{hashlib.sha256(key.encode()).hexdigest()}",
        "type": "Annotation",
        "motivation": purpose if text else "bookmarking",
        "target": {
            "source": {"id": source, "type": "Text", "label": cited.title},
            "selector": [
                {"type": "TextQuoteSelector", "exact": cited.quote},
                {"type": "TextPositionSelector", "start": cited.start, "end": cited.end},
            ],
        },
    }
    if text:
        body = {"type": "TextualBody", "value": text, "format": "text/plain", "purpose": purpose}
        about["body"] = body
    return about | ({"via": cited.url} if cited.url else {})


def _collection(label: str, items: Sequence[dict[str, Any]]) -> str:
    document = {
        "@context": _CONTEXT,
        "type": "AnnotationCollection",
        "label": label,
        "total": len(items),
        "first": {"type": "AnnotationPage", "startIndex": 0, "items": list(items)},
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
