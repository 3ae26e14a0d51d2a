"""`atlas eval` as it is typed, over the tiny collection with the real embedding model."""

from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.cli.main import main

Command = Callable[..., tuple[int, str, str]]


def command_runner(
    stores: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Runs `atlas eval` over the collection `farm`: status, output and errors."""
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(stores))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", "farm")

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["eval", *map(str, arguments)])
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run
