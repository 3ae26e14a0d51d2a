"""Calls in a process of their own: `python -m benchmarks.performance.fresh MODULE:FUNCTION`.

What an earlier measurement left in memory, or has already imported, does not count there.
"""

import importlib
import json
import os
import subprocess
import sys
from typing import Any

from tests.places import ROOT


def fresh(function: str, **given: Any) -> Any:
    """What `module:function`, called in a new process with JSON values, returns, by way of JSON.

    Raises RuntimeError with the last line of what the process said.
    """
    name = f"{__package__}.{function}"
    command = [sys.executable, "-m", __name__, name, json.dumps(given, default=str)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        raise RuntimeError(said[-1])
    return json.loads(done.stdout.splitlines()[-1])


def processor() -> float:
    """Seconds of processor of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    """Call what the arguments name, and print what it returns as the last line."""
    module, _, function = sys.argv[1].partition(":")
    found = getattr(importlib.import_module(module), function)(**json.loads(sys.argv[2]))
    print(f"\n{json.dumps(found)}")


if __name__ == "__main__":
    main()
