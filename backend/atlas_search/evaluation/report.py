"""What `atlas eval` and `atlas calibrate` print."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich.table import Column, Table

from atlas_search.evaluation.runner import LabelScore, Summary, summarise
from atlas_search.stores.manifest import Calibration

COLUMNS = {
    "n": "questions",
    "recall": "recall",
    "MRR": "mrr",
    "EM": "exact",
    "F1": "f1",
    "Sem": "similarity",
    "contains": "contains",
    "gold": "cites_gold",
    "answered": "answered",
    "rejected": "rejected",
    "decided": "decided",
    "valid": "citation_valid",
    "SentG": "sentence_groundedness",
    "Gnd": "grounded",
}
"""The fields of a summary by the heads of their columns."""

WIDTH = 118
"""Characters of a line; the table of the bundled labels needs a few less."""

_CAPTION = (
    "Of answerable questions: recall, MRR, EM, F1, contains, gold (cited) and answered; an "
    "unanswered one counts 0. Of those answered: Sem. Of unanswerable ones: rejected. Of all: "
    "decided (answered or not, rightly) and valid. Of answers: SentG and Gnd."
)


def by_category(outcomes: Sequence[LabelScore]) -> dict[str, Summary]:
    """The summary of `all`, and of each category in order of appearance."""
    groups = {"all": list(outcomes)}
    for outcome in outcomes:
        groups.setdefault(outcome.label.category, []).append(outcome)
    return {group: summarise(members) for group, members in groups.items()}


def evaluation_table(title: str, summaries: Mapping[str, Summary]) -> Table:
    """A row for each group of questions."""
    heads = [Column(head, justify="right", no_wrap=True) for head in COLUMNS]
    table = Table("category", *heads, title=title, caption=_CAPTION, box=None, padding=(0, 1, 0, 0))
    for group, summary in summaries.items():
        values = asdict(summary)
        table.add_row(group, *(_figure(values[name]) for name in COLUMNS.values()))
    return table


def calibration_text(collection: str, found: Calibration, before: float, *, kept: bool) -> str:
    """What a calibration chose, and what it does to the questions it was chosen from."""
    basis = {"labels": "labelled", "made": "made"}[found.basis]
    return (
        f"{collection}: answers need an evidence of {found.threshold:.4f} (so far {before:.4f}).\n"
        f"{found.good} {basis} questions: {found.lost:.1%} lost. "
        f"{found.off_topic} off-topic questions: {found.rejected:.1%} rejected.\n"
        + (
            "Written into the manifest. A target with an ANSWER_THRESHOLD of its own does not "
            "follow it."
            if kept
            else "Nothing was written."
        )
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"
