"""Answering a question, stage by stage."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from atlas_search.answer.answer import (
    Answer,
    Checked,
    Comparison,
    Context,
    Emit,
    References,
    Section,
    Token,
    Writer,
)
from atlas_search.answer.answerer import Answerer
from atlas_search.answer.check.citations import Verification
from atlas_search.answer.compare import compare, search_each, together
from atlas_search.answer.conflicts import Conflict, conflicts_between, to_list
from atlas_search.answer.decide import ANSWERED, Outcome, before_writing
from atlas_search.answer.job import NOTHING, Job
from atlas_search.answer.request import AskRequest
from atlas_search.answer.write.condense import Standalone, condense
from atlas_search.answer.write.write import write
from atlas_search.core.stop import Stop
from atlas_search.core.tracing import Span
from atlas_search.providers.chat import Usage
from atlas_search.search.clock import Clock
from atlas_search.search.flow import SearchResult, search


@dataclass(frozen=True)
class _Result:
    """What the stages after the rewriting of a follow-up came to."""

    outcome: Outcome
    text: str
    verification: Verification
    found: SearchResult
    conflicts: tuple[Conflict, ...]
    writer: Writer
    context: Context = field(default_factory=Context)
    comparison: Comparison = field(default_factory=Comparison)


def ask(answerer: Answerer, request: AskRequest, emit: Emit, stop: Stop) -> Answer:
    """Search, write, verify, decide.

    Raises Cancelled soon after `stop` is set, and what search and language models raise.
    """
    clock = Clock()
    with answerer.searcher.tracer.root("ask", "CHAIN") as span:
        _describe(span, answerer, request)
        state = answerer.state(request.target)
        kept = answerer.cache.get(request, state)
        if kept:
            answer = _again(kept, request, span, emit, clock)
        else:
            standalone = condense(answerer, request, stop)
            result = _result(answerer, _standing_alone(request, standalone), emit, stop)
            result = _with_usage(result, request, standalone.usage)
            clock.lap("total")
            answer = _answer(request, standalone, result, span, clock)
            answerer.cache.put(answer, state)
        span.output(answer.text or answer.outcome.message)
        span.set(
            decision=answer.outcome.decision,
            reason=answer.outcome.code,
            cache_hit=answer.cache_hit,
            conflicts=len(answer.conflicts),
        )
        return answer


def _result(answerer: Answerer, request: AskRequest, emit: Emit, stop: Stop) -> _Result:
    if request.mode == "compare":
        return _compared(answerer, request, emit, stop)
    return _answered(answerer, request, emit, stop)


def _answered(answerer: Answerer, request: AskRequest, emit: Emit, stop: Stop) -> _Result:
    """One answer from all corpora."""
    found = search(answerer.searcher, request.search, request.target)
    stop.check()
    emit(References(found.passages))
    outcome = before_writing(found, answerer.threshold(request.target))
    if outcome is not ANSWERED:
        return _Result(outcome, "", NOTHING, found.kept_only(), (), _nobody(answerer, request))
    valid = [item for item in found.passages if item.valid]
    conflicts = conflicts_between(request.search.question, valid)
    written = write(Job(answerer, request, found, conflicts, emit, stop))
    return _Result(
        outcome=written.outcome,
        text=written.text,
        verification=written.verification,
        found=found.kept_only(),
        conflicts=to_list(conflicts, written.verification),
        writer=written.writer,
        context=written.context,
    )


def _compared(answerer: Answerer, request: AskRequest, emit: Emit, stop: Stop) -> _Result:
    """An answer from every corpus, and what they agree and differ about."""
    results = search_each(answerer.searcher, request.search, request.target)
    stop.check()
    found = together(results, request)
    emit(References(found.passages))
    compared = compare(answerer, request, results, emit, stop)
    valid = [item for item in found.passages if item.valid]
    conflicts = conflicts_between(request.search.question, valid)
    return _Result(
        outcome=compared.outcome,
        text=compared.text,
        verification=compared.verification,
        found=found,
        conflicts=to_list(conflicts, compared.verification),
        writer=compared.writer,
        context=compared.context,
        comparison=compared.comparison,
    )


def _answer(
    request: AskRequest, standalone: Standalone, result: _Result, span: Span, clock: Clock
) -> Answer:
    found = result.found
    return Answer(
        request=request,
        trace_id=span.trace_id,
        created=datetime.now(UTC),
        outcome=result.outcome,
        text=result.text,
        verification=result.verification,
        result=found,
        standalone=standalone.question,
        standalone_note=standalone.note,
        context=result.context,
        conflicts=result.conflicts,
        comparison=result.comparison,
        writer=result.writer,
        timings_ms={**found.timings_ms, **clock.laps},
    )


def _again(kept: Answer, request: AskRequest, span: Span, emit: Emit, clock: Clock) -> Answer:
    """An answer that was given before, to whoever asks the same now; it takes no model."""
    emit(References(kept.result.passages))
    for part in kept.comparison.answers:
        emit(Section(part.corpus))
        _say_again(part.text, part.verification, emit)
    if not kept.comparison.answers:
        _say_again(kept.text, kept.verification, emit)
    clock.lap("total")
    return replace(
        kept,
        request=request,
        trace_id=span.trace_id,
        writer=replace(kept.writer, attempts=0, usage=Usage(), cost=kept.writer.cost and 0.0),
        timings_ms=clock.laps,
        cache_hit=True,
    )


def _say_again(text: str, verification: Verification, emit: Emit) -> None:
    if text:
        emit(Token(text))
        for number, sentence in enumerate(verification.sentences, start=1):
            emit(Checked(number, sentence))


def _with_usage(result: _Result, request: AskRequest, usage: Usage) -> _Result:
    """With what the rewriting of a follow-up took."""
    total = result.writer.usage + usage
    cost = request.target.cost(total.prompt_tokens, total.completion_tokens)
    return replace(result, writer=replace(result.writer, usage=total, cost=cost))


def _standing_alone(request: AskRequest, standalone: Standalone) -> AskRequest:
    if not standalone.question:
        return request
    return replace(request, search=replace(request.search, question=standalone.question))


def _nobody(answerer: Answerer, request: AskRequest) -> Writer:
    """Who would have written."""
    target = request.target
    return Writer(target.llm_provider, answerer.model_name(target), attempts=0)


def _describe(span: Span, answerer: Answerer, request: AskRequest) -> None:
    span.input(request.search.question)
    span.session(request.session_id)
    span.metadata({"qa_id": request.qa_id, "composite_target": request.run_name})
    span.set(
        qa_id=request.qa_id,
        target=request.target_name,
        composite_target=request.run_name,
        llm_provider=request.target.llm_provider,
        llm_model=answerer.model_name(request.target),
        mode=request.mode,
        search_k=request.search.limit,
    )
