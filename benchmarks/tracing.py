"""What tracing costs a search: `python -m benchmarks.tracing`.

Over the configured collection (the bundled demo, unless the settings say otherwise), or the one in
the folder `--store`. Six processes search side by side: without tracing, twice, with a server of
traces that takes them, with none at its address, with one that hangs, and with one that answers
500. Each question is put to
all of them, one after another, in another order each time, so that what else the machine does slows
all of them alike; what the two without tracing differ by is chance. Printed are the times of a
search, the difference and the ratio to those without tracing, the median ratio to the same question
without, and the processor time of the process, the sending in the background included.
"""

import multiprocessing
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated, NamedTuple

import typer

from atlas_search.atlas import Atlas
from atlas_search.core.settings import load_settings
from benchmarks.search_speed import made_questions
from tests.collector import collecting
from tests.conftest import free_port

OFF = "off"
WARMING = 2  # rounds that are not counted

_processes = multiprocessing.get_context("spawn")


def main(
    store: Annotated[
        Path | None, typer.Option(help="Folder of a built collection; else the configured one")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Of 40 questions each")] = 20,
) -> None:
    """Measure and print."""
    folder = (store or load_settings().collection_folder).resolve()
    with Atlas.open(folder) as atlas:
        questions = made_questions(atlas.services.searcher)
    with servers() as addresses, searchers(folder, addresses) as ways:
        times: dict[str, list[Taken]] = {name: [] for name in ways}
        for number in range(WARMING + rounds):
            for question in questions:
                for name in random.sample(list(ways), len(ways)):
                    ways[name].send(question)
                    taken = ways[name].recv()
                    if number >= WARMING:
                        times[name].append(taken)
    show(times)


class Taken(NamedTuple):
    """What a search took, and the seconds of processor that the process had used by then."""

    milliseconds: float
    processor: float


@contextmanager
def servers() -> Iterator[dict[str, str]]:
    """The addresses that traces are sent to; the servers are processes of their own."""
    told = {"on": 200, "hanging": "hang", "failing": 500}
    with ExitStack() as stack:
        started = {name: stack.enter_context(_process(serve, of)) for name, of in told.items()}
        away = {OFF: "", "again": "", "away": f"http://127.0.0.1:{free_port()}"}
        yield away | {name: connection.recv() for name, connection in started.items()}


@contextmanager
def searchers(folder: Path, addresses: Mapping[str, str]) -> Iterator[dict[str, Connection]]:
    """A process for each address, and the connection that questions go through."""
    (name, address), *others = addresses.items()
    with _process(search, folder, address) as connection:
        connection.recv()  # it is ready
        if not others:
            yield {name: connection}
            return
        with searchers(folder, dict(others)) as ways:
            yield {name: connection, **ways}


def serve(connection: Connection, always: int | str) -> None:
    """Take traces, or fail as told, until the connection ends."""
    with collecting(always) as collector:  # type: ignore[arg-type]
        connection.send(collector.address)
        while not connection.poll(1):
            collector.spans.clear()


def search(connection: Connection, folder: Path, address: str) -> None:
    """Search for the questions that come, and send back what each took."""
    with Atlas.open(folder, phoenix_collector_endpoint=address) as at:
        connection.send("ready")
        while question := connection.recv():
            begun = time.perf_counter()
            at.search(question)
            connection.send(Taken((time.perf_counter() - begun) * 1000, time.process_time()))


def show(times: Mapping[str, list[Taken]]) -> None:
    """One line for each way; the ratio side by side is the median over the same questions."""
    off = [taken.milliseconds for taken in times[OFF]]
    print(f"{len(off)} searches each")
    for name, of in times.items():
        taken = [each.milliseconds for each in of]
        beside = median(one / plain for one, plain in zip(taken, off, strict=True))
        more, ratio = median(taken) - median(off), median(taken) / median(off)
        processor = (of[-1].processor - of[0].processor) * 1000 / (len(of) - 1)
        print(
            f"{name:8} p50 {median(taken):5.1f} ms, p95 {quantiles(taken, n=20)[18]:5.1f} ms; "
            f"p50 {more:+.1f} ms, {ratio:.3f} times; side by side {beside:.3f} times; "
            f"processor {processor:.1f} ms"
        )


@contextmanager
def _process(work: object, *given: object) -> Iterator[Connection]:
    """A process that does some work with our connection to it; it ends with the block."""
    ours, theirs = _processes.Pipe()
    process = _processes.Process(target=work, args=(theirs, *given))  # type: ignore[arg-type]
    process.start()
    try:
        yield ours
    finally:
        ours.send("")
        process.join()


if __name__ == "__main__":
    typer.run(main)
