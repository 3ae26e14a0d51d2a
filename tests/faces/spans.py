"""One trace of each kind: names, kinds, parents and attributes of its spans."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from opentelemetry.sdk.trace import ReadableSpan

from atlas_search.atlas import Atlas
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from tests.conftest import TODAY
from tests.faces.answers import LABELS, LIBEL, TURNS
from tests.faces.plain import VOLATILE, cut_all
from tests.faces.routes import MARKER
from tests.faces.world import Face, World
from tests.hash_embedder import HashEmbedder
from tests.recorded_spans import Recorded, recording, said, traced_by
from tests.server.ingest.embedders import hashing
from tests.server.ingest.handing import ADMINISTRATOR, BEES, done, send, settings_for
from tests.servers import app_of
from tests.telemetry.test_builds import BROKEN, built
from tests.tiny import FARM, build_tiny, write_sources

LONGEST = 400  # characters of an attribute that is kept whole
ITEMS = 6  # of a numbered list of attributes
AS_OF = TODAY.isoformat()
VOLATILE_NAME = re.compile(
    r"(_ms|[._]seconds|[._]bytes|[._]digest|^session\.id|collection_version)$"
)

Call = Callable[[FlaskClient], object]

REQUESTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "ask": ("/api/ask", {"question": LIBEL, "as_of": AS_OF, "k": 3}),
    "ask-declined": ("/api/ask", {"question": LABELS["q075"], "as_of": AS_OF, "k": 3}),
    "ask-history": (
        "/api/ask",
        {
            "question": "What happened to him?",
            "chat_history": TURNS,
            "read_follow_ups": True,
            "as_of": AS_OF,
            "k": 3,
        },
    ),
    "ask-count": ("/api/ask", {"question": "How often is the word libel used?", "as_of": AS_OF}),
    "compare": (
        "/api/ask",
        {"question": LABELS["q054"], "mode": "compare", "as_of": AS_OF, "k": 2},
    ),
    "search": ("/api/search", {"question": LIBEL, "as_of": AS_OF, "k": 3}),
    "search-filtered": (
        "/api/search",
        {
            "question": "captial punishment",
            "filters": {"status": "current"},
            "require": ["court"],
            "corpus_filter": ["legal_us", "legal_uk"],
            "facets": True,
            "as_of": AS_OF,
            "k": 2,
        },
    ),
    "validate": ("/api/validate", {"answer": f"A council cannot sue for libel. {MARKER}"}),
    "refused": ("/api/ask", {"question": LIBEL, "corpus_filter": "sea"}),
    "untold": ("/api/search", {"question": LIBEL, "telemetry": False, "k": 1}),
    "words": ("/api/concordance", {"query": "libel", "limit": 2}),
}


def faces() -> dict[str, Face]:
    requests = {
        f"spans/{name}.json": _asked(path, body, content=True)
        for name, (path, body) in REQUESTS.items()
    }
    return requests | {
        "spans/ask-no-content.json": _asked(*REQUESTS["ask"], content=False),
        "spans/refused-no-content.json": _asked(*REQUESTS["refused"], content=False),
        "spans/build.json": build,
        "spans/job.json": job,
    }


def build(world: World) -> object:
    """The trace of a build, one of whose files is refused."""
    with recording() as (tracer, recorded):
        built(_new(world, "traced"), tracer, BROKEN)
    return tree(world, recorded)


def job(world: World) -> object:
    """The trace of a job that brings a file into a collection."""
    folder = _new(world, "ingested")
    settings = settings_for(folder)
    source = write_sources(folder / "source", FARM)
    build_tiny(source, settings.collection_folder, HashEmbedder())
    collections = ServedCollections(Serving(settings, HashEmbedder()))
    recorded = Recorded(collections().services.tracer)
    app = create_app(collections, open_embedder=hashing)
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = ADMINISTRATOR["Authorization"]
    done(client, send(client, BEES, corpus="farm"))
    app.extensions["jobs"].close()
    app.extensions["runs"].close()
    collections.close()
    return tree(world, recorded)


def _asked(path: str, body: Mapping[str, Any], *, content: bool) -> Face:
    def seen(world: World) -> object:
        with recording(content=content) as (tracer, recorded):
            atlas = Atlas(traced_by(world.services, tracer))
            app = app_of(atlas)
            app.test_client().post(path, json=dict(body))
            app.extensions["runs"].close()
        return tree(world, recorded)

    return seen


def tree(world: World, recorded: Recorded) -> list[dict[str, Any]]:
    """The spans that were recorded, each with its children; siblings by name and attributes."""
    children: dict[int | None, list[ReadableSpan]] = {}
    for span in recorded.spans:
        children.setdefault(span.parent.span_id if span.parent else None, []).append(span)

    def below(parent: int | None) -> list[dict[str, Any]]:
        spans = [
            _span(world, span, below(span.context.span_id)) for span in children.get(parent, [])
        ]
        return sorted(spans, key=lambda span: (span["name"], json.dumps(span, sort_keys=True)))

    return below(None)


def _span(world: World, span: ReadableSpan, below: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": span.name,
        "attributes": _attributes(world, said(span)),
        "status": span.status.status_code.name,
        "kind": span.kind.name,
    }
    if span.status.description:
        found["description"] = world.plain_text(span.status.description)
    if span.events:
        found["events"] = [event.name for event in span.events]
    if below:
        found["spans"] = below
    return found


def _attributes(world: World, given: Mapping[str, Any]) -> dict[str, object]:
    """All attributes; of numbered ones the first, and how many there are."""
    found: dict[str, object] = {}
    for name, value in given.items():
        item = re.fullmatch(r"(.*?)\.(\d+)\.(.+)", name)
        if item is None or int(item[2]) < ITEMS:
            found[name] = _attribute(world, name, value)
        if item:
            key = f"{item[1]}.*.{item[3]}"
            found[key] = int(str(found.get(key, 0))) + 1
    return found


def _attribute(world: World, name: str, value: object) -> object:
    if VOLATILE_NAME.search(name) or name in VOLATILE:
        return world.plain({"digest": value})["digest"]
    if isinstance(value, str) and value[:1] in "{[":
        with suppress(ValueError):
            value = json.loads(value)
    return cut_all(world.plain(value), LONGEST, 100)


def _new(world: World, name: str) -> Path:
    folder = world.folder / name
    folder.mkdir()
    return folder
