"""The listener of an answer: what its stages have made, as attributes of spans and as counts."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from atlas_search.answer.answer import Answer, Context, Judge, Writer
from atlas_search.answer.check.citations import Verification
from atlas_search.answer.prompts import Filled, version_of
from atlas_search.answer.quotes.choose import Chosen, Extract
from atlas_search.answer.request import AnswerPlan
from atlas_search.core.domain import CheckedPassage
from atlas_search.core.errors import Cancelled
from atlas_search.core.logs import note_in_log
from atlas_search.core.targets import Target
from atlas_search.core.telemetry import names as gen_ai
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.core.telemetry.names import Ids
from atlas_search.core.telemetry.span import (
    LateDocuments,
    Span,
    TracedDocument,
    describe_call,
    describe_prompt,
    describe_reply,
    describe_text,
    describe_writer,
)
from atlas_search.core.telemetry.tracer import Listener, Stage
from atlas_search.providers.chat import ChatOptions, Message, Usage
from atlas_search.providers.reading import AnswerSpan
from atlas_search.search.trace import (
    count_corpora,
    count_stages,
    describe_collection,
    describe_counts,
    describe_index,
    score_name,
)

if TYPE_CHECKING:
    from atlas_search.answer.compare import StatedPoints
    from atlas_search.answer.run import AnswerRun
    from atlas_search.answer.write.condense import Standalone
    from atlas_search.answer.write.relay import Written


@dataclass(frozen=True, slots=True)
class Estimate(Usage):
    """Tokens as Atlas counts them, for the provider did not say."""


@contextmanager
def answering(run: "AnswerRun") -> Iterator[Stage]:
    """Run the whole answer in a trace of its own.

    The answer is counted; so is a question that comes to none, and what its models cost.
    """
    ids = Ids(run.request.session_id, run.request.qa_id, run.request.user_id)
    begun = time.perf_counter()
    try:
        with run.tracer.root("ask", "CHAIN", ids) as span:
            note_in_log(trace_id=span.trace_id)
            _describe_request(span, run)
            try:
                yield Stage(span, partial(_describe_answer, run))
            except Exception:
                _describe_spent(span, run)
                raise
    except Exception as error:
        decision = "CANCELLED" if isinstance(error, Cancelled) else "ERROR"
        reason, seconds = type(error).__name__, time.perf_counter() - begun
        _count_outcome(run.metrics, run.request, decision, reason, seconds, cached=False)
        raise
    finally:
        _count_cost(run)


def _describe_spent(span: Span, run: "AnswerRun") -> None:
    """Set what was spent until a question failed or was stopped.

    Under names of its own: Phoenix adds up the token counts of all spans.
    """
    spent = run.writer()
    span.set(
        prompt_tokens=spent.usage.prompt_tokens,
        completion_tokens=spent.usage.completion_tokens,
        estimated=any(isinstance(each, Estimate) for each in run.spent),
    )
    if spent.cost is not None:
        span.set(cost=spent.cost)


def _describe_request(span: Span, run: "AnswerRun") -> None:
    """Set what is asked, in which way, and how it is to be answered."""
    if not span.recorded:
        return
    request, target = run.request, run.target
    span.call("ask", request.target_name, request.search.corpora_in_words)
    span.input(run.question)
    span.set({gen_ai.OPERATION: "invoke_workflow", gen_ai.WORKFLOW: "ask"})
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


def _describe_answer(run: "AnswerRun", span: Span, answer: Answer, writer: Writer) -> None:
    """Set and count what came of a question; `writer` wrote the answer first, if it was kept."""
    _count_answer(run.metrics, answer)
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
    _set_writer(span, writer)
    describe_index(span, run.answerer.searcher.store, run.request.search, run.target, answer.result)
    per_corpus = answer.result.retrieval(answer.citations).per_corpus
    describe_counts(span, answer.result, {c: of.cited for c, of in per_corpus.items()})
    span.metadata({**_metadata(run), "per_corpus": {c: asdict(of) for c, of in per_corpus.items()}})
    _list_passages(span, answer)


def _metadata(run: "AnswerRun") -> dict[str, object]:
    request = run.request
    return {
        "composite_target": request.run_name,
        "corpus_filter": request.search.corpus_filter,
    }


def _set_writer(span: Span, writer: Writer) -> None:
    if writer.attempts:
        span.set(llm_provider=writer.provider, llm_model=writer.model)


def _list_passages(span: Span, answer: Answer) -> None:
    """List the passages in the order of the answer, which feedback on single ones relies on.

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


