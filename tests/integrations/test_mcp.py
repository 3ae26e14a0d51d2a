"""MCP, by the SDK's own client: over HTTP, and over standard input and output."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from flask.testing import FlaskClient
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from atlas_search import Atlas
from atlas_search.core import registry
from atlas_search.integrations.mcp import TOOLS
from atlas_search.services import Services
from tests.hash_embedder import HashEmbedder
from tests.integrations.conftest import Guarded
from tests.server.test_ask import written_by
from tests.server.two_corpora import PLANTED, QUESTION, SECRET_QUESTION, two_corpora
from tests.servers import ATLAS, app_of, served
from tests.slow_model import SlowModel

LIBEL = "Can a council sue a newspaper for libel?"
OLD = "2025-11-25"
"""A version of the protocol that begins with a handshake; the present one does not."""

Work = Callable[[Client], Awaitable[None]]


@asynccontextmanager
async def connected(address: str, key: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{address}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:  # type: ignore[arg-type]
            yield client


def speak(address: str, work: Work, key: str = "", mode: str = "auto") -> None:
    async def run() -> None:
        async with connected(address, key, mode) as client:
            await work(client)

    asyncio.run(run())


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """The result of a tool, which says the same as text and as a structure."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    structure: dict[str, Any] = result.structured_content
    return structure


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_are_listed_and_described(address: str, mode: str) -> None:
    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == list(TOOLS)
        assert tools["search"].input_schema["required"] == ["query"]
        assert tools["fetch"].input_schema["required"] == ["id"]
        assert all(tool.output_schema and tool.description for tool in tools.values())
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())

    speak(address, work, mode=mode)


def test_search_and_fetch_have_the_shape_of_deep_research(address: str, services: Services) -> None:
    atlas = Atlas(services)

    async def work(client: Client) -> None:
        found = await call(client, "search", query=LIBEL)
        expected = atlas.search(LIBEL).passages
        assert [each["id"] for each in found["results"]] == [item.passage.id for item in expected]
        first = found["results"][0]
        assert list(first)[:2] == ["citation_link", "citation"]
        assert {"id", "title", "text", "url"} <= first.keys()
        assert first["url"] == first["citation_link"]
        assert first["url"].startswith(f"{address}/?passage=")
        read = await call(client, "fetch", id=first["id"])
        assert {"id", "title", "text", "url", "metadata"} <= read.keys()
        assert read["text"] == atlas.passage(first["id"]).text
        narrowed = await call(client, "search", query=LIBEL, corpora="legal_us", k=2)
        assert {each["corpus"] for each in narrowed["results"]} == {"legal_us"}
        assert len(narrowed["results"]) == 2

    speak(address, work)


