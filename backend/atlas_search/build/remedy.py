"""What brings the damaged parts of a version back, as commands to run."""

import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from atlas_search.build.kept_files import INGEST
from atlas_search.readers.files import READERS
from atlas_search.stores.manifest import Manifest, Origin
from atlas_search.stores.versions import RECORDS, is_part_whole, versions

Defaults = Callable[[str], Mapping[str, object] | None]
"""The options of a source type with their defaults; None if they are not known."""


def remedy(
    folder: Path, manifest: Manifest, damaged: Collection[str], defaults: Defaults = lambda _: None
) -> str:
    """A sentence with the commands for the parts of a collection that are damaged.

    Where the documents themselves are, only their sources bring them back, or an earlier version.
    """
    if RECORDS not in damaged:
        return f"Run `atlas store repair {folder.name}`."
    commands = [
        f"`{_command(folder.name, kind, origin, defaults)}`"
        for kind, origin in manifest.origins.items()
        if kind in {INGEST, *READERS.names()}  # an import has what other programs wrote, too
    ] or ["`atlas store import`"]
    others = [
        found.version
        for found in versions(folder)
        if found.version != manifest.version
        # versions share files, and then their damage
        and is_part_whole(folder / found.version, found, RECORDS)
    ]
    back = f" or go back: `atlas store rollback {folder.name}`" if others else ""
    return f"Build it again from its sources: {', '.join(commands)}{back}."


def _command(collection: str, kind: str, origin: Origin, known: Defaults) -> str:
    """The command that builds one origin of a collection again, as it was built."""
    if kind == INGEST:
        return shlex.join(["atlas", "store", "ingest", collection, "--force"])
    parts = ["atlas", "create", kind, *origin.arguments.get("source", ["SOURCE"])]
    parts += ["--collection", collection]
    defaults = known(kind)
    for name, value in origin.arguments.items():
        option = name.replace("_", "-")
        if name == "source" or value is None or _is_needless(name, value, defaults):
            continue
        if isinstance(value, bool):
            parts.append(f"--{option}" if value else f"--no-{option}")
        else:
            parts += [f"--{option}", str(value)]
    return shlex.join([*parts, "--force"])


def _is_needless(name: str, value: object, defaults: Mapping[str, object] | None) -> bool:
    return defaults is not None and (name not in defaults or value == defaults[name])
