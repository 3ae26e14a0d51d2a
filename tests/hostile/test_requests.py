"""Hostile requests to a real server: it answers all of them, shortly, and gives nothing away.

`make test-hostile` sends all of them, `make test` one in twenty.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import pytest

from atlas_search.building.flow import BuildReport
from tests.hostile.attacks import every_attack
from tests.hostile.exchange import faults
from tests.servers import ATLAS, Server, answers, running

TOKEN = "an administrator's token"
SHARE = 1 if "HOSTILE" in os.environ else 20


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder the server runs in, which is its home and holds its temporary files too."""
    return tmp_path_factory.mktemp("attacked")


@pytest.fixture(scope="module")
def server(
    stores: Path, demo: BuildReport, place: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "ATLAS_PORT": "0",
        "ATLAS_ADMIN_TOKEN": TOKEN,
        "TMPDIR": str(place),
        "INGEST_ROOT": str(tmp_path_factory.mktemp("ingest")),
        "ATLAS_STATE_DIRECTORY": str(tmp_path_factory.mktemp("state")),
    }
    with running(*ATLAS, "serve", environment=environment, folder=place) as server:
        server.address("Atlas")
        yield server


def test_there_are_enough() -> None:
    names = [attack.name for attack in every_attack(TOKEN)]
    assert len(names) > 1_000
    assert len(set(names)) == len(names)


def test_every_hostile_request_gets_an_answer_that_tells_nothing(
    server: Server, stores: Path, place: Path
) -> None:
    address = server.address("Atlas")
    port = int(address.rpartition(":")[2])
    secrets = (str(stores).encode(), str(place).encode(), TOKEN.encode())
    before = _files(place), _files(stores)
    found = {}
    for attack in islice(every_attack(TOKEN), 0, None, SHARE):
        if wrong := faults(port, attack, secrets):
            found[attack.name] = wrong
    assert not found
    assert answers(f"{address}/api/health")
    log = "".join(server.lines)
    assert "Traceback" not in log, log[log.index("Traceback") :][:3000]
    assert (_files(place), _files(stores)) == before


def _files(folder: Path) -> Mapping[Path, int]:
    """Every file below it, with its size."""
    return {
        path: path.stat().st_size
        for path in folder.rglob("*")
        # SQLite makes these when it opens a file, and takes them away again
        if path.is_file() and path.suffix not in {".sqlite-wal", ".sqlite-shm", ".sqlite3-wal"}
    }
