"""Whether the version that is served is as it was written.

A version is checked by digest in the background while the server already answers, and a file
again as soon as it changes. Once damage is found, answers stop: a wrong one is worse than none.
"""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from werkzeug.exceptions import HTTPException

from atlas_search.building.live import remedy
from atlas_search.core.errors import AtlasError, DamagedStore, Unavailable
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import ORDER, PARTS, CheckedVersion

log = logging.getLogger(__name__)
SHOWN = 5  # damaged files named in a message
WAIT_SECONDS = 5.0  # for a check that goes on, when something went wrong


class Guard(Protocol):
    """Stands between damage and the answers."""

    def require_whole(self) -> None:
        """Raise DamagedStore if the store is known to be damaged."""

    def cause(self, error: Exception) -> Exception:
        """What to say of an error: the damage behind it, if there is any."""


class NoGuard:
    """For an application over a store that nobody watches."""

    def require_whole(self) -> None:
        """See Guard."""

    def cause(self, error: Exception) -> Exception:
        """See Guard."""
        return error


UNGUARDED = NoGuard()


class StoreWatch:
    """Watches one version. `damage` says what is wrong and what to do, empty if nothing is known.

    It stays what it was once found: what was opened from damaged files may be wrong for ever.
    """

    def __init__(self, folder: Path, manifest: Manifest):
        self._manifest = manifest
        self._version = folder / manifest.version
        self._checked = CheckedVersion(folder, manifest)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._first = threading.Thread(target=self.look, name="check-store", daemon=True)
        self.damage = ""

    def begin(self) -> None:
        """Begin the first check."""
        self._first.start()

    def wait(self, seconds: float) -> None:
        """Until the first check is done, but no longer."""
        self._first.join(seconds)

    def look(self, seconds: float = -1) -> bool:
        """Read the files that changed since they were read; at once where none did.

        Whether it could be done: another look may be going on. Waits for it `seconds`, below 0
        without end.
        """
        if not self._lock.acquire(timeout=seconds):
            return False
        try:
            problems = self._checked.problems(lambda: not self._stopped.is_set())
            if problems and not self.damage:
                self.damage = _said(self._version, self._manifest, problems)
                log.error("%s", self.damage)
            return True
        finally:
            self._lock.release()

    def is_mended(self) -> bool:
        """Whether there was damage, and the files are now as they were written."""
        if not self.damage or not self._lock.acquire(blocking=False):
            return False
        try:
            return not self._checked.problems(lambda: not self._stopped.is_set())
        finally:
            self._lock.release()

    def stop(self) -> None:
        """End a check that is going on: its version is served no longer."""
        self._stopped.set()


def _said(version: Path, manifest: Manifest, problems: list[str]) -> str:
    shown = problems[:SHOWN]
    damaged = {
        part for part in (*PARTS, ORDER) if any(problem.startswith(part) for problem in problems)
    }
    more = f" and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
    return (
        f"The store {version} is damaged: {'; '.join(shown)}{more}. No question is answered from "
        f"it. {remedy(version.parent, manifest, damaged)} Or bring the files back."
    )


class ServingGuard:
    """The guard of a server: asks the watch of the version that is served as of now."""

    def __init__(self, watch: Callable[[], StoreWatch]):
        self._watch = watch

    def require_whole(self) -> None:
        """See Guard. Looks whether a file has changed, which takes a thousandth of a second."""
        watch = self._watch()
        watch.look(0)
        if watch.damage:
            raise DamagedStore(watch.damage)

    def cause(self, error: Exception) -> Exception:
        """See Guard. While the store is still being checked, that may be the cause."""
        if isinstance(error, AtlasError | HTTPException):
            return error
        watch = self._watch()
        is_checked = watch.look(WAIT_SECONDS)
        if watch.damage:
            return DamagedStore(watch.damage)
        if not is_checked:
            log.exception("An error while the store is being checked", exc_info=error)
            return Unavailable(
                "The store is being checked, and something in it could not be read. Ask again.",
                retry_after=WAIT_SECONDS,
            )
        return error
