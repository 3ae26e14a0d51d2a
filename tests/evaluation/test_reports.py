"""Reports of runs made by hand: what they tell, and that they are written whatever fails."""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from atlas_search.evaluation.folder import REPLIES, SCORES, RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.report_analysis import Analysis, Faults, findings, read_runs, worst
from atlas_search.evaluation.report_blocks import (
    Plot,
    Report,
    ReportSection,
    Table,
    as_html,
    as_markdown,
)
from atlas_search.evaluation.report_files import write_reports
from atlas_search.evaluation.report_sections import SECTIONS, report_of
from tests.evaluation.reported import (
    LIGHTS,
    NOWHERE,
    QUESTIONS,
    REPORTS,
    failed,
    made,
    right,
    searched,
    spec,
    unjudged,
    wrong,
)
from tests.replies import passage, reply


def results(folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return result


def rows(folder: Path) -> list[dict[str, str]]:
    text = (folder / "per_question.csv").read_text()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """q1 is declined and not found, q2 cites the pier, q3 failed; all else is right."""
    replies = {
        "q1": wrong(LIGHTS[1]),
        "q2": reply("ANSWER", "Tall.", found=["coast.pier", "coast.light2"], cited=["coast.pier"],
                    label_id="q2"),
        "q3": failed(LIGHTS[3]),
    }  # fmt: skip
    folder = made(tmp_path_factory.mktemp("reported") / "run", replies).path
    written = write_reports(folder)
    assert set(written.files) == set(REPORTS)
    assert written.faults == ()
    return folder


def test_every_slice_has_its_figures_with_interval_and_count(run: Path) -> None:
    (report,) = results(run)["runs"]
    assert report["questions"] == {
        "asked": 9,
        "failed": 1,
        "unasked": 0,
        "unjudged": 0,
        "lacking": 0,
    }
    assert list(report["figures"]) == [
        "all", "category.height", "category.keeper", "category.unanswerable",
        "corpus.coast", "corpus.island", "split.dev", "split.test",
    ]  # fmt: skip
    recall = report["figures"]["all"]["recall"]
    assert (recall["mean"], recall["questions"]) == (6 / 7, 7)
    assert recall["low"] < 6 / 7 < recall["high"]
    # 1, 5 and 7 are the island's, and 3, which failed
    assert report["figures"]["corpus.island"]["recall"]["mean"] == 2 / 3
    assert report["metrics_source"] == "heuristic"
    assert report["sources"]["faithfulness"] == "heuristic"


def test_decisions_operations_and_confidence_are_told(run: Path) -> None:
    (report,) = results(run)["runs"]
    assert report["decisions"] == [
        {"expected": "ABSTAIN", "taken": "ABSTAIN", "questions": 1},
        {"expected": "ANSWER", "taken": "ABSTAIN", "questions": 1},
        {"expected": "ANSWER", "taken": "ANSWER", "questions": 6},
    ]
    took = report["operations"]
    assert took["stages_ms"]["embed"]["p50"] == 4
    assert took["cost_per_100"] == pytest.approx(100 * 5 * 0.01 / 8)
    (bin_,) = report["reliability"]
    assert (bin_["low"], bin_["answers"], bin_["right"]) == (0.8, 5, 1)
    assert report["coverage"][-1]["coverage"] == 6 / 8
    assert report["errors"] == {"The server is busy.": ["q3"]}


def test_what_to_look_at_is_by_rule(run: Path) -> None:
    (report,) = read_runs([run])
    result = {(each.stage, each.questions, each.of) for each in findings(report.scored)}
    assert result == {
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
    (report,) = read_runs([made(tmp_path / "run", replies).path])
    # q8 has neither gold nor F1: a wrong decision all the same
    assert [one.label.id for one in worst(report.scored)] == ["q5", "q4", "q8", "q2", "q6", "q1"]


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
    result = {row["question_id"]: row for row in rows(run)}
    assert list(result) == [label.id for label in QUESTIONS]
    assert result["q1"]["decision"] == "ABSTAIN"
    assert (result["q1"]["gold"], result["q1"]["found"]) == ("island.light1", "coast.pier")
    assert (result["q1"]["recall"], result["q8"]["recall"]) == ("0.0", "")
    assert (result["q2"]["cited"], result["q2"]["decided"]) == ("coast.pier", "1.0")
    assert (result["q3"]["error"], result["q3"]["failed"]) == ("The server is busy.", "1.0")
    assert result["q0"]["likelihood"] == "0.8"


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
        "Quality by category", "Quality by corpus",
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
    assert set(written.files) == set(REPORTS)
    assert [run["name"] for run in results(out)["runs"]] == [folder.name for folder in folders]
    assert len(rows(out)) == 4 * len(QUESTIONS)
    page = (out / "report.html").read_text()
    assert "First k documents of k10_k3_fused" in page
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
    report = (tmp_path / "report.md").read_text().partition("## Worst questions")[2]
    rows_ = [line for line in report.partition("\n## ")[0].splitlines() if line.startswith("| ")][
        2:
    ]
    assert [row.split(" | ")[0] for row in rows_] == ["| bare"]
    assert rows_[0].endswith(r"| 0 of 2 (0%) | \- |")  # an F1 it has none
    right_ones = [made(tmp_path / name, None, LIGHTS).path for name in ("c", "d")]
    write_reports(*right_ones, out=tmp_path)
    assert "Nothing is wrong with a question" in (tmp_path / "report.md").read_text()


HOSTILE = "<script>alert(1)</script>\x00\x1b[31m \u202eevil | `x` $\\frac{a}$ [a](b) \u05e9\u05dc"


@pytest.mark.parametrize("name", REPORTS)
def test_a_file_that_cannot_be_written_costs_no_other(tmp_path: Path, name: str) -> None:
    folder = made(tmp_path / "run").path
    (folder / name).mkdir()  # no file can take the place of a folder
    written = write_reports(folder)
    assert set(written.files) == {*REPORTS} - {name}
    (fault,) = written.faults
    assert fault.report == name
    assert any(remark.startswith(f"Not written whole: {name}") for remark in written.remarks)
    assert not list(folder.glob("*.part")) + list(folder.glob(".*.part"))
    if name != "results.json":
        report = json.loads((folder / "results.json").read_text())
        assert [each["report"] for each in report["failed"]] == [name]
        assert name not in report["reports"]


def test_without_matplotlib_the_figures_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "run").path
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    remarks = " ".join(write_reports(folder).remarks)
    assert "pip install 'atlas-research-search[eval]'" in remarks
    page = (folder / "report.html").read_text()
    assert "<svg" not in page
    assert "Figures by category" in page


def test_figures_of_an_earlier_failure_are_not_those_of_the_reply(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {"q1": failed(LIGHTS[1])})
    run.add(right(LIGHTS[1]))  # asked again, and killed before it was judged
    (report,) = read_runs([run.path])
    assert report.unjudged == 1
    assert report.scored[1].figures == {"failed": 0.0}


def _hostile(label: Label) -> Reply:
    text = f"{HOSTILE} {'long ' * 2000}{'x' * 10_000}"
    title = passage("coast.light0").model_copy(update={"title": text, "text": text})
    return reply("ANSWER", text, passages=[title], cited=["coast.light0"], label_id=label.id)


def test_what_sources_and_labels_say_is_text(tmp_path: Path) -> None:
    label = Label(HOSTILE, HOSTILE, HOSTILE, f"{HOSTILE}{'w' * 10_000}", (HOSTILE,),
                  frozenset({"coast.light0", f"{HOSTILE}.x"}))  # fmt: skip
    error = failed(LIGHTS[0], HOSTILE)
    replies = {label.id: _hostile(label), "q0": error}
    run = made(tmp_path / "run", replies, [label, LIGHTS[0]], target=HOSTILE)
    written = write_reports(run.path)
    assert (written.files, written.faults) == (REPORTS, ())
    for name in REPORTS:
        content = (run.path / name).read_bytes()
        assert b"\x00" not in content
        assert b"\x1b" not in content
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "x" * 700 not in page
    assert "more characters)" in page
    assert re.search(r'<h1 dir="auto">Evaluation of &lt;script&gt;', page)
    unescaped = re.findall(
        r"(?<!\\)[<`\[]", (run.path / "report.md").read_text("utf-8").split("## Summary")[1]
    )
    assert unescaped == []


def test_figures_that_this_version_does_not_know(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    path = run.path / "scores.jsonl"
    path.write_text(
        path.read_text().replace('"failed":0.0', '"failed":0.0,"of_old":0.5,"none":NaN')
    )
    written = write_reports(run.path)
    assert (written.files, written.faults) == (REPORTS, ())
    assert "Not known to this version" in (run.path / "report.md").read_text("utf-8")
    report = json.loads((run.path / "results.json").read_text())["runs"][0]
    assert report["figures"]["all"]["of_old"]["mean"] == 0.5
    assert "none" not in report["figures"]["all"]


@pytest.mark.parametrize("name", [REPLIES, SCORES])
def test_a_broken_line_costs_its_question_only(tmp_path: Path, name: str) -> None:
    run = made(tmp_path / "run")
    lines = (run.path / name).read_text().splitlines()
    lines[2] = '{"label_id": "q2", "sec'
    (run.path / name).write_text("".join(f"{line}\n" for line in lines))
    written = write_reports(run.path)
    assert set(written.files) == set(REPORTS)
    (fault,) = written.faults
    assert f"{name}:3" in fault.error
    (failure,) = results(run.path)["failed"]
    assert f"{name}:3" in failure["error"]
    for form in ("md", "html"):
        assert f"{name}:3" in (run.path / f"report.{form}").read_text().replace("\\", "")


def test_a_search_has_no_decisions_and_its_reciprocal_rank_is_told(tmp_path: Path) -> None:
    came = {label.id: searched(label) for label in QUESTIONS}
    folders = [made(tmp_path / name, came, search_only=True).path for name in ("a", "b")]
    assert write_reports(folders[0]).faults == ()
    text = (folders[0] / "report.md").read_text()
    assert "Search only: nothing is answered" in text
    assert "Nothing was decided" in text
    write_reports(*folders, out=tmp_path)
    head = "| Runs that found nothing gold | Reciprocal rank |"
    assert head in (tmp_path / "report.md").read_text()


def unfinished(folder: Path) -> RunFolder:
    run = made(folder)
    lines = (run.path / "replies.jsonl").read_text().splitlines(keepends=True)
    (run.path / "replies.jsonl").write_text("".join(lines[:4]))
    return run


def unasked(folder: Path) -> RunFolder:
    run = RunFolder(folder)
    run.begin(spec(), QUESTIONS)
    return run


def all_failed(folder: Path, count: int = 9) -> RunFolder:
    labels = QUESTIONS[:count]
    return made(folder, {label.id: failed(label) for label in labels}, labels)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (unfinished, "This run is not complete: 5 questions were not asked"),
        (unjudged, "9 replies are not judged yet"),
        (unasked, "No question has a figure"),
        (all_failed, "9 of 9 questions failed"),
        (lambda folder: all_failed(folder, 1), "1 of 1 questions failed"),
        (lambda folder: made(folder, labels=LIGHTS[:1]), "## Summary"),
        (lambda folder: made(folder, options={}, corpora=()), "## Summary"),
    ],
)
def test_a_run_in_any_state_has_all_its_reports(
    tmp_path: Path, make: Callable[[Path], RunFolder], told: str
) -> None:
    run = make(tmp_path / "run")
    written = write_reports(run.path)
    assert (written.files, written.faults) == (REPORTS, ())
    assert told in (run.path / "report.md").read_text(encoding="utf-8")


