"""One call of a judge's model: its prompt, its form, its price, and replies that are kept."""

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from threading import Condition, Lock
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field

from atlas_search.answer.prompts import VERSION_DIGITS
from atlas_search.answer.write.call_model import Completion, estimate_usage, read_stream
from atlas_search.answer.write.prompt import attribute, opening_of
from atlas_search.core.errors import (
    AtlasError,
    ConfigurationError,
    ModelBusy,
    ModelRefused,
    ModelUnavailable,
    RequestError,
)
from atlas_search.core.files import writing
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.span import Span, describe_call, describe_prompt, describe_reply
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.core.wire import RankedPassageOut
from atlas_search.evaluation.scored import Source
from atlas_search.providers.chat import ChatModel, ChatOptions, Ended, Message, Usage

NAME = "judge.sqlite"

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)"


class KeptReplies:
    """Replies by key, in a file of its user alone. Safe to use from several threads.

    Raises ConfigurationError if the file cannot be used.
    """

    def __init__(self, path: Path):
        self.path = path
        self._lock = Lock()
        with writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        self._run(_TABLE)

    def find(self, key: str) -> str | None:
        """The reply, if there is one."""
        found = self._run("SELECT reply FROM replies WHERE key = ?", key)
        return str(found[0][0]) if found else None

    def keep(self, key: str, reply: str) -> str:
        """Keep a reply; the one that is kept, which is another's if that came first."""
        self._run("INSERT OR IGNORE INTO replies VALUES (?, ?)", key, reply)
        return self.find(key) or reply

    def _run(self, statement: str, *values: str) -> Sequence[tuple[object, ...]]:
        try:
            with (
                self._lock,
                writing(self.path.parent),
                closing(sqlite3.connect(self.path, timeout=30)) as connection,
                connection,
            ):
                return connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise ConfigurationError(
                f"{self.path} cannot be used: {error}. Delete it: the judge is asked again then."
            ) from error


def key_of(*parts: str) -> str:
    """The digest of all that decides a reply."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


DRAW = "The judge's votes were a draw, for one of them was no usable reply."
"""Why votes of an odd number did not decide."""


class NotJudged(AtlasError):
    """Error of a judge without a figure; its text is a sentence that many questions may share."""


class JudgeRefused(NotJudged):
    """The provider will not take what is asked: asking it once more is of no use."""


@dataclass(frozen=True)
class Decision:
    """Decision about a part of an answer, a passage or a reference.

    `verdict` is 1 for yes and 0 for no, or a mark in [0, 1]. `agreement` is the share of the votes
    for the commonest verdict, in (0, 1]. The `reason` is that of one such vote.
    """

    about: str
    verdict: float
    agreement: float
    reason: str = ""


@dataclass(frozen=True)
class Judged:
    """A figure, and what it was made of; its passages were shown in so many `parts`.

    Without decisions there was nothing to ask: the definition fixes it.
    """

    value: float
    decisions: tuple[Decision, ...] = ()
    parts: int = 1


@dataclass(frozen=True)
class FigureJudgement:
    """A figure of a question as it stands after the judge.

    `note` says why an estimate (`heuristic`) stands in for it. It is `fixed` where the judge was
    not asked, for an answer that was not given and the like.
    """

    label_id: str
    metric: str
    value: float
    source: Source
    note: str = ""
    parts: int = 1
    decisions: tuple[Decision, ...] = ()


FAILURES = 5
"""So many calls in a row that fail, their retries included, end the asking; of a question that the
provider refuses, all calls count as one."""

UNUSABLE = 20
"""So many replies in a row, of those that are paid for, end it if none can be read."""


class Outage:
    """Count of failures, after which no further call makes sense.

    A thousand that run out of time take hours, and as many replies that are cut off cost what
    good ones do.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._failures = 0
        self._unusable = 0
        self._given_up = ""

    def check(self) -> None:
        """Raise NotJudged if the judge is given up."""
        if self._given_up:
            raise NotJudged(self._given_up)

    def worked(self) -> None:
        """A call came back."""
        with self._lock:
            self._failures = 0

    def failed(self, error: Exception) -> None:
        """A call did not, or the provider refused what was asked about a question."""
        with self._lock:
            self._failures += 1
            if self._failures >= FAILURES:
                self._give_up(f"{FAILURES} failures: {error}")

    def useful(self) -> None:
        """A reply could be read, one that was kept among them."""
        with self._lock:
            self._unusable = 0

    def unusable(self, why: NotJudged) -> None:
        """A reply could not be read."""
        with self._lock:
            self._unusable += 1
            if self._unusable >= UNUSABLE:
                self._give_up(f"{UNUSABLE} replies in a row that are of no use. {why}")

    def _give_up(self, why: str) -> None:
        # what was under way by then changes nothing
        self._given_up = self._given_up or f"The judge was given up after {why}"


