"""State that a server keeps of its callers: in SQLite files of its own, or in a PostgreSQL.

STATE_URL names a PostgreSQL that several servers share. Statements are those that both know, with
`?` for values; schemas are written for SQLite. Of each name one transaction runs at a time, over
all servers, so nobody writes what another has changed since it was read.

The driver is pg8000 for its licence (BSD), and because every wait for the database has a bound.
"""

import os
import secrets
import socket
import sqlite3
import ssl
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit
from weakref import finalize

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.files import is_full, stamp
from atlas_search.core.registry import require
from atlas_search.core.settings import Settings

BUSY_SECONDS = 1.0  # every transaction takes milliseconds


class Transaction(Protocol):
    """A transaction, in whose statements `?` stands for a value."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Any: ...


class State(Protocol):
    """The tables of one name. Safe for threads.

    `is_shared` is true where other servers see them too.
    """

    @property
    def is_shared(self) -> bool: ...

    @property
    def exists(self) -> bool:
        """Return False while nothing was ever written."""

    def open(self) -> AbstractContextManager[Transaction]:
        """One transaction, undone by any error. Raises ConfigurationError for a fault of the state.

        What is read is parsed inside, for damage may lie in a value.
        """

    def check(self) -> str:
        """Return the problem that a transaction has now, or the last one had; empty if none."""


OpenState = Callable[[str, str], State]
"""Gives the tables of a name, by their schema."""


def open_states(settings: Settings) -> OpenState:
    """Say where state is kept. Raises ConfigurationError for a STATE_URL that cannot be used."""
    if url := settings.state_url.get_secret_value():
        return partial(StateTables, Database(url))
    folder = settings.atlas_state_directory
    return lambda name, schema: StateFile(folder / f"{name}.sqlite", schema)


class StateFile:
    """A SQLite file, made when first used.

    `problem` says why the last transaction failed; it is empty if it did not.
    """

    is_shared = False

    def __init__(self, path: Path, schema: str):
        self.path = path
        self.problem = ""
        self._schema = schema
        self._failed_with: tuple[int, ...] | None = ()
        self._lock = threading.Lock()

    @property
    def exists(self) -> bool:
        return self.path.exists()

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._make()
                with closing(sqlite3.connect(self.path, timeout=BUSY_SECONDS)) as connection:
                    connection.executescript(self._schema)
                    with connection:
                        connection.execute("BEGIN IMMEDIATE")
                        yield connection
            except (OSError, sqlite3.Error, ValueError) as error:
                self.problem = f"{self.path} {_fault(error)}"
                self._failed_with = () if _is_locked(error) else stamp(self.path)
                raise ConfigurationError(self.problem) from error
            self.problem = ""

    def check(self) -> str:
        last, state = self.problem, stamp(self.path)
        self.problem = ""
        if state:
            with suppress(ConfigurationError), self.open():
                pass
        if state == self._failed_with:  # another statement than those of this look may fail
            self.problem = self.problem or last
        return self.problem

    def _make(self) -> None:
        """Put an empty database there in one step, so that an empty file is a damaged one."""
        if self.path.exists():
            if not self.path.stat().st_size:
                raise sqlite3.DatabaseError("it is empty")
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = self.path.with_suffix(f".{secrets.token_hex(4)}")
        try:
            os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            with closing(sqlite3.connect(new)) as connection:
                connection.executescript(self._schema)
            with suppress(FileExistsError):  # another process was faster
                os.link(new, self.path)
        finally:
            new.unlink(missing_ok=True)


def _is_locked(error: Exception) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _fault(error: Exception) -> str:
    """The fault of a state file, and what to do."""
    name = getattr(error, "sqlite_errorname", "")
    if is_full(error):
        return f"cannot be written: the disk is full ({error}). Make room there."
    if _is_locked(error):
        return "is locked by another program. End that program, or let it finish."
    if isinstance(error, OSError) or name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        return f"cannot be used ({error}). Give the user who runs Atlas the right to write it."
    return (
        f"is damaged ({error}). Put a copy of it back, or move it away: a new one is begun at once."
    )


CONNECTIONS = 8  # of one server; more only wait for each other's locks
SILENCE_SECONDS = 2.0  # of the database, be it while it is connected to
AWAY_SECONDS = 1.0  # after which a database that could not be reached is tried again
HELD_SECONDS = 5.0  # after which the lock of a server that vanished is free
TURN_SECONDS = 600.0  # likewise, where a lock is held for work elsewhere
IDLE_SECONDS = 60.0  # after which a connection may have been cut on the way

_BEGIN = (
    f"BEGIN; SET LOCAL lock_timeout = {BUSY_SECONDS * 1000:.0f}; "
    f"SET LOCAL statement_timeout = {SILENCE_SECONDS * 1000 - 500:.0f}; "
    "SET LOCAL idle_in_transaction_session_timeout = {milliseconds:.0f}; "
    "SELECT pg_advisory_xact_lock({lock})"
)
_GONE = ("08", "57P", "25P03")  # SQLSTATEs of a connection that the server has closed
_LOCKED = "55P03"
_FAULTS = {
    "28": "lets nobody in by this name and password. Correct STATE_URL.",
    "3D": "does not exist. Create it, or correct STATE_URL.",
    "42501": "gives this user no right to make tables, or to write them. Give it.",
    "53100": "cannot be written: its disk is full. Make room there.",
    _LOCKED: "is locked by another program. End that program, or let it finish.",
    "57014": "takes too long for a statement. See what else it works on.",
}
"""What is wrong, and what to do, by SQLSTATE or its class."""


class Busy(ConfigurationError):
    """Another transaction of the same name runs, or all connections are in use."""


class Database:
    """A PostgreSQL, to which a few connections stay open. Safe for threads.

    Raises ConfigurationError for an address that cannot be used, and for any fault of the database.
    None of its messages has a part of the address, which holds a password.
    """

    def __init__(self, url: str):
        require("postgres", "STATE_URL")
        self._connect = _connecting(url)
        self._places = threading.BoundedSemaphore(CONNECTIONS)
        self._idle: list[tuple[float, Any]] = []  # since when, the last used at the end
        self._away_until, self._away = 0.0, ""
        finalize(self, _close, self._idle)

    @contextmanager
    def transaction(self, name: str, seconds: float) -> Iterator[Transaction]:
        """One transaction, alone of its name over all servers for so long between statements."""
        from pg8000 import Error

        if not self._places.acquire(timeout=BUSY_SECONDS):
            raise Busy("All connections to the database of STATE_URL are in use.")
        try:
            connection = self._begin(name, seconds)
            is_whole = False
            try:
                yield _Statements(connection)
                _run(connection, "COMMIT")
                is_whole = True
            except BaseException as error:
                is_whole = not isinstance(error, (Error, OSError)) and _undone(connection)
                raise
            finally:
                used = (monotonic(), connection)
                self._idle.append(used) if is_whole else _close([used])
        except (Error, OSError) as error:
            raise _refusal(error) from error
        finally:
            self._places.release()

    def _begin(self, name: str, seconds: float) -> Any:
        """A connection with a transaction begun; where an idle one was cut, a new one."""
        from pg8000 import Error

        lock = zlib.crc32(f"atlas {name}".encode())
        begin = _BEGIN.format(lock=lock, milliseconds=seconds * 1000)
        while connection := self._take_idle():
            try:
                _run(connection, begin)
                return connection
            except (Error, OSError) as error:
                _close([(0.0, connection)])
                if not _is_gone(error):
                    raise
                _close(self._idle)  # all were cut, if one was
        if monotonic() < self._away_until:
            raise ConfigurationError(self._away)
        try:
            connection = self._connect()
        except Exception as error:  # what is no PostgreSQL may have anything raised
            refusal = _refusal(error)
            self._away_until, self._away = monotonic() + AWAY_SECONDS, str(refusal)
            raise refusal from error
        try:
            _run(connection, begin)
        except (Error, OSError):
            _close([(0.0, connection)])
            raise
        return connection

    def _take_idle(self) -> Any:
        try:
            since, connection = self._idle.pop()
        except IndexError:
            return None
        if monotonic() - since < IDLE_SECONDS:
            return connection
        _close([(since, connection)])
        _close(self._idle)  # those below were used before
        return None


def _connecting(url: str) -> Callable[[], Any]:
    """Return a function that connects to an address. Raises ConfigurationError."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    folder, mode = options.pop("host", ""), options.pop("sslmode", "prefer")
    try:
        if not (parts.username and parts.path.strip("/")):
            raise ValueError("it names no user, or no database")
        port, tls = parts.port or 5432, _TLS[mode](options.pop("sslrootcert", None))
        if options:
            raise ValueError(f"unknown: {', '.join(options)}")
    except (KeyError, OSError, ValueError) as error:
        raise ConfigurationError(
            "STATE_URL is postgresql://USER:PASSWORD@HOST:PORT/DATABASE. Its options are sslmode "
            f"({', '.join(_TLS)}), sslrootcert (a file of certificates) and host (the folder of a "
            "socket)."
        ) from error

    def connect() -> Any:
        from pg8000 import dbapi

        host = parts.hostname or "127.0.0.1"
        plug = (
            socket.socket(socket.AF_UNIX)
            if folder
            else socket.create_connection((host, port), BUSY_SECONDS)
        )
        try:  # pg8000 leaves a socket open where nobody answers
            plug.settimeout(SILENCE_SECONDS)
            if folder:
                plug.connect(f"{folder}/.s.PGSQL.{port}")
            else:  # an answer goes in pieces, of which Nagle holds the last back for 40 ms
                plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = dbapi.Connection(
                unquote(parts.username or ""),
                host=host,
                database=unquote(parts.path.strip("/")),
                password=unquote(parts.password or ""),
                ssl_context=False if folder else tls,
                application_name="atlas",
                sock=plug,
            )
        except BaseException:
            plug.close()
            raise
        connection.autocommit = True  # `_BEGIN` begins
        return connection

    return connect


