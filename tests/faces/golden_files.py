"""The golden files: where they lie, how they are written, and how they differ."""

import difflib
import json
import math
from pathlib import Path

GOLDEN = Path(__file__).with_name("golden")
WRITE = "ATLAS_WRITE_FACES"
"""A variable of the environment: if it is set, the tests write what they would compare."""

WIDTH = 200
LINES = 60  # of a diff
NEAR = 2e-4  # numbers are rounded to 4 places, and processors differ in the last one


def written(name: str, content: object) -> str:
    """Return what the file `name` of a face holds: JSON in one layout, a text as it is."""
    if not name.endswith(".json"):
        return str(content).rstrip("\n") + "\n"
    return _lines(json.loads(content) if isinstance(content, str) else content, "") + "\n"


def _lines(value: object, indent: str) -> str:
    """JSON in which whatever fits into a line is on one: indented throughout, the files have four
    times as many."""
    one = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if len(indent) + len(one) <= WIDTH or not isinstance(value, dict | list) or not value:
        return one
    inner = indent + " "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + _lines(each, inner) for each in value) + f"\n{indent}]"
    named = (
        f"{inner}{json.dumps(key, ensure_ascii=False)}: {_lines(each, inner)}"
        for key, each in sorted(value.items())
    )
    return "{\n" + ",\n".join(named) + f"\n{indent}}}"


def difference(name: str, text: str) -> str:
    """How `text` differs from the golden file `name`; empty if it does not."""
    kept = (GOLDEN / name).read_text(encoding="utf-8")
    if kept == text or (name.endswith(".json") and _near(json.loads(kept), json.loads(text))):
        return ""
    lines = difflib.unified_diff(kept.split("\n"), text.split("\n"), "golden", "now", "", "", 2, "")
    found = list(lines)
    more = [f"... {len(found) - LINES} more lines"] if len(found) > LINES else []
    return "\n".join(found[:LINES] + more)


def files() -> set[str]:
    """The names of all golden files."""
    return {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.*")}


def write(name: str, text: str) -> None:
    """Write the golden file `name`."""
    path = GOLDEN / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def _near(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, abs_tol=NEAR)
    if isinstance(other, float) and isinstance(one, int):
        return math.isclose(one, other, abs_tol=NEAR)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_near(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_near, one, other))
    return type(one) is type(other) and one == other
