"""Answering with a language model: its text verified, repaired once, refusals recognised."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, replace

from atlas_search.answer.answer import Context, Fallback, Restart, Writer
from atlas_search.answer.check.refusals import is_refusal
from atlas_search.answer.conflicts import concealed
from atlas_search.answer.decide import Fault, evidence_of, refused
from atlas_search.answer.job import NOTHING, Job, Written, judged
from atlas_search.answer.write.context import context_of, repair
from atlas_search.answer.write.extract import extract
from atlas_search.answer.write.relay import Relay
from atlas_search.core.errors import ModelUnavailable
from atlas_search.providers.chat import ChatModel, ChatOptions, Ended, Message, Usage

ATTEMPTS = 2  # the answer, and one repair
CHARACTERS_PER_TOKEN = 8  # of a text with more, the server does not heed MAX_TOKENS

_FAULTS = {
    "length": Fault("cut_short", "The answer was cut off at MAX_TOKENS; be briefer."),
    "filtered": Fault("withheld", "The provider withheld a part of the answer."),
}


def generate(job: Job, model: ChatModel) -> Written:
    """The model's answer; the sources' own sentences if it finds none where they are strong.

    Raises ModelRefused and ModelUnavailable.
    """
    context = _context(job)
    given = job.evidence[: context.passages]
    messages = context.messages
    for attempt in range(1, ATTEMPTS + 1):
        relay = Relay(job.emit, given, job.request.target.citation_limit, may_refuse=True)
        ended = _call(job, model, messages, relay, attempt)
        writer = job.writer(model.name, ended.model, attempt)
        if is_refusal(relay.text):
            return replace(_refused(job, relay, writer), context=context)
        relay.finish()
        fault = _FAULTS.get(ended.reason)
        written = judged(job, relay, writer, fault)
        problems = [*([fault.message] if fault else []), *_problems(job, written)]
        if not problems or attempt == ATTEMPTS:
            break
        job.emit(Restart("repair"))
        messages = repair(context.messages, relay.text, problems, given)
    return replace(written, context=context)


def _context(job: Job) -> Context:
    with job.tracer.span("context", "CHAIN") as span:
        target = job.request.target
        rules = job.answerer.rules[target.system_prompt]
        context = context_of(job.question, job.evidence, job.request.history, rules, target)
        span.set(
            passages=context.passages,
            passages_dropped=context.passages_dropped,
            passage_tokens=context.passage_tokens,
            chat_turns=context.turns,
            chat_turns_dropped=context.turns_dropped,
            chat_tokens=context.turn_tokens,
        )
        span.output([asdict(message) for message in context.messages])
        return context


def _call(
    job: Job, model: ChatModel, messages: Sequence[Message], relay: Relay, attempt: int
) -> Ended:
    """Let the model write into `relay`."""
    target = job.request.target
    options = ChatOptions(
        job.answerer.model_name(target), target.temperature, target.max_tokens, target.llm_seconds
    )
    with job.tracer.span("generate", "LLM") as span:
        span.model(model.name, options.model, [asdict(message) for message in messages])
        span.set(attempt=attempt)
        with closing(model.stream(messages, options, job.stop)) as stream:
            ended = _passed_on(stream, relay, options)
        job.spent.append(ended.usage)
        span.usage(ended.usage.prompt_tokens, ended.usage.completion_tokens)
        span.set(finish_reason=ended.reason)
        span.output(relay.text)
        return ended


def _passed_on(stream: Iterable[str | Ended], relay: Relay, options: ChatOptions) -> Ended:
    for item in stream:
        if isinstance(item, Ended):
            return item
        relay.add(item)
        if len(relay.text) > CHARACTERS_PER_TOKEN * options.max_tokens:
            return Ended(Usage(), options.model, "length")
    raise ModelUnavailable("The language model's answer ended without an end. Try again.")


def _refused(job: Job, relay: Relay, writer: Writer) -> Written:
    """The model finds no answer: what the sources say themselves, if they speak clearly."""
    if relay.sent:
        job.emit(Restart("refused"))
    strong, evidence = job.request.target.strong_evidence, evidence_of(job.result)
    if evidence < strong:
        return Written("", NOTHING, refused(job.result, strong), writer)
    reason = (
        f"{writer.model} found no answer, but the evidence is {evidence:.2f}; "
        f"from {strong:.2f} the sources' own sentences answer."
    )
    return extract(job, Fallback("model_refused", reason))


def _problems(job: Job, written: Written) -> list[str]:
    """What a repair has to mend."""
    return [
        *written.verification.errors,
        *(
            f"The passages contradict each other, and only one side is given: {conflict.detail} "
            f"Give both: {conflict.first.passage.marker} and {conflict.second.passage.marker}."
            for conflict in concealed(job.conflicts, written.verification)
        ),
    ]
