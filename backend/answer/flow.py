"""Answering a question, stage by stage."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field

from backend.answer.citations import Verification, verify
from backend.answer.context import messages
from backend.answer.decide import ANSWERED, Outcome, after_writing, before_writing
from backend.answer.memory import remember
from backend.domain import ChatTurn, CheckedPassage
from backend.llm import Prompt, Provider, Usage
from backend.search.flow import SearchResult, search
from backend.search.request import SearchRequest
from backend.search.searcher import Searcher
from backend.targets import Target
from backend.tracing import Span


@dataclass(frozen=True)
class AskRequest:
    """A question with everything that is not search: who asks, and what was said before."""

    search: SearchRequest
    target_name: str
    target: Target
    run_name: str
    qa_id: str
    session_id: str
    history: tuple[ChatTurn, ...] = field(default=())


@dataclass(frozen=True)
class References:
    """The passages an answer will be written from; sent before any text."""

    passages: tuple[CheckedPassage, ...]


@dataclass(frozen=True)
class Token:
    """A verified piece of the answer."""

    text: str


Emit = Callable[[References | Token], None]
"""Called as the answer comes about; may raise Cancelled to stop it."""


@dataclass(frozen=True)
class Answer:
    """The outcome of a question. `text` is empty unless the decision is ANSWER."""

    request: AskRequest
    trace_id: str
    outcome: Outcome
    text: str
    verification: Verification
    result: SearchResult
    usage: Usage
    timings_ms: Mapping[str, float]


@dataclass(frozen=True)
class _Draft:
    text: str
    usage: Usage


_NOTHING = Verification((), (), ())


def ask(searcher: Searcher, provider: Provider, request: AskRequest, emit: Emit) -> Answer:
    """Search, write, verify, decide. Nothing is emitted that failed verification."""
    started = time.perf_counter()
    with searcher.tracer.root("ask", "CHAIN") as span:
        _describe(span, request, provider)
        result = search(searcher, request.search, request.target)
        emit(References(result.passages))
        draft, verification = _Draft("", Usage(0, 0)), _NOTHING
        outcome = before_writing(result, request.target)
        writing = time.perf_counter()
        if outcome is ANSWERED:
            prompt = _context(searcher, request, result)
            draft = _generate(searcher, provider, prompt, request.target, emit)
            if draft.text:
                verification = _verify(searcher, draft, prompt, request.target)
            outcome = after_writing(draft.text, verification)
        answered = outcome.decision == "ANSWER"
        answer = Answer(
            request=request,
            trace_id=span.trace_id,
            outcome=outcome,
            text=draft.text.strip() if answered else "",
            verification=verification,
            result=result,
            usage=draft.usage,
            timings_ms={
                **result.timings_ms,
                "answer": _milliseconds(writing),
                "total": _milliseconds(started),
            },
        )
        span.output(answer.text or outcome.message)
        span.set(decision=outcome.decision, reason=outcome.code)
        return answer


def _describe(span: Span, request: AskRequest, provider: Provider) -> None:
    span.input(request.search.question)
    span.session(request.session_id)
    span.metadata({"qa_id": request.qa_id, "composite_target": request.run_name})
    span.set(
        qa_id=request.qa_id,
        target=request.target_name,
        composite_target=request.run_name,
        llm_provider=provider.name,
        search_k=request.search.limit,
    )


def _context(searcher: Searcher, request: AskRequest, result: SearchResult) -> Prompt:
    with searcher.tracer.span("context", "CHAIN") as span:
        target = request.target
        memory = remember(
            request.history, target.chat_memory_tokens, searcher.embedder.count_tokens
        )
        evidence = tuple(item for item in result.passages if item.valid)
        prompt = Prompt(
            question=request.search.question,
            passages=evidence,
            term_weights=result.term_weights,
            messages=messages(request.search.question, [item.passage for item in evidence], memory),
            sentence_limit=min(target.answer_sentences, target.citation_limit),
        )
        span.set(
            passages=len(evidence),
            chat_turns=len(memory.turns),
            chat_turns_dropped=memory.dropped,
            chat_tokens=memory.tokens,
        )
        span.output([asdict(message) for message in prompt.messages])
        return prompt


def _generate(
    searcher: Searcher, provider: Provider, prompt: Prompt, target: Target, emit: Emit
) -> _Draft:
    with searcher.tracer.span("generate", "LLM") as span:
        span.model(provider.name, provider.model, [asdict(m) for m in prompt.messages])
        given = [item.passage for item in prompt.passages]
        text = ""
        for sentence in provider.stream(prompt):
            text += sentence
            if not verify(text, given, target.citation_limit).valid:
                break  # the whole draft is judged, and blocked, by the caller
            emit(Token(sentence))
        usage = provider.usage(prompt, text)
        span.usage(usage.prompt_tokens, usage.completion_tokens)
        span.output(text)
        return _Draft(text, usage)


def _verify(searcher: Searcher, draft: _Draft, prompt: Prompt, target: Target) -> Verification:
    with searcher.tracer.span("verify", "GUARDRAIL") as span:
        given = [item.passage for item in prompt.passages]
        verification = verify(draft.text, given, target.citation_limit)
        span.input(draft.text)
        span.output({"errors": list(verification.errors), "warnings": list(verification.warnings)})
        span.set(
            citation_valid=verification.valid,
            sentence_groundedness=verification.sentence_groundedness,
            citations=len(verification.citations),
        )
        return verification


def _milliseconds(since: float) -> float:
    return round((time.perf_counter() - since) * 1000, 3)