_TLS: dict[str, Callable[[str | None], ssl.SSLContext | bool | None]] = {
    "disable": lambda _: False,
    "prefer": lambda _: None,
    "require": lambda _: True,
    "verify-full": lambda file: ssl.create_default_context(cafile=file),
}
"""As libpq has them: `require` checks no certificate, `verify-full` certificate and name."""


class _Statements(NamedTuple):
    """The statements of a transaction in PostgreSQL's form."""

    connection: Any

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        return _run(self.connection, statement, values)


def _run(connection: Any, statement: str, values: Sequence[Any] = ()) -> Any:
    cursor = connection.cursor()
    cursor.execute(statement.replace("?", "%s"), values)
    return cursor


def _undone(connection: Any) -> bool:
    """Undo a transaction, and return False if that fails."""
    try:
        _run(connection, "ROLLBACK")
    except Exception:
        return False
    return True


def _close(connections: list[tuple[float, Any]]) -> None:
    while connections:
        with suppress(Exception):  # it may be broken in any way
            connections.pop()[1].close()


def _code(error: Exception) -> str:
    """The SQLSTATE of an error; empty where the network failed."""
    details = error.args[0] if error.args else None
    return str(details.get("C", "")) if isinstance(details, dict) else ""


def _is_gone(error: Exception) -> bool:
    return not _code(error) or _code(error).startswith(_GONE)


