"""The size of the house: its rooms, and the files that a question, a search and a reading enter.

`--check` only holds the rooms against `[tool.house]` of `pyproject.toml`, and ends with status 1 if
one is over. Without it the collection in STORE (the bundled one) is asked, and a table printed.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import FrameType

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "backend" / "atlas_search"
LONGEST_FILE, LONGEST_FUNCTION = 700, 60
QUESTIONS = (
    "What did the court say about equality in the public service?",
    "What did the court say about segregation in public schools?",
)
"""The first opens what is opened once, the second is looked at."""

Size = tuple[int, int]
"""Files and lines."""


def sizes(root: Path = ROOT) -> dict[str, Size]:
    """The size of each room by its name: of the package, and of what lies beside it."""
    package = root / "backend" / "atlas_search"
    rooms = {
        folder.name: _size(folder.rglob("*.py"))
        for folder in sorted(package.iterdir())
        if folder.is_dir() and folder.name != "__pycache__"
    }
    beside = {
        "atlas_search": package.glob("*.py"),
        "create": (root / "create").rglob("*.py"),
        "benchmarks": (root / "benchmarks").rglob("*.py"),
        "frontend": (root / "frontend").rglob("*.js"),
        "tests": (root / "tests").rglob("*.py"),
    }
    return rooms | {name: _size(files) for name, files in beside.items()}


def _size(files: Iterator[Path]) -> Size:
    lines = [len(file.read_bytes().splitlines()) for file in files]
    return len(lines), sum(lines)


def faults(root: Path = ROOT) -> list[str]:
    """A line for each room that is over its budget or has none, and each budget without a room."""
    budgets = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["house"]
    rooms = sizes(root)
    told = [f"{name}: no budget in [tool.house]" for name in sorted(rooms.keys() - budgets.keys())]
    told += [f"{name}: a budget, but no room" for name in sorted(budgets.keys() - rooms.keys())]
    for name in sorted(rooms.keys() & budgets.keys()):
        for what, size in zip(("files", "lines"), rooms[name], strict=True):
            if size > (most := budgets[name][what]):
                told.append(f"{name}: {size:,} {what}, {most:,} are allowed")
    return told


def lengths() -> dict[str, int]:
    """Lines of the longest file and function of the package."""
    files = list(PACKAGE.rglob("*.py"))
    functions = [
        (node.end_lineno or 0) - node.lineno + 1
        for file in files
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {
        "longest file, lines": max(len(file.read_bytes().splitlines()) for file in files),
        "longest function, lines": max(functions),
        "median function, lines": int(median(functions)),
    }


class Walk:
    """Files of the package that were entered, and its types that passed from file to file."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.types: set[str] = set()

    def look(self, frame: FrameType, event: str, value: object) -> None:
        """Note a call or a return; for `sys.setprofile`."""
        if event not in ("call", "return"):
            return
        name = frame.f_code.co_filename
        if not name.startswith(str(PACKAGE)):
            return
        if frame.f_code.co_name != "<module>":
            self.files.add(str(Path(name).relative_to(PACKAGE)))
        outer = frame.f_back
        if outer is None or outer.f_code.co_filename == name:
            return
        if event == "return":
            self._note(value)
        else:
            code = frame.f_code
            for local in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                self._note(frame.f_locals.get(local))

    def _note(self, value: object) -> None:
        kind = type(value)
        if kind.__module__.startswith("atlas_search"):
            self.types.add(f"{kind.__module__}.{kind.__qualname__}")

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Look at everything that this thread and new ones do in the block."""
        threading.setprofile(self.look)
        sys.setprofile(self.look)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def walks() -> dict[str, Walk]:
    """The walks of a question and of a search."""
    from atlas_search.core.settings import load_settings
    from atlas_search.server.app import create_app
    from atlas_search.server.collections import ServedCollections
    from atlas_search.server.serving import Serving

    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(atlas_state_directory=Path(folder))
        client = create_app(ServedCollections(Serving(settings))).test_client()

        def ask(path: str, question: str) -> None:
            with client.post(path, json={"question": question}) as response:
                assert response.status_code == 200, response.get_data(as_text=True)

        found = {path: Walk() for path in ("/api/ask", "/api/search")}
        for path, walk in found.items():
            ask(path, QUESTIONS[0])
            with walk.watch():
                ask(path, QUESTIONS[1])
        return found


_ATLAS = "from atlas_search import Atlas"
_TEXT = """
import tempfile, pathlib
from atlas_search.readers.files import files_reader
file = pathlib.Path(tempfile.mkdtemp(), "sheep.txt")
file.write_text("Sheep give wool.")
files_reader().read(file, "")
"""
_COUNT = """
names = [name for name in sys.modules if name.startswith("atlas_search")]
print(json.dumps({"modules": len(names), "seconds": time.process_time() - before}))
"""


def loading(code: str, tries: int = 5) -> Mapping[str, float]:
    """Modules of the package that `code` loads in a process of its own, and its least CPU time."""
    program = f"import json, sys, time\nbefore = time.process_time()\n{code}{_COUNT}"
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )
        for _ in range(tries)
    ]
    found: list[dict[str, float]] = [json.loads(run.stdout) for run in runs]
    return min(found, key=lambda one: one["seconds"])


def names() -> int:
    """Settings and target keys, each name once."""
    from atlas_search.core.settings import Settings
    from atlas_search.core.targets import Target

    return len({*Settings.model_fields, *Target.model_fields})


def table() -> list[tuple[str, str]]:
    """What is measured, and its figure."""
    rooms = sizes()
    beside = ("tests", "frontend", "benchmarks")
    product = [size for name, size in rooms.items() if name not in beside]
    rows = [
        ("product files / lines", "{:,} / {:,}".format(*map(sum, zip(*product, strict=True)))),
        ("page modules / lines", "{:,} / {:,}".format(*rooms["frontend"])),
        ("test files / lines", "{:,} / {:,}".format(*rooms["tests"])),
    ]
    seen = walks()
    rows += [(f"files that {name} enters", str(len(found.files))) for name, found in seen.items()]
    rows.append(("type names a question passes", str(len(seen["/api/ask"].types))))
    for name, code in (("import of Atlas", _ATLAS), ("reading one .txt", _TEXT)):
        loaded = loading(code)
        rows.append((name, f"{loaded['modules']} modules, {loaded['seconds']:.2f} s CPU"))
    rows.append(("settings and target keys", str(names())))
    rows += [(name, str(value)) for name, value in lengths().items()]
    return rows


def main() -> None:
    """Print what is over its budget, or the table and the walk of a question."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only hold rooms against budgets")
    if parser.parse_args().check:
        told = faults()
        print("\n".join(told) or "Every room is within its budget.")
        sys.exit(bool(told))
    for name, (files, lines) in sizes().items():
        print(f"| {name} | {files:,} | {lines:,} |")
    print()
    for name, figure in table():
        print(f"| {name} | {figure} |")
    print("\nA question enters:", ", ".join(sorted(walks()["/api/ask"].files)))


if __name__ == "__main__":
    main()
