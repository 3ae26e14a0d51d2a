"""The examples of the documentation are run: the page on Python, and the notebook."""

import json
import re
from pathlib import Path

import pytest

from atlas_search.building.flow import BuildReport
from tests.places import ROOT

NOTEBOOK = ROOT / "docs" / "why-this-rank.ipynb"


@pytest.fixture
def here(tmp_path: Path, stores: Path, demo: BuildReport, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, beside the built demo."""
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(stores))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_block_of_the_page_on_python_runs(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        if "Atlas.build" in block:  # not into the stores that other tests share
            monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(here / "stores"))
        exec(compile(block, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "The council votes to open a public library." in printed
    assert "atlas create" in printed  # of the last error
    assert len(blocks) == 9


def test_the_notebook_runs_and_was_executed(here: Path) -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code)
    assert not any(out.get("output_type") == "error" for cell in code for out in cell["outputs"])
    names: dict[str, object] = {}
    for cell in code:
        exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)
    assert code[0]["outputs"][0]["data"]["text/html"]
