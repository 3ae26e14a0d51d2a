"""One call of the judge's model: kept before, or paid for, traced, read and kept."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from atlas_search.answer.read_json import read_json
from atlas_search.answer.write.call_model import Completion, estimate_usage, read_stream
from atlas_search.answer.write.token_count import count_tokens
from atlas_search.core.errors import ModelRefused, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.core.tracing.call import (
    Asked,
    Given,
    describe_asked,
    describe_given,
    describe_prompt,
)
from atlas_search.core.tracing.span import Span
from atlas_search.core.tracing.tracer import Tracer
from atlas_search.evaluation.judge.kept import KeptReplies, key_of
from atlas_search.evaluation.judge.outage import Outage
from atlas_search.evaluation.judge.prompts import Rules, rules, version
from atlas_search.evaluation.judge.spending import Spending
from atlas_search.evaluation.judge.verdict import NotJudged
from atlas_search.providers.chat import ChatModel, ChatOptions, Ended, Message, Usage

Form = TypeVar("Form", bound=BaseModel)

_PER_MESSAGE = 16  # tokens that a provider may add to a message


@dataclass(frozen=True)
class Task:
    """What the model is to do, by its rules, with quoted material; `tokens` is a reply's most."""

    rules: Rules
    material: str
    tokens: int

    @property
    def messages(self) -> tuple[Message, ...]:
        """As they are sent."""
        return (Message("system", rules(self.rules)), Message("user", self.material))


@dataclass(frozen=True)
class JudgeModel:
    """A model of a provider with what its calls need. Safe to use from several threads.

    `seconds` is the longest time of a call, its retries included.
    """

    chat: ChatModel
    name: str
    seconds: float
    tracer: Tracer
    kept: KeptReplies
    spending: Spending
    stop: Stop = field(default_factory=Stop)
    outage: Outage = field(default_factory=Outage)

    def ask(
        self,
        task: Task,
        form: type[Form],
        check: Callable[[Form], None] = lambda _: None,
        vote: int = 1,
    ) -> Form:
        """The reply to the `vote`th time of asking, at temperature 0.

        `check` raises ValueError for a reply that has the form and is none all the same. Raises
        NotJudged if there is no such reply, and Cancelled.
        """
        said = (message.content for message in task.messages)
        key = key_of(self.chat.name, self.name, version(task.rules), str(vote), *said)
        known = self.kept.find(key)
        if known is not None:
            return _read(known, form, check)
        text = self._call(task, vote)
        reply = _read(text, form, check)
        kept = self.kept.keep(key, text)
        return reply if kept == text else _read(kept, form, check)

    def _call(self, task: Task, vote: int) -> str:
        """The text of a reply that came to its end."""
        self.outage.check()
        try:
            done = self._pay(task, vote)
        except (ModelRefused, ModelUnavailable) as error:
            self.outage.failed(error)
            raise NotJudged(f"The judge could not be asked: {error}") from error
        self.outage.worked()
        if done.ended.reason == "filtered":
            raise NotJudged("The judge's provider withheld its reply.")
        if done.ended.reason == "length":
            raise NotJudged("The judge's reply was cut off.")
        return done.text

    def _pay(self, task: Task, vote: int) -> Completion:
        options = ChatOptions(self.name, 0.0, task.tokens, self.seconds)
        with (
            self.spending.call(_most(task)) as took,
            self.tracer.span("judge", "LLM") as span,
        ):
            _describe(span, self, task, options)
            span.set(vote=vote)
            pieces: list[str] = []
            try:
                with closing(self.chat.stream(task.messages, options, self.stop)) as stream:
                    ended = read_stream(stream, options, pieces)
            except Exception:
                if pieces:
                    took.append(estimate_usage(task.messages, pieces))
                raise
            done = _complete(task, options, pieces, ended)
            took.append(done.ended.usage)
            describe_given(span, _given(done, self.spending))
            return done


def _read(text: str, form: type[Form], check: Callable[[Form], None]) -> Form:
    try:
        reply = read_json(text, form)
        check(reply)
    except ValueError as error:  # pydantic's is one
        raise NotJudged("The judge's reply was not of the form asked for.") from error
    return reply


def _most(task: Task) -> Usage:
    """What a call may take."""
    read = count_tokens([message.content for message in task.messages])
    return Usage(sum(read) + _PER_MESSAGE * len(read), task.tokens)


def _complete(
    task: Task, options: ChatOptions, pieces: Sequence[str], ended: Ended | None
) -> Completion:
    """The text and its end; tokens that the server does not count are counted here."""
    ended = ended or Ended(Usage(), options.model, "length")
    usage = ended.usage if ended.usage != Usage() else estimate_usage(task.messages, pieces)
    return Completion("".join(pieces), Ended(usage, ended.model, ended.reason))


def _describe(span: Span, judge: JudgeModel, task: Task, options: ChatOptions) -> None:
    said = [asdict(message) for message in task.messages]
    asked = Asked(judge.chat.name, judge.name, options.temperature, options.max_tokens, said)
    describe_asked(span, asked)
    describe_prompt(span, f"judge/{task.rules}", rules(task.rules), version(task.rules), {})


def _given(done: Completion, spending: Spending) -> Given:
    usage = done.ended.usage
    return Given(
        done.ended.model,
        done.text,
        done.ended.reason,
        usage.prompt_tokens,
        usage.completion_tokens,
        spending.cost_of(usage),
    )
