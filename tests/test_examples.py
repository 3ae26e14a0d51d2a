"""The examples of the documentation are run: the page on Python, and the notebook."""

import json
import os
import re
import resource
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from atlas_search.atlas import Atlas
from atlas_search.building.flow import BuildReport
from atlas_search.cli.main import main
from tests.conftest import free_port
from tests.first_archive import write_archive
from tests.mistral_server import KEY, mistral_server
from tests.places import ROOT
from tests.readers.sites import Answer, Site, serving
from tests.samples.pdf_demo import write_demo
from tests.servers import ATLAS, app_of, running, served
from tests.slow_model import TOKEN
from tests.test_docs import items

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


def test_every_command_beside_one_of_rag_eval_box_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = " ".join(ours for _, ours in items("docs/coming-from.md", "Commands"))
    commands = dict.fromkeys(re.findall(r"`atlas (.*?)`", listed))
    monkeypatch.chdir(tmp_path)
    with serving(Site()) as site, mistral_server() as mistral:
        mistral.models = (*mistral.models, "mistral-large-latest")
        mistral.says(
            lambda asked: f"They are listed {next(iter(TOKEN.findall(asked.prompt)), '')}."
        )
        write_box(tmp_path, site)
        for name, value in {
            "CHROMA_PERSIST_DIRECTORY": tmp_path / "stores",
            "CHROMA_COLLECTION_NAME": "web",
            "ATLAS_EVALUATION_DIRECTORY": tmp_path / "runs",
            "EMBEDDING_PROVIDER": "mistral",
            "EMBEDDING_MODEL": "mistral-embed",  # the one that the local server has
            "MISTRAL_API_KEY": KEY,
            "MISTRAL_SERVER_URL": mistral.address,
            "MISTRAL_REQUESTS_PER_MINUTE": 60_000,
        }.items():
            monkeypatch.setenv(name, str(value))
        printed = {c: run(c, capsys) for c in commands if c.startswith("create ")}
        with Atlas.open("web") as atlas, served(app_of(atlas)) as address:
            monkeypatch.setenv("ATLAS_PORT", address.rpartition(":")[2])
            asking = [c for c in commands if c.startswith(("search ", "ask ", "doctor"))]
            printed |= {c: run(c, capsys) for c in asking}
        printed |= {c: run(c, capsys) for c in commands if c.startswith("eval ")}
    assert printed.keys() == commands.keys()


def run(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Type a command; what it prints."""
    local = ["--allow-private", "127.0.0.1", "--delay", "0.1"] if "sources_e" in command else []
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(command), *local])
    printed = capsys.readouterr()
    assert not ended.value.code, (command, printed)
    return printed.out


def write_box(folder: Path, site: Site) -> None:
    """Write what rag-eval-box has in its folder, with one page of a local site."""
    text = "GET /v1/customers returns a list of customer objects. A PaymentIntent tracks a payment."
    address = site.serves(
        "/api/customers", Answer(f"<html><body><p>{text}</p></body></html>".encode())
    )
    real, labels = folder / "data" / "real", folder / "src" / "evals"
    real.mkdir(parents=True)
    labels.mkdir(parents=True)
    write_demo(folder / "data" / "seed_docs")
    (real / "sources_e.txt").write_text(f"{address}\n")
    (real / "chunks_web.csv").write_text(
        f"chunk_id,doc_id,page_num,text\nc0,customers,1,{text}\nc1,customers,2,More of it.\n"
    )
    label = {"question": "What does GET /v1/customers return?", "answers": ["a list"]}
    (labels / "qa_labelset_eng.jsonl").write_text(json.dumps(label))


def test_the_notebook_runs_and_was_executed(here: Path) -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code)
    assert not any(out.get("output_type") == "error" for cell in code for out in cell["outputs"])
    names: dict[str, object] = {}
    for cell in code:
        exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)
    assert code[0]["outputs"][0]["data"]["text/html"]


@pytest.mark.thorough
@pytest.mark.timeout(900)  # starts eight processes with a model
def test_every_command_of_the_first_archive_runs_in_under_three_minutes(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "first-archive.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```bash\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    write_archive(tmp_path / "Dock strike 1912")
    (tmp_path / "stores").mkdir()
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(tmp_path / "stores"),
        "ATLAS_PORT": str(free_port()),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    said: dict[str, str] = {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with ExitStack() as servers:
        for line in "".join(blocks).splitlines():
            if line.endswith(("atlas demo", "atlas serve")):
                servers.close()
                words = shlex.split(line)
                own = dict(word.split("=") for word in words if "=" in word)
                arguments = (*ATLAS, words[-1])
                run = running(*arguments, environment=environment | own, folder=tmp_path)
                servers.enter_context(run).address("Atlas")
            else:
                done = subprocess.run(
                    line, shell=True, cwd=tmp_path, env=os.environ | environment,
                    capture_output=True, text=True, check=False,
                )  # fmt: skip
                assert done.returncode == 0, (line, done.stderr)
                said[line] = done.stdout
    # by the clock it would depend on what else runs
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 180
    assert "because the company cut the wage" in said['atlas ask "Why did the dockers strike?"']
    assert "12 hits in 8 documents" in said['atlas kwic "strike*"']
    assert "Anna to Karl" in (tmp_path / "sources.bib").read_text(encoding="utf-8")
