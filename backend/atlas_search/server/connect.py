"""Routes for programs of others: MCP, chat front ends that speak to OpenAI, wikis and browsers.

What tells of the collection is answered by requests to the API from within
(`integrations/within.py`).
"""

from functools import cached_property
from html import escape
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from flask import Flask, Response, g, json, jsonify, request

from atlas_search.client import ApiCall, AtlasClient
from atlas_search.core.errors import NotFound, RequestError
from atlas_search.core.registry import require
from atlas_search.core.settings import Settings
from atlas_search.core.wire import PassageOut
from atlas_search.documents.references import Base, permalink
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


EMBEDDED_WIDTH, EMBEDDED_HEIGHT = 640, 360  # pixels

OPENSEARCH = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>Atlas</ShortName>
  <Description>Answers from the sources, with verified citations</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Image type="image/svg+xml">{base}/static/favicon.svg</Image>
  <Url type="text/html" template="{base}/#q={{searchTerms}}"/>
</OpenSearchDescription>
"""

LLMS = """# Atlas

> Answers from a collection of sources, every sentence with verified citations. Cite a source by the
> link and citation that come with it, unchanged.

- [MCP]({base}/mcp): tools to search, quote, ask and count, over streamable HTTP
- [Chat]({base}/v1/chat/completions): the API of OpenAI; `/v1/models` lists targets
- [API]({base}/api/openapi.json): every route, as OpenAPI
"""


def offer_embedding(page: Response) -> Response:
    """Tell a page of others how the passage that the page's address names is taken in."""
    if "passage" in request.args:
        address = f"{request.root_path}/oembed?url={quote(request.url, safe='')}"
        page.headers["Link"] = f'<{address}>; rel="alternate"; type="application/json+oembed"'
    return page


def quotation(passage: PassageOut, link: str) -> str:
    """A passage as HTML that a page of others may take in."""
    return (
        f'<blockquote cite="{escape(link)}"><p>{escape(passage.text)}</p>'
        f'<footer><a href="{escape(link)}">{escape(passage.title)}</a></footer></blockquote>'
    )


def frame_of(address: str) -> str:
    """A frame that shows a shared answer."""
    return (
        f'<iframe src="{escape(address)}?format=html" width="{EMBEDDED_WIDTH}" '
        f'height="{EMBEDDED_HEIGHT}" sandbox="allow-popups allow-popups-to-escape-sandbox" '
        'loading="lazy"></iframe>'
    )


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
        add("/oembed", view_func=self.get_oembed)
        add("/opensearch.xml", view_func=self.get_opensearch)
        add("/llms.txt", view_func=self.get_llms)

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

    def get_oembed(self) -> Response:
        """A passage or a shared answer by its address, for a page of others (oEmbed 1.0)."""
        address = urlsplit(request.args.get("url", ""))
        query = parse_qs(address.query)
        named = query.get("passage", [""])[0]
        token = quote(address.path.partition("/api/shared/")[2], safe="")
        client, base = self._within(query.get("collection", [""])[0])
        if named:
            passage = client.passage(named)
            title, html = passage.title, quotation(passage, permalink(base, named))
        elif token:
            answer = client.send(ApiCall("GET", f"/api/shared/{token}", dict))
            title, html = answer["question"], frame_of(f"{self._url}/api/shared/{token}")
        else:
            raise NotFound("Give `url`: the address of a passage, or of a shared answer.")
        return jsonify(
            {
                "version": "1.0",
                "type": "rich",
                "title": title,
                "html": html,
                "width": EMBEDDED_WIDTH,
                "height": EMBEDDED_HEIGHT,
                "provider_name": "Atlas",
                "provider_url": self._url,
            }
        )

    def get_opensearch(self) -> Response:
        """The description by which a browser offers a search field. Its terms reach no log."""
        text = OPENSEARCH.format(base=escape(self._url))
        return Response(text, content_type="application/opensearchdescription+xml; charset=utf-8")

    def get_llms(self) -> Response:
        """The page for a language model that comes by: where it can ask (llmstxt.org)."""
        return Response(LLMS.format(base=self._url), content_type="text/plain; charset=utf-8")

    @property
    def _url(self) -> str:
        return (self._settings.atlas_public_url or request.host_url).rstrip("/")

    def _within(self, collection: str = "") -> tuple[AtlasClient, str]:
        """A client for the sender of the present request, and the base of links."""
        collection = collection or chosen_collection()
        url = request.host_url.rstrip("/")
        front = request.environ.get(FRONT, self._app.wsgi_app)
        client = client_within(front, request.environ)
        base = Base(self._url, self._settings.chroma_collection_name)
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
