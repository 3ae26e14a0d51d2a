"""A collection whose sources cite themselves: an act by sections, a book by printed pages, a debate
by speakers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar

from atlas_search.building.chunking import chunking
from atlas_search.building.flow import BuildOptions, build
from atlas_search.building.sources import by_folder
from atlas_search.core.domain import Segment
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.readers import Draft, Read
from atlas_search.services import Services, open_services

Part = Mapping[str, str]
"""A paragraph: `text`, and whichever of `section`, `speaker`, `locator`, `page` begins with it."""

DUES = "A harbour master may levy harbour dues on every vessel that enters the harbour."
EXEMPT = "No harbour dues are payable by a lifeboat."
APPEAL = "An owner may appeal against harbour dues to the Maritime Tribunal within 28 days."
PREFACE = "The lighthouse of Kestrel Point was rebuilt after the great storm."
KEEPER = "The keeper of Kestrel Point lit the lamp for forty years."
SPEECH = "I beg to move that the pilot service be extended to the northern fairway."
LEVY = "Part 2 > Levy of dues"

SOURCES: Mapping[str, Sequence[Part]] = {
    "acts/harbour-dues-act.json": [
        {"text": DUES, "section": LEVY, "locator": "s 10(1)"},
        {"text": EXEMPT, "section": LEVY, "locator": "s 10(2)"},
        {"text": APPEAL, "section": "Part 2 > Appeals", "locator": "s 11"},
    ],
    "books/kestrel-point.json": [
        {"text": PREFACE, "page": "xii"},
        {"text": KEEPER, "page": "1", "section": "The keepers"},
    ],
    "debates/pilots.json": [{"text": SPEECH, "speaker": "Ms Marlowe", "section": "Pilots Bill"}],
}


@dataclass(frozen=True)
class PartsReader:
    """Reads the parts of a document from JSON, each a paragraph and a segment."""

    suffixes: ClassVar[frozenset[str]] = frozenset({".json"})
    options: ClassVar[Mapping[str, object]] = {"version": 1}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of the file; the encoding is UTF-8."""
        yield draft_of(json.loads(path.read_text(encoding or "utf-8")), path.stem)


def draft_of(parts: Sequence[Part], title: str) -> Draft:
    """The document that consists of these parts, a blank line between them."""
    texts = [part["text"] for part in parts]
    starts = [0, *accumulate(len(text) + 2 for text in texts)][:-1]
    placed = list(zip(starts, parts, strict=True))
    pages = [(start, part["page"]) for start, part in placed if "page" in part]
    return Draft(
        "\n\n".join(texts),
        title.replace("-", " ").title(),
        pages=tuple(start for start, _ in pages) or (0,),
        printed_pages=tuple(label for _, label in pages),
        segments=tuple(
            Segment(start, p.get("section", ""), p.get("speaker", ""), p.get("locator", ""))
            for start, p in placed
        ),
    )


def open_places(folder: Path, embedder: Embedder, **cut: Any) -> Services:
    """The collection, built and opened below `folder`; `cut` as `chunking` takes it."""
    for name, parts in SOURCES.items():
        path = folder / "sources" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(parts), encoding="utf-8")
    reader = PartsReader()
    found = by_folder([folder / "sources"], reader.suffixes, "")
    options = BuildOptions("places", "files", chunking(**cut))
    build(folder / "stores" / "places", found, reader, embedder, options, lambda *_: None)
    settings = Settings(
        chroma_persist_directory=folder / "stores",
        chroma_collection_name="places",
        query_cache_enabled=False,
    )
    return open_services(settings, embedder)
