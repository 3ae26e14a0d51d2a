"""The report as a whole, from its sections; one that fails is told, and costs no other."""

from collections.abc import Callable, Sequence

from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Report, Section, Words
from atlas_search.evaluation.reports.faults import Fault, Faults
from atlas_search.evaluation.reports.sections.about import about
from atlas_search.evaluation.reports.sections.confidence import confidence, decisions
from atlas_search.evaluation.reports.sections.depth import quality
from atlas_search.evaluation.reports.sections.parts import by_category, by_corpus, by_split
from atlas_search.evaluation.reports.sections.questions import errors, to_look_at, worst_questions
from atlas_search.evaluation.reports.sections.summary import all_figures, summary
from atlas_search.evaluation.reports.sections.took import took

Sections = Sequence[tuple[str, Callable[[Sequence[Analysis]], Section]]]
"""Titles, and what makes a section of runs."""

SECTIONS: Sections = (
    ("What was evaluated", about),
    ("Summary", summary),
    ("What to look at", to_look_at),
    ("Quality", quality),
    ("By category", by_category),
    ("By corpus", by_corpus),
    ("By split", by_split),
    ("Decisions", decisions),
    ("Confidence", confidence),
    ("Operations", took),
    ("Worst questions", worst_questions),
    ("Errors", errors),
    ("All figures", all_figures),
)


def report_of(runs: Sequence[Analysis], faults: Faults, sections: Sections = SECTIONS) -> Report:
    """The report of at least one run; faults are those of `report`."""
    told = tuple(_section(title, make, runs, faults) for title, make in sections)
    name = runs[0].of.spec.target if len(runs) == 1 else f"{len(runs)} runs"
    return Report(f"Evaluation of {name}", told)


def _section(
    title: str,
    make: Callable[[Sequence[Analysis]], Section],
    runs: Sequence[Analysis],
    faults: Faults,
) -> Section:
    made = faults.attempt("report", title, lambda: make(runs))
    if isinstance(made, Fault):
        return Section(
            title, (Words(f"This part could not be written: {made.error}", warning=True),)
        )
    return made
