"""Damage, as the sender of the present request may hear of it."""

from contextlib import suppress
from dataclasses import dataclass

from flask import g, request
from werkzeug.exceptions import HTTPException

from atlas_search.core.errors import DamagedStore
from atlas_search.server.access.caller import present_caller
from atlas_search.server.collections import Collections, chosen_collection, visible
from atlas_search.server.store_watch import UNGUARDED, Guard

READY = "/api/ready"
"""Says to anyone whether the server can answer, and no more."""


@dataclass(frozen=True)
class ToldGuard:
    """A guard that says which files are damaged, or only that some are."""

    guard: Guard
    tells_files: bool

    def require_whole(self) -> None:
        """See Guard."""
        try:
            self.guard.require_whole()
        except DamagedStore as error:
            raise self._told(error) from error

    def cause(self, error: Exception) -> Exception:
        """See Guard."""
        cause = self.guard.cause(error)
        return self._told(cause) if isinstance(cause, DamagedStore) else cause

    def _told(self, error: DamagedStore) -> DamagedStore:
        if self.tells_files:
            return error
        return DamagedStore(
            "The collection is damaged, and no question is answered from it. An administrator's "
            "health, and the log, say more."
        )


@dataclass(frozen=True)
class PresentGuard:
    """The guard of whichever collection the present request chooses.

    There is none for one that its sender may not see, nor for a body that is too large.
    """

    collections: Collections

    def require_whole(self) -> None:
        """See Guard."""
        self.now().require_whole()

    def cause(self, error: Exception) -> Exception:
        """See Guard."""
        return self.now().cause(error)

    def now(self) -> Guard:
        """The same for a thread of its own, which has no request."""
        return ToldGuard(self._guard(), "caller" in g and present_caller().sees_traces)

    def _guard(self) -> Guard:
        with suppress(HTTPException):  # from reading its body
            name = chosen_collection()
            if name or request.path != READY:
                name = name or self.collections.default
                return self.collections.guard(name) if visible([name]) else UNGUARDED
            return self.collections.guard()
        return UNGUARDED
