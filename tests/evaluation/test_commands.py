"""`atlas eval` as it is typed: a folder for every run, a server by its address, an interrupt."""

import json
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import httpx2
import pytest

from atlas_search.atlas import Atlas
from atlas_search.building.flow import BuildReport
from atlas_search.core.errors import AtlasError, Unavailable, UnwritableFolder
from atlas_search.evaluation.folder import REPLIES, SET_ASIDE, RunFolder
from atlas_search.evaluation.people import Ratings
from atlas_search.providers.embedding_local import LocalEmbedder
from tests.chat_server import KEY
from tests.conftest import free_port
from tests.evaluation.farm import (
    LABELS,
    Command,
    build_farm,
    figures,
    write_labels,
)
from tests.evaluation.judging import Script
from tests.evaluation.label_sets import lines
from tests.evaluation.made_runs import LABELS as LIGHTHOUSES
from tests.evaluation.made_runs import kept, made_run
from tests.evaluation.reported import REPORTS, made
from tests.hash_embedder import HashEmbedder
from tests.openai_server import OpenAIServer
from tests.servers import ATLAS, Server, app_of, running, served, wait_for


def test_a_run_goes_on_with_what_it_lacks_and_asks_nothing_else(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert evaluation("--labels", labels, "--out", out)[0] == 0
    whole = figures(RunFolder(out))
    lines = (out / REPLIES).read_text().splitlines(keepends=True)
    (out / REPLIES).write_text("".join(lines[:1]) + lines[1][:100])
    status, printed, message = evaluation("--resume", out, "--parallel", 2)
    assert (status, message.splitlines()[0]) == (0, f"The run is in {out}.")
    assert printed.splitlines()[0].strip() == "k10_extractive, test split"
    assert figures(RunFolder(out)) == whole
    assert len((out / REPLIES).read_text().splitlines()) == 4
    assert "--k says what is asked of whom" in evaluation("--resume", out, "--k", 3)[2]
    assert "holds a run already" in evaluation("--labels", labels, "--out", out)[2]
    assert "is no run of an evaluation" in evaluation("--resume", tmp_path)[2]


def test_a_server_is_asked_by_its_address(
    evaluation: Command, labels: Path, tmp_path: Path, farm: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with Atlas.open(farm, embedder=HashEmbedder()) as atlas:
        app = app_of(atlas)
        with served(app) as address:
            for url, out in (("", here), (address, there)):
                status, _, message = evaluation("--labels", labels, "--url", url, "--out", out)
                assert status == 0, message
            (there / REPLIES).unlink()
            assert evaluation("--resume", there)[0] == 0
        app.extensions["runs"].close()
    assert figures(RunFolder(there)) == figures(RunFolder(here))
    assert RunFolder(there).spec().where == address
    assert RunFolder(there).spec().parallel == 4
    status, _, message = evaluation("--resume", there)
    assert (status, f"No server answers at {address}" in message) == (1, True)


@pytest.mark.thorough
def test_the_index_is_audited_with_the_questions_of_the_run(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    out, arguments = tmp_path / "run", ("--labels", labels, "--search-only")
    assert evaluation(*arguments, "--out", out)[0] == 0
    assert not RunFolder(out).spec().index_recall
    status, printed, message = evaluation("--resume", out, "--audit-index")
    assert status == 0, message
    assert "index recall" in printed
    result = RunFolder(out).spec().index_recall
    assert {name: figure.questions for name, figure in result.items()} == {
        "index_recall": 4,
        "index_recall.farm": 4,
    }
    assert "index_recall.farm" in (out / "results.json").read_text()
    assert all("Index recall" in (out / f"report.{form}").read_text() for form in ("md", "html"))
    status, printed, _ = evaluation(*arguments, "--audit-index", "--json")
    assert json.loads(printed)["all"]["index_recall"]["mean"] == 1
    elsewhere = ("--url", "http://127.0.0.1:9", "--audit-index", "--out", tmp_path / "none")
    status, _, message = evaluation(*arguments, *elsewhere)
    assert (status, "http://127.0.0.1:9 does not give them" in message) == (1, True)
    assert not (tmp_path / "none").exists()


def test_a_run_is_kept_where_phoenix_is_away(
    evaluation: Command, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas_search.cli.evaluate_runs.TRIES", 1)
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    out = tmp_path / "run"
    status, _, message = evaluation("--labels", labels, "--limit", "1", "--out", out, "--phoenix")
    assert status == 1
    assert message.splitlines()[-1].startswith("atlas: Phoenix")
    assert RunFolder(out).load().scored


@pytest.mark.thorough
def test_reports_are_written_again(evaluation: Command, tmp_path: Path) -> None:
    one, other = (made(tmp_path / name, id=name).path for name in ("one", "other"))
    assert evaluation("report", one)[0] == 0
    assert all((one / name).is_file() for name in REPORTS)
    status, _, message = evaluation("report", one, other)
    assert (status, "Name one with --out" in message) == (1, True)
    assert evaluation("report", one, other, "--out", tmp_path / "both")[0] == 0
    assert "Evaluation of 2 runs" in (tmp_path / "both" / "report.md").read_text()


def reports(folder: Path) -> str:
    return "".join((folder / f"report.{form}").read_text() for form in ("md", "html"))


def test_an_audit_that_fails_is_named_and_costs_no_report(
    evaluation: Command, farm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise AtlasError("The index is damaged.")

    monkeypatch.setattr("atlas_search.evaluation.carry_out.index_audit", failing)
    out = tmp_path / "run"
    arguments = ("--labels", write_labels(tmp_path / "labels.jsonl"), "--search-only")
    status, printed, message = evaluation(*arguments, "--audit-index", "--out", out)
    assert status == 1
    assert "k10_extractive, test split" in printed
    assert "The index was not audited: The index is damaged." in message
    assert "The index was not audited: The index is damaged." in reports(out)
    assert results(out)["runs"][0]["troubles"] == [
        "The index was not audited: The index is damaged."
    ]
    monkeypatch.undo()
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(farm.parent))
    monkeypatch.setattr("atlas_search.services.open_embedder", lambda _: HashEmbedder())
    assert evaluation("--resume", out, "--audit-index")[0] == 0
    assert "The index was not audited" not in reports(out)


def test_a_reply_that_cannot_be_read_is_asked_for_again(
    evaluation: Command, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    arguments = ("--labels", write_labels(tmp_path / "labels.jsonl"), "--split", "all")
    assert evaluation(*arguments, "--out", out)[0] == 0
    before = figures(RunFolder(out))
    lines = (out / REPLIES).read_text().splitlines()
    broken = lines[1][:50]
    (out / REPLIES).write_text("".join(f"{line}\n" for line in (lines[0], broken, *lines[2:])))
    status, _, message = evaluation("--resume", out)
    assert status == 1  # somebody should look at what became of it
    assert "Asked again, for it could not be read: " in message
    assert f"{REPLIES}:2" in message
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
    arguments = ("--labels", write_labels(tmp_path / "labels.jsonl"), "--out", out)
    status, _, message = evaluation(*arguments)
    assert status == 1
    assert message.splitlines()[-1] == "atlas: The disk is full."
    assert results(out)["runs"][0]["troubles"] == ["The run ended early: The disk is full."]
    assert "The run ended early: The disk is full." in reports(out)
    monkeypatch.setattr(RunFolder, "finish", real)
    assert evaluation("--resume", out)[0] == 0
    assert results(out)["runs"][0]["troubles"] == []


BROWSER = """#!/bin/sh
# one for the terminal: it stays for as long as the page is served
echo "$@" > arguments
cp "${1#file://}" part && mv part opened
while kill -0 $PPID 2> /dev/null; do sleep 0.1; done
"""
QUESTION = "Can a local authority sue a newspaper for libel?"


def client_of(server: Server, page: str = "The page") -> httpx2.Client:
    """A client with the key of the printed address."""
    address, fragment = urldefrag(server.address(page))
    key = fragment.removeprefix("key=")
    return httpx2.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60)


@pytest.mark.thorough
def test_what_the_page_saves_is_evaluated_at_once(
    stores: Path, demo: BuildReport, tmp_path: Path
) -> None:
    collection = demo.manifest.collection
    environment = {"CHROMA_PERSIST_DIRECTORY": str(stores), "CHROMA_COLLECTION_NAME": collection}
    command = (*ATLAS, "eval", "label", "--labels", "mine/labels.jsonl", "--no-browser")
    with running(*command, environment=environment, folder=tmp_path) as server:
        with client_of(server) as client:
            result = client.post("/api/search", json={"question": QUESTION, "k": 20}).json()
            best = result["passages"][0]
            span = {name: best[name] for name in ("document_id", "start", "end")}
            label = {
                "id": "label-1",
                "question": QUESTION,
                "answers": ["No."],
                "marks": {best["passage_id"]: 3},
                "spans": [span | {"quote": best["text"]}],
                "split": "test",
            }
            assert client.put("/api/label", json=label).is_success
        assert server.stop(signal.SIGINT) == 0
    with running(
        *ATLAS, "eval", "--labels", "mine/labels.jsonl", environment=environment, folder=tmp_path
    ) as evaluation:
        assert evaluation.process.wait(120) == 0, evaluation.lines
    assert any("recall" in line for line in evaluation.lines), evaluation.lines


@pytest.mark.thorough
def test_the_answers_of_a_run_are_rated_without_its_collection(tmp_path: Path) -> None:
    folder = kept(made_run("rated", labels=LIGHTHOUSES[:3]), tmp_path)
    command = (*ATLAS, "eval", "rate", str(folder), "--scales", "relevance,tone:0-1")
    sharing = (*command, "--raters", "anna,ben", "--host", "127.0.0.2", "--url")
    sharing += ("http://127.0.0.2:1", "--no-browser")
    with running(*sharing, environment={}, folder=tmp_path) as server:
        assert server.address("The page of ben").startswith("http://127.0.0.2:1/#key=")
        links = {name: server.address(f"The page of {name}") for name in ("anna", "ben")}
        assert server.stop(signal.SIGINT) == 0
    sharing = (*command, "--raters", "anna,ben", "--no-browser")
    with running(*sharing, environment={}, folder=tmp_path) as server:
        for name, link in links.items():
            with client_of(server, f"The page of {name}") as client:
                # a link stays when the page is started again
                assert urldefrag(server.address(f"The page of {name}"))[1] == urldefrag(link)[1]
                about = client.get("/api/rating").json()
                assert [scale["name"] for scale in about["scales"]] == ["relevance", "tone"]
                assert about["rater"] == name
                for label in LIGHTHOUSES[:3]:
                    scores = {"relevance": 4, "tone": int(label.id == "q1")}
                    rationales = {"tone": f"{name} heard it"}
                    body = {"label_id": label.id, "scores": scores, "rationales": rationales}
                    assert client.put("/api/rating", json=body).is_success
        assert server.stop(signal.SIGINT) == 0
    assert len(Ratings(folder).all()) == 6
    # the page of the same run is at the same address again, so that drafts are found
    port = httpx2.URL(server.address("The page of anna")).port
    browser = tmp_path / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o700)
    opening = (*command, "--browser")
    with running(*opening, environment={"BROWSER": f"{browser} %s"}, folder=tmp_path) as again:
        assert httpx2.URL(again.address("The page")).port == port
        with client_of(again) as client:
            result = client.get("/api/ratings", params={"rater": "Anna"}).json()
            assert result["rater"] == "anna"
            assert len(result["ratings"]) == 3
        key = urldefrag(again.address("The page")).fragment
        wait_for(lambda: (tmp_path / "opened").exists(), 60, "the browser")
        assert key not in (tmp_path / "arguments").read_text()
        assert key in (tmp_path / "opened").read_text()
    report = subprocess.run(
        [*ATLAS, "eval", "agreement", str(folder), "--json"], capture_output=True, text=True
    )
    document = json.loads(report.stdout)
    relevance, tone = document["scales"]
    assert relevance["missing"]["krippendorff"].startswith("All ratings are the same")
    assert tone["coefficients"]["cohen"] == 1
    reasons = {rating["rationales"]["tone"] for rating in document["ratings"]}
    assert reasons == {"anna heard it", "ben heard it"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--each", "2"), "name them with --raters"),
        (("--each", "3", "--raters", "anna,ben"), "Each answer needs 3 raters, and there are 2."),
        (("--raters", "anna,ANNA"), "give each rater a name of their own"),
        (("--host", "0.0.0.0"), "--url says which one raters open"),
    ],
)
def test_raters_who_could_not_rate_are_told_before_a_page_is_served(
    evaluation: Command, tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    folder = kept(made_run("rated", labels=LIGHTHOUSES[:3]), tmp_path)
    status, printed, message = evaluation("rate", folder, "--no-browser", *options)
    assert (status, printed) == (1, "")
    assert why in message


def results(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return document


def test_every_run_has_a_folder_with_reports_and_is_told_where(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    status, printed, message = evaluation("--labels", labels, "--today", "2026-01-01", "--json")
    assert status == 0, message
    (folder,) = (tmp_path / "evaluations").iterdir()
    assert "Asked: the 4 of the split test." in message
    assert f"The run is in {folder}.\nReports in {folder}: " in message
    run = RunFolder(folder).load()
    assert folder.name == run.spec.id
    assert run.spec.command == f"atlas eval --labels {labels} --today 2026-01-01 --json"
    assert (str(run.spec.today), run.spec.settings["embedding_model"]) == ("2026-01-01", "hash")
    assert [one.label.id for one in run.scored] == ["q1", "q2", "q4", "q5"]
    assert json.loads(printed)["all"]["recall"]["mean"] == 1
    assert all((folder / name).is_file() for name in REPORTS)
    (folder / "report.html").unlink()
    (folder / "report.html").mkdir()
    for command in (("--resume", folder), ("report", folder)):
        status, _, message = evaluation(*command)
        assert (status, "Not written whole: report.html" in message) == (1, True)


def test_a_sample_is_the_same_for_the_same_seed(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    arguments = ("--labels", labels, "--split", "all", "--limit", 3, "--seed", 7)
    for name in ("one", "other"):
        assert evaluation(*arguments, "--search-only", "--k", 2, "--out", tmp_path / name)[0] == 0
    one, other = (RunFolder(tmp_path / name).load() for name in ("one", "other"))
    assert [each.label for each in one.scored] == [each.label for each in other.scored]
    assert (one.spec.limit, one.spec.seed, len(one.scored)) == (3, 7, 3)
    assert {len(each.reply.passages) for each in one.scored} == {2}


def test_questions_are_filtered_by_a_field_of_their_own(
    evaluation: Command, tmp_path: Path
) -> None:
    row = {"question": "What do sheep give?", "gold_docs": "farm.sheep"}
    rows = [row | {"metadata": {"document_id": id_}} for id_ in ("farm.sheep", "farm.cows")]
    path, out = lines(tmp_path / "filtered.jsonl", *rows), tmp_path / "run"
    arguments = ("--labels", path, "--search-only", "--filter-by", "document_id", "--out", out)
    status, _, message = evaluation(*arguments)
    assert status == 0, message
    assert [one.figures["recall"] for one in RunFolder(out).load().scored] == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--labels", "LABELS", "--out", "."), "foreign.jsonl, which stays as it is"),
        (
            ("--labels", "LABELS", "--limit", 20, "grid", "--k", 3),
            "Before the command grid options do nothing: --labels, --limit. Put them",
        ),
        (
            ("--labels", "LABELS", "--max-cost", 1, "--judge-model", "m"),
            "Without --judge, --judge-model, --max-cost would do nothing. Add --judge.",
        ),
        (("--labels", "FOREIGN", "--out", "run"), "are not for this collection"),
        (("--labels", "LABELS", "--judge", "--out", "run"), "extractive"),
        (("report", "one"), "There is no run 'one'"),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_nothing(
    evaluation: Command,
    labels: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[object, ...],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    foreign = replace(LABELS[0], gold_document_ids=frozenset({"sea.whale"}))
    files = {"LABELS": labels, "FOREIGN": write_labels(tmp_path / "foreign.jsonl", [foreign])}
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    status, _, message = evaluation(*(files.get(str(each), each) for each in arguments))
    assert (status, problem in message) == (1, True), message
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_run_can_end_with_its_judge(
    evaluation: Command,
    labels: Path,
    tmp_path: Path,
    server: OpenAIServer,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.address)
    out = tmp_path / "judged"
    arguments = ("--labels", labels, "--split", "all", "--k", "2", "--out", out)
    status, printed, message = evaluation(
        *arguments, "--judge", "--judge-provider", "openai", "--json"
    )
    assert status == 0, message
    assert "metrics_source: judge, by openai/" in message
    assert RunFolder(out).load().metrics_source == "judge"
    assert json.loads(printed)["all"]["context_recall"]["mean"] == 1
    assert "judge" in (out / "report.md").read_text()

    def failing(*_: object) -> None:
        raise Unavailable("The judge is ill.")

    monkeypatch.setattr("atlas_search.cli.evaluate.judge_run", failing)
    out = tmp_path / "ill"
    arguments = ("--labels", labels, "--limit", 1, "--out", out)
    status, printed, message = evaluation(*arguments, "--judge", "--judge-provider", "openai")
    assert (status, "k10_extractive, test split" in printed) == (1, True)
    assert f"The run is in {out}." in message
    assert message.splitlines()[-1] == "atlas: The judge is ill."
    assert (out / "report.html").is_file()


MANY = 2000
"""Questions that an interrupt surely comes before the end of."""


def replies(out: Path) -> list[str]:
    path = out / REPLIES
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.thorough
@pytest.mark.parametrize("parallel", [1, 2])
def test_an_interrupt_leaves_figures_and_says_how_to_go_on(
    tmp_path: Path, embedder: LocalEmbedder, parallel: int
) -> None:
    stores = build_farm(tmp_path / "stores", embedder).parent
    many = [replace(LABELS[n % 6], id=f"q{n}", split="test") for n in range(MANY)]
    labels, out = write_labels(tmp_path / "many.jsonl", many), tmp_path / "run"
    environment = {"CHROMA_PERSIST_DIRECTORY": str(stores), "CHROMA_COLLECTION_NAME": "farm"}
    command = (*ATLAS, "eval", "--labels", labels, "--out", out, "--parallel", str(parallel))
    with running(*command, environment=environment, folder=tmp_path) as process:
        wait_for(lambda: len(replies(out)) > 3 or None, 120, "some replies")
        os.kill(process.process.pid, signal.SIGINT)
        assert process.process.wait(60) == 130
        wait_for(lambda: any("--resume" in line for line in process.lines) or None, 30, "its end")
    assert f"Go on: atlas eval --resume {out}" in process.lines
    run = RunFolder(out).load()
    assert run.spec.settings["embedding_model"].endswith("all-MiniLM-L6-v2")
    assert 3 < len(run.scored) == len(replies(out)) < MANY
    assert f"{MANY - len(run.scored)} questions were not asked." in process.lines
