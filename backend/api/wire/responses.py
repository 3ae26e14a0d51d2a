"""Answers, results and documents as they are sent."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from backend.answer.flow import Answer
from backend.api.wire.requests import FindBody, facet_fields
from backend.api.wire.schemas import (
    AnswerOut,
    CandidateOut,
    CitationOut,
    ConfidenceOut,
    CorpusCountsOut,
    DocumentOut,
    FreshnessOut,
    PassageOut,
    RankedPassageOut,
    ReasonOut,
    RetrievalOut,
    SearchOut,
    SentenceOut,
    UsageOut,
    ValidationOut,
    ValueOut,
)
from backend.domain import LEGS, AnswerSentence, CheckedPassage, Citation, Document, Passage
from backend.search.explain import explained
from backend.search.facets import facets
from backend.search.flow import SearchResult
from backend.services import Services


def answer_out(answer: Answer, services: Services, *, include_context: bool) -> AnswerOut:
    """An answer as it is sent."""
    request = answer.request
    answered = answer.outcome.decision == "ANSWER"
    citations = answer.verification.citations if answered else ()
    sentences = answer.verification.sentences if answered else ()
    provider = services.providers[request.target.llm_provider]
    verification = answer.verification
    return AnswerOut(
        qa_id=request.qa_id,
        session_id=request.session_id,
        trace_id=answer.trace_id,
        target=request.target_name,
        composite_target=request.run_name,
        question=request.search.question,
        decision=answer.outcome.decision,
        reason=ReasonOut(code=answer.outcome.code, message=answer.outcome.message),
        answer=answer.text or None,
        sentences=[_sentence(sentence, citations) for sentence in sentences],
        citations=[_citation(citation) for citation in citations],
        validation=ValidationOut(
            citation_valid=verification.valid,
            errors=list(verification.errors),
            warnings=list(verification.warnings),
            sentence_groundedness=verification.sentence_groundedness,
            answer_grounded=verification.answer_grounded,
        ),
        retrieval=retrieval_out(answer.result, citations),
        passages=(
            [ranked_passage_out(item) for item in answer.result.passages]
            if include_context
            else None
        ),
        timings_ms=dict(answer.timings_ms),
        usage=UsageOut(provider=provider.name, model=provider.model, **asdict(answer.usage)),
        cache_hit=False,
    )


def search_out(
    result: SearchResult, body: FindBody, services: Services, total_ms: float
) -> SearchOut:
    """A search result as it is sent."""
    name, _ = services.target(body.target)
    fields = facet_fields(body, services)
    return SearchOut(
        question=body.question.strip(),
        target=name,
        passages=[ranked_passage_out(item) for item in result.passages],
        retrieval=retrieval_out(result, ()),
        facets=_facets(services, result, fields) if body.facets else None,
        candidates=(
            [
                CandidateOut.model_validate(asdict(candidate))
                for candidate in explained(services.store, result.candidates, result.ranking)
            ]
            if body.explain
            else None
        ),
        timings_ms={**result.timings_ms, "total": total_ms},
    )


def _facets(
    services: Services, result: SearchResult, fields: Sequence[str]
) -> dict[str, list[ValueOut]]:
    found = facets(services.store, result.ranking, fields)
    return {
        field: [ValueOut(value=count.value, documents=count.documents) for count in counts]
        for field, counts in found.items()
    }


def retrieval_out(result: SearchResult, citations: tuple[Citation, ...]) -> RetrievalOut:
    """How the passages of `result` were found, and how many of each corpus were cited."""
    return RetrievalOut(
        legs=list(LEGS),
        corpora=list(result.per_corpus),
        depth=result.depth,
        reranker=result.target.reranker,
        balance=result.target.balance,
        sub_questions=[part.question for part in result.candidates.parts],
        required=[" ".join(phrase) for phrase in result.query.required],
        excluded=[" ".join(phrase) for phrase in result.query.excluded],
        spellings={term: list(others) for term, others in result.query.spellings.items()},
        per_corpus={
            corpus: CorpusCountsOut(
                **asdict(counts),
                cited=len({c.passage.id for c in citations if c.passage.corpus == corpus}),
            )
            for corpus, counts in result.per_corpus.items()
        },
        confidence=ConfidenceOut(**asdict(result.confidence)),
        freshness=FreshnessOut(**asdict(result.freshness)),
        warnings=list(result.warnings),
    )


def passage_out(passage: Passage) -> PassageOut:
    """A passage as it is sent."""
    return PassageOut(**_passage_fields(passage))


def ranked_passage_out(item: CheckedPassage) -> RankedPassageOut:
    """A ranked passage as it is sent."""
    return RankedPassageOut(
        **_passage_fields(item.passage),
        score=item.ranked.score,
        signals=dict(item.ranked.signals),
        valid=item.valid,
        overlap=item.overlap,
        highlights=[asdict(highlight) for highlight in item.highlights],
        duplicates=list(item.ranked.duplicates),
    )


def document_out(document: Document, passages: list[Passage]) -> DocumentOut:
    """A document as it is sent."""
    return DocumentOut(
        document_id=document.id,
        corpus=document.corpus,
        title=document.title,
        text=document.text,
        metadata=dict(document.metadata),
        source=document.source,
        passages=[passage_out(passage) for passage in passages],
    )


def _passage_fields(passage: Passage) -> dict[str, Any]:
    return {
        "passage_id": passage.id,
        "document_id": passage.document_id,
        "corpus": passage.corpus,
        "title": passage.title,
        "text": passage.text,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "line": passage.line,
        "section": passage.section or None,
        "speaker": passage.speaker or None,
        "date": passage.date or None,
        "url": passage.url or None,
        "metadata": dict(passage.metadata),
        "marker": passage.marker,
    }


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
    )


def _sentence(sentence: AnswerSentence, citations: tuple[Citation, ...]) -> SentenceOut:
    return SentenceOut(
        text=sentence.text,
        citations=[citations.index(citation) for citation in sentence.citations],
        grounded=sentence.grounded,
    )
