"""A language model at a provider that is reached over HTTP: what all of them have in common."""

import asyncio
import threading
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Generator,
    Sequence,
)
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, Protocol

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, stop_before_delay

from atlas_search.core.errors import AtlasError, ConfigurationError, ModelRefused, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ChatOptions, Ended, Health, Message, Usage
from atlas_search.providers.chat.calls import ModelCalls
from atlas_search.providers.http import (
    Answered,
    Fault,
    Garbled,
    Provider,
    explain,
    passes,
    wait_as_asked,
)

ATTEMPTS = 6
FIRST_BACKOFF = 0.5
LONGEST_BACKOFF = 8.0
HEALTH_SECONDS = 5.0

_LENGTH = ("length", "model_length")  # Mistral's second: the model's own limit


@dataclass(frozen=True, slots=True)
class Piece:
    """What one event of a stream says. Empty fields say nothing; `reason` is why the text ends,
    in the provider's word."""

    text: str = ""
    usage: Usage | None = None
    model: str = ""
    reason: str = ""


Pieces = AsyncGenerator[Piece, None]
_Begun = tuple[list[Piece], Pieces]
"""A stream's pieces up to the first with text, and the stream to read on from."""


class Account(Protocol):
    """An account at a provider, opened. The methods raise Fault, or an error for people."""

    provider: Provider
    lists_all: bool
    """Whether a model that `models` does not name cannot be used."""

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Pieces:
        """The model's answer in pieces."""

    async def models(self, seconds: float) -> Collection[str]:
        """The names of the models that can be used."""


def chat_provider(
    server: str, key: str, key_setting: str, address_setting: str, address: str
) -> Provider:
    """A provider of language models, at an `address` that may hold a login."""
    return Provider(
        server,
        key,
        key_setting,
        address_setting,
        model_setting="LLM_MODEL",
        refused_key=ModelRefused,
        refused=ModelRefused,
        unavailable=ModelUnavailable,
        rate_setting="LLM_CONCURRENCY",
        sizes="CONTEXT_TOKENS and MAX_TOKENS are within what the model takes",
        address=address,
    )


def response_format(options: ChatOptions) -> dict[str, Any]:
    """The schema as a part of a request, in the form that OpenAI and Mistral share."""
    if options.schema is None:
        return {}
    form = {"name": "reply", "strict": True, "schema": options.schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


class RemoteChat:
    """See ChatModel. The account is opened by the first call; what cannot be opened refuses it.

    A provider that is busy or out of reach is asked again until text has come, at most ATTEMPTS
    times in all and while the call's time suffices.
    """

    def __init__(
        self,
        name: str,
        default_model: str,
        open_account: Callable[[], Account],
        calls: ModelCalls,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ):
        self.name = name
        self.default_model = default_model
        self._open_account = open_account
        self._calls = calls
        self._sleep = sleep
        self._lock = threading.Lock()
        self._account: Account | None = None

    def stream(
        self, messages: Sequence[Message], options: ChatOptions, stop: Stop
    ) -> Generator[str | Ended, None, None]:
        """See ChatModel."""
        account = self._open()
        yield from self._calls.iterate(lambda: self._say(account, messages, options), stop)

    def health(self, model: str) -> Health:
        """See ChatModel. Asks for the list of models, and waits for no turn."""
        try:
            account = self._open()
            return self._calls.at_once(lambda: _look_up(account, model))
        except AtlasError as error:
            return Health(False, str(error))

    def _open(self) -> Account:
        with self._lock:
            try:
                self._account = self._account or self._open_account()
            except ConfigurationError as error:
                raise ModelRefused(str(error)) from error
            return self._account

    async def _say(
        self, account: Account, messages: Sequence[Message], options: ChatOptions
    ) -> AsyncGenerator[str | Ended, None]:
        """The text and its end, or an error for people."""
        end = asyncio.get_running_loop().time() + options.seconds
        try:
            async with asyncio.timeout_at(end):
                begun, rest = await self._begin(
                    lambda: account.stream(messages, options), options.seconds
                )
                tally = _Tally(options.model)
                for piece in begun:
                    if text := tally.text_of(piece):
                        yield text
                async for piece in rest:
                    if text := tally.text_of(piece):
                        yield text
                yield tally.end()
        except (TimeoutError, Fault) as error:
            # a client that was not let run may report its own, later end first
            late = asyncio.get_running_loop().time() >= end
            if isinstance(error, Fault) and not late:
                raise explain(error, account.provider, options.model) from error
            raise ModelUnavailable(
                f"{account.provider.server} did not answer within {options.seconds:g} seconds. Try "
                "again later, or raise LLM_SECONDS."
            ) from error

    async def _begin(self, ask: Callable[[], Pieces], seconds: float) -> _Begun:
        retrying = AsyncRetrying(
            retry=retry_if_exception(passes),
            wait=wait_as_asked(FIRST_BACKOFF, LONGEST_BACKOFF),
            stop=stop_after_attempt(ATTEMPTS) | stop_before_delay(seconds),
            sleep=self._sleep,
            reraise=True,
        )
        begun: _Begun = await retrying(_first_text, ask)
        return begun


class _Tally:
    """What a stream said beside its text. The last word counts."""

    def __init__(self, model: str):
        self._usage = Usage()
        self._model = model
        self._reason = ""

    def text_of(self, piece: Piece) -> str:
        """The piece's text; the rest of it is noted."""
        self._usage = piece.usage or self._usage
        self._model = piece.model or self._model
        self._reason = piece.reason or self._reason
        return piece.text

    def end(self) -> Ended:
        """How it ended. Raises Garbled if it did not come to its end."""
        if not self._reason:
            raise Garbled("the text broke off before its end")
        if self._reason == "error":
            raise Garbled("the model failed while it wrote")
        return Ended(self._usage, self._model, _reason(self._reason))


def _reason(said: str) -> Literal["stop", "length", "filtered"]:
    if said in _LENGTH:
        return "length"
    return "filtered" if said == "content_filter" else "stop"


async def _first_text(ask: Callable[[], Pieces]) -> _Begun:
    pieces = ask()
    begun = []
    async for piece in pieces:
        begun.append(piece)
        if piece.text:
            break
    return begun, pieces


async def _look_up(account: Account, model: str) -> Health:
    provider = account.provider
    try:
        async with asyncio.timeout(HEALTH_SECONDS):
            models = await account.models(HEALTH_SECONDS)
    except TimeoutError:
        return Health(
            False,
            f"{provider.server} did not answer within {HEALTH_SECONDS:g} seconds. Check the "
            f"network and {provider.address_setting}.",
        )
    except Fault as fault:
        unlisted = isinstance(fault, Answered) and fault.status == 404
        if unlisted and not account.lists_all:  # servers of one's own need not have a list
            return Health(True)
        return Health(False, str(explain(fault, provider, model)))
    return _check_listing(account, model, models)


def _check_listing(account: Account, model: str, models: Collection[str]) -> Health:
    if model in models or f"{model}:latest" in models:  # Ollama's name for a model without a tag
        return Health(True)
    names = get_close_matches(model, models, 5, 0.3) or sorted(models)[:5]
    return Health(
        not account.lists_all,
        f"{account.provider.server} does not list the model {model}. Set LLM_MODEL to one that it "
        f"has, such as: {', '.join(names) or 'none is listed'}.",
    )
