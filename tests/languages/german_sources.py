"""A collection with corpora in two languages."""

from pathlib import Path

from atlas_search.building.sources import Sources, by_mapping
from atlas_search.language.text import words
from tests.tiny import READERS

CORPORA = """
[[corpus]]
id = "recht"
include = ["recht/*"]
language = "de"
[[corpus]]
id = "law"
include = ["law/*"]
"""

FILES = {
    "corpora.toml": CORPORA,
    "recht/haus.txt": "Das Haus steht z. B. am Markt. Es gehört dem Kaufmann.",
    "recht/titel.md": "---\ntitle: Die Häuser\nauthor: Paul Müller\n---\nEin Verzeichnis.",
    "law/house.txt": "The houses of the town. They belong to merchants.",
}


def stems(text: str, language: str) -> list[str]:
    return [word.term for word in words(text, language)]


def mapped(source: Path) -> Sources:
    return by_mapping(source, source / "corpora.toml", READERS["txt"].suffixes, "")
