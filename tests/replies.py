"""Replies to questions of an evaluation, made by hand."""

from collections.abc import Mapping, Sequence

from atlas_search.answer.wire import AnswerDocument
from atlas_search.core.domain import MARKER
from atlas_search.core.wire import RankedPassageOut
from atlas_search.evaluation.labels import Decision
from atlas_search.evaluation.metrics import Reply

CHARACTERS = 100
"""Of a passage; the `number`th of a document, from 0, begins at `number` times as many."""


def reply(
    decision: Decision,
    answer: str = "",
    *,
    found: Sequence[str] = (),
    cited: Sequence[str] = (),
    grounded: float = 1.0,
    label_id: str = "q1",
    passages: Sequence[RankedPassageOut] | None = None,
    **fields: object,
) -> Reply:
    """An answer with passages of the documents `found`, that cites the documents `cited`.

    `fields` are further ones of the answer document.
    """
    document = {
        "qa_id": f"eval-{label_id}",
        "session_id": "s1",
        "target": "k10",
        "composite_target": "k10_sentences_hand",
        "collection": "hand",
        "collection_version": "v1",
        "created": "2026-01-01T00:00:00+00:00",
        "question": "?",
        "decision": decision,
        "reason": {"code": decision.lower(), "message": ""},
        "answer": answer or None,
        "sentences": [],
        "citations": [citation(id_) for id_ in cited],
        "validation": {"citation_valid": True, "sentence_groundedness": grounded},
        "passages": [dict(one) for one in passages or [passage(id_) for id_ in found]],
        "usage": {"provider": "extractive", "model": "sentences"},
    }
    read = AnswerDocument.model_validate(document | fields)
    return Reply(label_id=label_id, seconds=0.5, answer=read)


def passage(
    document: str,
    text: str = "Something.",
    *,
    number: int = 0,
    corpus: str = "",
    score: float = 0.5,
    date: str | None = None,
    signals: Mapping[str, float] | None = None,
) -> RankedPassageOut:
    """A passage found; its corpus is what stands before the first full stop of its document."""
    start = number * CHARACTERS
    return RankedPassageOut(
        passage_id=f"{document}.{start}-{start + len(text)}",
        document_id=document,
        corpus=corpus or document.split(".")[0],
        title=document,
        text=text,
        start=start,
        end=start + len(text),
        page=1,
        line=1,
        section=None,
        speaker=None,
        date=date,
        url=None,
        metadata={},
        marker=f"[{document} p{number + 1}]",
        score=score,
        signals=dict(signals or {}),
        valid=True,
        overlap=0.5,
        highlights=[],
        duplicates=[],
    )


def citation(document: str, quote: str = "Something.", *, number: int = 0) -> dict[str, object]:
    """A citation of a passage that `passage` makes."""
    start = number * CHARACTERS
    marker = f"[{document} p{number + 1}]"
    assert MARKER.fullmatch(marker), f"{document} cannot be cited"
    return {
        "marker": marker,
        "passage_id": f"{document}.{start}-{start + len(quote)}",
        "document_id": document,
        "corpus": document.split(".")[0],
        "title": document,
        "page": 1,
        "start": start,
        "end": start + len(quote),
        "quote": quote,
    }
