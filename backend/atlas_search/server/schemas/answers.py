"""Answers as they are sent."""

from collections.abc import Sequence
from dataclasses import asdict

from atlas_search.answer.answer import Answer, Point, Writer
from atlas_search.answer.check.citations import Verification
from atlas_search.answer.conflicts import Conflict, Side
from atlas_search.answer.decide import Outcome
from atlas_search.core.domain import CheckedSentence, Citation
from atlas_search.server.schemas.answer_schemas import (
    AnswerOut,
    CheckedSentenceOut,
    CitationOut,
    ComparisonOut,
    ConflictOut,
    ContextOut,
    CorpusAnswerOut,
    FallbackOut,
    PointOut,
    ReasonOut,
    SentenceOut,
    SideOut,
    UsageOut,
    ValidationOut,
)
from atlas_search.server.schemas.responses import ranked_passage_out, retrieval_out
from atlas_search.services import Services


def answer_out(answer: Answer, services: Services) -> AnswerOut:
    """An answer as it is sent, with its passages."""
    request, verification = answer.request, answer.verification
    manifest = services.store.manifest
    citations = answer.citations
    return AnswerOut(
        qa_id=request.qa_id,
        session_id=request.session_id,
        trace_id=answer.trace_id,
        target=request.target_name,
        composite_target=request.run_name,
        collection=manifest.collection,
        collection_version=manifest.version,
        created=answer.created.isoformat(timespec="seconds"),
        question=request.search.question,
        mode=request.mode,
        standalone_question=answer.standalone or None,
        standalone_note=answer.standalone_note or None,
        decision=answer.outcome.decision,
        reason=_reason(answer.outcome),
        answer=answer.text or None,
        sentences=_sentences(answer.outcome, verification, citations),
        citations=[_citation(citation) for citation in citations],
        validation=ValidationOut(
            citation_valid=verification.valid,
            errors=list(verification.errors),
            warnings=list(verification.warnings),
            sentence_groundedness=verification.sentence_groundedness,
            answer_grounded=verification.answer_grounded,
        ),
        conflicts=[_conflict(conflict) for conflict in answer.conflicts],
        comparison=_comparison(answer, citations) if request.mode == "compare" else None,
        fallback=_fallback(answer.writer),
        retrieval=retrieval_out(answer.result, citations),
        passages=[ranked_passage_out(item) for item in answer.result.passages],
        context=ContextOut.model_validate(answer.context, from_attributes=True),
        timings_ms=dict(answer.timings_ms),
        usage=UsageOut(
            provider=answer.writer.provider,
            model=answer.writer.model,
            attempts=answer.writer.attempts,
            cost=answer.writer.cost,
            **asdict(answer.writer.usage),
        ),
        cache_hit=answer.cache_hit,
    )


def _place(citation: Citation) -> tuple[str, int, int]:
    return citation.marker, citation.start, citation.end


def _citation(citation: Citation) -> CitationOut:
    passage = citation.passage
    return CitationOut(
        marker=citation.marker,
        passage_id=passage.id,
        document_id=passage.document_id,
        corpus=passage.corpus,
        title=passage.title,
        page=passage.page,
        section=passage.section or None,
        speaker=passage.speaker or None,
        date=passage.date or None,
        url=passage.url or None,
        start=citation.start,
        end=citation.end,
        quote=citation.quote,
        metadata=dict(passage.metadata),
    )


def _sentences(
    outcome: Outcome, verification: Verification, citations: Sequence[Citation]
) -> list[SentenceOut]:
    if outcome.decision != "ANSWER":
        return []
    return [
        SentenceOut(
            text=sentence.text,
            citations=_indices(sentence.citations, citations),
            grounded=sentence.grounded,
            caveat=sentence.caveat,
        )
        for sentence in verification.sentences
    ]


def _indices(of: Sequence[Citation], citations: Sequence[Citation]) -> list[int]:
    places = [_place(citation) for citation in citations]
    return [places.index(_place(citation)) for citation in of]


def checked_sentence_out(sentence: CheckedSentence) -> CheckedSentenceOut:
    """A sentence as its verification is sent while the answer is written."""
    return CheckedSentenceOut(
        text=sentence.text,
        markers=[citation.marker for citation in sentence.citations],
        grounded=sentence.grounded,
        caveat=sentence.caveat,
        errors=list(sentence.errors),
        warnings=list(sentence.warnings),
    )


def _comparison(answer: Answer, citations: Sequence[Citation]) -> ComparisonOut:
    found = answer.comparison
    return ComparisonOut(
        answers=[
            CorpusAnswerOut(
                corpus=part.corpus,
                decision=part.outcome.decision,
                reason=_reason(part.outcome),
                answer=part.text or None,
                sentences=_sentences(part.outcome, part.verification, citations),
            )
            for part in found.answers
        ],
        agreements=[_point(point, citations) for point in found.agreements],
        differences=[_point(point, citations) for point in found.differences],
    )


def _point(point: Point, citations: Sequence[Citation]) -> PointOut:
    return PointOut(text=point.text, citations=_indices(point.citations, citations))


def _reason(outcome: Outcome) -> ReasonOut:
    return ReasonOut(code=outcome.code, message=outcome.message, numbers=dict(outcome.numbers))


def _fallback(writer: Writer) -> FallbackOut | None:
    return FallbackOut(**asdict(writer.fallback)) if writer.fallback else None


def _conflict(conflict: Conflict) -> ConflictOut:
    return ConflictOut(
        kind=conflict.kind,
        detail=conflict.detail,
        stated=conflict.stated,
        first=_side(conflict.first),
        second=_side(conflict.second),
    )


def _side(side: Side) -> SideOut:
    passage = side.passage
    return SideOut(
        passage_id=passage.id,
        document_id=passage.document_id,
        corpus=passage.corpus,
        title=passage.title,
        date=passage.date or None,
        marker=passage.marker,
        start=side.start,
        end=side.end,
        quote=side.quote,
    )
