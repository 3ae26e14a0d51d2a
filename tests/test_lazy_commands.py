"""Commands are imported when they are run: help comes at once, and says what they say."""

import subprocess
import sys

import pytest

from atlas_search.cli.main import Commands

HEAVY = ("numpy", "chromadb", "torch", "onnxruntime", "flask", "tantivy", "rapidfuzz")


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from atlas_search.cli.main import app\n"
        "try:\n    app(['--help'])\n"
        "except SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "Balanced, explainable research search" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", Commands.entries)
def test_help_says_of_each_command_what_it_says_itself(name: str) -> None:
    told = Commands(name="atlas").load(name).help
    assert " ".join(told.split("\n\n")[0].split()) == Commands.entries[name].help
