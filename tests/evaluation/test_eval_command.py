"""`atlas eval` as it is typed: a folder for every run, a server by its address, an interrupt."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.errors import Unavailable
from atlas_search.evaluation.folder import REPLIES, RunFolder
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from tests.chat_server import KEY
from tests.conftest import free_port
from tests.evaluation.commands import Command, command_runner
from tests.evaluation.farm import LABELS, build_farm, figures, write_labels
from tests.evaluation.judging import GOOD, Script
from tests.openai_server import openai_server
from tests.servers import ATLAS, running, served, wait_for

MANY = 2000
"""Questions that an interrupt surely comes before the end of."""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Path:
    return build_farm(tmp_path_factory.mktemp("command") / "stores", embedder).parent


@pytest.fixture
def evaluation(
    stores: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    monkeypatch.setenv("ATLAS_EVALUATION_DIRECTORY", str(tmp_path / "evaluations"))
    return command_runner(stores, capsys, monkeypatch)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return write_labels(tmp_path / "labels.jsonl")


def test_every_run_has_a_folder_and_is_told_where(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    status, printed, said = evaluation("--labels", labels, "--today", "2026-01-01", "--json")
    assert status == 0, said
    (folder,) = (tmp_path / "evaluations").iterdir()
    assert "Asked: the 4 of the split test." in said
    assert f"The run is in {folder}.\nReports in {folder}: " in said
    run = RunFolder(folder).load()
    assert folder.name == run.spec.id
    assert run.spec.command == f"atlas eval --labels {labels} --today 2026-01-01 --json"
    assert str(run.spec.today) == "2026-01-01"
    assert run.spec.settings["embedding_model"].endswith("all-MiniLM-L6-v2")
    assert [one.label.id for one in run.scored] == ["q1", "q2", "q4", "q5"]
    assert json.loads(printed)["all"]["recall"]["mean"] == 1


def test_a_sample_is_the_same_for_the_same_seed(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    asked = ("--labels", labels, "--split", "all", "--limit", 3, "--seed", 7)
    for name in ("one", "other"):
        assert evaluation(*asked, "--search-only", "--k", 2, "--out", tmp_path / name)[0] == 0
    one, other = (RunFolder(tmp_path / name).load() for name in ("one", "other"))
    assert [each.label for each in one.scored] == [each.label for each in other.scored]
    assert (one.spec.limit, one.spec.seed, len(one.scored)) == (3, 7, 3)
    assert {len(each.reply.passages) for each in one.scored} == {2}


def test_a_run_goes_on_with_what_it_lacks_and_asks_nothing_else(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert evaluation("--labels", labels, "--out", out)[0] == 0
    whole = figures(RunFolder(out))
    lines = (out / REPLIES).read_text().splitlines(keepends=True)
    (out / REPLIES).write_text("".join(lines[:1]) + lines[1][:100])
    status, printed, said = evaluation("--resume", out, "--parallel", 2)
    assert (status, said.splitlines()[0]) == (0, f"The run is in {out}.")
    assert printed.splitlines()[0].strip() == "k10_extractive, test split"
    assert figures(RunFolder(out)) == whole
    assert len((out / REPLIES).read_text().splitlines()) == 4
    assert "--k says what is asked of whom" in evaluation("--resume", out, "--k", 3)[2]
    assert "holds a run already" in evaluation("--labels", labels, "--out", out)[2]
    assert "is no run of an evaluation" in evaluation("--resume", tmp_path)[2]


def test_a_server_is_asked_by_its_address(
    evaluation: Command, labels: Path, tmp_path: Path, stores: Path, embedder: LocalEmbedder
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with Atlas.open(stores / "farm", embedder=embedder) as atlas:
        app = create_app(lambda: atlas)
        with served(app) as address:
            for url, out in (("", here), (address, there)):
                status, _, said = evaluation("--labels", labels, "--url", url, "--out", out)
                assert status == 0, said
            (there / REPLIES).unlink()
            assert evaluation("--resume", there)[0] == 0
        app.extensions["runs"].close()
    assert figures(RunFolder(there)) == figures(RunFolder(here))
    assert RunFolder(there).spec().where == address
    assert RunFolder(there).spec().parallel == 4
    status, _, said = evaluation("--resume", there)
    assert (status, f"No server answers at {address}" in said) == (1, True)


def test_the_index_is_audited_with_the_questions_of_the_run(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    out, asked = tmp_path / "run", ("--labels", labels, "--search-only")
    assert evaluation(*asked, "--out", out)[0] == 0
    assert not RunFolder(out).spec().index_recall
    status, printed, said = evaluation("--resume", out, "--audit-index")
    assert status == 0, said
    assert "index recall" in printed
    found = RunFolder(out).spec().index_recall
    assert {name: figure.questions for name, figure in found.items()} == {
        "index_recall": 4,
        "index_recall.farm": 4,
    }
    assert "index_recall.farm" in (out / "results.json").read_text()
    assert all("Index recall" in (out / f"report.{form}").read_text() for form in ("md", "html"))
    status, printed, _ = evaluation(*asked, "--audit-index", "--json")
    assert json.loads(printed)["all"]["index_recall"]["mean"] == 1
    elsewhere = ("--url", "http://127.0.0.1:9", "--audit-index", "--out", tmp_path / "none")
    status, _, said = evaluation(*asked, *elsewhere)
    assert (status, "http://127.0.0.1:9 does not give them" in said) == (1, True)
    assert not (tmp_path / "none").exists()


def test_questions_are_filtered_by_a_field_of_their_own(
    evaluation: Command, tmp_path: Path
) -> None:
    labels = tmp_path / "filtered.jsonl"
    rows = [
        {
            "question": "What do sheep give?",
            "gold_docs": "farm.sheep",
            "metadata": {"document_id": id_},
        }
        for id_ in ("farm.sheep", "farm.cows")
    ]
    labels.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    asked = ("--labels", labels, "--search-only", "--filter-by", "document_id")
    status, _, said = evaluation(*asked, "--out", tmp_path / "run")
    assert status == 0, said
    assert [one.figures["recall"] for one in RunFolder(tmp_path / "run").load().scored] == [1, 0]


def test_files_of_a_user_are_no_place_for_a_run(evaluation: Command, labels: Path) -> None:
    before = labels.read_bytes()
    status, _, said = evaluation("--labels", labels, "--out", labels.parent)
    assert (status, "labels.jsonl, which stays as it is" in said) == (1, True)
    assert labels.read_bytes() == before


def test_options_that_would_do_nothing_are_refused(evaluation: Command, labels: Path) -> None:
    status, _, said = evaluation("--labels", labels, "--limit", 20, "grid", "--k", 3)
    assert status == 1
    assert "Before the command grid options do nothing: --labels, --limit. Put them" in said
    assert "`atlas eval grid --help`" in said
    status, _, said = evaluation("--labels", labels, "--max-cost", 1, "--judge-model", "m")
    assert status == 1
    assert "Without --judge nothing heeds --judge-model, --max-cost. Add --judge." in said


def test_a_judge_that_fails_takes_nothing_with_it(
    evaluation: Command, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise Unavailable("The judge is ill.")

    monkeypatch.setattr("atlas_search.cli.evaluate.check_judge", lambda _: None)
    monkeypatch.setattr("atlas_search.cli.evaluate.judge_run", failing)
    out = tmp_path / "run"
    status, printed, said = evaluation("--labels", labels, "--limit", 1, "--judge", "--out", out)
    assert status == 1
    assert "k10_extractive, test split" in printed
    assert f"The run is in {out}." in said
    assert said.splitlines()[-1] == "atlas: The judge is ill."
    assert (out / "report.html").is_file()


def test_labels_of_another_collection_leave_no_run(evaluation: Command, tmp_path: Path) -> None:
    foreign = replace(LABELS[0], gold_document_ids=frozenset({"sea.whale"}))
    labels = write_labels(tmp_path / "foreign.jsonl", [foreign])
    status, _, said = evaluation("--labels", labels, "--out", tmp_path / "run")
    assert (status, "are not for this collection" in said) == (1, True)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("parallel", [1, 2])
def test_an_interrupt_leaves_figures_and_says_how_to_go_on(
    evaluation: Command, stores: Path, tmp_path: Path, parallel: int
) -> None:
    many = [replace(LABELS[n % 6], id=f"q{n}", split="test") for n in range(MANY)]
    labels = write_labels(tmp_path / "many.jsonl", many)
    out = tmp_path / "run"
    environment = {"CHROMA_PERSIST_DIRECTORY": str(stores), "CHROMA_COLLECTION_NAME": "farm"}
    command = (*ATLAS, "eval", "--labels", labels, "--out", out, "--parallel", str(parallel))
    with running(*command, environment=environment, folder=tmp_path) as process:
        wait_for(lambda: len(came(out)) > 3 or None, 120, "some replies")
        os.kill(process.process.pid, signal.SIGINT)
        assert process.process.wait(60) == 130
        wait_for(lambda: any("--resume" in line for line in process.lines) or None, 30, "its end")
    assert f"Go on: atlas eval --resume {out}" in process.lines
    run = RunFolder(out).load()
    assert 3 < len(run.scored) == len(came(out)) < MANY
    assert f"{MANY - len(run.scored)} questions were not asked." in process.lines


def came(out: Path) -> list[str]:
    replies = out / REPLIES
    return replies.read_text().splitlines() if replies.exists() else []


def test_a_run_can_end_with_its_judge(
    evaluation: Command, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "judged"
    asked = ("--labels", labels, "--split", "all", "--k", "2", "--out", out)
    assert "extractive" in evaluation(*asked, "--judge")[2]
    assert not out.exists()
    with openai_server() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        Script(server, **GOOD)
        by = ("--judge", "--judge-provider", "openai")
        status, printed, said = evaluation(*asked, *by, "--json")
    assert status == 0, said
    assert "metrics_source: judge, by openai/" in said
    assert RunFolder(out).load().metrics_source == "judge"
    assert json.loads(printed)["all"]["context_recall"]["mean"] == 1
    assert "judge" in (out / "report.md").read_text()


def test_a_run_is_kept_where_phoenix_is_away(
    evaluation: Command, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas_search.cli.evaluate_runs.TRIES", 1)
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    out = tmp_path / "run"
    status, _, said = evaluation("--labels", labels, "--limit", "1", "--out", out, "--phoenix")
    assert status == 1
    assert said.splitlines()[-1].startswith("atlas: Phoenix")
    assert RunFolder(out).load().scored
