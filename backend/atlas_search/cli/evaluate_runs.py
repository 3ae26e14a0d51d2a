"""`atlas eval` on finished runs: judge, compare, gate, export, report, rate."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from atlas_search.atlas import Atlas
from atlas_search.cli.ask import print_whole, printable, printable_json
from atlas_search.cli.evaluate_options import RUN_NAME, RunName, asking_bar, load_run, run_folder
from atlas_search.cli.options import AsJson, TargetChoice
from atlas_search.core.errors import RequestError, SourceError
from atlas_search.core.registry import require
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.calibrate import (
    LOSE,
    CalibrationQuestions,
    calibrate,
    keep,
    labelled_questions,
    make_questions,
)
from atlas_search.evaluation.compare import (
    HEADS,
    MEANING,
    RunComparison,
    compare,
    conclusion,
    heading,
    markdown,
    p_text,
    question_lines,
    row,
)
from atlas_search.evaluation.compare_figures import ALPHA, Baseline
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.gate import (
    Check,
    Gate,
    baseline_of,
    gate,
    read_baseline,
    read_rules,
    write_baseline,
)
from atlas_search.evaluation.label_files import read_labels
from atlas_search.evaluation.label_fit import OpenCollection, fit_labels
from atlas_search.evaluation.labels import Split
from atlas_search.evaluation.phoenix import MOST, annotate_ratings, shown_by, upload_runs
from atlas_search.evaluation.phoenix_api import PhoenixApi, configured_phoenix
from atlas_search.evaluation.report_analysis import calibration_text
from atlas_search.evaluation.report_files import read_replies, write_export, write_reports


def compare_command(
    a: Annotated[str, typer.Argument(metavar="A", help=RUN_NAME)],
    b: Annotated[str, typer.Argument(metavar="B", help=RUN_NAME)],
    every: Annotated[bool, typer.Option("--all", help="Figures that do not differ too")] = False,
    alpha: Annotated[
        float, typer.Option(min=0, max=1, help="Corrected p value below which figures differ")
    ] = ALPHA,
    as_json: AsJson = False,
    file: Annotated[
        Path | None, typer.Option("--markdown", help="Write all of it to this file, too")
    ] = None,
) -> None:
    """Compare run B with run A: figures that differ by more than chance, and changed questions."""
    comparison = compare(load_run(a), load_run(b), alpha=alpha)
    if file:
        file.write_text(markdown(comparison), encoding="utf-8")
    if as_json:
        print(printable_json(plain_comparison(comparison)))
    else:
        _print(comparison, every=every)


def plain_comparison(found: RunComparison) -> dict[str, Any]:
    """A comparison as values of JSON: the runs by what was asked of them."""
    specs = {"a": found.a.model_dump(mode="json"), "b": found.b.model_dump(mode="json")}
    return {
        **specs,
        "alpha": found.alpha,
        **found.plain,
        "differences": [asdict(difference) for difference in found.differences],
        "questions": [asdict(question) for question in found.questions],
    }


def _print(comparison: RunComparison, *, every: bool) -> None:
    console = Console()
    for line in heading(comparison):
        console.print(_text(line), highlight=False)
    console.print(f"\n{conclusion(comparison)}", highlight=False)
    significant = comparison.significant
    others = [one for one in comparison.differences if one not in significant] if every else []
    if significant or others:
        print_whole(console, _comparison_table([row(one) for one in (*significant, *others)]))
        console.print(MEANING, highlight=False)
    for question in comparison.questions:
        first, *rest = question_lines(question)
        console.print(f"\n{_text(first)}", highlight=False)
        for line in rest:
            console.print(f"  {_text(line)}", highlight=False)


def _comparison_table(rows: list[tuple[str, ...]]) -> Table:
    sides = ("left", "left", *["right"] * (len(HEADS) - 3), "left")
    heads = [Column(head, justify=side) for head, side in zip(HEADS, sides, strict=True)]  # type: ignore[arg-type]
    table = Table(*heads, box=None, padding=(0, 1, 0, 0))
    for cells in rows:
        table.add_row(*map(_text, cells))
    return table


def _text(text: str) -> str:
    return escape(str(printable(text)))


FAILED, BROKEN = 1, 2
"""Exit codes: of a run that does not pass, and of rules or runs that cannot be read."""


def gate_command(
    run: RunName,
    rules: Annotated[Path, typer.Option(help="File of rules (TOML)")],
    against: Annotated[
        str | None, typer.Option(help="Another run, or a file that `atlas eval baseline` wrote")
    ] = None,
    allow_fewer: Annotated[
        bool, typer.Option("--allow-fewer", help="Than the baseline has: only those in both count")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Checks that passed too")] = False,
    as_json: AsJson = False,
) -> None:
    """Hold a run to rules. Exit code 1 if it fails one, 2 if rules or runs are broken."""
    try:
        baseline = _baseline(against) if against else None
        verdict = gate(load_run(run), read_rules(rules), baseline, allow_fewer=allow_fewer)
    except SourceError as error:
        print(f"atlas: {error}", file=sys.stderr)
        raise typer.Exit(BROKEN) from error
    if as_json:
        checks = [asdict(check) for check in verdict.checks]
        print(printable_json({"passed": not verdict.failed, "checks": checks, **verdict.plain}))
    else:
        _print_gate(verdict, compared=baseline is not None, every=every)
    if verdict.failed:
        raise typer.Exit(FAILED)


def baseline_command(
    run: RunName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="To write (JSON)")],
    rules: Annotated[
        Path | None, typer.Option(help="Only the figures that these rules compare (TOML)")
    ] = None,
) -> None:
    """Write the figures of a run to one small file that later runs can be held to."""
    loaded = load_run(run)
    write_baseline(loaded, file, read_rules(rules).compared if rules else ())
    print(f"{file}: the figures of {len(loaded.scored)} questions.", file=sys.stderr)


def _baseline(name: str) -> Baseline:
    path = Path(name)
    return read_baseline(path) if path.is_file() else baseline_of(load_run(name))


def _print_gate(verdict: Gate, *, compared: bool, every: bool) -> None:
    console = Console()
    if compared:
        for line in verdict.lines("the baseline", "the run"):
            console.print(escape(str(printable(line))), highlight=False)
    shown = verdict.checks if every else verdict.failed
    if shown:
        print_whole(console, _gate_table(shown))
    failed, all_ = len(verdict.failed), len(verdict.checks)
    console.print(f"{failed or 'None'} of {all_} checks failed.", highlight=False)


def _gate_table(checks: list[Check] | tuple[Check, ...]) -> Table:
    right = [Column(head, justify="right") for head in ("n", "value", "corrected p")]
    table = Table("slice", "figure", "rule", *right, "needed", "", box=None, padding=(0, 1, 0, 0))
    for check in checks:
        cells = (check.slice, check.figure, check.need, str(check.questions))
        numbers = (f"{check.value:.3f}", p_text(check.p) if check.need == "significant" else "")
        passed = "passed" if check.passed else "FAILED"
        table.add_row(*(escape(printable(c)) for c in (*cells, *numbers, check.needed, passed)))
    return table


def export_command(
    run: RunName,
    file: Annotated[Path, typer.Argument(help="File to write; trec adds FILE.qrels")],
    format_: Annotated[
        Literal["ragas", "deepeval", "trec"], typer.Option("--format", help="For whom")
    ],
) -> None:
    """Write a run as a data set that another tool of evaluation reads."""
    folder = RunFolder(run_folder(run))
    came = read_replies(folder)
    paths = write_export(came, format_, file)
    unasked = len(folder.labels()) - len(came.scored)
    lines = [f"Written: {', '.join(map(str, paths))}."]
    if failed := len(came.failed):
        lines.append(f"Left out: {failed} that failed.")
    if unasked:
        lines.append(f"Left out: {unasked} that were not asked.")
    print(*lines, file=sys.stderr)


def report_command(
    runs: Annotated[
        list[str], typer.Argument(help=f"{RUN_NAME}, or of a grid; several stand side by side")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder (default: that of the one run or grid)")
    ] = None,
) -> None:
    """Write results.json, per_question.csv, report.md and report.html of runs."""
    require("eval", "An evaluation")
    if len(runs) > 1 and out is None:
        raise RequestError("Several runs have no folder in common. Name one with --out.")
    written = write_reports(*map(run_folder, runs), out=out)
    print(*written.remarks, sep="\n", file=sys.stderr)
    sys.exit(bool(written.faults))


TRIES = 6


def phoenix_command(
    runs: Annotated[list[str], typer.Argument(help=f"{RUN_NAME}; several of the same labels")],
    name: Annotated[
        str, typer.Option(help="Of the dataset (default: that of the labels' file)")
    ] = "",
) -> None:
    """Upload labels as a dataset and each run as an experiment, and print where to compare them."""
    require("eval", "An evaluation")
    print(show_in_phoenix([RunFolder(run_folder(run)) for run in runs], name))


def show_in_phoenix(folders: Sequence[RunFolder], name: str = "") -> str:
    """Upload runs; the address of the page that compares them. Raises AtlasError.

    What is not uploaded is said on stderr.
    """
    settings = load_settings()
    at, shown = configured_phoenix(settings), shown_by(settings)
    with PhoenixApi(at.base, at.headers, tries=TRIES) as api:
        uploaded = upload_runs(folders, api, shown, asking_bar, name)
        lost = [one for each in folders for one in annotate_ratings(each, api, shown, asking_bar)]
    if lost:
        print(f"{len(lost)} ratings are of answers without a trace there.", file=sys.stderr)
    if uploaded.left_out:
        names = ", ".join(sorted(uploaded.left_out))
        print(f"Phoenix shows {MOST} figures of a question. Left out: {names}.", file=sys.stderr)
    if not shown.content:
        print("TRACE_CONTENT=0: ids and figures were uploaded, no texts.", file=sys.stderr)
    return uploaded.page(settings.phoenix_url or at.base)


MADE = 300
"""Questions made from a collection that has no labels."""


def calibrate_command(
    collection: Annotated[
        str, typer.Argument(help="Name of a collection (default: the configured one)")
    ] = "",
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Label set, of which the dev split is asked; default: questions "
            "made from the collection, and everyday ones"
        ),
    ] = None,
    questions: Annotated[
        int, typer.Option(min=1, help="Questions to make from the collection")
    ] = MADE,
    lose: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Share of good questions that may be lost")
    ] = LOSE,
    target: TargetChoice = None,
    as_json: AsJson = False,
    dry_run: Annotated[bool, typer.Option(help="Write nothing")] = False,
) -> None:
    """Choose how much evidence an answer needs, and keep it in the collection's manifest."""
    with Atlas.open(collection) as atlas:
        services = atlas.services
        question_set = (
            _read_labelled(atlas, labels) if labels else make_questions(services.store, questions)
        )
        name, by = services.target(target)
        with asking_bar() as progress:
            calibration = calibrate(atlas, question_set, name, lose, datetime.now(UTC), progress)
    manifest = services.store.manifest
    if not dry_run:
        keep(services.settings.collection_folder, manifest.version, calibration)
    if as_json:
        print(calibration.model_dump_json(indent=2))
    else:
        before = services.answerer.threshold(by.model_copy(update={"answer_threshold": None}))
        print(calibration_text(manifest.collection, calibration, before, kept=not dry_run))


def _read_labelled(atlas: Atlas, path: Path) -> CalibrationQuestions:
    labels = read_labels(path).of_split(Split.DEV)
    return labelled_questions(fit_labels(labels, OpenCollection(atlas)).labels)
