"""One call of the target's language model: its span, what it took, and its text as it comes."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

from atlas_search.answer.prompts import Filled, version_of
from atlas_search.answer.run import AnswerRun
from atlas_search.core.errors import ModelUnavailable
from atlas_search.core.targets import Target
from atlas_search.core.tracing.call import (
    Asked,
    Given,
    describe_asked,
    describe_given,
    describe_prompt,
)
from atlas_search.core.tracing.span import Span
from atlas_search.providers.chat import ChatModel, ChatOptions, Ended, Message, Usage

CHARACTERS_PER_TOKEN = 8  # of a text with more, the server does not heed MAX_TOKENS


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole text, and how it ended."""

    text: str
    ended: Ended


def call_model(
    run: AnswerRun,
    model: ChatModel,
    messages: Sequence[Message],
    *,
    filled: Filled,
    attempt: int = 1,
    max_tokens: int = 0,
    temperature: float | None = None,
    pass_on: Callable[[str], None] = lambda _: None,
) -> Completion:
    """What the model writes; `pass_on` gets each piece as it comes. What it took counts as spent.

    `filled` is the prompt that `messages` were made of.
    `max_tokens` and `temperature` are the target's unless given. Raises ModelRefused,
    ModelUnavailable and Cancelled.
    """
    target = run.target
    options = ChatOptions(
        run.model_name,
        target.temperature if temperature is None else temperature,
        max_tokens or target.max_tokens,
        target.llm_seconds,
    )
    with run.tracer.span("generate", "LLM") as span:
        _describe(span, model, messages, options, filled)
        span.set(attempt=attempt)
        with closing(model.stream(messages, options, run.stop)) as stream:
            done = _read(stream, options, pass_on)
        run.spent.append(done.ended.usage)
        describe_given(span, _given(done, target))
        return done


def _describe(
    span: Span,
    model: ChatModel,
    messages: Sequence[Message],
    options: ChatOptions,
    filled: Filled,
) -> None:
    said = [asdict(message) for message in messages]
    describe_asked(
        span, Asked(model.name, options.model, options.temperature, options.max_tokens, said)
    )
    template = filled.template
    describe_prompt(span, filled.name, template.template, version_of(template), filled.variables)


def _given(done: Completion, target: Target) -> Given:
    usage, ended = done.ended.usage, done.ended
    cost = target.cost(usage.prompt_tokens, usage.completion_tokens)
    tokens = (usage.prompt_tokens, usage.completion_tokens)
    return Given(ended.model, done.text, ended.reason, *tokens, cost)


def _read(
    stream: Iterable[str | Ended], options: ChatOptions, pass_on: Callable[[str], None]
) -> Completion:
    pieces: list[str] = []
    length = 0
    for item in stream:
        if isinstance(item, Ended):
            return Completion("".join(pieces), item)
        pieces.append(item)
        length += len(item)
        pass_on(item)
        if length > CHARACTERS_PER_TOKEN * options.max_tokens:
            return Completion("".join(pieces), Ended(Usage(), options.model, "length"))
    raise ModelUnavailable("The language model's answer ended without an end. Try again.")
