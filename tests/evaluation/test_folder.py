"""The folder of a run: what it takes from nobody, what of it counts, and its exports."""

import json
import re
from pathlib import Path

import ir_measures
import pytest

from atlas_search.core.errors import AtlasError, SourceError
from atlas_search.evaluation.folder import LABELS, RUN, SCORES, RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.report_files import FORMATS, write_export
from atlas_search.evaluation.run import EvalRun, RunSpec
from atlas_search.evaluation.scored import summarise
from tests.evaluation.farm import Command
from tests.evaluation.made_runs import LABELS as LABELLED
from tests.evaluation.made_runs import kept, made_run, spec
from tests.evaluation.reported import LIGHTS, failed, made, unjudged, wrong
from tests.replies import reply


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", [LABELS, "replies.jsonl", "notes.txt", ".hidden"])
def test_a_folder_of_somebody_elses_is_left_as_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("my own\n")
    with pytest.raises(AtlasError, match=f"{re.escape(name)}.*another folder"):
        RunFolder(tmp_path).begin(spec(), LABELLED)
    assert contents(tmp_path) == {name: b"my own\n"}


def test_a_run_begins_in_a_folder_that_is_empty_but_for_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for own in (".lock", "run.part"):
        (tmp_path / own).touch()
    monkeypatch.chdir(tmp_path)
    RunFolder(Path()).begin(spec(), LABELLED)
    assert RunFolder(tmp_path).labels() == list(LABELLED)
    assert RunFolder(tmp_path).spec() == spec()


@pytest.mark.parametrize("there", [True, False])
def test_a_beginning_that_broke_off_leaves_nothing_and_can_be_made_again(
    tmp_path: Path, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFolder(tmp_path / "run")
    if there:
        run.path.mkdir()

    def broken(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(RunSpec, "model_dump_json", broken)
    with pytest.raises(KeyboardInterrupt):
        run.begin(spec(), LABELLED)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.rglob("*")] == ["run"] * there
    run.begin(spec(), LABELLED)
    assert run.labels() == list(LABELLED)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (RUN, b"\xff\xfe{}"),
        (RUN, b'{"id": "x"}'),
        (LABELS, b'{"id": "q0"}\n'),
        (SCORES, b'{"label_id": "q0", "figures": 3}\n'),
        ("replies.jsonl", b'{"seconds": "long"}\n'),
        (SCORES, b"[1, \n"),
    ],
)
def test_a_file_that_is_damaged_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    run = RunFolder(kept(made_run(), tmp_path))
    (run.path / name).write_bytes(content)
    with pytest.raises(SourceError, match=name):
        run.load()


MIXED = Label("two gold", "test", "", "Which?", ("a\nb",), frozenset({"coast.a", "coast.pier"}),
              grades={"coast.a": 2})  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> EvalRun:
    replies = {
        "q1": wrong(LIGHTS[1]),
        "q3": failed(LIGHTS[3]),
        "two gold": reply("ANSWER", "A [coast.a p1].", found=["coast.b", "coast.pier", "coast.b"],
                          cited=["coast.pier"], label_id="two gold"),
    }  # fmt: skip
    return made(tmp_path / "run", replies, (*LIGHTS, MIXED)).load()


def test_ragas_reads_samples(run: EvalRun, tmp_path: Path) -> None:
    (path,) = write_export(run, "ragas", tmp_path / "set.jsonl")
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(samples) == 8
    assert len(run.failed) == 1
    assert samples[0] == {
        "user_input": "How tall is lighthouse 0?",
        "retrieved_contexts": ["Something.", "Something."],
        "response": "0 metres",
        "reference": "0 metres",
    }
    assert samples[1]["response"] is None
    assert (samples[-1]["response"], samples[-1]["reference"]) == ("A .", "a\nb")


def test_trec_tools_find_the_same_figures(run: EvalRun, tmp_path: Path) -> None:
    ranked, qrels = write_export(run, "trec", tmp_path / "run.trec")
    assert ranked.read_text().splitlines()[-1] == (
        "two%20gold Q0 coast.pier 2 0.500000 k10%20sentences_lights"
    )
    assert "two%20gold 0 coast.a 2" in qrels.read_text()
    measures = [ir_measures.parse_measure(name) for name in ("R@5", "nDCG@5", "RR@5", "AP@5")]
    report = ir_measures.iter_calc(
        measures,
        list(ir_measures.read_trec_qrels(str(qrels))),
        list(ir_measures.read_trec_run(str(ranked))),
    )
    values: dict[str, list[float]] = {}
    for each in report:
        if each.query_id != "q3":  # it failed, which is no figure of a ranking
            values.setdefault(str(each.measure), []).append(each.value)
    own = summarise(run.scored)
    for measure, name in (("R@5", "recall@5"), ("nDCG@5", "ndcg@5"), ("RR@5", "mrr@5"),
                          ("AP@5", "map@5")):  # fmt: skip
        result = values[measure]
        assert len(result) == own[name].questions == 8
        assert sum(result) / len(result) == pytest.approx(own[name].mean)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_run_where_all_failed_is_an_empty_set(format_: str, tmp_path: Path) -> None:
    label = LIGHTS[0]
    run = made(tmp_path / "run", {label.id: failed(label)}, [label]).load()
    path, *_ = write_export(run, format_, tmp_path / "set")
    assert path.read_text().strip() in ("", "[]")


def test_a_run_that_was_not_judged_is_exported_too(evaluation: Command, tmp_path: Path) -> None:
    run = unjudged(tmp_path / "run", {"q1": failed(LIGHTS[1])})
    lines = (run.path / "replies.jsonl").read_text().splitlines(keepends=True)
    (run.path / "replies.jsonl").write_text("".join(lines[:4]))
    out = tmp_path / "set"
    status, _, message = evaluation("export", run.path, out, "--format", "ragas")
    assert status == 0
    assert len(out.read_text().splitlines()) == 3
    assert "Left out: 1 that failed. Left out: 5 that were not asked." in message
    assert {path.name for path in tmp_path.iterdir()} == {"run", "set"}


def test_deepeval_reads_test_cases(run: EvalRun, tmp_path: Path) -> None:
    (path,) = write_export(run, "deepeval", tmp_path / "cases.json")
    cases = json.loads(path.read_text())
    assert len(cases) == 8
    assert cases[1] == {
        "input": "How tall is lighthouse 1?",
        "actual_output": "",
        "expected_output": "1 metres",
        "retrieval_context": ["Something."],
    }
    assert cases[-1]["actual_output"] == "A ."  # without its token