def test_a_document_is_read_in_parts(
    address: str, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas_search.integrations.mcp.LONGEST_TEXT", 1000)
    id_ = "legal_us.gregg-v-georgia-1976"
    text = Atlas(services).document(id_).text

    async def work(client: Client) -> None:
        parts, start = [], 0
        while start is not None:
            part = await call(client, "fetch", id=id_, start=start)
            assert text[part["start"] : part["end"]] == part["text"]
            parts.append(part["text"])
            start = part["next_start"]
        assert len(parts) > 2
        assert "".join(parts) == text
        beyond = await client.call_tool("fetch", {"id": id_, "start": len(text) + 1})
        assert beyond.is_error

    speak(address, work)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_answer_comes_with_its_links_first_and_with_progress(
    address: str, services: Services, mode: str
) -> None:
    expected = Atlas(services).ask(LIBEL)
    heard: list[str | None] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async def work(client: Client) -> None:
        result = await client.call_tool("ask", {"question": LIBEL}, progress_callback=listen)
        answer = result.structured_content
        assert next(iter(answer)) == "citations"
        for cited, citation in zip(answer["citations"], expected.citations, strict=True):
            assert list(cited)[:2] == ["citation_link", "citation"]
            assert (cited["quote"], cited["start"]) == (citation.quote, citation.start)
            assert f"]({cited['citation_link']})" in answer["answer"]
        assert [each["text"] for each in answer["sentences"]] == [
            sentence.text for sentence in expected.verification.sentences
        ]
        assert heard[0] == "10 passages found"
        assert heard[-1] == f"Sentence {len(answer['sentences'])} verified"
        declined = await call(client, "ask", question="How long should I roast a chicken?")
        assert (declined["answer"], declined["decision"]) == (None, "ABSTAIN")
        assert declined["reason"]["message"]

    speak(address, work, mode=mode)


def test_words_are_counted_as_everywhere(address: str, services: Services) -> None:
    atlas = Atlas(services)

    async def work(client: Client) -> None:
        lines = await call(client, "concordance", query="libel", limit=3)
        assert lines["hits"] == atlas.concordance("libel").hits
        assert list(lines["lines"][0])[:2] == ["citation_link", "citation"]
        trend = await call(client, "trends", query="libel", by="decade")
        assert trend["cells"] == atlas.trends("libel", by="decade").to_dict()["cells"]
        counts = await call(client, "counts", query="libel")
        assert counts["total"]["documents"] == atlas.counts("libel").total.documents

    speak(address, work)


def test_a_collection_can_be_looked_at(address: str, services: Services) -> None:
    atlas = Atlas(services)

    async def work(client: Client) -> None:
        listed = await call(client, "list_corpora")
        assert [each["id"] for each in listed["corpora"]] == [each.id for each in atlas.corpora]
        assert "court" in listed["filter_fields"]
        id_ = "legislation_nz.crimes-act-1961"
        outline = await call(client, "outline", document_id=id_)
        document = atlas.document(id_)
        assert [place["start"] for place in outline["places"]] == [
            segment.start for segment in document.segments
        ]
        passage = atlas.passages(id_)[0]
        quoted = await call(client, "quote", id=passage.id, start=4, end=20)
        assert quoted["quote"] == document.text[4:20]
        assert quoted["citation_link"].startswith(f"{address}/?passage=")
        assert document.title in quoted["citation"]
        wrong = await client.call_tool("quote", {"id": passage.id, "start": 0, "end": 10**6})
        assert wrong.is_error

    speak(address, work)


def test_documents_and_places_are_resources(address: str, services: Services) -> None:
    atlas = Atlas(services)

    async def work(client: Client) -> None:
        listing = await client.list_resources()
        assert len(listing.resources) == sum(corpus.documents for corpus in atlas.corpora)
        templates = (await client.list_resource_templates()).resource_templates
        assert "atlas://{collection}/{document}#{start}-{end}" in {
            template.uri_template for template in templates
        }
        whole = await client.read_resource(listing.resources[0].uri)
        text = atlas.document(listing.resources[0].name).text
        assert whole.contents[0].text == text  # type: ignore[union-attr]
        found = await call(client, "search", query=LIBEL, k=1)
        place = await client.read_resource(found["results"][0]["uri"])
        assert place.contents[0].text == found["results"][0]["text"]  # type: ignore[union-attr]
        assert place.contents[0].meta
        assert place.contents[0].meta["citation_link"] == found["results"][0]["citation_link"]
        for wrong in ("atlas://atlas_demo/none", "atlas://other/x", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(wrong)
        for cursor in ("../..", "9" * 5000):
            with pytest.raises(MCPError, match="give `nextCursor`"):
                await client.list_resources(cursor=cursor)

    speak(address, work)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("search", {}, "query: Field required"),
        ("search", {"query": "wool", "colour": "red"}, "colour: there is no such field"),
        ("search", {"query": "wool", "corpora": "nowhere"}, "nowhere"),
        ("ask", {"question": ""}, "question"),
        ("concordance", {"query": '"open'}, "not closed"),
        ("fetch", {"id": "none"}, "none"),
    ],
)
def test_what_cannot_be_asked_is_told_to_the_model(
    address: str, name: str, arguments: dict[str, Any], said: str
) -> None:
    async def work(client: Client) -> None:
        result = await client.call_tool(name, arguments)
        assert result.is_error
        assert said in result.content[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="no tool"):
            await client.call_tool("erase", {})

    speak(address, work)


