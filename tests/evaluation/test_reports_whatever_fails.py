"""Reports are written whatever fails, and say what did."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.report_analysis import Analysis, Faults, read_runs
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
from tests.evaluation.reported import LIGHTS, QUESTIONS, begun, failed, made, right
from tests.replies import passage, reply
from tests.test_extras import HIDE

FILES = ["per_question.csv", "report.md", "report.html", "results.json"]
HOSTILE = "<script>alert(1)</script>\x00\x1b[31m \u202eevil | `x` $\\frac{a}$ [a](b) \u05e9\u05dc"


def text_of(folder: Path) -> str:
    return (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_written_costs_no_other(tmp_path: Path, name: str) -> None:
    folder = made(tmp_path / "run").path
    (folder / name).mkdir()  # no file can take the place of a folder
    written = write_reports(folder)
    assert set(written.files) == {*FILES} - {name}
    (fault,) = written.faults
    assert fault.report == name
    assert any(remark.startswith(f"Not written whole: {name}") for remark in written.remarks)
    assert not list(folder.glob("*.part")) + list(folder.glob(".*.part"))
    if name != "results.json":
        told = json.loads((folder / "results.json").read_text())
        assert [each["report"] for each in told["failed"]] == [name]
        assert name not in told["reports"]


def _broken(runs: Sequence[Analysis]) -> ReportSection:
    raise ZeroDivisionError(f"of {len(runs)}")


def test_a_part_that_fails_is_told_in_its_place(tmp_path: Path) -> None:
    runs = read_runs([made(tmp_path / "run").path])
    faults = Faults()
    report = report_of(runs, faults, [SECTIONS[0], ("Broken", _broken), SECTIONS[1]])
    assert [fault.part for fault in faults.found] == ["Broken"]
    text = as_markdown(report)
    assert "This part could not be written: ZeroDivisionError: of 1" in text
    assert "## Summary" in text


def test_a_plot_that_fails_leaves_its_figures() -> None:
    table = Table("Figures", ("a", "b"), (("row", "0.42"),))
    plot = Plot("Broken", "Nothing", lambda: str(1 / 0), table)
    faults = Faults()
    page = as_html(Report("r", (ReportSection("s", (plot,)),)), faults)
    assert "This plot could not be drawn: ZeroDivisionError" in page
    assert "0.42" in page
    assert [fault.part for fault in faults.found] == ["Broken"]


def test_without_matplotlib_the_figures_are_there(tmp_path: Path) -> None:
    folder = made(tmp_path / "run").path
    code = HIDE.format(hidden={"matplotlib"}) + (
        "from pathlib import Path\n"
        "from atlas_search.evaluation.report_files import write_reports\n"
        "print(*write_reports(Path(sys.argv[1])).remarks)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    assert "pip install 'atlas-research-search[eval]'" in done.stdout
    page = (folder / "report.html").read_text()
    assert "<svg" not in page
    assert "Figures by category" in page


def test_a_run_that_was_interrupted_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    run = made(tmp_path / "run", labels=QUESTIONS)
    lines = (run.path / "replies.jsonl").read_text().splitlines(keepends=True)
    (run.path / "replies.jsonl").write_text("".join(lines[:4]))
    assert write_reports(run.path).files == tuple(FILES)
    assert "This run is not complete: 5 questions were not asked" in text_of(run.path)


def test_a_run_that_was_killed_before_it_was_judged(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    assert write_reports(run.path).faults == ()
    assert "9 replies are not judged yet" in text_of(run.path)
    told = json.loads((run.path / "results.json").read_text())["runs"][0]["questions"]
    assert told == {"asked": 9, "failed": 0, "unasked": 0, "unjudged": 9, "lacking": 0}


def test_figures_of_an_earlier_failure_are_not_those_of_the_reply(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {"q1": failed(LIGHTS[1])})
    run.add(right(LIGHTS[1]))  # asked again, and killed before it was judged
    (told,) = read_runs([run.path])
    assert told.unjudged == 1
    assert told.scored[1].figures == {"failed": 0.0}


def test_nothing_was_asked(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    made(tmp_path / "other")
    run.begin(RunFolder(tmp_path / "other").spec(), QUESTIONS)
    written = write_reports(run.path)
    assert (written.files, written.faults) == (tuple(FILES), ())
    assert "No question has a figure" in text_of(run.path)


@pytest.mark.parametrize("count", [1, 9])
def test_every_question_failed(tmp_path: Path, count: int) -> None:
    labels = QUESTIONS[:count]
    run = made(tmp_path / "run", {label.id: failed(label) for label in labels}, labels)
    written = write_reports(run.path)
    assert (written.files, written.faults) == (tuple(FILES), ())
    assert f"{count} of {count} questions failed" in text_of(run.path)


def test_one_question(tmp_path: Path) -> None:
    run = made(tmp_path / "run", labels=LIGHTS[:1])
    written = write_reports(run.path)
    assert (written.files, written.faults) == (tuple(FILES), ())


def test_no_option_is_needed(tmp_path: Path) -> None:
    run = made(tmp_path / "run", options={}, corpora=())
    assert write_reports(run.path, run.path, out=tmp_path / "out").faults == ()


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
    assert (written.files, written.faults) == (tuple(FILES), ())
    for name in FILES:
        content = (run.path / name).read_bytes()
        assert b"\x00" not in content
        assert b"\x1b" not in content
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "x" * 700 not in page
    assert "more characters)" in page
    assert re.search(r'<h1 dir="auto">Evaluation of &lt;script&gt;', page)
    unescaped = re.findall(r"(?<!\\)[<`\[]", text_of(run.path).split("## Summary")[1])
    assert unescaped == []


def test_figures_that_this_version_does_not_know(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    path = run.path / "scores.jsonl"
    path.write_text(
        path.read_text().replace('"failed":0.0', '"failed":0.0,"of_old":0.5,"none":NaN')
    )
    written = write_reports(run.path)
    assert (written.files, written.faults) == (tuple(FILES), ())
    assert "Not known to this version" in text_of(run.path)
    told = json.loads((run.path / "results.json").read_text())["runs"][0]
    assert told["figures"]["all"]["of_old"]["mean"] == 0.5
    assert "none" not in told["figures"]["all"]


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    written = write_reports(tmp_path)
    assert written.files == ()
    assert "is no run of an evaluation" in str(written.faults[0])
