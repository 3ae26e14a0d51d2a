"""One call of the target's language model: its span, what it took, and its text as it comes."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from atlas_search.answer.prompts import Filled
from atlas_search.answer.request import Mode
from atlas_search.answer.run import AnswerRun
from atlas_search.answer.trace import Estimate
from atlas_search.answer.write.prompt import count_tokens
from atlas_search.core.errors import ModelUnavailable
from atlas_search.core.telemetry import names as gen_ai
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.providers.chat import ChatModel, ChatOptions, Ended, Message, Usage


@contextmanager
def model_call(metrics: Metrics, provider: str, model: str, mode: Mode) -> Iterator[list[Usage]]:
    """Count a call of a language model; the block adds what it took to the list."""
    labels = {
        gen_ai.OPERATION: "chat",
        gen_ai.PROVIDER: gen_ai.provider(provider),
        gen_ai.REQUEST_MODEL: model,
    }
    took: list[Usage] = []
    failed = {}
    begun = time.perf_counter()
    try:
        yield took
    except Exception as error:
        failed = {"error.type": type(error).__name__}
        raise
    finally:
        seconds = time.perf_counter() - begun
        metrics.record("gen_ai.client.operation.duration", {**labels, **failed}, seconds)
        stage = {"operation": mode, "stage": "generate"}
        metrics.record("atlas.stage.duration", stage, seconds)
        for usage in took:
            _count_tokens(metrics, labels, usage)


def _count_tokens(metrics: Metrics, call_labels: dict[str, str], usage: Usage) -> None:
    for kind, tokens in (("input", usage.prompt_tokens), ("output", usage.completion_tokens)):
        if tokens:
            labels = {**call_labels, "gen_ai.token.type": kind}
            metrics.record("gen_ai.client.token.usage", labels, tokens)


_YES_OR_NO = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
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
    schema: Mapping[str, Any] | None = None,
    pass_on: Callable[[str], None] = lambda _: None,
) -> Completion:
    """Return the text that the model writes; `pass_on` gets each piece as it comes.

    The usage counts as spent; it is an Estimate for a call that ends early, once text has come.
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
        schema,
    )
    counted = model_call(run.metrics, model.name, options.model, run.request.mode)
    call = (model.name, options, messages, filled, attempt)
    with run.stage("generate", *call) as stage, counted as took:
        pieces: list[str] = []

        def spend(usage: Usage, writer: str, reason: str = "") -> None:
            took.append(usage)
            run.spent.append(usage)
            stage.done("".join(pieces), usage, writer, reason)

        try:
            with closing(model.stream(messages, options, run.stop)) as stream:
                ended = read_stream(stream, options, pieces, pass_on)
        except Exception:
            if pieces:  # what it read is not known before it writes
                spend(estimate_usage(messages, pieces), options.model)
            raise
        ended = ended or Ended(estimate_usage(messages, pieces), options.model, "length")
        spend(ended.usage, ended.model, ended.reason)
        return Completion("".join(pieces), ended)


def ask_yes_or_no(
    run: AnswerRun, model: ChatModel, messages: Sequence[Message], filled: Filled
) -> bool | None:
    """Return True for yes, False for no, None for neither. Raises what `call_model` does."""
    done = call_model(run, model, messages, filled=filled, temperature=0.0)
    match = _YES_OR_NO.match(done.text)
    return match and match[1].lower() == "yes"


def read_stream(
    stream: Iterable[str | Ended],
    options: ChatOptions,
    pieces: list[str],
    pass_on: Callable[[str], None] = lambda _: None,
) -> Ended | None:
    """Put the text into `pieces` as it comes; its end, or None once it is too long.

    Raises ModelUnavailable if it has no end.
    """
    length = 0
    for item in stream:
        if isinstance(item, Ended):
            return item
        pieces.append(item)
        length += len(item)
        pass_on(item)
        if length > CHARACTERS_PER_TOKEN * options.max_tokens:
            return None
    raise ModelUnavailable("The language model's answer broke off. Try again.")


def estimate_usage(messages: Sequence[Message], pieces: Sequence[str]) -> Estimate:
    """Count the tokens of a call as Atlas counts them.

    Providers send the usage with the last piece, so a call that ends before that has none.
    """
    *read, written = count_tokens([*(each.content for each in messages), "".join(pieces)])
    return Estimate(sum(read), written)
