"""Many streams at once from a slow model, half of whose clients leave early; what is left after."""

import asyncio
import gc
import random
import threading
import time
from dataclasses import dataclass, field

import httpx2

from atlas_search.atlas import Atlas
from atlas_search.services import Services
from tests.chat_server import ChatServer, Part, Pause, Request, Says
from tests.servers import app_of, served, wait_for
from tests.slow_model import TOKEN

QUESTION = "Can a local authority sue a newspaper for libel?"
PIECES = 20
PAUSE = Pause(0.05)  # between two pieces
SETTLE_SECONDS = 20.0
POOLS = ("retrieve_", "embed_")


@dataclass
class Load:
    """What came of it. Bytes are the process's resident memory at the end of each quarter."""

    complete: int = 0
    left: int = 0
    refused: int = 0
    other: list[str] = field(default_factory=list)
    threads_before: list[str] = field(default_factory=list)
    threads_after: list[str] = field(default_factory=list)
    calls_after: int = 0
    spans_after: int = 0
    answers_after: int = 0
    resident: list[int] = field(default_factory=list)
    first_token_ms: list[float] = field(default_factory=list)


def put_under_load(
    services: Services, model: ChatServer, seconds: float, streams: int, seed: int = 0
) -> Load:
    """Keep `streams` clients busy for so many seconds, and wait until all is over."""
    model.says(lambda request: Says(*_pieces(request)))
    app = app_of(Atlas(services))
    settings = services.settings
    load, runs = Load(), app.extensions["runs"]
    with served(app, threads=settings.atlas_threads, channel_request_lookahead=1) as address:
        # opens what stays open
        asyncio.run(_clients(address, Load(), 0.0, streams, random.Random(seed)))
        wait_for(lambda: runs.running == 0 or None, SETTLE_SECONDS, "the end of all answers")
        load.threads_before = _own_threads()
        asyncio.run(_clients(address, load, seconds, streams, random.Random(seed)))
        wait_for(lambda: runs.running == 0 or None, SETTLE_SECONDS, "the end of all answers")
        load.threads_after = _settled_threads(len(load.threads_before))
        load.calls_after = services.calls.running + services.calls.waiting
        load.spans_after = services.tracer.open_spans
        load.answers_after = runs.running
    return load


def _pieces(request: Request) -> list[Part]:
    token = next(iter(TOKEN.findall(request.prompt)), "")
    said = [
        f'{{"text": "A council has word{number}. {token}", "passages": []}}'
        for number in range(PIECES)
    ]
    return [part for sentence in said for part in (PAUSE, sentence)]


async def _clients(
    address: str, load: Load, seconds: float, streams: int, chance: random.Random
) -> None:
    started = time.monotonic()
    end = started + seconds
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        watch = asyncio.create_task(_watch(load, started, seconds))
        await asyncio.gather(
            *(_client(client, load, end, random.Random(chance.random())) for _ in range(streams))
        )
        await watch


async def _client(
    client: httpx2.AsyncClient, load: Load, end: float, chance: random.Random
) -> None:
    """Ask again and again; every second time leave before the end."""
    while True:
        await _ask(client, load, leave_after=chance.choice([None, chance.randint(1, PIECES)]))
        if time.monotonic() >= end:
            return


async def _ask(client: httpx2.AsyncClient, load: Load, leave_after: int | None) -> None:
    asked = time.monotonic()
    tokens = 0
    async with client.stream("POST", "/api/ask/stream", json={"question": QUESTION}) as response:
        if response.status_code != 200:
            load.refused += 1
            return
        async for line in response.aiter_lines():
            if line == "event: token":
                tokens += 1
                if tokens == 1:
                    load.first_token_ms.append((time.monotonic() - asked) * 1000)
                if tokens == leave_after:
                    load.left += 1
                    return
            if line in ("event: complete", "event: error"):
                load.complete += line == "event: complete"
            if line.startswith("data: ") and '"urn:atlas' in line:
                load.other.append(line)


async def _watch(load: Load, started: float, seconds: float) -> None:
    for quarter in range(1, 5):
        await asyncio.sleep(max(0.0, started + seconds * quarter / 4 - time.monotonic()))
        gc.collect()
        load.resident.append(_resident())


def _settled_threads(allowed: int) -> list[str]:
    """The names of the threads that are left: none beyond `allowed` once all has settled."""
    end = time.monotonic() + SETTLE_SECONDS
    while len(left := _own_threads()) > allowed and time.monotonic() < end:
        time.sleep(0.1)
    return left


def _own_threads() -> list[str]:
    """Threads of this process that could pile up.

    The model's server has one for each open connection. Pools are bounded, and fill when
    enough comes at once, which may be late.
    """
    names = [thread.name for thread in threading.enumerate()]
    return sorted(
        name for name in names if "process_request" not in name and not name.startswith(POOLS)
    )


def _resident() -> int:
    """The resident memory of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096