def _describe_standalone(run: "AnswerRun", span: Span, standalone: "Standalone") -> None:
    span.output(standalone.question or run.question)
    if standalone.note:
        span.warn(standalone.note)


def _describe_part(_: "AnswerRun", span: Span, written: "Written") -> None:
    """Set what one corpus of a comparison answers."""
    span.set(decision=written.outcome.decision, reason=written.outcome.code)
    _set_writer(span, written.writer)
    span.output(written.text or written.outcome.message)


def _describe_points(_: "AnswerRun", span: Span, stated: "StatedPoints") -> None:
    sides = {"agree": stated.agreements, "differ": stated.differences}
    span.output({side: [point.text for point in points] for side, points in sides.items()})


def _describe_context(_: "AnswerRun", span: Span, context: Context) -> None:
    span.set(
        passages=context.passages,
        passages_dropped=context.passages_dropped,
        passage_tokens=context.passage_tokens,
        chat_turns=context.turns,
        chat_turns_dropped=context.turns_dropped,
        chat_tokens=context.turn_tokens,
    )
    span.output([asdict(message) for message in context.messages])


def _begin_call(
    span: Span,
    provider: str,
    options: ChatOptions,
    messages: Sequence[Message],
    filled: Filled,
    attempt: int,
) -> None:
    """Set what a model is asked, for a call that fails too."""
    describe_call(
        span,
        provider,
        options.model,
        [asdict(message) for message in messages],
        temperature=options.temperature,
        max_tokens=options.max_tokens,
    )
    template = filled.template
    describe_prompt(span, filled.name, template.template, version_of(template), filled.variables)
    span.set(attempt=attempt)


def _describe_reply(
    run: "AnswerRun", span: Span, text: str, usage: Usage, model: str, reason: str
) -> None:
    tokens = (usage.prompt_tokens, usage.completion_tokens)
    cost = run.target.cost(*tokens)
    describe_reply(span, model, text, *tokens, cost=cost, finish_reason=reason)
    if isinstance(usage, Estimate):
        span.set(estimated=True)


def _describe_extract(_: "AnswerRun", span: Span, extract: Extract) -> None:
    span.set(
        passages=len(extract.passages),
        sentence_limit=extract.limit,
        opposed=len(extract.opposed),
        parts=len(extract.parts),
    )
    span.output([item.passage.marker for item in extract.passages])


def _describe_reading(
    target: Target,
    span: Span,
    spans: Mapping[str, AnswerSpan],
    note: str,
    model: str,
    question: str,
    passages: Sequence[CheckedPassage],
) -> None:
    """List the passages as a reader model was given them, and as it found answers in them."""
    span.set(
        model=model,
        passages=len(passages),
        read=len(spans),
        answers=sum(each.score >= target.reader_threshold for each in spans.values()),
    )
    if note:
        span.warn(note)
    if not span.recorded:
        return
    of = {item.passage.id: item.passage for item in passages}
    best = sorted(spans.items(), key=lambda item: -item[1].score)
    ranked_by = {"score_is": score_name(target)}
    candidates = [
        TracedDocument(i.passage.id, i.ranked.score, i.passage, ranked_by) for i in passages
    ]
    read_by = {"score_is": "reader"}
    read = [TracedDocument(id_, each.score, of[id_], read_by) for id_, each in best]
    span.list_reranked(question, model, LateDocuments.of(candidates), LateDocuments.of(read))
    span.output([{"id": id_, "answer": of[id_].text[s:e]} for id_, (s, e, _) in best])


