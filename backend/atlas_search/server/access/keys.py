"""API keys: who may ask, which corpora each key sees, and how much it may take.

They lie in a file, or in the database that several servers share (`ATLAS_ACCESS=shared`). Of a key
only the hash is kept. Its 256 bits are random, so a plain SHA-256 is enough: there is nothing to
guess, and no salt or slow hash could make it harder.
"""

import hashlib
import hmac
import json
import logging
import os
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal, NamedTuple, Protocol, Self

from filelock import FileLock
from pydantic import Field, ValidationError, model_validator

from atlas_search.core.errors import ConfigurationError, RequestError
from atlas_search.core.settings import Settings
from atlas_search.server.requests import Strict
from atlas_search.server.state import State, Transaction, open_states

log = logging.getLogger(__name__)

SECRET_BYTES = 32
WRITABLE_BY_OTHERS = 0o022
NO_KEY_HAS_IT = "0" * 64  # compared with when the id is unknown, so that both take as long

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$")]


class KeyLimits(Strict):
    """The most that a key may take; None: no limit.

    `cost_per_day` is what language models may cost from midnight to midnight (UTC), in the currency
    of the prices of a target.
    """

    requests_per_minute: int | None = Field(None, ge=1)
    streams: int | None = Field(None, ge=1)
    cost_per_day: float | None = Field(None, ge=0)


class ApiKey(Strict):
    """One key: `id` is the public part of it, `sha256` the hash of its secret one.

    `corpora` are the ids of the corpora it sees of each collection, or `*` for all of all. From
    the day `expires` on (UTC) it opens nothing.
    """

    id: str = Field(pattern=r"^[0-9a-f]{8}$")
    name: Name
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    created: datetime
    expires: date | None = None
    corpora: Literal["*"] | Mapping[str, tuple[str, ...]]
    administrator: bool = False
    limits: KeyLimits = KeyLimits()

    def is_expired(self, today: date) -> bool:
        return self.expires is not None and today >= self.expires

    def sees(self, collection: str) -> frozenset[str] | None:
        """The corpora it sees of a collection; None: all of them."""
        return None if self.corpora == "*" else frozenset(self.corpora.get(collection, ()))


class _File(Strict):
    keys: tuple[ApiKey, ...]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for what in ("id", "name"):
            values = [getattr(key, what) for key in self.keys]
            if len(set(values)) < len(values):
                raise ValueError(f"two keys have the same {what}")
        return self


Keys = tuple[ApiKey, ...]


class KeyPlace(Protocol):
    """Where keys are kept. Its errors are ConfigurationError, which say what is wrong there."""

    def read(self) -> Keys: ...

    def change(self, change: Callable[[Keys], Keys]) -> None:
        """Put others in the place of the keys, one change after the other."""

    def seen(self) -> object:
        """Return something that is no longer equal when the keys may have changed; None without
        any."""


def key_place(settings: Settings) -> KeyPlace | None:
    """Return where the keys are that everybody needs; None if nobody needs one."""
    if settings.atlas_access == "shared":
        if not settings.state_url.get_secret_value():
            raise ConfigurationError(
                "ATLAS_ACCESS=shared keeps the keys in a database: set STATE_URL, or "
                "ATLAS_ACCESS=keys and API_KEYS_FILE."
            )
        return SharedKeys(open_states(settings)("keys", SHARED))
    return KeyFile(settings.api_keys_file) if settings.api_keys_file else None


class NewKey(NamedTuple):
    """A key that was just made, and its whole text, which is kept nowhere."""

    key: ApiKey
    text: str


class KeyRing:
    """The keys of a place as they are now. Safe to use from several threads.

    A place that cannot be read opens nothing, and `problem` says why.
    """

    def __init__(self, place: KeyPlace):
        self._place = place
        self._lock = threading.Lock()
        self._seen = place.seen()
        self._keys = {key.id: key for key in place.read()}
        self.problem = ""

    def find(self, text: str, today: date) -> ApiKey | None:
        """The key that somebody sent; None if there is no such key, or it has expired.

        Raises ConfigurationError while the keys cannot be read.
        """
        keys = self.keys()
        id_, secret = _parts(text)
        key = keys.get(id_)
        same = hmac.compare_digest(_hash(secret), key.sha256 if key else NO_KEY_HAS_IT)
        return key if key and same and not key.is_expired(today) else None

    def keys(self) -> Mapping[str, ApiKey]:
        """Return the keys by id. Raises ConfigurationError while they cannot be read."""
        with self._lock:
            self._refresh()
            if self.problem:
                raise ConfigurationError("The keys of this server cannot be read: nobody may ask.")
            return self._keys

    def _refresh(self) -> None:
        seen = self._place.seen()
        if seen == self._seen and seen is not None:
            return
        try:
            self._keys = {key.id: key for key in self._place.read()}
            self.problem = ""
        except ConfigurationError as error:
            if str(error) != self.problem:
                log.error("Nobody may ask: %s", error)  # once, not with each request
            self._keys, self.problem = {}, str(error)
        self._seen = seen


