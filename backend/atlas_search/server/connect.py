"""Routes for programs of others: MCP, and chat front ends that speak to OpenAI.

Each is answered by requests to the API from within (`integrations/within.py`).
"""

from functools import cached_property
from typing import Any

from flask import Flask, Response, g, json, jsonify, request

from atlas_search.client import AtlasClient
from atlas_search.core.errors import RequestError
from atlas_search.core.registry import require
from atlas_search.core.settings import Settings
from atlas_search.documents.references import Base
from atlas_search.integrations import openai
from atlas_search.integrations.within import AsgiBridge, client_within
from atlas_search.server.collections import chosen_collection
from atlas_search.server.limits import FRONT
from atlas_search.server.problems import PROBLEM_TYPE


def _body() -> dict[str, Any]:
    if "body" not in g:
        raise RequestError("There is no body. Send a JSON object.")
    body: dict[str, Any] = g.body
    return body


def _sent(reply: openai.OpenAIReply) -> Response:
    if reply.lines is None:
        return jsonify(reply.document)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return Response(reply.lines, 200, headers, content_type="text/event-stream; charset=utf-8")


def _as_openai(response: Response) -> Response:
    """Give a problem the form in which the clients of OpenAI read errors."""
    if request.path.startswith("/v1/") and response.mimetype == PROBLEM_TYPE:
        problem = json.loads(response.get_data())
        response.set_data(json.dumps(openai.error_document(problem)))
        response.mimetype = "application/json"
    return response


class Connections:
    """The routes, and what answers them. Safe to use from several threads."""

    def __init__(self, app: Flask, settings: Settings):
        self._app = app
        self._settings = settings

    def add_routes(self) -> None:
        """Add the routes to the application."""
        add = self._app.add_url_rule
        add("/mcp", view_func=self.post_mcp, methods=["POST"])
        add("/v1/models", view_func=self.get_models)
        add("/v1/chat/completions", view_func=self.post_chat, methods=["POST"])
        add("/v1/responses", view_func=self.post_responses, methods=["POST"])
        self._app.after_request(_as_openai)

    def get_models(self) -> Response:
        """The targets, as models."""
        client, _ = self._within()
        return jsonify(openai.models(client))

    def post_chat(self) -> Response:
        """The answer to the last message of a chat."""
        return _sent(openai.chat(_body(), *self._within()))

    def post_responses(self) -> Response:
        """The answer to the last message, by the Responses API."""
        return _sent(openai.respond(_body(), *self._within()))

    def post_mcp(self) -> Response:
        """A message of the Model Context Protocol."""
        extra = {"atlas": self._within()}
        environ = request.environ
        if environ.get("HTTP_ACCEPT", "*/*") == "*/*":  # both kinds are asked for by name
            environ = environ | {"HTTP_ACCEPT": "application/json, text/event-stream"}
        status, headers, chunks = self._mcp.answer(environ, request.get_data(), extra)
        return Response(chunks, status, headers)

    def _within(self) -> tuple[AtlasClient, str]:
        """A client for the sender of the present request, and the base of links."""
        collection = chosen_collection()
        url = request.host_url.rstrip("/")
        front = request.environ.get(FRONT, self._app.wsgi_app)
        client = client_within(front, request.environ)
        base = Base(self._settings.atlas_public_url or url, self._settings.chroma_collection_name)
        return AtlasClient(url, collection=collection, client=client), base.of(collection)

    @cached_property
    def _mcp(self) -> AsgiBridge:
        require("mcp", "MCP")
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from atlas_search.integrations.mcp import atlas_server

        manager = StreamableHTTPSessionManager(
            atlas_server(lambda asked: asked.scope["atlas"]),
            stateless=True,
            # hosts and origins are checked at the gate of every route
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        return AsgiBridge(manager.handle_request, manager.run)