def test_runs_side_by_side_may_have_no_figures_and_one_name(tmp_path: Path) -> None:
    folders = [made(tmp_path / day / "run").path for day in ("monday", "tuesday")]
    assert [each.name for each in read_runs(folders)] == ["monday/run", "tuesday/run"]
    folders.append(all_failed(tmp_path / "failed").path)
    assert write_reports(*folders, out=tmp_path / "out").faults == ()
    assert "could not be drawn" not in (tmp_path / "out" / "report.html").read_text()
    written = write_reports(tmp_path)
    assert written.files == ()
    assert "is no run of an evaluation" in str(written.faults[0])


def test_a_part_that_fails_is_told_in_its_place_and_leaves_its_figures(tmp_path: Path) -> None:
    def broken(runs: Sequence[Analysis]) -> ReportSection:
        raise ZeroDivisionError(f"of {len(runs)}")

    runs = read_runs([made(tmp_path / "run").path])
    faults = Faults()
    report = report_of(runs, faults, [SECTIONS[0], ("Broken", broken), SECTIONS[1]])
    text = as_markdown(report)
    assert "This part could not be written: ZeroDivisionError: of 1" in text
    assert "## Summary" in text
    table = Table("Figures", ("a", "b"), (("row", "0.42"),))
    plot = Plot("Torn", "Nothing", lambda: str(1 / 0), table)
    page = as_html(Report("r", (ReportSection("s", (plot,)),)), faults)
    assert "This plot could not be drawn: ZeroDivisionError" in page
    assert "0.42" in page
    assert [fault.part for fault in faults.found] == ["Broken", "Torn"]
