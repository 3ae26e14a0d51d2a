"""Language models over HTTP: what all of them have in common, Mistral's and OpenAI's.

Mistral: https://docs.mistral.ai/api/#tag/chat, with its own client.
OpenAI, or a server that speaks its protocol: https://platform.openai.com/docs/api-reference/chat,
with its own client.
"""

import asyncio
import threading
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Generator,
    Iterator,
    Sequence,
)
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import SecretStr, ValidationError
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, stop_before_delay

from atlas_search.core.addresses import without_login
from atlas_search.core.errors import AtlasError, ConfigurationError, ModelRefused, ModelUnavailable
from atlas_search.core.registry import require
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ChatOptions, Ended, Health, Message, ModelCalls, Usage
from atlas_search.providers.http import (
    ErrorStatus,
    Fault,
    Garbled,
    Provider,
    explain,
    http_faults,
    passes,
    retry_after,
    to_fault,
    usable_key,
    wait_as_asked,
)

if TYPE_CHECKING:
    from httpx2 import Response
    from mistralai.client.models import CompletionChunk, CompletionEvent
    from mistralai.client.utils.eventstreaming import EventStreamAsync
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionChunk

    from atlas_search.providers.mistral import MistralApi


ATTEMPTS = 6
FIRST_BACKOFF = 0.5
LONGEST_BACKOFF = 8.0
HEALTH_SECONDS = 5.0

_LENGTH = ("length", "model_length")  # Mistral's second: the model's own limit


@dataclass(frozen=True, slots=True)
class Piece:
    """The content of one event of a stream. Empty fields say nothing; `reason` is why the text
    ends, in the provider's word."""

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
    """True if a model that `models` does not name cannot be used."""

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
    """A ChatModel over the network. The first call opens the account, and fails if it cannot.

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
        account = self._open()
        yield from self._calls.iterate(lambda: self._say(account, messages, options), stop)

    def health(self, model: str) -> Health:
        """Ask for the list of models, without waiting for a turn."""
        try:
            account = self._open()
            return self._calls.at_once(lambda: _look_up(account, model))
        except AtlasError as error:
            return Health(False, str(error))

    def open(self) -> Account:
        """Open the account, once. Raises ConfigurationError where a key or library is missing."""
        with self._lock:
            self._account = self._account or self._open_account()
            return self._account

    def _open(self) -> Account:
        try:
            return self.open()
        except ConfigurationError as error:
            raise ModelRefused(str(error)) from error

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
    """The usage, model and end of a stream, from its pieces. The last word counts."""

    def __init__(self, model: str):
        self._usage = Usage()
        self._model = model
        self._reason = ""

    def text_of(self, piece: Piece) -> str:
        """Return the piece's text, and note the rest of it."""
        self._usage = piece.usage or self._usage
        self._model = piece.model or self._model
        self._reason = piece.reason or self._reason
        return piece.text

    def end(self) -> Ended:
        """Return the end of the stream. Raises Garbled if it did not come to its end."""
        if not self._reason:
            raise Garbled("the text broke off before its end")
        if self._reason == "error":
            raise Garbled("the model failed while it wrote")
        return Ended(self._usage, self._model, _reason(self._reason))


def _reason(reason: str) -> Literal["stop", "length", "filtered"]:
    if reason in _LENGTH:
        return "length"
    return "filtered" if reason == "content_filter" else "stop"


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
        unlisted = isinstance(fault, ErrorStatus) and fault.status == 404
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


DEFAULT_MISTRAL_CHAT_MODEL = "mistral-medium-latest"
SHARE_FOR_RATE = 0.8
"""The share of a call's time for waiting for the account's rate; the rest is for the answer."""
DRAIN_SECONDS = 0.1


