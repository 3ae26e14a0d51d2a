"""A run as a data set of other tools; what TREC tools say of it is what Atlas says."""

import json
from pathlib import Path

import ir_measures
import pytest

from atlas_search.evaluation.exports import FORMATS, count_failed, write_export
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.run import EvalRun
from atlas_search.evaluation.scored import summarise
from tests.evaluation.reported import LIGHTS, failed, made, right, wrong
from tests.replies import reply

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
    assert count_failed(run) == 1
    assert samples[0] == {
        "user_input": "How tall is lighthouse 0?",
        "retrieved_contexts": ["Something.", "Something."],
        "response": "0 metres",
        "reference": "0 metres",
    }
    assert samples[1]["response"] is None
    assert (samples[-1]["response"], samples[-1]["reference"]) == ("A .", "a\nb")


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


def test_trec_tools_find_the_same_figures(run: EvalRun, tmp_path: Path) -> None:
    ranked, qrels = write_export(run, "trec", tmp_path / "run.trec")
    assert ranked.read_text().splitlines()[-1] == (
        "two%20gold Q0 coast.pier 2 0.500000 k10%20sentences_lights"
    )
    assert "two%20gold 0 coast.a 2" in qrels.read_text()
    measures = [ir_measures.parse_measure(name) for name in ("R@5", "nDCG@5", "RR@5", "AP@5")]
    told = ir_measures.iter_calc(
        measures,
        list(ir_measures.read_trec_qrels(str(qrels))),
        list(ir_measures.read_trec_run(str(ranked))),
    )
    values: dict[str, list[float]] = {}
    for each in told:
        if each.query_id != "q3":  # it failed, which is no figure of a ranking
            values.setdefault(str(each.measure), []).append(each.value)
    own = summarise(run.scored)
    for measure, name in (("R@5", "recall@5"), ("nDCG@5", "ndcg@5"), ("RR@5", "mrr@5"),
                          ("AP@5", "map@5")):  # fmt: skip
        found = values[measure]
        assert len(found) == own[name].questions == 8
        assert sum(found) / len(found) == pytest.approx(own[name].mean)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_run_where_all_failed_is_an_empty_set(format_: str, tmp_path: Path) -> None:
    label = LIGHTS[0]
    run = made(tmp_path / "run", {label.id: failed(label)}, [label]).load()
    path, *_ = write_export(run, format_, tmp_path / "set")
    assert path.read_text().strip() in ("", "[]")


def test_an_answer_that_cites_is_without_its_tokens(tmp_path: Path) -> None:
    came = right(LIGHTS[0])
    assert came.answer
    said = came.answer.model_copy(update={"answer": "0 metres [coast.light0 p1]."})
    run = made(tmp_path / "run", {"q0": came.model_copy(update={"answer": said})}, LIGHTS[:1])
    assert json.loads(FORMATS["deepeval"](run.load())[""])[0]["actual_output"] == "0 metres ."
