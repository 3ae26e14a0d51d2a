"""What to run for how many passages: `python -m benchmarks.scaling`, the tables of docs/scaling.md.

All follows from COSTS, and a simulation (`benchmarks/queueing.py`). `--write` puts the tables into
the page; `--quantisation [--data FOLDER]` measures what rounded vectors lose.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from benchmarks.queueing import LANES, Load, simulate

PAGE = Path(__file__).parents[1] / "docs" / "scaling.md"
BENCH, ENGINES = "make bench", "python -m benchmarks.performance.engines FOLDER"
UNMEASURED = "not measured"
QUANTISATION = "python -m benchmarks.scaling --quantisation --data FOLDER"


class Cost(NamedTuple):
    """A figure, and the command that measures it, or `not measured` and what stands in for it."""

    value: float
    unit: str
    command: str
    note: str = ""


COSTS: Mapping[str, Cost] = {
    # files that every server has, whatever the engine, at a million passages
    "documents and sources": Cost(666, "bytes a passage", BENCH),
    "ids": Cost(52, "bytes a passage", BENCH),
    "terms": Cost(510, "bytes a passage", BENCH),
    "words": Cost(1_434, "bytes a passage", BENCH),
    "vectors": Cost(812, "bytes a passage", BENCH),
    # the embedded engine
    "embedded: Chroma": Cost(1_739, "bytes a passage", BENCH),
    "embedded: tantivy": Cost(155, "bytes a passage", BENCH),
    "embedded: memory of a server": Cost(3_260, "bytes a passage", ENGINES),
    "embedded: engine, 200,000": Cost(10.4, "ms a search", ENGINES),
    "embedded: engine, 1,000,000": Cost(20.3, "ms a search", ENGINES),
    "server beside its engine": Cost(21.9, "ms a search", BENCH, "over HTTP, question embedded"),
    "p95 at half load": Cost(2.18, "times the mean", BENCH),
    # Qdrant
    "Qdrant: vectors": Cost(768, "bytes a passage", UNMEASURED, "384 numbers of 2 bytes"),
    "Qdrant: int8 vectors": Cost(384, "bytes a passage", UNMEASURED, "384 numbers of a byte"),
    "Qdrant: graph": Cost(128, "bytes a passage", UNMEASURED, "32 links of 4 bytes"),
    "Qdrant: terms": Cost(1_020, "bytes a passage", UNMEASURED, "an id and a weight for each term"),
    "Qdrant: disk": Cost(2_151, "bytes a passage", ENGINES, "all parts"),
    "Qdrant: memory of a server": Cost(2_730, "bytes a passage", ENGINES, "its engine within"),
    "Qdrant: node, 200,000": Cost(8.40, "ms a search", ENGINES, "in one process"),
    "Qdrant: node, 1,000,000": Cost(22.1, "ms a search", ENGINES, "in one process"),
    # the default model, on a processor
    "embedding": Cost(28, "ms a passage", QUANTISATION, "of 776 characters"),
}

RECALLS: Sequence[tuple[str, str, float, float]] = (
    ("whole", "200", 0.930, 0.982),
    ("int8", "200", 0.927, 0.975),
    ("int8", "400, looked at again", 0.930, 0.983),
    ("binary", "200", 0.453, 0.552),
    ("binary", "400, looked at again", 0.541, 0.742),
    ("binary", "800, looked at again", 0.644, 0.873),
)
"""recall@200 of 30,000 made vectors, and of 13,215 of the public sets: by QUANTISATION."""

MILLION = 1_000_000
SIZES = (1, 10, 100, 1_000)  # million passages
RATE = 20.0  # searches a second, over all collections
MOST = 100 * MILLION  # passages of a collection: every server has all of its files
SHARD = 10 * MILLION  # passages, at most
REPLICAS = 2
NODE_MEMORY = 64e9 * 0.8  # bytes, of which the rest is for the system
NODE_CORES = 8
KILLS = 6.0  # of each server an hour
BUSY = 0.5  # most of what servers and nodes can do, as they were measured
FILES = ("documents and sources", "ids", "terms", "words", "vectors")


@dataclass(frozen=True)
class Plan:
    """What a number of passages takes; bytes, and milliseconds of processor."""

    passages: int

    @property
    def engine(self) -> str:
        return "embedded" if self.passages <= MILLION else "Qdrant"

    @property
    def collections(self) -> int:
        return math.ceil(self.passages / MOST)

    @property
    def own(self) -> int:
        """Passages of one collection."""
        return self.passages // self.collections

    @property
    def rate(self) -> float:
        """Searches of one collection a second."""
        return RATE / self.collections

    @property
    def disk(self) -> float:
        parts = (*FILES, *(("embedded: Chroma", "embedded: tantivy") if self.nodes == 0 else ()))
        return self.own * sum(cost(part) for part in parts)

    @property
    def memory(self) -> float:
        return self.own * cost(f"{self.engine}: memory of a server")

    @property
    def service(self) -> float:
        """Time of a server's processor that a search takes."""
        engine = 0 if self.nodes else search_cost("embedded: engine", self.own)
        return cost("server beside its engine") + engine

    @property
    def servers(self) -> int:
        """Servers of one collection, of which one may fail."""
        return max(3, math.ceil(self.rate * self.service / 1000 / LANES / BUSY) + 1)

    def node_memory(self, vectors: str = "vectors") -> float:
        """Bytes of all copies that Qdrant holds in memory."""
        kept = sum(cost(f"Qdrant: {part}") for part in (vectors, "graph", "terms"))
        return REPLICAS * self.own * kept

    @property
    def node_disk(self) -> float:
        """Bytes of all copies on disk, with rounded vectors beside whole ones."""
        return REPLICAS * self.own * (cost("Qdrant: disk") + cost("Qdrant: int8 vectors"))

    @property
    def nodes(self) -> int:
        """Nodes of Qdrant of one collection, with whole vectors in memory."""
        return self.nodes_for("vectors")

    def nodes_for(self, vectors: str) -> int:
        """Nodes that hold such vectors, and have the processors for all searches."""
        if self.engine == "embedded":
            return 0
        by_memory = math.ceil(self.node_memory(vectors) / NODE_MEMORY)
        by_work = math.ceil(self.rate * self.engine_work / 1000 / NODE_CORES / BUSY) + 1
        return max(3, by_memory, by_work)

    @property
    def shards(self) -> int:
        return max(3, math.ceil(self.own / SHARD)) if self.engine == "Qdrant" else 0

    @property
    def wait(self) -> float:
        """Time for which a search waits for the shards, each of which takes one processor."""
        return search_cost("Qdrant: node", self.own // self.shards) if self.shards else 0.0

    @property
    def load(self) -> Load:
        return Load(self.rate, self.servers, self.service, self.wait, self.shards)

    @property
    def engine_work(self) -> float:
        """Time of all nodes' processors that a search takes."""
        return self.wait * self.shards


def cost(name: str) -> float:
    """Return a figure of COSTS."""
    return COSTS[name].value


def search_cost(name: str, passages: int) -> float:
    """Return the cost among so many passages: it grows on as between the two sizes measured."""
    (least, small), (most, large) = sorted(
        (int(key.rpartition(", ")[2].replace(",", "")), each.value)
        for key, each in COSTS.items()
        if key.startswith(f"{name}, ")
    )
    power = math.log(large / small) / math.log(most / least)
    return large * (passages / most) ** power


# the tables


def tables() -> dict[str, str]:
    """Return the tables of the page by name."""
    plans = [Plan(size * MILLION) for size in SIZES]
    return {name: "\n".join(make(plans)) for name, make in TABLES.items()}


def _row(name: str, cells: Sequence[object]) -> str:
    return f"| {name} | {' | '.join(map(str, cells))} |"


def _head(name: str, cells: Sequence[object]) -> Iterator[str]:
    yield _row(name, cells)
    yield "|---" * (len(cells) + 1) + "|"


def _costs(plans: Sequence[Plan]) -> Iterator[str]:
    yield from _head("cost", ("figure", "from"))
    for name, each in COSTS.items():
        source = each.command if each.command == UNMEASURED else f"`{each.command}`"
        note = f" ({each.note})" if each.note else ""
        yield _row(name, (f"{each.value:,g} {each.unit}", source + note))


def _plans(plans: Sequence[Plan]) -> Iterator[str]:
    yield from _head("million passages", SIZES)
    rows = {
        "collections": [f"{p.collections}" for p in plans],
        "engine": [p.engine for p in plans],
        "servers, of 2 processors": [_times(p, p.servers) for p in plans],
        "disk of a server, GB": [_giga(p.disk) for p in plans],
        "memory of a server, GB": [_giga(p.memory) for p in plans],
        "shards × copies": [_times(p, f"{p.shards} × {REPLICAS}", p.shards) for p in plans],
        "Qdrant's memory, whole vectors, GB": [
            _times(p, _giga(p.node_memory()), p.nodes) for p in plans
        ],
        "nodes of 64 GB, whole vectors": [_times(p, p.nodes, p.nodes) for p in plans],
        "Qdrant's memory, int8, GB": [
            _times(p, _giga(p.node_memory("int8 vectors")), p.nodes) for p in plans
        ],
        "Qdrant's disk, int8, GB": [_times(p, _giga(p.node_disk), p.nodes) for p in plans],
        "nodes of 64 GB, int8": [_times(p, p.nodes_for("int8 vectors"), p.nodes) for p in plans],
    }
    yield from (_row(name, cells) for name, cells in rows.items())


def _times(plan: Plan, figure: object, is_there: int = 1) -> str:
    if not is_there:
        return "–"
    return f"{plan.collections} × ({figure})" if plan.collections > 1 else f"{figure}"


def _giga(size: float) -> str:
    return f"{size / 1e9:,.1f}" if size < 1e10 else f"{size / 1e9:,.0f}"


def _searches(plans: Sequence[Plan]) -> Iterator[str]:
    yield from _head("million passages", SIZES)
    calm = [simulate(plan.load) for plan in plans]
    killed = [simulate(plan.load, kills=KILLS) for plan in plans]
    rows = {
        "searches of a collection a second": [f"{p.rate:g}" for p in plans],
        "server's processor a search, ms": [f"{p.service:.0f}" for p in plans],
        "nodes' processors a search, ms": [
            f"{p.engine_work:.0f}" if p.nodes else "–" for p in plans
        ],
        "p50, ms": [f"{each.p50:.0f}" for each in calm],
        "p95, ms": [f"{each.p95:.0f}" for each in calm],
        "p95 with kills, ms": [f"{each.p95:.0f}" for each in killed],
        "begun again in two hours": [f"{each.again}" for each in killed],
        "without an answer": [f"{each.lost:.2%}" for each in killed],
    }
    yield from (_row(name, cells) for name, cells in rows.items())


def _embedding(plans: Sequence[Plan]) -> Iterator[str]:
    yield from _head("million passages", SIZES)
    for processors in (2, 16, 128):
        hours = [p.passages * cost("embedding") / 3.6e6 / processors for p in plans]
        yield _row(f"{processors} processors, hours", [f"{each:,.1f}" for each in hours])


def _recalls(plans: Sequence[Plan]) -> Iterator[str]:
    yield from _head("vectors", ("candidates", "made vectors", "public sets"))
    for kind, candidates, made, real in RECALLS:
        yield _row(kind, (candidates, f"{made:.3f}", f"{real:.3f}"))


TABLES = {"costs": _costs, "plans": _plans, "searches": _searches, "embedding": _embedding,
          "recalls": _recalls}  # fmt: skip
PLACE = r"(<!-- {} -->\n).*?(<!-- end -->)"


def page(text: str) -> str:
    """Return the page with these tables in their places."""
    for name, table in tables().items():
        text = re.sub(PLACE.format(name), rf"\1\n{table}\n\n\2", text, flags=re.DOTALL)
    return text


def main(
    write: Annotated[bool, typer.Option(help="Put the tables into docs/scaling.md")] = False,
    quantisation: Annotated[bool, typer.Option(help="Measure what rounding loses")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder of test sets to embed")] = None,
) -> None:
    """Print the tables."""
    if quantisation:
        from benchmarks.quantisation import table

        for line in table(data):
            print(line, flush=True)
    elif write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(*(f"{name}\n\n{table}\n" for name, table in tables().items()), sep="\n")


if __name__ == "__main__":
    typer.run(main)
