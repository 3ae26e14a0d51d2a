"""A local HTTP server that speaks OpenAI's API. See `chat_server` for how it is told things."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from tests.chat_server import (
    ChatServer,
    Part,
    Raw,
    Reply,
    Request,
    Says,
    chunk,
    serving,
)

MODEL = "gpt-4o-mini"
RUN_MODEL = "gpt-4o-mini-2024-07-18"
"""What the server says it ran."""


class OpenAIServer(ChatServer):
    """`address` is what OPENAI_BASE_URL takes."""

    models = (MODEL, "gpt-4o")
    unauthorized = Reply(
        401, {"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}
    )

    def __init__(self, address: str):
        super().__init__(address)
        self.address += self.path

    def list_of_models(self) -> Reply:
        """See ChatServer."""
        listed = [{"id": name, "object": "model", "created": 1} for name in self.models]
        return Reply(200, {"object": "list", "data": listed})

    def unknown_model(self, model: str) -> Reply:
        """See ChatServer."""
        return refusal(404, f"The model `{model}` does not exist.", "model_not_found")

    def events(self, request: Request, says: Says) -> Iterator[Part]:
        """See ChatServer. The usage comes in an event of its own, if it was asked for."""
        yield _event([_choice({"role": "assistant", "content": ""})])
        for part in says.parts:
            yield _event([_choice({"content": part})]) if isinstance(part, str) else part
        if says.finish:
            yield _event([_choice({}, says.finish)])
        if request.body.get("stream_options", {}).get("include_usage") and says.usage:
            yield _event([], says.usage)


def refusal(status: int, message: str, code: str | None = None, param: str | None = None) -> Reply:
    """The answer to a request that OpenAI does not take."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Reply(status, {"error": error})


def openai_server() -> AbstractContextManager[OpenAIServer]:
    """A running server."""
    return serving(OpenAIServer)


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _event(choices: list[dict[str, Any]], usage: tuple[int, int] | None = None) -> Raw:
    return Raw(json.dumps(chunk(RUN_MODEL, choices, usage)))
