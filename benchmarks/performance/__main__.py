"""The command; the package says what it does."""

import os
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.performance.machine import Machine
from benchmarks.performance.page import MEASURED, write_page
from benchmarks.performance.records import Beside, Record, Results
from benchmarks.performance.rows.all_rows import OF_ANY_SIZE, OF_EACH_SIZE
from benchmarks.performance.site import Site
from benchmarks.performance.versus import ORIGINAL, PEERS, beside

DEFAULT_SIZES = "20000,200000"


def main(
    sizes: Annotated[str, typer.Option(help="Passages, separated by commas")] = DEFAULT_SIZES,
    peers: Annotated[bool, typer.Option(help="Measure other systems too")] = False,
    peer_sizes: Annotated[str, typer.Option(help="Sizes of other systems [those of all]")] = "",
    rows: Annotated[str, typer.Option(help="Only these rows or systems, by comma")] = "",
    folder: Annotated[Path, typer.Option(help="For texts, stores and results")] = Path(
        "data/performance"
    ),
    patience: Annotated[float, typer.Option(help="Seconds for one step of another system")] = 1800,
    again: Annotated[bool, typer.Option(help="Measure what was measured already")] = False,
    render: Annotated[bool, typer.Option("--render", help="Write the page alone")] = False,
) -> None:
    """Measure what has not been measured, and write the page."""
    results = Results(folder / "results")
    if not render:
        run = Run(folder.resolve(), results, rows.split(",") if rows else [], again)
        every = [int(size) for size in sizes.split(",")]
        of_peers = [int(size) for size in peer_sizes.split(",")] if peer_sizes else every
        run.rows(every)
        if peers:
            run.systems(of_peers, patience)
        Machine.here().write(
            folder / MEASURED,
            results,
            {*every, *(of_peers if peers else ())},
            [*OF_ANY_SIZE, *OF_EACH_SIZE],
        )
    write_page(folder)


class Run:
    """One run: what is to be measured, and where to."""

    def __init__(self, folder: Path, results: Results, chosen: Sequence[str], again: bool):
        self._folder, self._results = folder, results
        self._chosen, self._again = chosen, again

    def rows(self, sizes: Sequence[int]) -> None:
        """The product's own rows."""
        site = Site(self._folder, 0)
        for name, row in OF_ANY_SIZE.items():
            self._measure(f"0-{name}", name, lambda row=row: row(site))
        for size in sizes:
            site = Site(self._folder, size)
            for name, row in OF_EACH_SIZE.items():
                self._measure(f"{size}-{name}", name, lambda row=row, site=site: row(site))

    def systems(self, sizes: Sequence[int], patience: float) -> None:
        """Other systems, the original layout among them."""
        for size in sizes:
            site = Site(self._folder, size)
            for system in (ORIGINAL, *PEERS):

                def row(system: str = system, site: Site = site) -> list[Beside]:
                    return [beside(site, system, patience, lambda what: _tell(f"  {what}"))]

                self._measure(f"{size}-system-{system}", system, row)

    def _measure(self, key: str, name: str, row: Callable[[], Sequence[Record | Beside]]) -> None:
        if self._chosen and name not in self._chosen:
            return
        if self._results.has(key) and not self._again:
            _tell(f"{key}: measured already")
            return
        began = time.perf_counter()
        _tell(f"{key} ...")
        try:
            found = row()
        except Exception as error:  # one row that fails must not take the others with it
            traceback.print_exc()
            size = int(key.partition("-")[0])
            found = [Record(name, "", None, size, error=f"{type(error).__name__}: {error}"[:300])]
        self._results.write(key, found)
        for each in found:
            _tell(f"  {_line(each)}")
        _tell(f"{key}: {time.perf_counter() - began:.0f} s")


def _line(found: Record | Beside) -> str:
    if found.error:
        return f"failed: {found.error}"
    if isinstance(found, Record):
        floor = f" (floor {found.floor:.3g})" if found.floor else ""
        return f"{found.name}: {found.value:.3g} {found.unit}{floor} {found.note}"
    return (
        f"{found.system}: build {found.build_seconds:.1f} s, change {found.change_seconds:.2f} s, "
        f"question {found.question_ms:.1f} ms against {found.product_ms:.1f}, recall "
        f"{found.recall:.3f}"
    )


def _tell(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    typer.run(main)
