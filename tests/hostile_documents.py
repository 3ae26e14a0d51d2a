"""A collection whose sources mean harm: addresses, titles, texts and metadata of an attacker."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from atlas_search.building.flow import BuildReport
from atlas_search.core.settings import Settings
from atlas_search.services import Services, open_services
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import RECORDS, file_digest
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, live, write_sources

QUESTION = "What does the lantern of Ravenmoor show?"
GOOD = "https://example.org/Act_(1998)?a=1"
ESCAPE = "\x1b]0;owned\x07\x9b31m"
"""What names a terminal's window, and colours what follows."""

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script><b onclick=alert(3)>bold</b>"
RIGHT_TO_LEFT = "\u202e"

ADDRESSES = {
    "script": "javascript:alert(document.domain)",
    "capitals": "JaVaScRiPt:alert(1)//https://example.org/",
    "data": "data:text/html,<script>alert(1)</script>",
    "file": "file:///etc/passwd",
    "password": "https://reader:swordfish@example.org/",
    "blank": "https://example.org/a b",
    "line": "https://example.org/\njavascript:alert(1)",
    "control": "https://example.org/\x1b[31m",
    "direction": f"https://example.org/{RIGHT_TO_LEFT}gpj.exe",
    "backslash": "https:\\\\example.org\\a",
    "quote": 'https://example.org/"onmouseover="alert(1)',
    "tag": "https://example.org/<script>",
    "long": f"https://example.org/{'a' * 2_000}",
    "no host": "https:///example.org",
    "no port": "https://example.org:99999999/",
    "words": "in the library, second shelf",
}
"""What is no link, by what is wrong with it."""


def write_hostile(root: Path) -> Path:
    """One document for each of ADDRESSES, with markup wherever a source can say something."""
    documents = [
        {
            "id": f"d{number}",
            "title": f"Lantern of Ravenmoor {number} {MARKUP} {ESCAPE}",
            "text": f"The lantern of Ravenmoor shows {name} {number}. {MARKUP} {ESCAPE}",
            "url": address,
            "author": MARKUP,
            "status": f"repealed {MARKUP}",
            "superseded_by": MARKUP,
            "speaker": MARKUP,
            "section": MARKUP,
            "__proto__": "polluted",
        }
        for number, (name, address) in enumerate({**ADDRESSES, "good": GOOD}.items())
    ]
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    return write_sources(root, {"marsh/lanterns.jsonl": lines})


def build_hostile(root: Path) -> BuildReport:
    """The collection `hostile` below `root`."""
    folder = root / "stores" / "hostile"
    return build_tiny(write_hostile(root / "source"), folder, HashEmbedder(), kind="jsonl")


def put_back_addresses(root: Path) -> None:
    """Make the store hold all addresses, as one that was imported may."""
    folder = root / "stores" / "hostile"
    with closing(sqlite3.connect(live(folder) / RECORDS)) as connection:
        for number, address in enumerate(ADDRESSES.values()):
            connection.execute(
                "UPDATE documents SET metadata = json_set(metadata, '$.url', ?) WHERE key = ?",
                (address, f"d{number}"),
            )
        connection.commit()
    manifest, records = Manifest.read(folder), live(folder) / RECORDS
    files = {**manifest.files, RECORDS: file_digest(records)}
    sizes = {**manifest.sizes, RECORDS: records.stat().st_size}
    manifest.model_copy(update={"files": files, "sizes": sizes}).write(folder)


@contextmanager
def hostile_services(root: Path) -> Iterator[Services]:
    """The collection, opened."""
    settings = Settings(chroma_persist_directory=root / "stores", chroma_collection_name="hostile")
    services = open_services(settings, HashEmbedder())
    yield services
    services.close()
