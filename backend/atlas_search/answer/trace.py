"""What the root span of an answer says: who asked what of whom, and what came of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from atlas_search.answer.answer import Answer, Writer
from atlas_search.answer.prompts import version_of
from atlas_search.answer.run import AnswerRun, describe_writer
from atlas_search.core.telemetry import names as gen_ai
from atlas_search.core.telemetry.names import Ids
from atlas_search.core.telemetry.span import Span, TracedDocument
from atlas_search.providers.chat import Usage
from atlas_search.search.trace import (
    describe_collection,
    describe_counts,
    describe_index,
    score_name,
)


@dataclass(frozen=True, slots=True)
class Estimate(Usage):
    """Tokens as Atlas counts them, for the provider did not say."""


@contextmanager
def tell_spent(span: Span, run: AnswerRun) -> Iterator[None]:
    """If the block fails or is stopped, let the root say what was spent until then.

    Under names of its own: Phoenix adds up the token counts of all spans.
    """
    try:
        yield
    except Exception:
        spent = run.writer()
        span.set(
            prompt_tokens=spent.usage.prompt_tokens,
            completion_tokens=spent.usage.completion_tokens,
            estimated=any(isinstance(each, Estimate) for each in run.spent),
        )
        if spent.cost is not None:
            span.set(cost=spent.cost)
        raise


def ids_of(run: AnswerRun) -> Ids:
    """What every span of an answer says."""
    request = run.request
    return Ids(request.session_id, request.qa_id, request.user_id)


def describe_request(span: Span, run: AnswerRun) -> None:
    """What is asked, in which way, and how it is to be answered."""
    if not span.recorded:
        return
    request, target = run.request, run.target
    span.input(run.question)
    span.set(**{gen_ai.OPERATION: "invoke_workflow", gen_ai.WORKFLOW: "ask"})
    span.set(
        target=request.target_name,
        composite_target=request.run_name,
        target_llm_provider=target.llm_provider,
        target_llm_model=run.model_name,
        system_prompt=target.system_prompt,
        system_prompt_version=version_of(run.answerer.rules[target.system_prompt]),
        mode=request.mode,
        streamed=request.streamed,
        history_turns=len(request.history),
        search_k=request.search.limit,
        corpus_filter=request.search.corpus_filter,
        reranker=target.reranker,
        balance=target.balance,
        citation_limit=target.citation_limit,
        answer_threshold=run.threshold,
        answer_likelihood=run.likelihood,
    )
    describe_collection(span, run.answerer.searcher.store.manifest)
    span.metadata(_metadata(run))


def describe_answer(span: Span, run: AnswerRun, answer: Answer, writer: Writer) -> None:
    """What came of it; `writer` is who wrote it first, if it was kept since."""
    if not span.recorded:
        return
    span.output(answer.text or answer.outcome.message)
    span.set(
        decision=answer.outcome.decision,
        reason=answer.outcome.code,
        cache_hit=answer.cache_hit,
        citations=len(answer.citations),
        conflicts=len(answer.conflicts),
        fallback=writer.fallback.code if writer.fallback else "none",
        attempts=answer.writer.attempts,
        large_retrieval_size=answer.result.depth,
        documents_searched=answer.scope.documents,
        passages_searched=answer.scope.passages,
    )
    describe_writer(span, writer)
    describe_index(span, run.answerer.searcher.store, run.request.search, answer.result)
    per_corpus = answer.result.retrieval(answer.citations)["per_corpus"]
    describe_counts(span, answer.result, {c: of["cited"] for c, of in per_corpus.items()})
    span.metadata({**_metadata(run), "per_corpus": per_corpus})
    _list_passages(span, answer)


def _metadata(run: AnswerRun) -> dict[str, object]:
    request = run.request
    return {
        "composite_target": request.run_name,
        "corpus_filter": request.search.corpus_filter,
    }


def _list_passages(span: Span, answer: Answer) -> None:
    """The passages in the order of the answer, which feedback on single ones relies on.

    Their texts are in the span of the search.
    """
    cited = {citation.passage.id for citation in answer.citations}
    kind = score_name(answer.request.target)
    span.list_retrieved(
        [
            TracedDocument(
                item.passage.id,
                item.ranked.score,
                facts={
                    "corpus": item.passage.corpus,
                    "score_is": kind,
                    "cited": item.passage.id in cited,
                    "signals": item.ranked.signals,
                },
            )
            for item in answer.result.passages
        ]
    )
