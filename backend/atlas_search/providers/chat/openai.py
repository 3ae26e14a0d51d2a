"""OpenAI's language models, or those of any server that speaks its protocol, with its own client.

https://platform.openai.com/docs/api-reference/chat
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from atlas_search.core.addresses import without_login
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.registry import require
from atlas_search.providers.chat import ChatOptions, Message, Usage
from atlas_search.providers.chat.calls import ModelCalls
from atlas_search.providers.chat.remote_chat import (
    Piece,
    Pieces,
    RemoteChat,
    chat_provider,
    response_format,
)
from atlas_search.providers.http import Answered, Garbled, retry_after, to_lost, usable_key

if TYPE_CHECKING:  # 1.4 s to import: only who uses it pays
    from openai import AsyncOpenAI
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk

DEFAULT_OPENAI_MODEL = "gpt-4o-mini"
OPENAI_SERVER = "https://api.openai.com/v1"

DISPENSABLE = ("max_tokens", "temperature", "response_format", "stream_options")
"""What some servers or models do not take; the answer does not hang on it."""

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
    """See Account."""

    def __init__(self, api_key: SecretStr, base_url: str, calls: ModelCalls):
        require("openai", "LLM_PROVIDER=openai")
        self.lists_all = not base_url
        unset = base_url and not api_key.get_secret_value().strip()
        key = usable_key(SecretStr(_ANY_KEY) if unset else api_key, "OPENAI_API_KEY", _NO_KEY)
        address = base_url or OPENAI_SERVER
        name = "The model server" if base_url else "OpenAI"
        self.provider = chat_provider(
            f"{name} at {without_login(address)}",
            key,
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            address,
        )
        client = _client(key, address, calls)
        # importing these takes a while, which must not hold up the calls that run
        self._completions, self._models = client.chat.completions, client.models
        self._refused: dict[str, frozenset[str]] = {}
        """The dispensable that a model did not take, by its name."""

    async def stream(self, messages: Sequence[Message], options: ChatOptions) -> Pieces:
        """See Account."""
        request = _request(messages, options) | {
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        with _faults():
            async with await self._create(request) as chunks:
                async for chunk in chunks:
                    yield _piece(chunk)

    async def models(self, seconds: float) -> Collection[str]:
        """See Account."""
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
            f"OPENAI_BASE_URL={address} is no address ({error}). Set it to one such as "
            "http://localhost:11434/v1."
        ) from error


def _request(messages: Sequence[Message], options: ChatOptions) -> dict[str, Any]:
    return response_format(options) | {
        "model": options.model,
        "messages": [{"role": each.role, "content": each.content} for each in messages],
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "timeout": options.seconds + 1,  # the call ends before
    }


def _without(request: dict[str, Any], refused: Collection[str]) -> dict[str, Any]:
    kept = {name: value for name, value in request.items() if name not in refused}
    if "max_tokens" in refused:  # its name at OpenAI's reasoning models
        kept["max_completion_tokens"] = request["max_tokens"]
    return kept


def _piece(said: "ChatCompletionChunk") -> Piece:
    usage = _usage(said.usage)
    if not said.choices:  # as in the chunk with the usage
        return Piece(usage=usage, model=said.model or "")
    choice = said.choices[0]
    delta = choice.delta
    text = getattr(delta, "content", None) or getattr(delta, "refusal", None) or ""
    return Piece(text, usage, said.model or "", choice.finish_reason or "")


def _usage(said: "CompletionUsage | None") -> Usage | None:
    return Usage(said.prompt_tokens or 0, said.completion_tokens or 0) if said else None


@contextmanager
def _faults() -> Iterator[None]:
    from openai import APIConnectionError, APIError, APIStatusError

    try:
        yield
    except APIStatusError as error:
        body, headers = error.response.text, error.response.headers
        raise Answered(error.status_code, body, retry_after(headers)) from error
    except APIConnectionError as error:
        raise to_lost(error.__cause__ or error) from error
    except APIError as error:  # sent in the stream
        raise Garbled(error.message) from error
    except (ValueError, TypeError, AttributeError) as error:  # the client checks nothing
        raise Garbled(f"{type(error).__name__}: {error}") from error
