"""What built collections say of themselves, and the passages of small ones."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from atlas_search.atlas import Atlas
from tests.faces.world import Face, World
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, build_tiny, document_ids, json_lines, write_sources

LEDGER = "# Arrivals\n\nTwelve ships came on the tide.\n\n# Departures\n\nNone left. " + " ".join(
    f"The {number}th wall is old, and it will fall." for number in range(4, 60)
)
RECORDS = (
    '{"id": "s/1", "title": "On ships", "date": "1887-05-03", "speaker": "Ann", "section": "Dues", '
    '"page": 7, "tags": ["a", "b"], "text": "Twelve ships, and not one has paid."}\n'
    '{"id": "s 2", "title": "On walls", "date": "c. 1887", "open": true, "berths": 40, '
    '"text": "The wall is old.\\nIt will fall."}\n'
)
TABLE = (
    "id,title,date,speaker,text\n"
    '1,On lambs,1901,Bob,"Lambs are born in spring."\n'
    '2,On wool,1902-03,Ann,"Wool is dear, and spun in winter."\n'
    "3,,,,\n"
)
SMALL: Mapping[str, tuple[str, Mapping[str, str], Mapping[str, Any]]] = {
    "txt": ("txt", {**FARM, "town/ledger.md": LEDGER}, {}),
    "txt-fixed": ("txt", {**FARM, "town/ledger.md": LEDGER}, {"splitter": "fixed", "size": 300}),
    "jsonl": (
        "jsonl",
        {"town/records.jsonl": RECORDS, "farm/more.jsonl": json_lines({"7": "Sheep give wool."})},
        {},
    ),
    "csv": ("csv", {"town/table.csv": TABLE}, {}),
}
_RANDOM = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}")
"""Names that Chroma and tantivy make up."""


def faces() -> dict[str, Face]:
    return {"stores/demo.json": demo} | {f"stores/{name}.json": _small(name) for name in SMALL}


def demo(world: World) -> object:
    """The manifest of the bundled collection."""
    return _manifest(world, world.services.store.manifest)


def _small(name: str) -> Face:
    def seen(world: World) -> object:
        kind, files, cuts = SMALL[name]
        source = write_sources(world.folder / f"{name}-source", files)
        folder = world.folder / "small" / name.replace("-", "_")
        report = build_tiny(source, folder, HashEmbedder(), kind=kind, **cuts)
        with Atlas.open(folder, embedder=HashEmbedder()) as atlas:
            ids = document_ids(folder)
            return {
                "manifest": _manifest(world, report.manifest),
                "documents": world.plain([asdict(atlas.document(id_)) for id_ in ids]),
                "passages": world.plain([asdict(p) for id_ in ids for p in atlas.passages(id_)]),
            }

    return seen


def _manifest(world: World, manifest: Any) -> object:
    found = manifest.model_dump(mode="json")
    names = {_RANDOM.sub("ID", name) for name in found["files"]}
    return world.plain(found | {"files": sorted(names)})
