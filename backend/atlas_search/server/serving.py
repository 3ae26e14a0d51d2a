"""The live version of a collection: followed as it changes, and guarded against damage.

A version is checked by digest in the background while the server already answers, and a file
again as soon as it changes. Once damage is found, answers stop: a wrong one is worse than none.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from werkzeug.exceptions import HTTPException

from atlas_search.atlas import Atlas
from atlas_search.building.materials import remedy
from atlas_search.core.errors import AtlasError, DamagedStore, Unavailable
from atlas_search.core.files import stamp
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.services import Services, open_beside, open_services
from atlas_search.stores.manifest import FILE_NAME, Manifest
from atlas_search.stores.versions import ORDER, PARTS, CheckedVersion

log = logging.getLogger(__name__)
SHOWN = 5  # damaged files named in a message
WAIT_SECONDS = 5.0  # for a check that goes on, when something went wrong


class StoreWatch:
    """The watch of one version. `damage` says what is wrong and what to do; empty if none is known.

    It stays as it was first found: what was opened from damaged files may be wrong for ever.
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
        """Wait for the end of the first check, but not longer than `seconds`."""
        self._first.join(seconds)

    def look(self, seconds: float = -1) -> bool:
        """Read the files that changed since they were read; at once where none did.

        Return False if it could not be done: another look may be going on. Waits for it `seconds`,
        below 0 without end.
        """
        if not self._lock.acquire(timeout=seconds):
            return False
        try:
            problems = self._checked.problems(lambda: not self._stopped.is_set())
            if problems and not self.damage:
                self.damage = _describe_damage(self._version, self._manifest, problems)
                log.error("%s", self.damage)
            return True
        finally:
            self._lock.release()

    def is_mended(self) -> bool:
        """Return True if there was damage, and the files are now as they were written."""
        if not self.damage or not self._lock.acquire(blocking=False):
            return False
        try:
            return not self._checked.problems(lambda: not self._stopped.is_set())
        finally:
            self._lock.release()

    def stop(self) -> None:
        """End a check that is going on: its version is served no longer."""
        self._stopped.set()


def _describe_damage(version: Path, manifest: Manifest, problems: list[str]) -> str:
    shown = problems[:SHOWN]
    damaged = {
        part for part in (*PARTS, ORDER) if any(problem.startswith(part) for problem in problems)
    }
    more = f" and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
    return (
        f"The store {version} is damaged: {'; '.join(shown)}{more}. No question is answered from "
        f"it. {remedy(version.parent, manifest, damaged)} Or bring the files back."
    )


Serve = Callable[[], Atlas]
"""Gives the collection as of now. Called once per request, so that it sees one version
throughout."""

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
        self._seen = stamp(self._manifest)
        # read while the models load
        watch = StoreWatch(self._folder, _manifest(settings, embedder, beside))
        watch.begin()
        try:
            self._atlas = _open(settings, embedder, beside, watch)
        except BaseException:
            watch.stop()
            raise
        self._store_watch = watch
        self._refreshing = threading.Lock()
        self._refused = ""
        self._stopped = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="follow-store", daemon=True)

    def __call__(self) -> Atlas:
        """The live version, open."""
        return self._atlas

    @property
    def problem(self) -> str:
        """The reason why no answers come, or none from the newest version; empty if they do."""
        if self._store_watch.damage:
            return self._store_watch.damage
        if not self._manifest.exists():
            return (
                f"{self._manifest} is gone. Answers go on from the version that is open. Bring the "
                f"folder back, or run `atlas store repair {self._folder.name}`."
            )
        return self._refused

    @property
    def damage(self) -> str:
        """The damage of what is served.

        The look for changed files takes a thousandth of a second.
        """
        watch = self._store_watch
        watch.look(0)
        return watch.damage

    def cause(self, error: Exception) -> Exception:
        """Return the damage behind an error, or Unavailable while the store is being checked."""
        watch = self._store_watch
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
        state = stamp(self._manifest)
        if state is None or (state == self._seen and not self._store_watch.is_mended()):
            return
        try:
            atlas, watch = self._open_version()
        except Exception as error:  # a damaged file can raise anything
            if stamp(self._manifest) == state:  # else a newer one came meanwhile: look again
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
        services = self._atlas.services
        # the version before is not closed: requests may be using it
        services = open_beside(services, services.settings)
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


@dataclass(frozen=True)
class Guard:
    """The guard between the damage of a collection, if it serves one, and its answers.

    It `tells_files` that are damaged, or only that some are.
    """

    serving: Serving | None
    tells_files: bool

    def require_whole(self) -> None:
        """Raise DamagedStore if the store is known to be damaged."""
        if self.serving and (damage := self.serving.damage):
            raise self._reword(DamagedStore(damage))

    def cause(self, error: Exception) -> Exception:
        """Return the error to report: the damage behind this one, if there is any."""
        if self.serving and not isinstance(error, AtlasError | HTTPException):
            error = self.serving.cause(error)
        return self._reword(error) if isinstance(error, DamagedStore) else error

    def _reword(self, error: DamagedStore) -> DamagedStore:
        if self.tells_files:
            return error
        return DamagedStore(
            "The collection is damaged, and no question is answered from it. An administrator's "
            "health, and the log, say more."
        )
