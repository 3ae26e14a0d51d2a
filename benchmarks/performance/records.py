"""What is measured, and where it is kept: one file a row, so that nothing is lost or done twice."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Record:
    """One measured figure.

    `size` is in passages, 0 where it does not matter. `reach` is what is aimed at. `floor` is what
    nobody can do without, in the same unit. A record with an `error` has no value.
    """

    name: str
    unit: str
    value: float | None
    size: int = 0
    reach: float | None = None
    better: Better = "lower"
    floor: float | None = None
    note: str = ""
    error: str = ""

    @property
    def reached(self) -> bool | None:
        """Nothing without a reach; what could not be measured is not reached."""
        if self.reach is None:
            return None
        if self.value is None:
            return False
        return self.value <= self.reach if self.better == "lower" else self.value >= self.reach

    def of_size(self, size: int) -> "Record":
        """The same, measured over so many passages."""
        return replace(self, size=size)


@dataclass(frozen=True)
class Beside:
    """What another system takes for the same job, and the product in turns with it.

    Seconds of processor to build and to change one document, milliseconds of it for a question
    (medians), bytes a passage, recall of the 200 nearest in the corpus where it is lowest.
    """

    system: str
    size: int
    versions: dict[str, str]
    build_seconds: float | None = None
    change_seconds: float | None = None
    question_ms: float | None = None
    question_elapsed_ms: float | None = None
    product_ms: float | None = None
    product_elapsed_ms: float | None = None
    recall: float | None = None
    resident_bytes: float | None = None
    disk_bytes: float | None = None
    note: str = ""
    error: str = ""


class Results:
    """The results in a folder, each in a file of its own."""

    def __init__(self, folder: Path):
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def has(self, key: str) -> bool:
        """Whether a row was measured without an error."""
        path = self._path(key)
        return path.exists() and not any(found["error"] for found in json.loads(path.read_text()))

    def write(self, key: str, found: Sequence[Record | Beside]) -> None:
        """Keep what was measured, in place of an earlier result."""
        kept = [{"kind": type(each).__name__} | asdict(each) for each in found]
        path = self._path(key)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(kept, indent=1) + "\n")
        partial.replace(path)

    def gathered(self, order: Sequence[str]) -> list[dict[str, object]]:
        """Everything that was measured, by size; rows of one size in this order, others last."""
        places = {name: place for place, name in enumerate(order)}

        def place(file: Path) -> tuple[int, int, str]:
            size, _, row = file.stem.partition("-")
            return int(size), places.get(row, len(places)), row

        files = sorted(self._folder.glob("*.json"), key=place)
        return [each for file in files for each in json.loads(file.read_text())]

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def records_of(gathered: Iterable[dict[str, object]]) -> tuple[list[Record], list[Beside]]:
    """The records and the comparisons of what `Results.gathered` gave."""
    records, beside = [], []
    for each in gathered:
        values = {name: value for name, value in each.items() if name != "kind"}
        if each["kind"] == "Record":
            records.append(Record(**values))  # type: ignore[arg-type]
        elif each["kind"] == "Beside":
            beside.append(Beside(**values))  # type: ignore[arg-type]
    return records, beside