def mistral_chat(
    open_api: Callable[[], "MistralApi"],
    calls: ModelCalls,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> RemoteChat:
    """Mistral's models. `open_api`, asked once, opens the account, whose rate others may share."""
    return RemoteChat(
        "mistral",
        DEFAULT_MISTRAL_CHAT_MODEL,
        lambda: _MistralAccount(open_api(), calls),
        calls,
        sleep,
    )


class _MistralAccount:
    """The account at Mistral. Each try of a request counts against the account's rate."""

    lists_all = True

    def __init__(self, api: "MistralApi", calls: ModelCalls):
        self._api = api
        client = api.connect(calls.http)
        # importing these takes a while, which must not hold up the calls that run
        self._chat, self._models = client.chat, client.models
        self.provider = chat_provider(
            api.server, api.key, "MISTRAL_API_KEY", "MISTRAL_SERVER_URL", api.address
        )

    async def stream(self, messages: Sequence[Message], options: ChatOptions) -> Pieces:
        await self._turn(options.seconds)
        with self._api.faults():
            answer = await self._chat.stream_async(**_mistral_request(messages, options))
            events = _events(answer)
            async with events, aclosing(events.generator):
                async for event in events:
                    piece = _piece(event.data)
                    yield piece
                    if piece.reason and piece.usage:  # all is said
                        await _drain(events.response)
                        return

    async def models(self, seconds: float) -> Collection[str]:
        """List the models; the request does not count against the rate."""
        with self._api.faults():
            listed = await self._models.list_async(timeout_ms=_milliseconds(seconds))
        cards = listed.data or []
        named = {getattr(card, "id", "") for card in cards}
        return named.union(*(getattr(card, "aliases", None) or [] for card in cards)) - {""}

    async def _turn(self, seconds: float) -> None:
        if not await self._api.turn(SHARE_FOR_RATE * seconds):
            raise ModelUnavailable(self._api.rate_used_up, self._api.seconds_per_request)


def _mistral_request(messages: Sequence[Message], options: ChatOptions) -> dict[str, Any]:
    return response_format(options) | {
        "model": options.model,
        "messages": _messages(messages),
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "timeout_ms": _milliseconds(options.seconds + 1),  # the call ends before
    }


def _messages(messages: Sequence[Message]) -> list[Any]:
    from mistralai.client.models import AssistantMessage, SystemMessage, UserMessage

    kinds = {"system": SystemMessage, "user": UserMessage, "assistant": AssistantMessage}
    return [kinds[message.role](content=message.content) for message in messages]


def _events(answer: "EventStreamAsync[CompletionEvent]") -> "EventStreamAsync[CompletionEvent]":
    """The events of an answer, read in 0.2 ms each.

    The client's own reading, which makes a new pydantic model for each of them, takes 2 ms.
    """
    from mistralai.client.models import CompletionEvent
    from mistralai.client.utils.eventstreaming import EventStreamAsync

    def event(raw: str) -> CompletionEvent:
        try:
            return CompletionEvent.model_validate_json(raw)
        except ValidationError as error:
            raise Garbled(f"200: {raw}") from error

    return EventStreamAsync(answer.response, event, "[DONE]")


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


def _piece(chunk: "CompletionChunk | ChatCompletionChunk") -> Piece:
    usage, model = chunk.usage, chunk.model or ""
    counted = Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else None
    if not chunk.choices:  # as in OpenAI's chunk with the usage
        return Piece(usage=counted, model=model)
    choice = chunk.choices[0]
    return Piece(_text(choice.delta), counted, model, choice.finish_reason or "")


def _text(delta: object) -> str:
    """The text of a message, which may be in chunks. What a model thinks is no text."""
    content = getattr(delta, "content", None) or getattr(delta, "refusal", None)
    if isinstance(content, str):
        return content
    chunks = content if isinstance(content, list) else []  # else the SDK's word for nothing
    return "".join(chunk.text for chunk in chunks if chunk.type == "text")


async def _drain(response: "Response") -> None:
    """Read what ends the answer's transport: without it the connection is not used again."""
    from httpx2 import AsyncByteStream, TransportError

    assert isinstance(response.stream, AsyncByteStream)
    with suppress(TransportError, TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in response.stream:
                pass


DEFAULT_OPENAI_MODEL = "gpt-4o-mini"
OPENAI_SERVER = "https://api.openai.com/v1"

DISPENSABLE = ("max_tokens", "temperature", "response_format", "stream_options")
"""Parameters that some servers or models do not take, and that the answer does not depend on."""

_NO_KEY = (
    "LLM_PROVIDER=openai needs a key. Set OPENAI_API_KEY in the environment or .env, or "
    "OPENAI_BASE_URL to a server of your own; LLM_PROVIDER=extractive needs neither."
)
_ANY_KEY = "none-needed"  # the client insists on one


def openai_chat(
    api_key: SecretStr,
    base_url: str,
    calls: ModelCalls,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> RemoteChat:
    """The models at `base_url`; empty: OpenAI's. Only those need a key."""
    return RemoteChat(
        "openai",
        DEFAULT_OPENAI_MODEL,
        lambda: _OpenAIAccount(api_key, base_url, calls),
        calls,
        sleep,
    )


class _OpenAIAccount:
    """The account at OpenAI, or at another server that speaks its protocol."""

    def __init__(self, api_key: SecretStr, base_url: str, calls: ModelCalls):
        require("openai", "LLM_PROVIDER=openai")
        self.lists_all = not base_url
        unset = base_url and not api_key.get_secret_value().strip()
        key = usable_key(SecretStr(_ANY_KEY) if unset else api_key, "OPENAI_API_KEY", _NO_KEY)
        address = base_url or OPENAI_SERVER
        name = "The model server" if base_url else "OpenAI"
        self.provider = chat_provider(
            f"{name} at {without_login(address)}", key, "OPENAI_API_KEY", "OPENAI_BASE_URL", address
        )
        client = _client(key, address, calls)
        # importing these takes a while, which must not hold up the calls that run
        self._completions, self._models = client.chat.completions, client.models
        self._refused: dict[str, frozenset[str]] = {}
        """The dispensable that a model did not take, by its name."""

    async def stream(self, messages: Sequence[Message], options: ChatOptions) -> Pieces:
        request = _openai_request(messages, options) | {
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        with _faults():
            async with await self._create(request) as chunks:
                async for chunk in chunks:
                    yield _piece(chunk)

    async def models(self, seconds: float) -> Collection[str]:
        with _faults():
            return {model.id for model in (await self._models.list(timeout=seconds)).data}

    async def _create(self, request: dict[str, Any]) -> Any:
        """Send it, again without what the server does not take."""
        from openai import BadRequestError

        model = request["model"]
        refused = self._refused.get(model, frozenset())
        while True:
            try:
                answer = await self._completions.create(**_without(request, refused))
            except BadRequestError as error:
                left = [name for name in DISPENSABLE if name in request and name not in refused]
                named = [name for name in left if name in error.response.text]
                if not named and "stream_options" not in left:
                    raise
                refused |= {named[0] if named else "stream_options"}
            else:
                self._refused[model] = refused
                return answer


def _client(key: str, address: str, calls: ModelCalls) -> "AsyncOpenAI":
    from httpx2 import InvalidURL
    from openai import AsyncOpenAI

    try:
        return AsyncOpenAI(api_key=key, base_url=address, http_client=calls.http, max_retries=0)
    except InvalidURL as error:
        raise ConfigurationError(
            f"OPENAI_BASE_URL={address} is not an address ({error}). Set it to one such as "
            "http://localhost:11434/v1."
        ) from error


def _openai_request(messages: Sequence[Message], options: ChatOptions) -> dict[str, Any]:
    return response_format(options) | {
        "model": options.model,
        "messages": [{"role": each.role, "content": each.content} for each in messages],
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "timeout": options.seconds + 1,  # the call ends before
    }


def _without(request: dict[str, Any], refused: Collection[str]) -> dict[str, Any]:
    rest = {name: value for name, value in request.items() if name not in refused}
    if "max_tokens" in refused:  # its name at OpenAI's reasoning models
        rest["max_completion_tokens"] = request["max_tokens"]
    return rest


@contextmanager
def _faults() -> Iterator[None]:
    from openai import APIConnectionError, APIError, APIStatusError

    try:
        with http_faults():  # what is read of a stream raises the client's own
            yield
    except APIStatusError as error:
        body, headers = error.response.text, error.response.headers
        raise ErrorStatus(error.status_code, body, retry_after(headers)) from error
    except APIConnectionError as error:
        raise to_fault(error.__cause__ or error) from error
    except APIError as error:  # sent in the stream
        raise Garbled(error.message) from error
    except (ValueError, TypeError, AttributeError) as error:  # the client checks nothing
        raise Garbled(f"{type(error).__name__}: {error}") from error
