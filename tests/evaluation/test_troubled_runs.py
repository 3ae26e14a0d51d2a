"""What fails of a run costs no more than it must: the rest is told, and what failed is named."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from atlas_search.core.errors import AtlasError, UnwritableFolder
from atlas_search.evaluation.asking import PATIENCE
from atlas_search.evaluation.carry_out import ProcessSubject, carry_out
from atlas_search.evaluation.folder import REPLIES, SCORES, SET_ASIDE, RunFolder
from atlas_search.evaluation.metrics import Tools
from atlas_search.evaluation.report_files import write_reports
from atlas_search.evaluation.scored import Scored
from tests.evaluation.away import WHY, Away
from tests.evaluation.commands import Command, command_runner
from tests.evaluation.farm import (
    LABELS,
    answer_all,
    begun,
    figures,
    write_labels,
)
from tests.evaluation.reported import made
from tests.hash_embedder import HashEmbedder

FILES = ("per_question.csv", "report.md", "report.html", "results.json")


@pytest.fixture
def evaluation(
    farm: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    monkeypatch.setenv("ATLAS_EVALUATION_DIRECTORY", str(tmp_path / "evaluations"))
    monkeypatch.setattr("atlas_search.services.open_embedder", lambda _: HashEmbedder())
    return command_runner(farm.parent, capsys, monkeypatch)


@dataclass(frozen=True)
class WithoutEmbedder:
    """A subject whose answers are compared by an embedding model that is away."""

    whole: ProcessSubject
    away: Away

    def __getattr__(self, name: str) -> object:
        return getattr(self.whole, name)

    def tools(self, k: int | None) -> Tools:
        return Tools(self.away, limit=10)


def told(folder: Path) -> dict[str, object]:
    assert all((folder / name).is_file() for name in FILES)
    document: dict[str, object] = json.loads((folder / "results.json").read_text())
    return document


def reports(folder: Path) -> str:
    return "".join((folder / f"report.{form}").read_text() for form in ("md", "html"))


def test_without_its_embedding_model_a_run_has_all_other_figures(
    subject: ProcessSubject, tmp_path: Path
) -> None:
    run, whole = begun(tmp_path / "run", subject), begun(tmp_path / "whole", subject)
    answer_all(run)
    answer_all(whole)
    carry_out(whole, subject)
    away = Away()
    outcome = carry_out(run, WithoutEmbedder(subject, away))
    assert outcome.lacking == [WHY] * len(LABELS)
    assert not outcome.complete
    assert away.asked == PATIENCE  # further calls would each wait as long
    for label, whole_figures in figures(whole).items():
        assert "similarity" in whole_figures
        without = {name: value for name, value in whole_figures.items() if name != "similarity"}
        assert figures(run)[label] == without
    assert not write_reports(run.path).faults
    assert f"6 of 6 questions lack figures: {WHY}" in reports(run.path)
    assert carry_out(run, subject).complete  # nothing is asked again
    assert len((run.path / REPLIES).read_text().splitlines()) == len(LABELS)
    assert figures(run) == figures(whole)


def test_an_audit_that_fails_is_named_and_costs_no_report(
    evaluation: Command, farm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise AtlasError("The index is damaged.")

    monkeypatch.setattr("atlas_search.evaluation.carry_out.index_audit", failing)
    out = tmp_path / "run"
    asked = ("--labels", write_labels(tmp_path / "labels.jsonl"), "--search-only")
    status, printed, said = evaluation(*asked, "--audit-index", "--out", out)
    assert status == 1
    assert "k10_extractive, test split" in printed
    assert "The index was not audited: The index is damaged." in said
    assert "The index was not audited: The index is damaged." in reports(out)
    assert told(out)["runs"][0]["troubles"] == [  # type: ignore[index]
        "The index was not audited: The index is damaged."
    ]
    monkeypatch.undo()
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(farm.parent))
    monkeypatch.setattr("atlas_search.services.open_embedder", lambda _: HashEmbedder())
    assert evaluation("--resume", out, "--audit-index")[0] == 0
    assert "The index was not audited" not in reports(out)


@pytest.mark.parametrize("name", [REPLIES, SCORES])
def test_a_broken_line_costs_its_question_only(tmp_path: Path, name: str) -> None:
    run = made(tmp_path / "run")
    lines = (run.path / name).read_text().splitlines()
    lines[2] = '{"label_id": "q2", "sec'
    (run.path / name).write_text("".join(f"{line}\n" for line in lines))
    written = write_reports(run.path)
    assert set(written.files) == set(FILES)
    (fault,) = written.faults
    assert f"{name}:3" in fault.error
    (failed,) = told(run.path)["failed"]  # type: ignore[misc]
    assert f"{name}:3" in failed["error"]
    assert f"{name}:3" in reports(run.path).replace("\\", "")


def test_a_reply_that_cannot_be_read_is_asked_for_again(
    evaluation: Command, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    asked = ("--labels", write_labels(tmp_path / "labels.jsonl"), "--split", "all")
    assert evaluation(*asked, "--out", out)[0] == 0
    before = figures(RunFolder(out))
    lines = (out / REPLIES).read_text().splitlines()
    broken = lines[1][:50]
    (out / REPLIES).write_text("".join(f"{line}\n" for line in (lines[0], broken, *lines[2:])))
    status, _, said = evaluation("--resume", out)
    assert status == 1  # somebody should look at what became of it
    assert "Asked again, for it could not be read: " in said
    assert f"{REPLIES}:2" in said
    assert figures(RunFolder(out)) == before
    assert (out / SET_ASIDE).read_text() == f"{broken}\n"
    assert evaluation("--resume", out)[0] == 0


def test_a_run_that_ends_early_is_told_as_far_as_it_came(
    evaluation: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = RunFolder.finish

    def full(*_: object) -> None:
        raise UnwritableFolder("The disk is full.")

    monkeypatch.setattr(RunFolder, "finish", full)
    out = tmp_path / "run"
    asked = ("--labels", write_labels(tmp_path / "labels.jsonl"), "--out", out)
    status, _, said = evaluation(*asked)
    assert status == 1
    assert said.splitlines()[-1] == "atlas: The disk is full."
    assert told(out)["runs"][0]["troubles"] == [  # type: ignore[index]
        "The run ended early: The disk is full."
    ]
    assert "The run ended early: The disk is full." in reports(out)
    monkeypatch.setattr(RunFolder, "finish", real)
    assert evaluation("--resume", out)[0] == 0
    assert told(out)["runs"][0]["troubles"] == []  # type: ignore[index]


def test_a_run_of_a_grid_that_fails_costs_no_other(
    evaluation: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = RunFolder.finish

    def full(folder: RunFolder, scored: Iterable[Scored]) -> None:
        if "k2" in folder.path.name:
            raise UnwritableFolder("The disk is full.")
        real(folder, scored)

    monkeypatch.setattr(RunFolder, "finish", full)
    out = tmp_path / "grid"
    asked = ("--labels", write_labels(tmp_path / "labels.jsonl"), "--search-only", "--k", "2,3")
    status, printed, said = evaluation("grid", *asked, "--out", out, "--json")
    assert status == 1
    assert [row["questions"] for row in json.loads(printed)] == [0, 4]
    assert "It ended early: The disk is full." in said
    assert [run["troubles"] for run in told(out)["runs"]] == [  # type: ignore[attr-defined]
        ["The run ended early: The disk is full."],
        [],
    ]
    monkeypatch.setattr(RunFolder, "finish", real)
    status, printed, _ = evaluation("grid", "--resume", out, "--json")
    assert status == 0
    assert [row["questions"] for row in json.loads(printed)] == [4, 4]
