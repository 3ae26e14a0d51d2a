"""docs/performance.md, written from the results."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.performance.growth import PREFIX, growth
from benchmarks.performance.machine import Machine
from benchmarks.performance.reasons import REASONS
from benchmarks.performance.records import Beside, Record, records_of
from benchmarks.performance.versus import ORIGINAL, PEERS, against_original
from tests.places import ROOT

PAGE = ROOT / "docs" / "performance.md"
KEPT = ROOT / "docs" / "performance.json"
IMAGES = ROOT / "docs" / "images"
MEASURED = "machine.json"
NAMES = {
    "product": "Atlas",
    ORIGINAL: "original layout",
    "langchain": "LangChain with Chroma",
    "llamaindex": "LlamaIndex with Chroma",
    "haystack": "Haystack",
    "txtai": "txtai",
}

HEAD = """# Performance

One command writes this page, its plots and [the figures](performance.json):

```bash
make bench
```

It measures 20,000 and 200,000 passages of generated text, with vectors at hand, in three corpora
that hold 1, 10 and 89% of them. `SIZES=20000,1000000` chooses other sizes (a million takes half an
hour and 17 GB of disk), `PEER_SIZES=20000` the sizes for other libraries, which `make peers-venv`
installs. An interrupted run continues. Costs are medians of processor time. A million passages, and
Qdrant's engine, are in [scaling](scaling.md).
"""
REACHES = """## Reaches

By the number of passages. Bold figures miss their reach. In brackets is the floor, which nobody can
do without.

"""
BESIDE = """## Beside other libraries

