"""Which collections a folder holds, for every request that asks."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from atlas_search.core.ids import is_collection_name
from atlas_search.stores.manifest import FILE_NAME

SETTLING_SECONDS = 3.0  # some disks note the time of a change in steps of two seconds


@dataclass(frozen=True)
class _Listing:
    """What was there when the folder had `changed` last; the `unbuilt` may get a manifest."""

    changed: int
    built: frozenset[str]
    unbuilt: tuple[Path, ...]


_NONE = _Listing(-1, frozenset(), ())


class BuiltCollections:
    """The built collections below `root`, which is listed only when something came or went.

    Safe to use from several threads.
    """

    def __init__(self, root: Path):
        self._root = root
        self._listing = _NONE

    def names(self) -> frozenset[str]:
        """Their names; none if there is no such folder."""
        changed = _changed(self._root)
        listing = self._listing
        if listing.changed != changed or any(path.is_file() for path in listing.unbuilt):
            listing = _list(self._root, changed)
            # what comes within the same step of the clock changes nothing that can be seen
            settled = time.time() - changed / 1e9 > SETTLING_SECONDS
            self._listing = listing if settled else _NONE
        return listing.built


def _changed(root: Path) -> int:
    try:
        return os.stat(root).st_mtime_ns
    except OSError:
        return 0


def _list(root: Path, changed: int) -> _Listing:
    found = root.iterdir() if root.is_dir() else ()
    manifests = [path / FILE_NAME for path in found if is_collection_name(path.name)]
    built = {path for path in manifests if path.is_file()}
    return _Listing(
        changed,
        frozenset(path.parent.name for path in built),
        tuple(path for path in manifests if path not in built),
    )
