"""A real `atlas serve`: its start, a search over HTTP, and 32 clients at once."""

import asyncio
import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median, quantiles
from typing import NamedTuple

import httpx2

from benchmarks.performance.fresh import fresh
from benchmarks.performance.records import Record
from benchmarks.performance.site import Site
from tests.places import ROOT
from tests.servers import ATLAS, START_SECONDS, running, wait_for

ASKED = 200
CLIENTS = 32
EACH = 15  # requests of each of them
BUSY = 0.5
"""Of what the server can do, where clients pause between two requests."""


class Running(NamedTuple):
    """A server that is ready, and the seconds of processor it took to be."""

    address: str
    process: int
    started: float


class Load(NamedTuple):
    """Seconds of each request that was answered, those refused, and all of it."""

    taken: list[float]
    refused: int
    elapsed: float


def started(site: Site) -> list[Record]:
    """The processor that `atlas serve` takes until it is ready."""
    site.require_store()
    took = []
    for _ in range(3):
        with served(site) as server:
            took.append(server.started)
    return [Record("start of `atlas serve`", "CPU s", median(took), site.size)]


def over_http(site: Site) -> list[Record]:
    """What a search over HTTP costs the server, and what clients wait for."""
    site.require_store()
    questions = json.loads(site.questions.read_text())
    model = fresh("rows.answering:embed_made", questions=site.questions)
    with served(site) as server:
        asyncio.run(_clients(server.address, questions[:20], 1, 20, 0.0))  # opens what stays open
        used = used_by(server.process)
        alone = asyncio.run(_clients(server.address, questions, 1, ASKED, 0.0))
        each = (used_by(server.process) - used) / ASKED
        service = mean(alone.taken)
        crowd = asyncio.run(_clients(server.address, questions, CLIENTS, EACH, 0.0))
        pause = CLIENTS * service / BUSY
        paced = asyncio.run(_clients(server.address, questions, CLIENTS, EACH, pause))
    return [
        Record(
            "search over HTTP",
            "CPU ms a request",
            each * 1000,
            site.size,
            25.0,
            floor=model["embed"],
            note=f"of the server; {service * 1000:.0f} ms elapsed for one client. The floor is the "
            f"question's embedding, whose made-up words are {model['tokens']:.0f} tokens; those "
            "of the bundled questions are 25",
        ),
        Record(
            f"{CLIENTS} clients that pause: p95 against the mean service time",
            "times",
            p95(paced.taken) / service,
            site.size,
            5.0,
            note=f"{BUSY:.0%} of what the server can do; p95 {p95(paced.taken) * 1000:.0f} ms, "
            f"{paced.refused} refused",
        ),
        Record(
            f"{CLIENTS} clients that never pause: p95 against the mean service time",
            "times",
            p95(crowd.taken) / service,
            site.size,
            5.0,
            floor=CLIENTS * each / service / (os.cpu_count() or 1),
            note=f"p95 {p95(crowd.taken) * 1000:.0f} ms, {crowd.refused} refused, "
            f"{len(crowd.taken) / crowd.elapsed:.0f} a second. The floor is the queue itself: each "
            f"waits for {CLIENTS - 1} others, whose work the processors share",
        ),
    ]


@contextmanager
def served(site: Site) -> Iterator[Running]:
    """`atlas serve` over the collection of a site, with settings of its own."""
    environment = {
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "HF_HUB_OFFLINE": "1",
        "CHROMA_PERSIST_DIRECTORY": str(site.folder),
        "CHROMA_COLLECTION_NAME": site.store.name,
        "ATLAS_STATE_DIRECTORY": str(site.folder / "state"),
        "ATLAS_MODEL_DIRECTORY": str(models()),
        "ATLAS_PORT": "0",
        "ATLAS_LOG_LEVEL": "ERROR",
        "CONNECTIONS_PER_ADDRESS": "200",
    }
    with running(*ATLAS, "serve", environment=environment, folder=site.folder) as server:
        address = server.address("Atlas")
        wait_for(lambda: _ready(address), START_SECONDS, "a ready server")
        yield Running(address, server.process.pid, used_by(server.process.pid))


def models() -> Path:
    """Where models are exported to: as for every command that is run in the repository."""
    return Path(os.environ.get("ATLAS_MODEL_DIRECTORY", ROOT / "data" / "models"))


def _ready(address: str) -> bool | None:
    try:
        return httpx2.get(f"{address}/api/ready", timeout=5).is_success or None
    except httpx2.TransportError:
        return None


def used_by(process: int) -> float:
    """Seconds of processor of a running process and of its children that have ended (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


async def _clients(
    address: str, questions: Sequence[str], clients: int, each: int, pause: float
) -> Load:
    """So many clients, each with so many requests, after pauses of this mean in seconds."""
    chance = random.Random(5)
    taken: list[float] = []
    refused = 0
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=address, timeout=120, limits=limits) as client:

        async def ask(number: int) -> None:
            nonlocal refused
            for at in range(each):
                if pause:
                    await asyncio.sleep(chance.expovariate(1 / pause))
                question = questions[(number * each + at) % len(questions)]
                began = time.perf_counter()
                response = await client.post("/api/search", json={"question": question})
                if response.is_success:
                    taken.append(time.perf_counter() - began)
                else:
                    refused += 1

        began = time.perf_counter()
        await asyncio.gather(*(ask(number) for number in range(clients)))
    return Load(taken, refused, time.perf_counter() - began)


def p95(taken: Sequence[float]) -> float:
    """The 95th percentile."""
    return quantiles(taken, n=20)[18]
