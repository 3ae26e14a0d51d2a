"""Clients of a server in another process: some search, others read streams badly."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import httpx2

SECONDS_STALLED = 2.0
SECONDS_AWAY = 0.5  # below RESUME_SECONDS


class Footprint(NamedTuple):
    """What a process holds: threads, open files, and resident bytes."""

    threads: int
    files: int
    resident: int


def footprint(process: int) -> Footprint:
    """Of a process of this machine, by its id."""
    folder = Path("/proc") / str(process)
    status = dict(
        line.split(":", 1) for line in (folder / "status").read_text(encoding="ascii").splitlines()
    )
    resident = int(status["VmRSS"].split()[0]) * 1024
    return Footprint(int(status["Threads"]), len(list((folder / "fd").iterdir())), resident)


@dataclass
class Crowd:
    """What became of it: seconds of each search, statuses, and streams by how they ended."""

    searches: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    streams: Counter[str] = field(default_factory=Counter)


def crowd(
    address: str,
    questions: Sequence[str],
    *,
    searching: int,
    streaming: int,
    seconds: float,
    seed: int = 0,
) -> Crowd:
    """Keep so many clients busy for so many seconds."""
    found = Crowd()
    asyncio.run(_run(address, questions, found, searching, streaming, seconds, seed))
    return found


async def _run(
    address: str,
    questions: Sequence[str],
    found: Crowd,
    searching: int,
    streaming: int,
    seconds: float,
    seed: int,
) -> None:
    end = time.monotonic() + seconds
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        chances = [random.Random(seed + number) for number in range(searching + streaming)]
        searches = [_search(client, questions, found, end, c) for c in chances[:searching]]
        streams = [_ask(client, questions, found, end, c) for c in chances[searching:]]
        await asyncio.gather(*searches, *streams)


async def _search(
    client: httpx2.AsyncClient,
    questions: Sequence[str],
    found: Crowd,
    end: float,
    chance: random.Random,
) -> None:
    while time.monotonic() < end:
        began = time.monotonic()
        response = await client.post("/api/search", json={"question": chance.choice(questions)})
        found.searches.append(time.monotonic() - began)
        found.statuses[response.status_code] += 1


async def _ask(
    client: httpx2.AsyncClient,
    questions: Sequence[str],
    found: Crowd,
    end: float,
    chance: random.Random,
) -> None:
    number = 0
    who = chance.getrandbits(64)
    while time.monotonic() < end:
        number += 1
        how = chance.choice(["reads", "vanishes", "stalls", "returns"])
        body = {"question": chance.choice(questions), "qa_id": f"{who:x}-{number}"}
        found.streams[await _read(client, body, how, found)] += 1


async def _read(client: httpx2.AsyncClient, body: dict[str, str], how: str, found: Crowd) -> str:
    """How it ended: `complete`, `error`, `refused`, or as the client left."""
    async with client.stream("POST", "/api/ask/stream", json=body) as response:
        found.statuses[response.status_code] += 1
        if response.status_code != 200:
            await asyncio.sleep(0.2)
            return "refused"
        last, ended = await _events(response, None if how == "reads" else 3)
        if ended:
            return ended
        if how == "stalls":
            await asyncio.sleep(SECONDS_STALLED)
    if how != "returns":
        return how
    await asyncio.sleep(SECONDS_AWAY)
    again = {"Last-Event-ID": last}
    url = f"/api/ask/{body['qa_id']}/stream"
    async with client.stream("GET", url, headers=again) as response:
        found.statuses[response.status_code] += 1
        _, ended = await _events(response, None)
    return f"{how}, then {ended}"


async def _events(response: httpx2.Response, count: int | None) -> tuple[str, str]:
    """The number of the last event read, and the name of that with which the stream ended."""
    number, read = "0", 0
    async for line in response.aiter_lines():
        if line.startswith("id: "):
            number = line[4:]
            read += 1
        if line in ("event: complete", "event: error"):
            return number, line[7:]
        if read == count and line.startswith("data: "):
            json.loads(line[6:])
            return number, ""
    return number, "broken"
