"""Results and documents as they are sent."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from atlas_search.core.domain import LEGS, CheckedPassage, Citation, Document, Passage
from atlas_search.search.explain import explained
from atlas_search.search.facets import facets
from atlas_search.search.flow import SearchResult, WholeResult
from atlas_search.server.schemas.requests import FindBody, facet_fields
from atlas_search.server.schemas.schemas import (
    CandidateOut,
    ConfidenceOut,
    CorpusCountsOut,
    DocumentOut,
    FreshnessOut,
    PassageOut,
    RankedPassageOut,
    RetrievalOut,
    SearchOut,
    ValueOut,
)
from atlas_search.services import Services


def search_out(
    result: WholeResult, body: FindBody, services: Services, total_ms: float
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
    services: Services, result: WholeResult, fields: Sequence[str]
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
        sub_questions=list(result.sub_questions),
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
