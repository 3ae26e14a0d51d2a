"""What the reports of a run tell, held to runs made by hand."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from atlas_search.evaluation import plots
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.plots import PlotPanel, PlotPoint, Series
from atlas_search.evaluation.report_analysis import findings, read_runs, worst
from atlas_search.evaluation.report_blocks import Plot, ReportText
from atlas_search.evaluation.report_files import write_reports
from atlas_search.evaluation.report_plots import quality
from atlas_search.evaluation.statistics import share_interval
from tests.evaluation.reported import (
    LIGHTS,
    NOWHERE,
    QUESTIONS,
    failed,
    made,
    right,
    searched,
    wrong,
)
from tests.replies import reply

FILES = {"results.json", "per_question.csv", "report.md", "report.html"}


def results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


def rows(folder: Path) -> list[dict[str, str]]:
    text = (folder / "per_question.csv").read_text()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """q1 is declined and not found, q2 cites the pier, q3 failed; all else is right."""
    replies = {
        "q1": wrong(LIGHTS[1]),
        "q2": reply("ANSWER", "Tall.", found=["coast.pier", "coast.light2"], cited=["coast.pier"],
                    label_id="q2"),
        "q3": failed(LIGHTS[3]),
    }  # fmt: skip
    folder = made(tmp_path / "run", replies).path
    written = write_reports(folder)
    assert set(written.files) == FILES
    assert written.faults == ()
    return folder


def test_every_slice_has_its_figures_with_interval_and_count(run: Path) -> None:
    (told,) = results(run)["runs"]
    assert told["questions"] == {"asked": 9, "failed": 1, "unasked": 0, "unjudged": 0, "lacking": 0}
    assert list(told["figures"]) == [
        "all", "category.height", "category.keeper", "category.unanswerable",
        "corpus.coast", "corpus.island", "split.dev", "split.test",
    ]  # fmt: skip
    recall = told["figures"]["all"]["recall"]
    assert (recall["mean"], recall["questions"]) == (6 / 7, 7)
    assert recall["low"] < 6 / 7 < recall["high"]
    # 1, 5 and 7 are the island's, and 3, which failed
    assert told["figures"]["corpus.island"]["recall"]["mean"] == 2 / 3
    assert told["metrics_source"] == "heuristic"
    assert told["sources"]["faithfulness"] == "heuristic"


def test_decisions_operations_and_confidence_are_told(run: Path) -> None:
    (told,) = results(run)["runs"]
    assert told["decisions"] == [
        {"expected": "ABSTAIN", "taken": "ABSTAIN", "questions": 1},
        {"expected": "ANSWER", "taken": "ABSTAIN", "questions": 1},
        {"expected": "ANSWER", "taken": "ANSWER", "questions": 6},
    ]
    took = told["operations"]
    assert took["stages_ms"]["embed"]["p50"] == 4
    assert took["cost_per_100"] == pytest.approx(100 * 5 * 0.01 / 8)
    (bin_,) = told["reliability"]
    assert (bin_["low"], bin_["answers"], bin_["right"]) == (0.8, 5, 1)
    assert told["coverage"][-1]["coverage"] == 6 / 8
    assert told["errors"] == {"The server is busy.": ["q3"]}


def test_what_to_look_at_is_by_rule(run: Path) -> None:
    (told,) = read_runs([run])
    found = {(each.stage, each.questions, each.of) for each in findings(told.scored)}
    assert found == {
        ("asking", ("q3",), 9),
        ("retrieval", ("q1",), 7),
        ("citation", ("q2",), 6),
    }


def test_the_worst_are_wrong_decisions_then_what_was_not_found_then_low_f1(tmp_path: Path) -> None:
    replies = {
        "q1": reply("ANSWER", "1 metres or 100", found=["island.light1"], label_id="q1"),
        "q2": reply("ANSWER", "2 metres", found=["coast.pier"], label_id="q2"),
        "q4": reply("ABSTAIN", found=["coast.light4"], label_id="q4"),
        "q5": wrong(LIGHTS[5]),
        "q6": reply("ANSWER", "Tall.", found=["coast.light6"], label_id="q6"),
        "q8": reply("ANSWER", "Nobody.", found=["coast.pier"], label_id="q8"),
    }
    (told,) = read_runs([made(tmp_path / "run", replies).path])
    # q8 has neither gold nor F1: a wrong decision all the same
    assert [one.label.id for one in worst(told.scored)] == ["q5", "q4", "q8", "q2", "q6", "q1"]


def test_the_markdown_shows_what_was_retrieved_instead(run: Path) -> None:
    text = (run / "report.md").read_text()
    worst_ = text[text.index("## Worst questions") :]
    first = worst_[worst_.index("### How tall is lighthouse 1?") :].split("###")[1]
    assert "ABSTAIN: abstain" in first
    assert r"| coast.pier (coast.pier) | p. 1 | - | - | 1 | 0.500 |" in first.replace("\\", "")
    assert "| Gold | island.light1 |" in first
    second = worst_[worst_.index("### How tall is lighthouse 2?") :].split("###")[1]
    assert "| gold |" in second
    assert "**Note:** 1 of 9 questions failed" in text
    assert re.search(r"\| Expected \| Took ANSWER \|.*\n.*\n\| ANSWER \| 6 \| 1 \| 0 \|", text)


def test_the_table_has_a_row_for_each_question_and_every_figure(run: Path) -> None:
    found = {row["question_id"]: row for row in rows(run)}
    assert list(found) == [label.id for label in QUESTIONS]
    assert found["q1"]["decision"] == "ABSTAIN"
    assert (found["q1"]["gold"], found["q1"]["found"]) == ("island.light1", "coast.pier")
    assert (found["q1"]["recall"], found["q8"]["recall"]) == ("0.0", "")
    assert (found["q2"]["cited"], found["q2"]["decided"]) == ("coast.pier", "1.0")
    assert (found["q3"]["error"], found["q3"]["failed"]) == ("The server is busy.", "1.0")
    assert found["q0"]["likelihood"] == "0.8"


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    label = Label("=q", "test", "+cat", '=HYPERLINK("http://x")', ("@SUM(1)",))
    folder = made(tmp_path / "run", {"=q": right(LIGHTS[0]).model_copy(update={"label_id": "=q"})},
                  [label])  # fmt: skip
    write_reports(folder.path)
    (row,) = rows(folder.path)
    for column in ("question_id", "category", "question", "references"):
        assert row[column].startswith("'")


def test_each_plot_has_its_figures_in_the_page(run: Path) -> None:
    page = (run / "report.html").read_text()
    plots = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert plots == [
        "Retrieval at each depth", "Quality by category", "Quality by corpus",
        "Balance of the corpora", "Reliability of the likelihood", "Coverage against precision",
    ]  # fmt: skip
    assert len(re.findall(r'<svg role="img" aria-label="[^"]{40,}"', page)) == len(plots)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert "#fe00" not in page


def test_runs_stand_side_by_side_by_k_and_configuration(tmp_path: Path) -> None:
    folders = []
    for reranker in ("fused", "lexical"):
        for k in (3, 5):
            options = {"search_k": k, "reranker": reranker}
            bad = {"q1": wrong(LIGHTS[1])} if k == 3 else {}
            name = f"k10_k{k}_{reranker}"
            folders.append(made(tmp_path / name, bad, id=name, options=options).path)
    out = tmp_path / "out"
    written = write_reports(*folders, out=out)
    assert set(written.files) == FILES
    assert [run["name"] for run in results(out)["runs"]] == [folder.name for folder in folders]
    assert len(rows(out)) == 4 * len(QUESTIONS)
    page = (out / "report.html").read_text()
    told = "Recall of fused: 0.88 at k=3, 1.00 at k=5; Recall of lexical: 0.88 at k=3"
    assert f"figures against the number k of passages. {told}" in page
    assert "<figcaption>Quality against time</figcaption>" in page
    assert "2 of 4 (50%)" in page  # of the runs get q1 wrong


def test_a_question_without_gold_may_have_an_answer(tmp_path: Path) -> None:
    unknown = Label("q1", "test", "", "Who keeps it?", ("Ada",), frozenset())
    came = {label.id: reply("ANSWER", "Nobody.", label_id=label.id) for label in (unknown, NOWHERE)}
    folder = made(tmp_path / "run", came, [unknown, NOWHERE]).path
    write_reports(folder)
    text = (folder / "report.md").read_text()
    assert "| Gold | not known |" in text
    assert "| Gold | none: the collection lacks the answer |" in text


def test_of_several_runs_only_wrong_questions_are_told(tmp_path: Path) -> None:
    bare = Label("bare", "test", "", "How tall is it?", (), frozenset({"coast.light0"}))
    came = reply("ABSTAIN", found=["coast.pier", "coast.light0"], label_id="bare")
    labels = (*LIGHTS, bare)
    folders = [made(tmp_path / name, {"bare": came}, labels).path for name in ("a", "b")]
    write_reports(*folders, out=tmp_path)
    told = (tmp_path / "report.md").read_text().partition("## Worst questions")[2]
    rows_ = [line for line in told.partition("\n## ")[0].splitlines() if line.startswith("| ")][2:]
    assert [row.split(" | ")[0] for row in rows_] == ["| bare"]
    assert rows_[0].endswith(r"| 0 of 2 (0%) | \- |")  # an F1 it has none
    right_ones = [made(tmp_path / name, None, LIGHTS).path for name in ("c", "d")]
    write_reports(*right_ones, out=tmp_path)
    assert "Nothing is wrong with a question" in (tmp_path / "report.md").read_text()


def test_of_searches_the_reciprocal_rank_is_told(tmp_path: Path) -> None:
    came = {label.id: searched(label) for label in QUESTIONS}
    folders = [made(tmp_path / name, came, search_only=True).path for name in ("a", "b")]
    write_reports(*folders, out=tmp_path)
    assert "| Runs that found nothing gold | Reciprocal rank |" in (
        (tmp_path / "report.md").read_text()
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"collection_version": "v2"},
        {"corpora": ("coast",)},
        {"search_only": True},
        {"settings": {"embedding_model": "other"}},
        {"limit": 9, "seed": 1},
        {"labels": {"name": "lights.jsonl", "sha256": "cd" * 32, "split": "", "questions": 9}},
    ],
)
def test_lines_join_runs_that_differ_in_k_alone(tmp_path: Path, changes: dict[str, object]) -> None:
    shallow, deep = ({"options": {"search_k": k}} for k in (3, 5))
    one = made(tmp_path / "one", **shallow)
    same, other = made(tmp_path / "same", **deep), made(tmp_path / "other", **deep)
    said = json.loads((other.path / "run.json").read_text())
    (other.path / "run.json").write_text(json.dumps(said | changes))
    joined, apart = (read_runs([one.path, folder.path]) for folder in (same, other))
    assert isinstance(quality(joined).blocks[0], Plot)
    assert quality(apart).blocks[0] == ReportText("The runs do not differ in k alone.")


def test_runs_whose_questions_all_failed_have_no_quality(tmp_path: Path) -> None:
    folders = [
        made(
            tmp_path / f"k{k}",
            {label.id: failed(label) for label in QUESTIONS},
            options={"search_k": k},
        ).path
        for k in (3, 5)
    ]
    assert write_reports(*folders, out=tmp_path / "out").faults == ()
    page = (tmp_path / "out" / "report.html").read_text()
    assert "could not be drawn" not in page


def test_a_series_looks_the_same_in_every_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(plots, "svg_of", lambda figure, _: drawn.append(figure) or "")
    series = {name: Series(name, (PlotPoint(3, 0.5, 0.4, 0.6),)) for name in "abc"}
    panels = [
        PlotPanel("Recall", (series["b"], series["c"])),
        PlotPanel("F1", (series["a"], series["b"])),
    ]
    plots.lines("x", panels, "k")
    (figure,) = drawn
    looks: dict[str, set[tuple[object, object]]] = {}
    for ax in figure.axes:
        for container in ax.containers:
            line = container[0]
            look = (line.get_color(), line.get_marker())
            looks.setdefault(container.get_label(), set()).add(look)
    assert {name: len(found) for name, found in looks.items()} == {"a": 1, "b": 1, "c": 1}
    assert len(set.union(*looks.values())) == 3
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["b", "c", "a"]


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    folders = [made(tmp_path / day / "run").path for day in ("monday", "tuesday")]
    assert [each.name for each in read_runs(folders)] == ["monday/run", "tuesday/run"]


def test_intervals_of_shares_are_wilsons() -> None:
    # https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval: 3 of 3, z = 1.96
    z2 = 1.959963984540054**2
    low, high = share_interval(3, 3)
    assert (low, high) == pytest.approx((3 / (3 + z2), 1))
    low, high = share_interval(0, 3)
    assert (low, high) == pytest.approx((0, z2 / (3 + z2)))


def test_a_search_has_no_decisions(tmp_path: Path) -> None:
    came = {label.id: searched(label) for label in QUESTIONS}
    folder = made(tmp_path / "run", came, search_only=True).path
    assert write_reports(folder).faults == ()
    text = (folder / "report.md").read_text()
    assert "Search only: nothing is answered" in text
    assert "Nothing was decided" in text


def test_an_analysis_knows_who_judged(tmp_path: Path) -> None:
    (run,) = read_runs([made(tmp_path / "run", labels=[NOWHERE]).path])
    assert run.metrics_source == "none"