def _refusal(error: Exception) -> ConfigurationError:
    """The fault of the database, and what to do; nothing of its address."""
    code = _code(error)
    reason = error.args[0].get("M", code) if code else error.__cause__ or error
    if _is_gone(error):
        fault = f"cannot be reached ({reason}). Start it, or correct STATE_URL."
    else:
        known = _FAULTS.get(code) or _FAULTS.get(code[:2])
        fault = known or f"cannot be used ({reason})."
    return (Busy if code == _LOCKED else ConfigurationError)(f"The database of STATE_URL {fault}")


_IN_POSTGRES = {
    "PRAGMA journal_mode = WAL;": "",
    "WITHOUT ROWID": "",
    "INTEGER PRIMARY KEY": "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    "REAL": "DOUBLE PRECISION",
}


class StateTables:
    """Tables in a PostgreSQL, made when first used; without a schema, a turn at work elsewhere."""

    is_shared = True
    exists = True

    def __init__(self, database: Database, name: str, schema: str):
        for word, other in _IN_POSTGRES.items():
            schema = schema.replace(word, other)
        self._database = database
        self._name = name
        self._schema = schema
        self._made = False

    @contextmanager
    def open(self) -> Iterator[Transaction]:
        try:
            seconds = HELD_SECONDS if self._schema else TURN_SECONDS
            with self._database.transaction(self._name, seconds) as transaction:
                if not self._made and self._schema:
                    transaction.execute(self._schema)
                yield transaction
        except ValueError as error:
            raise ConfigurationError(
                f"A value in the tables {self._name} of STATE_URL is damaged ({error})."
            ) from error
        except ConfigurationError:
            self._made = False  # the next may be another database
            raise
        self._made = True

    def check(self) -> str:
        try:
            with self.open():
                return ""
        except ConfigurationError as error:
            return str(error)
