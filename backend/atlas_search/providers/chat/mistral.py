"""Mistral's language models, over its API with its own client.

https://docs.mistral.ai/api/#tag/chat
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from atlas_search.core.errors import ModelUnavailable
from atlas_search.providers.chat import ChatOptions, Message, Usage
from atlas_search.providers.chat.calls import ModelCalls
from atlas_search.providers.chat.remote_chat import (
    Piece,
    Pieces,
    RemoteChat,
    chat_provider,
    response_format,
)
from atlas_search.providers.http import Garbled

if TYPE_CHECKING:  # 0.7 s to import: only who uses it pays
    from httpx2 import Response
    from mistralai.client.models import CompletionChunk, CompletionEvent, UsageInfo
    from mistralai.client.utils.eventstreaming import EventStreamAsync

    from atlas_search.providers.mistral_account import MistralApi

DEFAULT_MISTRAL_CHAT_MODEL = "mistral-medium-latest"
SHARE_FOR_RATE = 0.8
"""Of its time a call may wait so much for the account's rate: the rest must do for the answer."""
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
    """See Account. A request counts against the account's rate each time it is tried."""

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
        """See Account."""
        await self._turn(options.seconds)
        with self._api.faults():
            answer = await self._chat.stream_async(**_request(messages, options))
            events = _events(answer)
            async with events, aclosing(events.generator):
                async for event in events:
                    piece = _piece(event.data)
                    yield piece
                    if piece.reason and piece.usage:  # all is said
                        await _drain(events.response)
                        return

    async def models(self, seconds: float) -> Collection[str]:
        """See Account. Does not count against the rate."""
        with self._api.faults():
            listed = await self._models.list_async(timeout_ms=_milliseconds(seconds))
        cards = listed.data or []
        named = {getattr(card, "id", "") for card in cards}
        return named.union(*(getattr(card, "aliases", None) or [] for card in cards)) - {""}

    async def _turn(self, seconds: float) -> None:
        if not await self._api.turn(SHARE_FOR_RATE * seconds):
            raise ModelUnavailable(self._api.rate_used_up, self._api.seconds_per_request)


def _request(messages: Sequence[Message], options: ChatOptions) -> dict[str, Any]:
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


def _events(
    answer: "EventStreamAsync[CompletionEvent]",
) -> "EventStreamAsync[CompletionEvent]":
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


def _piece(said: "CompletionChunk") -> Piece:
    usage = _usage(said.usage)
    if not said.choices:
        return Piece(usage=usage, model=said.model)
    choice = said.choices[0]
    text = _text(getattr(choice.delta, "content", None))
    return Piece(text, usage, said.model, choice.finish_reason or "")


def _text(content: object) -> str:
    """The text of a message's content, which may be in chunks. What a model thinks is no text."""
    if isinstance(content, str):
        return content
    chunks = content if isinstance(content, list) else []  # else the SDK's word for nothing
    return "".join(chunk.text for chunk in chunks if chunk.type == "text")


def _usage(said: "UsageInfo | None") -> Usage | None:
    return Usage(said.prompt_tokens or 0, said.completion_tokens or 0) if said else None


async def _drain(response: "Response") -> None:
    """Read what ends the answer's transport: without it the connection is not used again."""
    from httpx2 import AsyncByteStream, TransportError

    assert isinstance(response.stream, AsyncByteStream)
    with suppress(TransportError, TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in response.stream:
                pass
