"""`atlas eval report` and `atlas eval export` as they are typed, and reports that end a run."""

import json
from pathlib import Path

import pytest

from atlas_search.providers.embedding_local import LocalEmbedder
from tests.evaluation.commands import Command, command_runner
from tests.evaluation.farm import build_farm, write_labels
from tests.evaluation.reported import LIGHTS, begun, failed, made

FILES = ("results.json", "per_question.csv", "report.md", "report.html")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Path:
    return build_farm(tmp_path_factory.mktemp("reports") / "stores", embedder).parent


@pytest.fixture
def evaluation(
    stores: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    return command_runner(stores, capsys, monkeypatch)


def test_a_run_and_a_grid_end_with_their_reports(evaluation: Command, tmp_path: Path) -> None:
    labels = write_labels(tmp_path / "labels.jsonl")
    status, _, said = evaluation("--labels", labels, "--split", "all", "--out", tmp_path / "run")
    assert status == 0
    assert "Reports in " in said
    assert all((tmp_path / "run" / name).is_file() for name in FILES)
    grid = tmp_path / "grid"
    asked = ("--labels", labels, "--split", "test", "--k", "3,5", "--search-only", "--out", grid)
    assert evaluation("grid", *asked)[0] == 0
    told = json.loads((grid / "results.json").read_text())
    assert [run["name"] for run in told["runs"]] == ["k3-test", "k5-test"]
    assert "Quality against k" in (grid / "report.html").read_text()
    for command, folder in (((), tmp_path / "run"), (("grid",), grid)):
        (folder / "report.html").unlink()
        (folder / "report.html").mkdir()
        status, _, said = evaluation(*command, "--resume", folder)
        assert (status, "Not written whole: report.html" in said) == (1, True)


def test_reports_are_written_again(evaluation: Command, tmp_path: Path) -> None:
    one, other = (made(tmp_path / name, id=name).path for name in ("one", "other"))
    assert evaluation("report", one)[0] == 0
    assert all((one / name).is_file() for name in FILES)
    status, _, said = evaluation("report", one, other)
    assert (status, "Name one with --out" in said) == (1, True)
    assert evaluation("report", one, other, "--out", tmp_path / "both")[0] == 0
    assert "Evaluation of 2 runs" in (tmp_path / "both" / "report.md").read_text()


def test_what_fails_is_told_by_the_status(evaluation: Command, tmp_path: Path) -> None:
    run = made(tmp_path / "run").path
    (run / "report.html").mkdir()
    status, _, said = evaluation("report", run)
    assert status == 1
    assert "Not written whole: report.html" in said
    assert (run / "report.md").is_file()


def test_a_run_that_was_not_judged_is_exported_too(evaluation: Command, tmp_path: Path) -> None:
    run = begun(tmp_path / "run", {"q1": failed(LIGHTS[1])})
    lines = (run.path / "replies.jsonl").read_text().splitlines(keepends=True)
    (run.path / "replies.jsonl").write_text("".join(lines[:4]))
    out = tmp_path / "set"
    status, _, said = evaluation("export", run.path, out, "--format", "ragas")
    assert status == 0
    assert len(out.read_text().splitlines()) == 3
    assert "Left out: 1 that failed. Left out: 5 that were not asked." in said
    assert {path.name for path in tmp_path.iterdir()} == {"run", "set"}


@pytest.mark.parametrize("format_", ["ragas", "deepeval", "trec"])
def test_a_run_is_exported(evaluation: Command, tmp_path: Path, format_: str) -> None:
    run = made(tmp_path / "run").path
    status, _, said = evaluation("export", run, tmp_path / "set", "--format", format_)
    assert status == 0, said
    assert (tmp_path / "set").stat().st_size > 0
    assert (tmp_path / "set.qrels").is_file() == (format_ == "trec")