@dataclass
class Call:
    """Cost of a call: the tokens it `took`, and those that it may cost at most, `owed`.

    Where the server does not say what it took, it may have taken all that it was allowed to.
    """

    owed: Usage
    took: Usage = field(default=Usage())


class JudgeSpending:
    """Counts what calls took, at the prices of a target. Safe to use from several threads.

    A call that could pass the limit waits for those under way, for they may take less than they
    were allowed to; if it still could, neither it nor a later one is made. Raises RequestError for
    a limit without prices.
    """

    def __init__(self, prices: Target, limit: float | None = None):
        if limit is not None and not (prices.llm_price_input and prices.llm_price_output):
            raise RequestError(
                "--max-cost needs the prices of the judge's model. Set LLM_PRICE_INPUT and "
                "LLM_PRICE_OUTPUT, for a million tokens, in the judge's target or the environment."
            )
        self._prices = prices
        self._limit = limit
        self._changed = Condition()
        self._reserved: list[Usage] = []
        self._owed = Usage()
        self.used = Usage()
        self.calls = 0
        self.exhausted = False

    @property
    def cost(self) -> float | None:
        """Return what was spent, in the currency of the prices; None where they are unknown."""
        return self._prices.cost(self.used.prompt_tokens, self.used.completion_tokens)

    @contextmanager
    def call(self, most: Usage) -> Iterator[Call]:
        """Make a call that takes `most` at most; the block says what it took.

        If it does not, all of `most` counts as spent. Raises NotJudged where the limit does not
        allow it.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._fits(most) or not self._reserved)
            self.exhausted = self.exhausted or not self._fits(most)
            if self.exhausted:
                raise NotJudged("The judge stopped at the limit of --max-cost.")
            self._reserved.append(most)
            self.calls += 1
        call = Call(most)
        try:
            yield call
        finally:
            with self._changed:
                self._reserved.remove(most)
                self.used += call.took
                self._owed += call.owed
                self._changed.notify_all()

    def cost_of(self, usage: Usage) -> float | None:
        """Return what one call cost."""
        return self._prices.cost(usage.prompt_tokens, usage.completion_tokens)

    def _fits(self, most: Usage) -> bool:
        if self._limit is None:
            return True
        whole = sum((*self._reserved, most), self._owed)
        return (self.cost_of(whole) or 0.0) <= self._limit


_PROMPTS = files("atlas_search.evaluation") / "prompts"

Rules = Literal["statements", "supported", "useful", "attributed", "guess", "steps", "mark"]


@cache
def rules(name: Rules) -> str:
    """The rules of one kind of call."""
    return _PROMPTS.joinpath(f"{name}.txt").read_text(encoding="utf-8")


@cache
def version(name: Rules) -> str:
    """A digest of the rules, which changes with every change of them."""
    return hashlib.sha256(rules(name).encode()).hexdigest()[:VERSION_DIGITS]


Form = TypeVar("Form", bound=BaseModel)
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)

CUT_OFF = (
    "The judge's reply was cut off. A model that thinks before it writes may need more tokens than "
    "a verdict has: name another with --judge-model."
)
MALFORMED = (
    "The judge's reply was not of the form asked for. A larger model keeps to it more often."
)

_PER_MESSAGE = 16  # tokens that a provider may add to a message


@dataclass(frozen=True)
class JudgeTask:
    """A call of the model: its rules, quoted material, and the most tokens of a reply."""

    rules: Rules
    material: str
    tokens: int

    @property
    def name(self) -> str:
        """Name of the template, as traces have it."""
        return f"judge/{self.rules}"

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
    spending: JudgeSpending
    server: str = ""
    stop: Stop = field(default_factory=Stop)
    outage: Outage = field(default_factory=Outage)

    def ask(
        self,
        task: JudgeTask,
        form: type[Form],
        check: Callable[[Form], None] = lambda _: None,
        vote: int = 1,
    ) -> Form:
        """The reply to the `vote`th time of asking, at temperature 0.

        `check` raises ValueError for a reply that has the form and is none all the same. Raises
        NotJudged if there is no such reply, and Cancelled.
        """
        read = partial(_read, form=form, check=check)
        texts = (message.content for message in task.messages)
        version_ = version(task.rules)
        key = key_of(self.chat.name, self.server, self.name, version_, str(vote), *texts)
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

    def _call(self, task: JudgeTask, vote: int) -> Completion:
        self.outage.check()
        try:
            done = self._pay(task, vote)
        except ModelRefused as error:
            raise JudgeRefused(f"The judge could not be asked: {error}") from error
        except ModelUnavailable as error:
            if not isinstance(error, ModelBusy):  # that was our own queue
                self.outage.failed(error)
            raise NotJudged(f"The judge could not be asked: {error}") from error
        self.outage.worked()
        return done

    def _pay(self, task: JudgeTask, vote: int) -> Completion:
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

    def _stream(self, task: JudgeTask, options: ChatOptions, call: Call) -> Completion:
        pieces: list[str] = []
        try:
            with closing(self.chat.stream(task.messages, options, self.stop)) as stream:
                ended = read_stream(stream, options, pieces)
        except (ModelRefused, ModelBusy):
            call.owed = Usage()  # the provider did not begin with it
            raise
        except Exception:
            if pieces:
                call.took = estimate_usage(task.messages, pieces)
            raise
        if ended and ended.usage != Usage():
            call.took = call.owed = ended.usage
        else:
            call.took = estimate_usage(task.messages, pieces)
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


def _most(task: JudgeTask) -> Usage:
    """Return what a call may take: in no vocabulary has a text more tokens than bytes."""
    read = [len(message.content.encode("utf-8", "surrogatepass")) for message in task.messages]
    return Usage(sum(read) + _PER_MESSAGE * len(read), task.tokens)


def _describe(span: Span, judge: JudgeModel, task: JudgeTask, options: ChatOptions) -> None:
    describe_call(
        span,
        judge.chat.name,
        judge.name,
        [asdict(message) for message in task.messages],
        temperature=options.temperature,
        max_tokens=options.max_tokens,
    )
    describe_prompt(span, task.name, rules(task.rules), version(task.rules), {})


Text = Annotated[str, Field(min_length=1, max_length=4000)]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Statements(_Form):
    """Statements of an answer, each understandable alone."""

    statements: list[Text] = Field(min_length=1, max_length=200)


class Verdict(_Form):
    """Yes or no on one numbered thing."""

    number: int
    verdict: Literal["yes", "no"]
    reason: str


class Verdicts(_Form):
    """One verdict on each."""

    verdicts: list[Verdict]

    def check_numbers(self, count: int) -> None:
        """Raise ValueError unless each number from 1 to `count` is there once."""
        if sorted(said.number for said in self.verdicts) != list(range(1, count + 1)):
            raise ValueError("the judge does not give one verdict on each")


class Guess(_Form):
    """The question that an answer seems to answer, and whether it commits itself to anything."""

    question: Text
    noncommittal: bool


class Steps(_Form):
    """Steps to judge by a criterion."""

    steps: list[Text] = Field(min_length=2, max_length=8)


class Mark(_Form):
    """A mark from 0, the worst, to 10."""

    score: float = Field(ge=0, le=10)
    reason: str


Tag = Literal["question", "answer", "reference", "statement", "sentence", "passage", "step"]

_TAG = opening_of(get_args(Tag))


def quote(tag: Tag, text: str, **attributes: str) -> str:
    """A text between tags, whole."""
    said = "".join(f' {name}="{attribute(value)}"' for name, value in attributes.items() if value)
    return f"<{tag}{said}>\n{_TAG.sub('‹', text)}\n</{tag}>"


def quote_each(tag: Tag, texts: Iterable[str]) -> str:
    """Texts with their numbers, from 1."""
    return join(quote(tag, text, number=str(n)) for n, text in enumerate(texts, start=1))


def quote_passages(passages: Sequence[RankedPassageOut]) -> str:
    """Passages with their numbers, from 1, and what their sources are called."""
    return join(
        quote("passage", each.text, number=str(n), title=each.title or "", date=each.date or "")
        for n, each in enumerate(passages, start=1)
    )


def join(blocks: Iterable[str]) -> str:
    """Blocks with an empty line between them, without empty ones."""
    return "\n\n".join(filter(None, blocks))
