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

What the product costs, and what other libraries cost for the same job. This page, its plots and
[the figures](performance.json) are written by one command:

```bash
make bench
```

It measures about 20,000 and 200,000 passages of generated text in three corpora of 1, 10 and 89% of
them, with vectors at hand; words are as frequent as those of a language. `SIZES=20000,1000000`
chooses other sizes, a million among those below, and `PEER_SIZES=20000` fewer for other libraries;
building a million takes half an hour, and 17 GB of disk while it does. What was measured is kept
below `data/performance`, and a run that was ended goes on. `make peers-venv` installs the other
libraries into an environment of their own. Costs are seconds of processor, those of child processes
included, and medians; what is compared takes turns within one run. A smaller version with ratios
only runs in the tests.
"""
BESIDE = """## Beside other libraries

Each does the same balanced job on the same texts and vectors: given a question and its vector, 200
candidates from every corpus by meaning and as many by words, in that library's own way, fused, and
the best ten passages with their texts. Each corpus has an index of its own, as in Atlas, and Chroma
the same `ef_search`. Atlas measures signals of all candidates besides, checks and highlights. It is
asked the same questions in turns with each of them: the ratio is that of both in these turns.
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
            _growth(records),
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
    rows = [
        (
            record.name,
            f"{record.size:,}" if record.size else "",
            _value(record),
            _reach(record),
            _reached(record),
            "" if record.floor is None else _figure(record.floor),
            record.error or record.note,
        )
        for record in _all(records, beside)
    ]
    heads = ("what", "passages", "measured", "reach", "reached", "floor", "")
    return f"## Reaches\n\n{_table(heads, rows)}"


def _growth(records: Sequence[Record]) -> str:
    found = growth(records)
    if not found:
        return "## Growth\n\nOne size was measured: growth needs two.\n"
    heads = ("what", "measured", "reach", "reached", "")
    rows = [(r.name.removeprefix(PREFIX), _value(r), _reach(r), _reached(r), r.note) for r in found]
    return (
        f"## Growth\n\n{_table(heads, rows)}\n"
        "![Costs by the number of passages](images/performance-growth.svg)\n"
    )


def _not_reached(records: Sequence[Record]) -> str:
    missed: dict[str, list[Record]] = {}
    for record in records:
        if record.reached is False and not record.error:
            missed.setdefault(record.name, []).append(record)
    lines = []
    for name, of in missed.items():
        sizes = ", ".join(
            f"{_figure(r.value or 0)}{f' at {r.size:,}' if r.size else ''}" for r in of
        )
        reason = REASONS.get(name, "")
        lines.append(f"- {name}: {sizes}, for {_reach(of[0])}. {reason}".rstrip())
    text = "\n".join(lines) or "Everything is."
    return f"## What is not reached, and why\n\n{text}\n"


def _beside(records: Sequence[Record], beside: Sequence[Beside]) -> str:
    parts = [BESIDE]
    for size in sorted({each.size for each in beside}):
        of = [each for each in beside if each.size == size]
        rows = [_product(records, of, size), *(_system(each) for each in _ordered(of))]
        heads = (
            "system", "a question, CPU ms", "times Atlas", "p50 elapsed, ms", "build, CPU s",
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
    elapsed = sorted(each.product_elapsed_ms for each in beside if each.product_elapsed_ms)
    rate = own.get("build without embedding")
    return (
        NAMES["product"],
        _figure(asked[len(asked) // 2]) if asked else "",
        "1",
        _figure(elapsed[len(elapsed) // 2]) if elapsed else "",
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
        _maybe(found.question_elapsed_ms),
        _maybe(found.build_seconds),
        _maybe(found.change_seconds),
        _maybe(found.recall, digits=3),
        _maybe(found.resident_bytes, 1000),
        _maybe(found.disk_bytes, 1000),
    )


def _notes(beside: Sequence[Beside]) -> str:
    lines = []
    for each in _ordered(list({each.system: each for each in beside}.values())):
        versions = ", ".join(f"{name} {version}" for name, version in each.versions.items())
        lines.append(f"- {NAMES[each.system]} ({versions}): {each.note}".rstrip(" :"))
    if not lines:
        return ""
    text = "\n".join(lines)
    return (
        f"What is said of each:\n\n{text}\n\n"
        "A changed document is one of 20 paragraphs in the second corpus: its passages are removed "
        "and the new ones added. Building and changing Atlas reads and cuts the source files too. "
        "Atlas's memory holds the vectors that are mapped from disk.\n"
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _value(record: Record) -> str:
    if record.value is None:
        return "failed"
    return f"{_figure(record.value, 3 if not record.unit else None)} {record.unit}".rstrip()


def _reach(record: Record) -> str:
    if record.reach is None:
        return ""
    word = "at most" if record.better == "lower" else "at least"
    return f"{word} {record.reach:g}"


def _reached(record: Record) -> str:
    return {None: "", True: "yes", False: "no"}[record.reached]


def _maybe(value: float | None, divisor: float = 1, digits: int | None = None) -> str:
    return "–" if value is None else _figure(value / divisor, digits)


def _figure(value: float, digits: int | None = None) -> str:
    """With as many digits as are known: three figures, no more than two after the point."""
    if digits is not None:
        return f"{value:.{digits}f}"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