def test_without_a_key_nothing_is_told(guarded: Guarded) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        reply = httpx2.post(f"{guarded.address}/mcp", json=message, headers=headers)
        assert reply.status_code == 401
        assert reply.headers["www-authenticate"].startswith("Bearer")


def test_a_key_sees_its_corpora_alone(guarded: Guarded) -> None:
    async def everything(client: Client) -> str:
        results = [
            await client.call_tool(name, arguments)
            for name, arguments in [
                ("search", {"query": SECRET_QUESTION}),
                ("ask", {"question": SECRET_QUESTION}),
                ("ask", {"question": QUESTION}),
                ("concordance", {"query": f"{PLANTED}*"}),
                ("trends", {"query": f"{PLANTED}*", "by": "corpus"}),
                ("list_corpora", {}),
            ]
        ]
        listing = await client.list_resources()
        return "".join(map(repr, [*results, listing])).replace(SECRET_QUESTION, "")

    async def narrow(client: Client) -> None:
        seen = await everything(client)
        assert not re.search(f"{PLANTED}(vault|label|file|title|author|field|value|warden)", seen)
        assert "granite bridge" in seen

    async def whole(client: Client) -> None:
        assert f"{PLANTED}warden" in await everything(client)

    speak(guarded.address, narrow, guarded.narrow)
    speak(guarded.address, whole, guarded.whole)


def test_a_page_of_another_origin_may_not_speak(address: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Origin": "http://evil.example"}
    assert httpx2.post(f"{address}/mcp", json=message, headers=headers).status_code == 403
    headers = {"Host": "evil.example"}
    assert httpx2.post(f"{address}/mcp", json=message, headers=headers).status_code == 421


def test_cancelling_a_call_stops_the_answer(tmp_path: Path) -> None:
    model = SlowModel()
    with two_corpora(tmp_path, HashEmbedder()) as parish:
        atlas = written_by(parish, model)
        with served(app_of(atlas), channel_request_lookahead=1) as address:

            async def work(client: Client) -> None:
                asking = asyncio.create_task(client.call_tool("ask", {"question": QUESTION}))
                while not model.prompts:
                    await asyncio.sleep(0.02)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
                assert await asyncio.to_thread(model.ended.wait, 10)
                assert model.written < 5

            speak(address, work)


def test_without_the_library_it_says_what_to_install(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.LIBRARIES, "mcp", ("no_such_module",))  # type: ignore[misc]
    reply = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert reply.status_code == 503
    assert "[mcp]" in reply.get_json()["detail"]


def test_on_standard_input_and_output(address: str) -> None:
    parameters = StdioServerParameters(
        command=ATLAS[0], args=[*ATLAS[1:], "mcp", "--url", address], env={**os.environ}
    )

    async def run() -> None:
        async with Client(stdio_client(parameters)) as client:
            answer = await call(client, "ask", question=LIBEL)
            assert answer["citations"][0]["citation_link"].startswith(f"{address}/?passage=")
            assert answer["answer"]

    asyncio.run(run())


@pytest.mark.thorough
def test_on_standard_input_and_output_without_a_server(services: Services) -> None:
    folder = str(services.settings.chroma_persist_directory)
    environment = {**os.environ, "CHROMA_PERSIST_DIRECTORY": folder, "PHOENIX_ENABLED": "0"}
    arguments = [*ATLAS[1:], "mcp", "--collection", "atlas_demo"]
    parameters = StdioServerParameters(command=ATLAS[0], args=arguments, env=environment)

    async def run() -> None:
        async with Client(stdio_client(parameters)) as client:
            answer = await call(client, "ask", question=LIBEL)
            assert answer["answer"]

    asyncio.run(run())
