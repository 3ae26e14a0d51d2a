"""A local HTTP server that speaks Cohere's rerank API. See `chat_server` for how it is told."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.chat_server import KEY, ChatServer, Reply, Request, serving

__all__ = ["KEY"]

MODEL = "rerank-v3.5"


class CohereServer(ChatServer):
    """Ranks by `relevance`."""

    unauthorized = Reply(401, {"id": "r1", "message": "invalid api token"})

    def answer(self, request: Request) -> Reply:
        """See ChatServer."""
        if request.path != "/v2/rerank":
            return Reply(404, {"message": "404 page not found"})
        return _reranked(request.body)


def relevance(query: str, document: str) -> float:
    """The score the server gives: the share of the query's words that stand in the document."""
    asked = set(query.lower().split())
    return len(asked & set(document.lower().split())) / len(asked)


def results(*pairs: tuple[object, object], **further: object) -> dict[str, object]:
    """The body of an answer with these indices and scores."""
    listed = [{"index": index, "relevance_score": score} for index, score in pairs]
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return {"id": "r1", "results": listed, "meta": meta, **further}


def cohere_server() -> AbstractContextManager[CohereServer]:
    """A running server."""
    return serving(CohereServer)


def _reranked(body: Mapping[str, Any]) -> Reply:
    query, documents = body["query"], body["documents"]
    if body["model"] != MODEL:
        return Reply(404, {"message": f"model '{body['model']}' not found"})
    if not documents:
        return Reply(400, {"message": "invalid request: list of documents must not be empty"})
    return Reply(200, results(*_best(query, documents)[: body.get("top_n")]))


def _best(query: str, documents: Sequence[str]) -> list[tuple[int, float]]:
    """Index and score of each document, best first, as Cohere sends them."""
    scores = [(index, relevance(query, text)) for index, text in enumerate(documents)]
    return sorted(scores, key=lambda pair: (-pair[1], pair[0]))
