"""What the server answers with: the live version of the collection, followed as it changes."""

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.services import Services, open_beside, open_services, serve_version
from atlas_search.stores.manifest import FILE_NAME

Serve = Callable[[], Atlas]
"""Gives the collection as of now. Called once per request, so that it sees one version
throughout."""

log = logging.getLogger(__name__)
CHECK_SECONDS = 1.0


class Serving:
    """The collection as of now; call it once per request, so that all of it sees one version.

    A request goes on with the version it began with: that is closed when the last one is done. A
    version that cannot be served leaves the one before in place and is named in `problem`.
    """

    def __init__(
        self,
        settings: Settings,
        embedder: Embedder | None = None,
        beside: Services | None = None,
    ):
        """Open the collection; `beside` is another one whose models and tracer it shares."""
        self._manifest = settings.collection_folder / FILE_NAME
        self._seen = _state(self._manifest)
        opened = open_beside(beside, settings) if beside else open_services(settings, embedder)
        self._atlas = Atlas(opened)
        self._refreshing = threading.Lock()
        self.problem = ""
        self._stopped = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="follow-store", daemon=True)

    def __call__(self) -> Atlas:
        """The live version, open."""
        return self._atlas

    def follow(self) -> None:
        """Begin to look for new versions."""
        self._watcher.start()

    def refresh(self) -> None:
        """Serve the version that the manifest on disk names, if it is another one."""
        with self._refreshing:
            self._refresh()

    def _refresh(self) -> None:
        state = _state(self._manifest)
        if state in (self._seen, None):
            return
        try:
            self._atlas = Atlas(serve_version(self._atlas.services))
        except Exception as error:  # a damaged file can raise anything
            if _state(self._manifest) == state:  # else a newer one came meanwhile: look again
                self._seen = state
                self.problem = f"The version on disk is not served: {error}"
                log.error("%s", self.problem)
            return
        self._seen = state
        self.problem = ""
        log.info("Serving version %s.", self._atlas.services.store.manifest.version)

    def _watch(self) -> None:
        while not self._stopped.wait(CHECK_SECONDS):
            try:
                self.refresh()
            except Exception:
                log.exception("Looking for a new version failed.")

    def forget(self) -> None:
        """Stop looking; what is open is released when the last request that uses it is done."""
        self._stopped.set()

    def close(self) -> None:
        """Stop looking, and release everything."""
        self._stopped.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._atlas.close()


def _state(path: Path) -> tuple[int, int, int] | None:
    """Changes with every manifest that is put in place; None while there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