class KeyFile:
    """A file of keys, which only its owner may read or write."""

    def __init__(self, path: Path):
        self.path = path

    def read(self) -> Keys:
        path = self.path
        try:
            with path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                content = json.loads(file.read())
            keys = _File.model_validate(content).keys
        except FileNotFoundError:
            raise ConfigurationError(
                f"API_KEYS_FILE={path}: there is no such file. `atlas keys add NAME` makes it."
            ) from None
        except OSError as error:
            raise ConfigurationError(f"API_KEYS_FILE={path}: {error.strerror}.") from error
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the whole"
            raise ConfigurationError(f"API_KEYS_FILE={path}: {place}: {first['msg']}.") from error
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"API_KEYS_FILE={path} is not valid JSON: {error}.") from error
        if mode & WRITABLE_BY_OTHERS:
            raise ConfigurationError(
                f"API_KEYS_FILE={path} can be changed by others: run `chmod 600 {path}`."
            )
        return keys

    def change(self, change: Callable[[Keys], Keys]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_name(f".{self.path.name}.lock"), mode=0o600):
            self._write(change(self.read() if self.path.exists() else ()))

    def seen(self) -> object:
        """Return the state of the file, and of who may write it."""
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode

    def _write(self, keys: Keys) -> None:
        """Replace the file in one step; only its owner may read it."""
        temporary = self.path.with_name(f".{self.path.name}.partial")
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(_File(keys=keys).model_dump(mode="json"), file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)


SHARED = "CREATE TABLE IF NOT EXISTS keys (content TEXT NOT NULL)"
TOLD_AFTER = 1.0  # seconds, in which another server may still know a key that was revoked


class SharedKeys:
    """The keys of all servers of a database: one row, with what a file would hold."""

    def __init__(self, state: State):
        self._state = state

    def read(self) -> Keys:
        with self._state.open() as transaction:
            return self._content(transaction)

    def change(self, change: Callable[[Keys], Keys]) -> None:
        with self._state.open() as transaction:
            content = _File(keys=change(self._content(transaction))).model_dump_json()
            transaction.execute("DELETE FROM keys")
            transaction.execute("INSERT INTO keys VALUES (?)", (content,))

    def seen(self) -> object:
        return int(monotonic() / TOLD_AFTER)

    def _content(self, transaction: Transaction) -> Keys:
        row = transaction.execute("SELECT content FROM keys").fetchone()
        return _File.model_validate_json(row[0]).keys if row else ()


def add_key(
    place: KeyPlace,
    name: str,
    *,
    corpora: Literal["*"] | Mapping[str, Sequence[str]] = "*",
    administrator: bool = False,
    expires: date | None = None,
    limits: KeyLimits | None = None,
) -> NewKey:
    """Make a key and add it to a place, where there need not be any.

    Raises ConfigurationError for keys that cannot be read, RequestError for a name that is taken
    or is none.
    """
    id_, secret = secrets.token_hex(4), secrets.token_hex(SECRET_BYTES)
    try:
        key = ApiKey.model_validate(
            {
                "id": id_,
                "name": name,
                "sha256": _hash(secret),
                "created": datetime.now(UTC).replace(microsecond=0),
                "expires": expires,
                "corpora": corpora,
                "administrator": administrator,
                "limits": limits or KeyLimits(),
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise RequestError(f"{first['loc'][0]}={first['input']!r}: {first['msg']}.") from error

    def with_it(keys: Keys) -> Keys:
        if any(known.name == name for known in keys):
            raise RequestError(f"There is a key {name!r} already. Revoke it, or choose another.")
        return (*keys, key)

    place.change(with_it)
    return NewKey(key, f"atlas_{id_}_{secret}")


def revoke_key(place: KeyPlace, name: str) -> None:
    """Remove a key. Raises RequestError without one of this name."""

    def without_it(keys: Keys) -> Keys:
        left = tuple(key for key in keys if key.name != name)
        if len(left) == len(keys):
            names = ", ".join(key.name for key in keys) or "none"
            raise RequestError(f"There is no key {name!r}. Known keys: {names}.")
        return left

    place.change(without_it)


def _parts(text: str) -> tuple[str, str]:
    """The public and the secret part of a key; empty ones for what is no key."""
    parts = text.split("_")
    return (parts[1], parts[2]) if len(parts) == 3 and parts[0] == "atlas" else ("", "")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogateescape")).hexdigest()
