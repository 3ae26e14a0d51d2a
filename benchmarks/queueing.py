"""Searches that wait for servers, simulated.

They come at random (Poisson) and go to the server with the fewest, where each of two processors
does one at a time, for a time drawn from a gamma distribution. Servers are killed at random; what
they were doing is done again elsewhere, as docker-compose.scale.yml has it. With Qdrant a search
also waits for the slowest of its shards, whose queues are not simulated.
"""

import heapq
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

SECONDS = 7_200.0
LANES = 2  # processors of a server
SPREAD = 0.3
"""Standard deviation of a service time over its mean: with it half load gives what was measured
(p95 2.15 times the mean service time, 2.18 measured)."""
DOWN = 60.0  # seconds until a killed server is ready again
PATIENCE, AGAIN = 5.0, 0.25  # seconds for which the proxy tries, and between tries


class Load(NamedTuple):
    """Searches a second, servers, and milliseconds: of a server's processor, and of each shard."""

    rate: float
    servers: int
    service: float
    wait: float = 0.0
    shards: int = 0


class Outcome(NamedTuple):
    """Milliseconds of searches, how many were begun again, and the share that got no answer."""

    p50: float
    p95: float
    again: int
    lost: float


@dataclass
class Server:
    """A server's processors, by when they are free, and the searches it has, by when they end."""

    free: list[float] = field(default_factory=lambda: [0.0] * LANES)
    ends: dict[int, float] = field(default_factory=dict)
    back: float = 0.0

    def searches(self, now: float) -> list[int]:
        """Return the searches that it has now."""
        self.ends = {search: end for search, end in self.ends.items() if end > now}
        return list(self.ends)


def simulate(load: Load, *, kills: float = 0.0, seed: int = 1) -> Outcome:
    """Return how searches fare; `kills` an hour of each server."""
    random = np.random.default_rng(seed)
    count = int(SECONDS * load.rate)
    arrivals = np.cumsum(random.exponential(1 / load.rate, count))
    shape = SPREAD**-2
    services = random.gamma(shape, load.service / 1000 / shape, count)
    waits = random.gamma(shape, load.wait / 1000 / shape, (count, max(load.shards, 1))).max(axis=1)
    servers = [Server() for _ in range(load.servers)]
    deaths = [
        (time, -1, number)
        for number in range(len(servers))
        for time in random.uniform(0, SECONDS, random.poisson(kills * SECONDS / 3600))
    ]
    events = [*((time, 0, search) for search, time in enumerate(arrivals.tolist())), *deaths]
    heapq.heapify(events)
    ended, again, lost = np.full(count, np.nan), 0, 0
    while events:
        now, kind, number = heapq.heappop(events)
        if kind < 0:
            unfinished = servers[number].searches(now)
            again += len(unfinished)
            for search in unfinished:
                heapq.heappush(events, (now, 0, search))
            servers[number] = Server([now + DOWN] * LANES, back=now + DOWN)
            continue
        alive = [server for server in servers if server.back <= now]
        if not alive:
            if now + AGAIN < arrivals[number] + PATIENCE:
                heapq.heappush(events, (now + AGAIN, 0, number))
            else:
                ended[number], lost = np.nan, lost + 1
            continue
        server = min(alive, key=lambda each: len(each.searches(now)))
        ended[number] = max(now, heapq.heappop(server.free)) + services[number]
        heapq.heappush(server.free, ended[number])
        server.ends[number] = ended[number]
    times = (ended - arrivals + waits)[~np.isnan(ended)] * 1000
    return Outcome(*np.percentile(times, [50, 95]).tolist(), again, lost / count)
