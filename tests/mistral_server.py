"""A local HTTP server that speaks Mistral's API. See `chat_server` for how it is told things."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.chat_server import (
    KEY,
    ChatServer,
    Part,
    Raw,
    Reply,
    Request,
    Says,
    Silence,
    Told,
    chunk,
    serving,
)

__all__ = ["KEY", "Reply", "Request", "Silence"]

MODEL = "mistral-medium-latest"
RUN_MODEL = "mistral-medium-2508"
"""What the server says it ran."""
DIMENSION = 4
TEXTS_PER_REQUEST = 512


class MistralServer(ChatServer):
    """Answers to chat as told; to embedding with `embedding`."""

    models = (MODEL, "mistral-small-latest")
    unauthorized = Reply(401, {"message": "Unauthorized", "request_id": "r1"})

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each embedding request."""
        return [request.body["input"] for request in self.requests]

    def answer(self, request: Request) -> Told:
        """See ChatServer."""
        if request.path == "/v1/embeddings":
            return _embeddings(request.body)
        return super().answer(request)

    def list_of_models(self) -> Reply:
        """See ChatServer."""
        listed = [
            {"id": name, "object": "model", "capabilities": {}, "type": "base"}
            for name in self.models
        ]
        listed[0] |= {"id": RUN_MODEL, "aliases": [MODEL]}
        return Reply(200, {"object": "list", "data": listed})

    def unknown_model(self, model: str) -> Reply:
        """See ChatServer."""
        return Reply(400, refusal(f"Invalid model: {model}", "1500"))

    def events(self, request: Request, says: Says) -> Iterator[Part]:
        """See ChatServer. The last event has the reason of the end, and the usage."""
        yield _event({"role": "assistant", "content": ""})
        for part in says.parts:
            yield _event({"content": part}) if isinstance(part, str) else part
        if says.finish:
            yield _event({"content": ""}, says.finish, says.usage)


def thinking(*said: str) -> Raw:
    """An event with what a reasoning model thinks."""
    thoughts = [{"type": "text", "text": text} for text in said]
    return _event({"content": [{"type": "thinking", "thinking": thoughts}]})


def in_chunks(*said: str) -> Raw:
    """An event with text in chunks, as a reasoning model sends it."""
    return _event({"content": [{"type": "text", "text": text} for text in said]})


def embedding(text: str) -> list[float]:
    """The vector the server gives for a text. It is not of unit length."""
    return [float(len(text)), 1.0, float(text.count("e")), float(text.count(" "))]


def embeddings(vectors: Sequence[Sequence[float]]) -> dict[str, object]:
    """The body of an answer with these vectors."""
    data = [
        {"object": "embedding", "embedding": vector, "index": index}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": len(vectors), "total_tokens": len(vectors), "completion_tokens": 0}
    return {
        "id": "e1",
        "object": "list",
        "data": data,
        "model": "mistral-embed",
        "usage": usage,
    }


def refusal(message: str, code: str) -> dict[str, object]:
    """The body of an answer to a request that Mistral does not take."""
    return {
        "object": "error",
        "message": message,
        "type": "invalid_request",
        "param": None,
        "code": code,
    }


def mistral_server() -> AbstractContextManager[MistralServer]:
    """A running server."""
    return serving(MistralServer)


def _event(
    delta: Mapping[str, Any], finish: str | None = None, usage: tuple[int, int] | None = None
) -> Raw:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return Raw(json.dumps(chunk(RUN_MODEL, [choice], usage)))


def _embeddings(body: Mapping[str, Any]) -> Reply:
    texts = body["input"]
    if body["model"] != "mistral-embed":
        return Reply(400, refusal(f"Invalid model: {body['model']}", "1500"))
    if len(texts) > TEXTS_PER_REQUEST:
        return Reply(400, refusal("Too many inputs in request, split into more batches.", "3210"))
    return Reply(200, embeddings([embedding(text) for text in texts]))
