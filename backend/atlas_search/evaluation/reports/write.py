"""Writing the reports of runs, whatever fails: each file by itself, and none by half."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.as_html import as_html
from atlas_search.evaluation.reports.as_markdown import as_markdown
from atlas_search.evaluation.reports.faults import Fault, Faults
from atlas_search.evaluation.reports.material import read_runs
from atlas_search.evaluation.reports.per_question import per_question
from atlas_search.evaluation.reports.results import NAME, results_json
from atlas_search.evaluation.reports.sections.report import report_of
from atlas_search.evaluation.whole import replace_file


@dataclass(frozen=True)
class Written:
    """The files of a report that were written, and what failed of it."""

    folder: Path
    files: tuple[str, ...]
    faults: tuple[Fault, ...]

    @property
    def remarks(self) -> list[str]:
        """What a command says of it, a sentence for each."""
        files = ", ".join(self.files) or "none"
        failed = [f"Not written whole: {fault}" for fault in self.faults]
        return [f"Reports in {self.folder}: {files}.", *failed]


def write_reports(*folders: Path, out: Path | None = None) -> Written:
    """Write the reports of a run, of a grid, or of several runs side by side.

    They are written to `out`, by default to the first folder. Raises nothing: what fails is among
    the faults, in results.json too.
    """
    faults, target = Faults(), out or folders[0]
    runs = faults.attempt("reports", "", lambda: [Analysis(run) for run in read_runs(folders)])
    if isinstance(runs, Fault) or not runs:
        return Written(target, (), tuple(faults.found))
    faults.found += [Fault(run.name, "", each) for run in runs for each in run.of.damage]
    return Written(target, tuple(_write_all(runs, target, faults)), tuple(faults.found))


def _write_all(runs: Sequence[Analysis], target: Path, faults: Faults) -> list[str]:
    made: dict[str, Callable[[], str]] = {
        "per_question.csv": lambda: per_question(runs),
        "report.md": lambda: as_markdown(report_of(runs, faults)),
        "report.html": lambda: as_html(report_of(runs, faults), faults),
    }
    written = [name for name, make in made.items() if _write(target / name, make, faults)]
    # last: it says which of the others failed
    results = results_json(runs, written, faults, datetime.now(UTC))
    if _write(target / NAME, lambda: results, faults):
        written.append(NAME)
    return written


def _write(path: Path, make: Callable[[], str], faults: Faults) -> bool:
    return not isinstance(faults.attempt(path.name, "", lambda: replace_file(path, make())), Fault)
