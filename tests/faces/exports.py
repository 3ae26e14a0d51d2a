"""Answers, a search and citations in every form in which they can be taken home."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from tests.conftest import TODAY
from tests.faces.answers import LABELS
from tests.faces.world import Face, World

FORMATS = {
    "markdown": "md",
    "json": "json",
    "csv": "csv",
    "bibtex": "bib",
    "ris": "ris",
    "csl-json": "csl.json",
    "web-annotation": "jsonld",
}
LISTS = ("bibtex", "ris", "csl-json", "web-annotation")
STYLES = ("plain", "chicago", "apa", "mla", "oscola", "bluebook", "mcgill")
CREATED = "2026-01-02T03:04:05+00:00"
ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "answer": {"question": LABELS["q051"]},
    "compare": {"question": LABELS["q054"], "mode": "compare"},
    "declined": {"question": LABELS["q083"]},
}
SESSION = tuple(ANSWERS)
CITATION = (
    "marker passage_id document_id corpus title locator page printed_page line section speaker "
    "date url start end metadata"
).split()
"""What a passage has of a citation."""


def faces() -> dict[str, Face]:
    sets = {**{name: (name,) for name in ANSWERS}, "session": SESSION}
    return (
        {
            f"exports/{name}.{suffix}": _export(names, format)
            for name, names in sets.items()
            for format, suffix in FORMATS.items()
        }
        | {f"exports/search.{FORMATS[format]}": _search(format) for format in LISTS}
        | {f"exports/{name}.bundle.json": _bundle(name) for name in ANSWERS}
        | {f"exports/style-{style}.json": _styled(style) for style in STYLES}
    )


def _export(names: Sequence[str], format: str) -> Face:
    def seen(world: World) -> object:
        answers = [answer_document(world, name) for name in names]
        return _file(world, {"format": format, "answers": answers})

    return seen


def _search(format: str) -> Face:
    """The documents of a search as a bibliography."""
    return lambda world: _file(world, {"format": format, "citations": _cited(world)})


def _styled(style: str) -> Face:
    def seen(world: World) -> object:
        sent = {"style": style, "citations": _cited(world)}
        with world.client.post("/api/citations", json=sent) as response:
            return json.loads(_without_today(response.get_data(as_text=True)))

    return seen


def bundle(world: World, name: str) -> Any:
    """An answer's run bundle as it was sent."""
    id_ = uuid4().hex
    asked = {"as_of": TODAY.isoformat(), "k": 5, "qa_id": id_, **ANSWERS[name]}
    world.client.post("/api/ask", json=asked)
    return world.client.get(f"/api/ask/{id_}/export?format=bundle").get_json()


def _bundle(name: str) -> Face:
    return lambda world: world.plain(bundle(world, name))


def answer_document(world: World, name: str) -> dict[str, Any]:
    """An answer as it was sent, with the same names and moments in every run."""
    asked = {"as_of": TODAY.isoformat(), "k": 5, **ANSWERS[name]}
    found: dict[str, Any] = world.plain(world.client.post("/api/ask", json=asked).get_json())
    return found | {
        "qa_id": name,
        "session_id": "faces",
        "created": CREATED,
        "collection_version": "VERSION",
        "timings_ms": {},
    }


def _cited(world: World) -> list[dict[str, Any]]:
    """What a search over every kind of source finds, as citations."""
    asked = {"question": "who may make law in parliament", "k": 30, "max_per_document": 1}
    found = world.client.post("/api/search", json={"as_of": TODAY.isoformat(), **asked}).get_json()
    return [
        {key: passage[key] for key in CITATION} | {"quote": passage["text"][:40]}
        for passage in found["passages"]
    ]


def _file(world: World, body: Mapping[str, Any]) -> str:
    with world.client.post("/api/export", json=dict(body)) as response:
        text = response.get_data().decode().replace("\r\n", "\n")
        assert response.status_code == 200, text
        return _without_today(text)


def _without_today(text: str) -> str:
    """`text` without the day on which an address was looked at."""
    now = datetime.now(UTC)
    days = {now.strftime("%Y-%m-%d"), now.strftime("%Y/%m/%d"), now.strftime("%Y/%m/%d/")}
    for month in (now.strftime("%B"), now.strftime("%b."), now.strftime("%b"), "Sept."):
        days |= {f"{now.day} {month} {now.year}", f"{month} {now.day}, {now.year}"}
    for day in sorted(days, key=len, reverse=True):
        text = text.replace(day, "TODAY")
    return text
