"""A collection of documents to read: a PDF, Markdown, a long text, a debate, an act, a book."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image

from atlas_search import Atlas
from atlas_search.building.chunking import chunking
from atlas_search.building.sources import by_folder
from tests.cited_places import SOURCES, PartsReader
from tests.hash_embedder import HashEmbedder
from tests.pdf_pages import pdf

LAMP = "The keeper of Kestrel Point lit the lamp for forty years."
STORM = "In the great storm the lamp went out, and two ships were lost."
PAPER = pdf(
    [
        ["Kestrel Point", "", "Kestrel Point stands on a granite cliff above the northern sea."],
        ["The keeper of Kestrel Point lit the lamp", "for forty years.", "", STORM],
    ]
)
TIDE = "The tide came in at nine."
SCAN = ("Tide tables of", "Kestrel Point", TIDE)
"""The lines of a scanned page, from top to bottom."""

LONG_PARAGRAPHS = 5000
NEEDLE = "The Überfähre carried naïve façades."
MARKDOWN = """---
title: The harbour book
---
# The 🐟 harbour

Dues are **levied on every *vessel*** that `enters`, as [the act](https://example.org/act) says.
See [here](javascript:alert(1)) and snake_case_words, \\*not emphasised\\*.

## Table of dues

| Vessel | Dues |
|:-------|-----:|
| Lifeboat | **none** |
| Ferry | 12 pounds |

- pilots
  - of the north
  - of the south
- keepers

3. third
4. fourth

> The tide waits
> for no one.

```
<b>kept</b> **as it is**
```

<script>alert(2)</script> is text.
"""

DEBATE = [
    {"section": "Pilots Bill > Second reading", "speaker": "Ms Marlowe"},
    {"section": "Pilots Bill > Second reading", "speaker": "Mr Finch"},
    {"section": "Pilots Bill > Committee", "speaker": "Ms Marlowe"},
    {"section": "Questions", "speaker": "The Speaker"},
]


@contextmanager
def library(files: Path) -> Iterator[Atlas]:
    """The collection, open; its files lie in this folder, and all else beside it."""
    root, collection = files.parent, files.parent / "stores" / "library"
    for name, content in {
        "papers/kestrel-point.pdf": PAPER,
        "papers/tide.xml": alto(),
        "papers/tide.png": scan_image(),
        "notes/harbour.md": MARKDOWN.encode(),
        "notes/log.txt": _long_text().encode(),
    }.items():
        _write(files / name, content)
    speeches = [{**by, "text": _speech(number, by["speaker"])} for number, by in enumerate(DEBATE)]
    cited = {name: parts for name, parts in SOURCES.items() if not name.startswith("debates/")}
    for name, parts in {**cited, "debates/pilots.json": speeches}.items():
        _write(root / "cited" / name, json.dumps(parts).encode())
    Atlas.build(files, collection, embedder=HashEmbedder())
    Atlas.build(
        root / "cited",
        collection,
        kind="cited",
        reader=PartsReader(),
        locate=lambda paths, reader, _: by_folder(paths, reader.suffixes, ""),
        chunking=chunking(splitter="structural"),
        embedder=HashEmbedder(),
    )
    _write(root / "targets" / "certain.txt", b"ANSWER_THRESHOLD=0\nANSWER_LIKELIHOOD=0\n")
    with Atlas.open(
        collection,
        embedder=HashEmbedder(),
        atlas_state_directory=root / "state",
        targets_directory=root / "targets",
        test_target="certain",
    ) as opened:
        yield opened


def alto() -> bytes:
    """The words of SCAN in ALTO: a line begins each tenth of the page, a word each fifth."""
    lines = "".join(
        "<TextLine>"
        + "".join(
            f'<String CONTENT="{word}" HPOS="{200 * at}" VPOS="{100 * row}" '
            'WIDTH="150" HEIGHT="40"/>'
            for at, word in enumerate(line.split())
        )
        + "</TextLine>"
        for row, line in enumerate(SCAN, start=1)
    )
    block = f"<PrintSpace><TextBlock>{lines}</TextBlock></PrintSpace>"
    page = f'<Page WIDTH="1200" HEIGHT="1000">{block}</Page>'
    return f"<alto><Layout>{page}</Layout></alto>".encode()


def scan_image() -> bytes:
    stream = BytesIO()
    Image.new("L", (600, 500), 200).save(stream, "PNG")
    return stream.getvalue()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _long_text() -> str:
    """A megabyte."""
    entry = " ".join(["The keeper wrote of wind and weather, of sails and of the lamp."] * 3)
    paragraphs = [f"Entry {number}. {entry}" for number in range(LONG_PARAGRAPHS)]
    for at in (LONG_PARAGRAPHS // 2, -1):
        paragraphs[at] += f" {NEEDLE}"
    return "\n\n".join(paragraphs)


def _speech(number: int, speaker: str) -> str:
    """Several sentences, more than a screen."""
    first = f"Speech {number} of {speaker} on the pilots of the northern fairway. "
    middle = "The fairway is narrow and the tide runs fast. " * 40
    return f"{first}{middle}So ends speech {number}."
