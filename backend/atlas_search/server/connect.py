"""Routes for programs of others: MCP.

Each is answered by requests to the API from within (`integrations/within.py`).
"""

from functools import cached_property

from flask import Flask, Response, request

from atlas_search.client import AtlasClient
from atlas_search.core.registry import require
from atlas_search.core.settings import Settings
from atlas_search.documents.references import Base
from atlas_search.integrations.within import AsgiBridge, client_within
from atlas_search.server.collections import chosen_collection
from atlas_search.server.limits import FRONT


class Connections:
    """The routes, and what answers them. Safe to use from several threads."""

    def __init__(self, app: Flask, settings: Settings):
        self._app = app
        self._settings = settings

    def add_routes(self) -> None:
        """Add the routes to the application."""
        self._app.add_url_rule("/mcp", view_func=self.post_mcp, methods=["POST"])

    def post_mcp(self) -> Response:
        """A message of the Model Context Protocol."""
        extra = {"atlas": self._within()}
        status, headers, chunks = self._mcp.answer(request.environ, request.get_data(), extra)
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
