"""What the server answers with: the live version of the collection, followed as it changes."""

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from atlas_search.atlas import Atlas
from atlas_search.core.errors import AtlasError, DamagedStore
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.server.store_watch import ServingGuard, StoreWatch
from atlas_search.services import Services, open_beside, open_services, serve_version
from atlas_search.stores.manifest import FILE_NAME, Manifest

Serve = Callable[[], Atlas]
"""Gives the collection as of now. Called once per request, so that it sees one version
throughout."""

log = logging.getLogger(__name__)
CHECK_SECONDS = 1.0
CLOSING_SECONDS = 1.0  # opening a large version takes longer, and nobody will use it
START_SECONDS = 1.0  # for what a check still reads once the models are loaded: a GB or two


class Serving:
    """The collection as of now; call it once per request, so that all of it sees one version.

    A request goes on with the version it began with: that is closed when the last one is done. A
    version that cannot be served, or is damaged, leaves the one before in place and is named in
    `problem`, as is damage in what is served. Raises DamagedStore if it is found at once.
    """

    def __init__(
        self,
        settings: Settings,
        embedder: Embedder | None = None,
        beside: Services | None = None,
    ):
        """Open the collection; `beside` is another one whose models and tracer it shares."""
        self._folder = settings.collection_folder
        self._manifest = self._folder / FILE_NAME
        self._seen = _state(self._manifest)
        # read while the models load
        watch = StoreWatch(self._folder, _manifest(settings, embedder, beside))
        watch.begin()
        try:
            self._atlas = _open(settings, embedder, beside, watch)
        except BaseException:
            watch.stop()
            raise
        self._store_watch = watch
        self.guard = ServingGuard(lambda: self._store_watch)
        self._refreshing = threading.Lock()
        self._refused = ""
        self._stopped = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="follow-store", daemon=True)

    def __call__(self) -> Atlas:
        """The live version, open."""
        return self._atlas

    @property
    def problem(self) -> str:
        """Why there are no answers, or none from the newest version; empty if there are."""
        if self._store_watch.damage:
            return self._store_watch.damage
        if not self._manifest.exists():
            return (
                f"{self._manifest} is gone. Answers go on from the version that is open. Bring the "
                f"folder back, or run `atlas store repair {self._folder.name}`."
            )
        return self._refused

    def follow(self) -> None:
        """Begin to look for new versions."""
        self._watcher.start()

    def refresh(self) -> None:
        """Look for damage, and serve the version that the manifest on disk names.

        It is opened if it is another one, or if its files are whole again.
        """
        with self._refreshing:
            self._refresh()

    def _refresh(self) -> None:
        self._store_watch.look(0)
        state = _state(self._manifest)
        if state is None or (state == self._seen and not self._store_watch.is_mended()):
            return
        try:
            atlas, watch = self._open_version()
        except Exception as error:  # a damaged file can raise anything
            if _state(self._manifest) == state:  # else a newer one came meanwhile: look again
                self._seen = state
                self._refused = f"The version on disk is not served: {error}"
                log.error("%s", self._refused)
            return
        self._store_watch.stop()
        self._atlas, self._store_watch = atlas, watch
        self._seen = state
        self._refused = ""
        log.info("Serving version %s.", self._atlas.services.store.manifest.version)

    def _open_version(self) -> tuple[Atlas, StoreWatch]:
        """The version that is live now, checked. Raises DamagedStore, and what opening raises."""
        services = serve_version(self._atlas.services)
        watch = StoreWatch(self._folder, services.store.manifest)
        watch.look()
        if watch.damage:
            services.store.close()
            raise DamagedStore(watch.damage)
        return Atlas(services), watch

    def _watch(self) -> None:
        while not self._stopped.wait(CHECK_SECONDS):
            try:
                self.refresh()
            except Exception:
                log.exception("Looking for a new version failed.")

    def forget(self) -> None:
        """Stop looking; what is open is released when the last request that uses it is done."""
        self._stopped.set()
        self._store_watch.stop()

    def close(self) -> None:
        """Stop looking, and release everything."""
        self.forget()
        if self._watcher.is_alive():
            self._watcher.join(CLOSING_SECONDS)
        self._atlas.close()


def _manifest(settings: Settings, embedder: Embedder | None, beside: Services | None) -> Manifest:
    """The live manifest. Raises what opening the collection raises if it cannot be read."""
    try:
        return Manifest.read(settings.collection_folder)
    except AtlasError:
        if beside is None:  # a fault in the settings is said before it
            open_services(settings, embedder).close()
        raise


def _open(
    settings: Settings, embedder: Embedder | None, beside: Services | None, watch: StoreWatch
) -> Atlas:
    """The collection, checked as far as that takes little time.

    Raises DamagedStore, which names every damaged file, and what else opening raises.
    """
    try:
        services = open_beside(beside, settings) if beside else open_services(settings, embedder)
    except DamagedStore as error:
        watch.wait(START_SECONDS)
        raise DamagedStore(watch.damage or str(error)) from error
    watch.wait(START_SECONDS)
    if watch.damage:
        if beside:
            services.store.close()
        else:
            services.close()
        raise DamagedStore(watch.damage)
    return Atlas(services)


def _state(path: Path) -> tuple[int, int, int] | None:
    """Changes with every manifest that is put in place; None while there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
