"""What can be said of a call to a model, in OpenInference's words and OpenTelemetry's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openinference.semconv.trace import EmbeddingAttributes, MessageAttributes, SpanAttributes

from atlas_search.core.tracing import gen_ai
from atlas_search.core.tracing.span import AttributeValue, Span


@dataclass(frozen=True, slots=True)
class Asked:
    """A call to a language model: of whom, with which limits, and the messages."""

    provider: str
    model: str
    temperature: float
    max_tokens: int
    messages: Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Given:
    """What came of the call; of one that broke off there is no `finish_reason`.

    `cost` is in the currency of the target's prices, None if unknown.
    """

    model: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


def describe_asked(span: Span, asked: Asked) -> None:
    """Say whom a span asks, and what."""
    if not span.recorded:
        return
    parameters = {"temperature": asked.temperature, "max_tokens": asked.max_tokens}
    said = json.dumps({"model": asked.model, **parameters})
    _set(
        span,
        {
            SpanAttributes.LLM_INVOCATION_PARAMETERS: said,
            gen_ai.OPERATION: "chat",
            gen_ai.TEMPERATURE: asked.temperature,
            gen_ai.MAX_TOKENS: asked.max_tokens,
            gen_ai.STREAM: True,
        },
    )
    describe_writer_of(span, asked.provider, asked.model, asked.messages)


def describe_writer_of(
    span: Span, provider: str, model: str, messages: Sequence[Mapping[str, str]]
) -> None:
    """Say who is to write, and what they are given."""
    _set(
        span,
        {
            SpanAttributes.LLM_PROVIDER: provider,
            SpanAttributes.LLM_MODEL_NAME: model,
            gen_ai.PROVIDER: gen_ai.provider(provider),
            gen_ai.REQUEST_MODEL: model,
        },
    )
    _messages(span, SpanAttributes.LLM_INPUT_MESSAGES, messages)


def describe_prompt(
    span: Span, name: str, template: str, version: str, variables: Mapping[str, object]
) -> None:
    """Say which prompt a call was made with. What it says, and what it is filled with, is content;
    its name and version are not."""
    if not span.recorded:
        return
    span.set(**{gen_ai.PROMPT: name, SpanAttributes.LLM_PROMPT_TEMPLATE_VERSION: version})
    filled = json.dumps(variables, default=str, ensure_ascii=False)
    span.text(
        **{
            SpanAttributes.LLM_PROMPT_TEMPLATE: template,
            SpanAttributes.LLM_PROMPT_TEMPLATE_VARIABLES: filled,
        }
    )


def describe_given(span: Span, given: Given) -> None:
    """Say what came of a call, and what it took."""
    _set(
        span,
        {
            SpanAttributes.LLM_TOKEN_COUNT_PROMPT: given.prompt_tokens,
            SpanAttributes.LLM_TOKEN_COUNT_COMPLETION: given.completion_tokens,
            SpanAttributes.LLM_TOKEN_COUNT_TOTAL: given.prompt_tokens + given.completion_tokens,
            gen_ai.INPUT_TOKENS: given.prompt_tokens,
            gen_ai.OUTPUT_TOKENS: given.completion_tokens,
            gen_ai.RESPONSE_MODEL: given.model,
        },
    )
    if given.finish_reason:
        ended = {gen_ai.FINISH_REASONS: [given.finish_reason], "finish_reason": given.finish_reason}
        _set(span, ended)
    if given.cost is not None:
        span.set(**{SpanAttributes.LLM_COST_TOTAL: float(given.cost)})
    describe_text(span, given.text)


def describe_text(span: Span, text: str) -> None:
    """Say what was written, as text and as the message that it is."""
    span.output(text)
    _messages(span, SpanAttributes.LLM_OUTPUT_MESSAGES, [{"role": "assistant", "content": text}])


def describe_embedding(span: Span, provider: str, model: str, dimension: int, text: str) -> None:
    """Say what a text was embedded with; the vector itself is left out."""
    _set(
        span,
        {
            SpanAttributes.EMBEDDING_MODEL_NAME: model,
            gen_ai.OPERATION: "embeddings",
            gen_ai.PROVIDER: gen_ai.provider(provider),
            gen_ai.REQUEST_MODEL: model,
            gen_ai.DIMENSION: dimension,
        },
    )
    embedded = f"{SpanAttributes.EMBEDDING_EMBEDDINGS}.0.{EmbeddingAttributes.EMBEDDING_TEXT}"
    span.text(**{embedded: text})


def _set(span: Span, attributes: Mapping[str, AttributeValue]) -> None:
    span.set(**attributes)


def _messages(span: Span, prefix: str, messages: Sequence[Mapping[str, str]]) -> None:
    for index, message in enumerate(messages):
        span.text(
            **{
                f"{prefix}.{index}.{MessageAttributes.MESSAGE_ROLE}": message["role"],
                f"{prefix}.{index}.{MessageAttributes.MESSAGE_CONTENT}": message["content"],
            }
        )