def _begin_quotes(span: Span, provider: str, model: str, question: str) -> None:
    describe_writer(span, provider, model, [{"role": "user", "content": question}])
    span.set({gen_ai.OPERATION: "extract"})


def _describe_quotes(_: "AnswerRun", span: Span, result: Chosen | str) -> None:
    """Set how likely the quotes are to answer, and later the text that is made of them."""
    if isinstance(result, str):
        describe_text(span, result)
        return
    grounds = result.whole.grounds
    span.set(likelihood=round(grounds.likelihood, 4), quotes=len(result.whole.quotes))
    span.metadata({"signs": grounds.to_dict()})


def _describe_check(
    run: "AnswerRun", span: Span, checked: Verification, judge: Judge | None
) -> None:
    if judge:
        _describe_judge(run, span, checked, judge)
    span.output({"errors": list(checked.errors), "warnings": list(checked.warnings)})
    span.set(
        citation_valid=checked.valid,
        sentence_groundedness=checked.sentence_groundedness,
        citations=len(checked.citations),
        verifier=checked.verified_by,
    )


def _describe_judge(_: "AnswerRun", span: Span, checked: Verification, judge: Judge) -> None:
    """Set who judged, and how many sentences are what."""
    span.set(
        judge=judge.verifier,
        judge_model=judge.model,
        supported=sum(sentence.support == "supported" for sentence in checked.sentences),
        not_judged=sum(sentence.support == "not_judged" for sentence in checked.sentences),
        unsupported=sum(doubt.verdict == "unsupported" for doubt in checked.doubts),
        contradicted=sum(doubt.verdict == "contradicted" for doubt in checked.doubts),
        verifier=checked.verified_by,
    )


STAGES: Mapping[str, Listener] = {
    "condense": Listener("CHAIN", _describe_standalone),
    "answer": Listener("CHAIN", _describe_part),
    "compare": Listener("CHAIN", _describe_points),
    "context": Listener("CHAIN", _describe_context),
    "generate": Listener("LLM", _describe_reply, begin=_begin_call),
    "extract": Listener("CHAIN", _describe_extract, "context"),
    "read": Listener("RERANKER", _describe_reading),
    "quote": Listener("LLM", _describe_quotes, "generate", _begin_quotes),
    "verify": Listener("GUARDRAIL", _describe_check),
    "verify points": Listener("GUARDRAIL", _describe_judge, "verify"),
}
"""The stages of an answer that have a span, by name."""


def _count_answer(metrics: Metrics, answer: Answer) -> None:
    """Count an answer, or that the question was declined."""
    request, outcome = answer.request, answer.outcome
    seconds = answer.timings_ms["total"] / 1000
    _count_outcome(
        metrics, request, outcome.decision, outcome.code, seconds, cached=answer.cache_hit
    )
    if answer.cache_hit:  # what it took and found was counted the first time
        return
    count_stages(metrics, request.mode, answer.timings_ms)
    count_corpora(metrics, answer.result, answer.collection)
    if outcome.decision == "ANSWER":
        _count_citations(metrics, answer)


def _count_citations(metrics: Metrics, answer: Answer) -> None:
    cited = Counter(citation.passage.corpus for citation in answer.citations)
    for corpus in answer.result.per_corpus:
        labels = {"collection": answer.collection, "corpus": corpus}
        metrics.record("atlas.corpus.cited", labels, cited[corpus])


def _count_outcome(
    metrics: Metrics,
    request: AnswerPlan,
    decision: str,
    reason: str,
    seconds: float,
    *,
    cached: bool,
) -> None:
    labels = {"target": request.target_name, "mode": request.mode, "decision": decision}
    details = {"reason": reason, "cached": "yes" if cached else "no"}
    metrics.count("atlas.answers", {**labels, **details})
    metrics.record("atlas.answer.duration", labels, seconds)


def _count_cost(run: "AnswerRun") -> None:
    spent = run.writer()
    if spent.cost:
        labels = {"provider": spent.provider, "model": spent.model}
        run.metrics.count("atlas.cost", {"target": run.request.target_name, **labels}, spent.cost)
