"""What a run was measured on, without the names of machines."""

import json
import os
import platform
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.performance.records import Results

PACKAGES = ("chromadb", "numpy", "onnxruntime", "tantivy")


@dataclass(frozen=True)
class Machine:
    """Processor, memory in bytes, system, and the versions of what was measured."""

    processor: str
    cores: int
    memory: int
    system: str
    versions: dict[str, str]

    @classmethod
    def here(cls) -> "Machine":
        """This one (Linux)."""
        told = Path("/proc/cpuinfo").read_text()
        name = re.search(r"^model name\s*:\s*(.*)$", told, re.MULTILINE)
        return cls(
            name[1] if name else platform.machine(),
            os.cpu_count() or 1,
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            f"{platform.system()} {platform.release().split('-')[0]}",
            {"Python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        )

    def write(
        self, path: Path, results: Results, sizes: Collection[int], order: Sequence[str]
    ) -> None:
        """Write it, and what was measured of these sizes and of none, rows in this order."""
        found = [each for each in results.gathered(order) if each["size"] in {0, *sizes}]
        kept = {"machine": asdict(self), "results": found}
        path.write_text(json.dumps(kept, indent=1) + "\n")
