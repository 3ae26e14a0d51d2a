"""What is kept of an answer, so that it can be rated long after it was given."""

from datetime import UTC

from pydantic import BaseModel, ConfigDict

from atlas_search.answer.answer import Answer


class RatedPlace(BaseModel):
    """A passage of an answer, or what it cites; `quote` only if texts may be kept."""

    model_config = ConfigDict(frozen=True)

    passage_id: str
    document_id: str
    quote: str = ""


class RatedAnswer(BaseModel):
    """An answer without what is not needed to rate it.

    `span_id` is empty if it was not traced. `question`, `answer` and quotes are empty if texts may
    not be kept. `passages` and `citations` are in the order of the answer document. `standalone` is
    what a follow-up was rewritten into; `follow_up` says that one was not, and cannot be understood
    without what was asked before.
    """

    model_config = ConfigDict(frozen=True)

    qa_id: str
    owner: str
    session_id: str
    created: str
    trace_id: str
    span_id: str
    target: str
    composite_target: str
    provider: str
    model: str
    collection: str
    collection_version: str
    corpora: tuple[str, ...]
    narrowed: bool
    mode: str
    decision: str
    reason: str
    follow_up: bool
    question: str
    standalone: str
    answer: str
    passages: tuple[RatedPlace, ...]
    citations: tuple[RatedPlace, ...]


def rated(answer: Answer, owner: str, *, content: bool) -> RatedAnswer:
    """What is kept of an answer of `owner`'s; texts only with `content`."""
    request = answer.request
    return RatedAnswer(
        qa_id=request.qa_id,
        owner=owner,
        session_id=request.session_id,
        created=answer.created.astimezone(UTC).isoformat(timespec="seconds"),
        trace_id=answer.trace_id if answer.span_id else "",
        span_id=answer.span_id,
        target=request.target_name,
        composite_target=request.run_name,
        provider=answer.writer.provider,
        model=answer.writer.model,
        collection=answer.collection,
        collection_version=answer.collection_version,
        corpora=request.search.corpora,
        narrowed=not request.search.every_corpus or answer.scope.narrowed,
        mode=request.mode,
        decision=answer.outcome.decision,
        reason=answer.outcome.code,
        follow_up=not answer.standalone and bool(answer.read_as or answer.standalone_note),
        question=request.search.question if content else "",
        standalone=answer.standalone if content else "",
        answer=answer.text if content else "",
        passages=tuple(
            RatedPlace(passage_id=item.passage.id, document_id=item.passage.document_id)
            for item in answer.result.passages
        ),
        citations=tuple(
            RatedPlace(
                passage_id=cited.passage.id,
                document_id=cited.passage.document_id,
                quote=cited.quote if content else "",
            )
            for cited in answer.citations
        ),
    )
