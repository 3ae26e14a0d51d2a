"""Changes to sources, and what a build made of them."""

from collections.abc import Mapping
from pathlib import Path

from atlas_search.building.document_ids import Changes
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify

NOTHING = Changes(added=0, changed=0, unchanged=3, removed=0)


def change(source: Path, files: Mapping[str, str | None]) -> None:
    """Write files, or remove those that are None."""
    for name, content in files.items():
        if content is None:
            (source / name).unlink()
        else:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(content, encoding="utf-8")


TABLE = "id,text\nr1,Ships carry wool.\nr2,Ships carry cloth.\n"


def problems(folder: Path) -> list[str]:
    return [f"{f.part}: {f.problem}" for f in verify(folder, Manifest.read(folder)) if f.problem]