Each does the same job on the same texts and vectors: 200 candidates from every corpus by meaning
and 200 by words, fused in its own way, and the best ten with their texts. Each corpus has its own
index. Atlas also measures all signals, checks and highlights, and reads and cuts the source files.
A changed document has 20 paragraphs.
"""


def write_page(folder: Path) -> None:
    """Write page, plots and figures from a run in `folder`, or from the figures that are kept."""
    from benchmarks.performance.plots import write_plots

    measured = folder / MEASURED
    if measured.exists():
        KEPT.write_text(measured.read_text())
    kept = json.loads(KEPT.read_text())
    write_plots(kept, IMAGES)
    PAGE.write_text(page(kept))


def page(kept: Mapping[str, Any]) -> str:
    """The whole page."""
    records, beside = records_of(kept["results"])
    machine = Machine(**kept["machine"])
    return "\n".join(
        [
            HEAD,
            _machine(machine),
            _reaches(in_order(records), beside),
            _not_reached([*_all(records, beside), *growth(records)]),
            _beside(records, beside),
            _notes(beside),
        ]
    )


def in_order(records: Iterable[Record]) -> list[Record]:
    """As they are measured, sizes ascending; records of one row stay in their order."""
    found = list(records)
    return sorted(found, key=lambda record: record.size)


def _all(records: Sequence[Record], beside: Sequence[Beside]) -> list[Record]:
    recalls = {r.size: r.value for r in records if r.name.startswith("recall")}
    of = [b for b in beside if b.system == ORIGINAL]
    compared = [against_original(b, recalls.get(b.size)) for b in of]
    return in_order([*compared, *records])


def _machine(machine: Machine) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    return (
        f"Measured on {machine.cores} cores of {machine.processor}, "
        f"{machine.memory / 2**30:.0f} GB of memory, {machine.system}; {versions}.\n"
    )


def _reaches(records: Sequence[Record], beside: Sequence[Beside]) -> str:
    every = _all(records, beside)
    sizes = sorted({record.size for record in every} - {0})
    cells: dict[str, dict[int, Record]] = {}
    for record in every:
        cells.setdefault(record.name, {})[record.size] = record
    rows = []
    for name, of in cells.items():
        first = next(iter(of.values()))
        # what has no size is the same at all of them
        values = [
            _measured(found) if (found := of.get(size) or of.get(0)) else "–" for size in sizes
        ]
        rows.append((f"{name}, {first.unit}".rstrip(", "), *values, _reach(first)))
    heads = ("what", *(f"{size:,}" for size in sizes), "reach")
    return f"{REACHES}{_table(heads, rows)}"


def _not_reached(records: Sequence[Record]) -> str:
    missed = {r.name: r for r in records if r.reached is False and not r.error}
    lines = [
        f"- {name}{_times(missed[name])}: {why}" for name, why in REASONS.items() if name in missed
    ]
    text = "\n".join(lines) or "Everything is."
    return (
        f"## What is not reached, and why\n\n{text}\n\n"
        "![Costs by the number of passages](images/performance-growth.svg)\n"
    )


def _times(record: Record) -> str:
    """The figure of what no table has: how a cost grows from the smallest size to the largest."""
    if not record.name.startswith(PREFIX):
        return ""
    passages, _, _ = record.note.partition(":")
    return f" ({_figure(record.value)} times for {passages}, {_reach(record)})"


def _beside(records: Sequence[Record], beside: Sequence[Beside]) -> str:
    parts = [BESIDE]
    for size in sorted({each.size for each in beside if each.system != ORIGINAL}):
        of = [each for each in beside if each.size == size]
        rows = [_product(records, of, size), *(_system(each) for each in _ordered(of))]
        heads = (
            "system", "a question, CPU ms", "times Atlas", "build, CPU s",
            "one changed document, CPU s", "recall@200", "memory a passage, KB",
            "disk a passage, KB",
        )  # fmt: skip
        parts.append(f"### {size:,} passages\n\n{_table(heads, rows)}")
    if beside:
        parts.append("![Systems beside each other](images/performance-systems.svg)\n")
    else:
        parts.append("No other library was measured.\n")
    return "\n".join(parts)


def _ordered(beside: Sequence[Beside]) -> list[Beside]:
    order = [ORIGINAL, *PEERS]
    return sorted(beside, key=lambda each: order.index(each.system))


def _product(records: Sequence[Record], beside: Sequence[Beside], size: int) -> tuple[str, ...]:
    """The product's own row: what was measured by itself, and its questions beside all others."""
    own = {record.name: record.value for record in records if record.size == size}
    asked = sorted(each.product_ms for each in beside if each.product_ms)
    rate = own.get("build without embedding")
    return (
        NAMES["product"],
        _figure(asked[len(asked) // 2]) if asked else "",
        "1",
        _figure(size / rate) if rate else "",
        _maybe(own.get("one changed document")),
        _maybe(own.get("recall@200"), digits=3),
        _maybe(own.get("memory a passage")),
        _maybe(own.get("disk a passage")),
    )


def _system(found: Beside) -> tuple[str, ...]:
    name = NAMES[found.system]
    if found.error:
        name = f"{name} ({found.error})"
    times = found.question_ms / found.product_ms if found.question_ms and found.product_ms else None
    return (
        name,
        _maybe(found.question_ms),
        _maybe(times),
        _maybe(found.build_seconds),
        _maybe(found.change_seconds),
        _maybe(found.recall, digits=3),
        _maybe(found.resident_bytes, 1000),
        _maybe(found.disk_bytes, 1000),
    )


def _notes(beside: Sequence[Beside]) -> str:
    lines = []
    for each in _ordered(list({each.system: each for each in beside}.values())):
        library, version = next(iter(each.versions.items()))
        lines.append(f"- {NAMES[each.system]} ({library} {version}): {each.note}".rstrip(" :"))
    if not lines:
        return ""
    return "\n".join([*lines, "", "[The figures](performance.json) have all versions.", ""])


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _measured(record: Record) -> str:
    if record.value is None:
        return "failed"
    value = _figure(record.value, None if record.unit else 3)
    floor = "" if record.floor is None else f" ({_figure(record.floor)})"
    return (f"**{value}**" if record.reached is False else value) + floor


def _reach(record: Record) -> str:
    if record.reach is None:
        return ""
    word = "at most" if record.better == "lower" else "at least"
    return f"{word} {record.reach:g}"


def _maybe(value: float | None, divisor: float = 1, digits: int | None = None) -> str:
    return "–" if value is None else _figure(value / divisor, digits)


def _figure(value: float, digits: int | None = None) -> str:
    """With as many digits as are known: three figures, no more than two after the point."""
    if digits is not None:
        return f"{value:.{digits}f}"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
