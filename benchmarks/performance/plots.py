"""The plots of docs/performance.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from benchmarks.performance.page import NAMES
from benchmarks.performance.records import Beside, Record, records_of

LINES = {
    "search, vector given": "search, ms",
    "open a collection": "open, s",
    "one changed document": "one changed document, s",
}
BARS = (
    ("question_ms", "a question, ms"),
    ("build_seconds", "build, s"),
    ("change_seconds", "a changed document, s"),
)


def write_plots(kept: Mapping[str, Any], folder: Path) -> None:
    """Write both; the same figures give the same bytes."""
    records, beside = records_of(kept["results"])
    with rc_context({"svg.hashsalt": "performance", "svg.fonttype": "none"}):
        drawn = {"growth": _growth(records), "systems": _systems(records, beside)}
        for name, figure in drawn.items():
            if figure:
                path = folder / f"performance-{name}.svg"
                figure.savefig(path, metadata={"Date": None})


def _growth(records: Sequence[Record]) -> Figure | None:
    sizes = sorted({record.size for record in records if record.size})
    if len(sizes) < 2:
        return None
    drawn = Figure(figsize=(9.0, 3.2), layout="constrained")
    for axes, (name, label) in zip(drawn.subplots(1, len(LINES)), LINES.items(), strict=True):
        of = sorted((r for r in records if r.name == name and r.value), key=lambda r: r.size)
        axes.plot([r.size for r in of], [r.value for r in of], marker="o", label="Atlas")
        floors = [r for r in of if r.floor]
        if floors:
            axes.plot(
                [r.size for r in floors],
                [r.floor for r in floors],
                marker=".",
                linestyle="--",
                label="its engines alone",
            )
            axes.legend(fontsize="small")
        highest = max((r.value or 0 for r in of), default=1)
        axes.set(xscale="log", ylim=(0, 1.15 * highest), xlabel="passages", title=label)
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    return drawn


def _systems(records: Sequence[Record], beside: Sequence[Beside]) -> Figure | None:
    if not beside:
        return None
    size = max(each.size for each in beside)
    of = {each.system: each for each in beside if each.size == size}
    own = _own(records, list(of.values()), size)
    drawn = Figure(figsize=(10.0, 3.4), layout="constrained")
    drawn.suptitle(f"processor time at {size:,} passages, on a logarithmic scale")
    panels = drawn.subplots(1, len(BARS), sharey=True)
    names = [name for name in NAMES if name == "product" or name in of]
    for axes, (field, label) in zip(panels, BARS, strict=True):
        values = [own[field] if n == "product" else getattr(of[n], field) for n in names]
        colours = ["C0" if name == "product" else "0.7" for name in names]
        bars = axes.barh([NAMES[name] for name in names], [v or 0 for v in values], color=colours)
        axes.bar_label(bars, [f"{v:.3g}" if v else "–" for v in values], padding=2, fontsize=8)
        axes.set(xscale="log", title=label)
        axes.margins(x=0.25)
        axes.tick_params(labelsize="small")
    panels[0].invert_yaxis()
    return drawn


def _own(records: Sequence[Record], beside: Sequence[Beside], size: int) -> dict[str, float | None]:
    own = {record.name: record.value for record in records if record.size == size}
    asked = sorted(each.product_ms for each in beside if each.product_ms)
    rate = own.get("build without embedding")
    return {
        "question_ms": asked[len(asked) // 2] if asked else None,
        "build_seconds": size / rate if rate else None,
        "change_seconds": own.get("one changed document"),
    }
