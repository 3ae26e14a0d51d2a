"""One call of the judge's model: kept before, or paid for, traced, read and kept."""

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from pydantic import BaseModel

from atlas_search.answer.write.call_model import Completion, estimate_usage, read_stream
from atlas_search.core.errors import ModelBusy, ModelRefused, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.span import (
    Span,
    describe_call,
    describe_prompt,
    describe_reply,
)
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.judge.kept import KeptReplies, key_of
from atlas_search.evaluation.judge.outage import Outage
from atlas_search.evaluation.judge.prompts import Rules, rules, version
from atlas_search.evaluation.judge.spending import Call, Spending
from atlas_search.evaluation.judge.verdict import NotJudged, Refused
from atlas_search.providers.chat import ChatModel, ChatOptions, Ended, Message, Usage

Form = TypeVar("Form", bound=BaseModel)
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)
Reply = TypeVar("Reply")

CUT_OFF = (
    "The judge's reply was cut off. A model that thinks before it writes may need more tokens than "
    "a verdict has: name another with --judge-model."
)
MALFORMED = (
    "The judge's reply was not of the form asked for. A larger model keeps to it more often."
)

_PER_MESSAGE = 16  # tokens that a provider may add to a message


class AnyTask(Protocol):
    """What the model is to do: `messages`, made of a template; `tokens` is a reply's most."""

    @property
    def name(self) -> str:
        """Of the template, as traces have it."""

    @property
    def version(self) -> str:
        """Another one where the model is told something else."""

    @property
    def template(self) -> str:
        """What the model is told whatever it is shown."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """As they are sent."""

    @property
    def tokens(self) -> int:
        """The most that a reply may have."""


@dataclass(frozen=True)
class Task:
    """What the model is to do, by its rules, with quoted material. See AnyTask."""

    rules: Rules
    material: str
    tokens: int

    @property
    def name(self) -> str:
        """See AnyTask."""
        return f"judge/{self.rules}"

    @property
    def version(self) -> str:
        """See AnyTask."""
        return version(self.rules)

    @property
    def template(self) -> str:
        """See AnyTask."""
        return rules(self.rules)

    @property
    def messages(self) -> tuple[Message, ...]:
        """As they are sent."""
        return (Message("system", rules(self.rules)), Message("user", self.material))


@dataclass(frozen=True)
class JudgeModel:
    """A model of a provider with what its calls need. Safe to use from several threads.

    `seconds` is the longest time of a call, its retries included. `server` is the address of the
    provider's server, empty where there is but one.
    """

    chat: ChatModel
    name: str
    seconds: float
    tracer: Tracer
    kept: KeptReplies
    spending: Spending
    server: str = ""
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
        return self.ask_for(task, partial(_read, form=form, check=check), vote)

    def ask_for(self, task: AnyTask, read: Callable[[str], Reply], vote: int = 1) -> Reply:
        """Likewise, with the reply as `read` has it, which raises NotJudged for one of no use."""
        said = (message.content for message in task.messages)
        key = key_of(self.chat.name, self.server, self.name, task.version, str(vote), *said)
        known = self.kept.find(key)
        if known is not None:
            self.outage.useful()
            return read(known)
        done = self._call(task, vote)
        try:
            reply = read(_whole(done))
        except NotJudged as why:
            self.outage.unusable(why)
            raise
        self.outage.useful()
        kept = self.kept.keep(key, done.text)
        return reply if kept == done.text else read(kept)

    def _call(self, task: AnyTask, vote: int) -> Completion:
        self.outage.check()
        try:
            done = self._pay(task, vote)
        except ModelRefused as error:
            raise Refused(f"The judge could not be asked: {error}") from error
        except ModelUnavailable as error:
            if not isinstance(error, ModelBusy):  # that was our own queue
                self.outage.failed(error)
            raise NotJudged(f"The judge could not be asked: {error}") from error
        self.outage.worked()
        return done

    def _pay(self, task: AnyTask, vote: int) -> Completion:
        options = ChatOptions(self.name, 0.0, task.tokens, self.seconds)
        with (
            self.spending.call(_most(task)) as call,
            self.tracer.span("judge", "LLM") as span,
        ):
            _describe(span, self, task, options)
            span.set(vote=vote)
            done = self._stream(task, options, call)
            usage = done.ended.usage
            describe_reply(
                span,
                done.ended.model,
                done.text,
                usage.prompt_tokens,
                usage.completion_tokens,
                cost=self.spending.cost_of(usage),
                finish_reason=done.ended.reason,
            )
            return done

    def _stream(self, task: AnyTask, options: ChatOptions, call: Call) -> Completion:
        pieces: list[str] = []
        try:
            with closing(self.chat.stream(task.messages, options, self.stop)) as stream:
                ended = read_stream(stream, options, pieces)
        except (ModelRefused, ModelBusy):
            call.not_made()
            raise
        except Exception:
            if pieces:
                call.estimated(estimate_usage(task.messages, pieces))
            raise
        if ended and ended.usage != Usage():
            call.counted(ended.usage)
        else:
            call.estimated(estimate_usage(task.messages, pieces))
        ended = ended or Ended(Usage(), options.model, "length")
        return Completion("".join(pieces), replace(ended, usage=call.took))


def _whole(done: Completion) -> str:
    """The text of a reply that came to its end."""
    if done.ended.reason == "filtered":
        raise NotJudged("The judge's provider withheld its reply.")
    if done.ended.reason == "length":
        raise NotJudged(CUT_OFF)
    return done.text


def _read(text: str, form: type[Form], check: Callable[[Form], None]) -> Form:
    try:
        fenced = _FENCED.fullmatch(text.strip())
        reply = form.model_validate_json(fenced[1] if fenced else text)
        check(reply)
    except ValueError as error:  # pydantic's is one
        raise NotJudged(MALFORMED) from error
    return reply


def _most(task: AnyTask) -> Usage:
    """What a call may take: in no vocabulary has a text more tokens than bytes."""
    read = [len(message.content.encode("utf-8", "surrogatepass")) for message in task.messages]
    return Usage(sum(read) + _PER_MESSAGE * len(read), task.tokens)


def _describe(span: Span, judge: JudgeModel, task: AnyTask, options: ChatOptions) -> None:
    describe_call(
        span,
        judge.chat.name,
        judge.name,
        [asdict(message) for message in task.messages],
        temperature=options.temperature,
        max_tokens=options.max_tokens,
    )
    describe_prompt(span, task.name, task.template, task.version, {})
