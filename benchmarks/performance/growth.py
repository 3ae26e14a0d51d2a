"""What is told by several sizes together."""

from collections.abc import Sequence

from benchmarks.performance.records import Record

PREFIX = "growth: "
GROWING = {
    "search, vector given": 2.5,
    "one changed document": 2.0,
    "open a collection": 5.0,
}
"""The most times that may be taken at the largest size of what is taken at the smallest."""


def growth(records: Sequence[Record]) -> list[Record]:
    """The largest size against the smallest, of what was measured at both."""
    found = []
    for name, reach in GROWING.items():
        of = sorted((r for r in records if r.name == name and r.value), key=lambda r: r.size)
        if len(of) < 2:
            continue
        first, last = of[0], of[-1]
        assert first.value
        assert last.value
        found.append(
            Record(
                f"{PREFIX}{name}",
                "times",
                last.value / first.value,
                last.size,
                reach,
                note=f"{last.size / first.size:.3g} times as many passages: {first.size:,} to "
                f"{last.size:,}",
            )
        )
    return found
