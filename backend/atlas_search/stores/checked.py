"""The files of a version checked by digest, each once for every state it is in.

What was found whole is kept beside the versions, so that a restart does not read all of it again;
where that cannot be written, it is known only until the process ends.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from atlas_search.stores.digests import damaged_files
from atlas_search.stores.manifest import Manifest

KEPT = ".checked.json"

State = list[int]
"""Inode, bytes, and when the content and the entry were changed last, in nanoseconds."""


class CheckedVersion:
    """A version of the collection in `folder`, looked at again and again."""

    def __init__(self, folder: Path, manifest: Manifest):
        self._folder = folder
        self._version = folder / manifest.version
        self._manifest = manifest
        kept = _read(folder / KEPT)
        # each question asks for the state of all: to make the paths takes twice as long as to ask
        self._paths = {name: os.path.join(self._version, name) for name in manifest.files}
        self._whole: dict[str, State] = kept.pop(manifest.version, {}) or self._shared(kept)
        self._damaged: dict[str, tuple[State, str]] = {}

    def problems(self, go_on: Callable[[], bool] = lambda: True) -> list[str]:
        """What is wrong, file by file; empty for a whole version.

        Only files that were never checked in their present state are read, until `go_on` says no.
        """
        states = self._states()
        changed = self._unchecked(states)
        found = damaged_files(self._version, self._manifest, changed, go_on)
        for name in changed if go_on() else ():
            if name in found:
                self._damaged[name] = (states[name], found[name])
            else:
                self._whole[name] = states[name]
        if changed and go_on():
            self._keep()
        missing = [f"{name} is missing" for name in self._manifest.files if name not in states]
        wrong = [
            problem for name, (state, problem) in self._damaged.items() if states.get(name) == state
        ]
        return missing + wrong

    def _shared(self, kept: Mapping[str, Mapping[str, State]]) -> dict[str, State]:
        """The files that were found whole in another version, which shares them with this one.

        A new name changes the time of a file's entry, the last of its state.
        """
        known = {(name, *state[:-1]) for of in kept.values() for name, state in of.items()}
        states = self._states().items()
        return {name: state for name, state in states if (name, *state[:-1]) in known}

    def _states(self) -> dict[str, State]:
        found = {name: _state(path) for name, path in self._paths.items()}
        return {name: state for name, state in found.items() if state}

    def _unchecked(self, states: Mapping[str, State]) -> list[str]:
        return [
            name
            for name, state in states.items()
            if self._whole.get(name) != state and self._damaged.get(name, ([], ""))[0] != state
        ]

    def _keep(self) -> None:
        temporary = self._folder / f"{KEPT}.partial"
        kept = {
            version: states
            for version, states in _read(self._folder / KEPT).items()
            if (self._folder / version).is_dir()
        }
        try:
            temporary.write_text(json.dumps(kept | {self._manifest.version: self._whole}))
            temporary.replace(self._folder / KEPT)
        except OSError:  # a disk that is full or only for reading
            return


def _state(path: str) -> State:
    """Empty if there is no such file."""
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _read(path: Path) -> dict[str, dict[str, State]]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
