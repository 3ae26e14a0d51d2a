"""What `atlas eval` and `atlas calibrate` print."""

from collections import Counter
from collections.abc import Sequence

from rich.table import Column, Table

from atlas_search.evaluation.scored import Figure, Scored, by_category
from atlas_search.stores.manifest import Calibration

COLUMNS = {
    "recall": "recall",
    "MRR": "mrr",
    "EM": "exact_match",
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
"""The figures of a table by the heads of their columns."""

WIDTH = 118
"""Characters of a line; the table of the bundled labels needs a few less."""

_CAPTION = (
    "Of answerable questions: recall, MRR, EM, F1, contains, gold (cited) and answered; an "
    "unanswered one counts 0. Of those answered: Sem. Of unanswerable ones: rejected. Of all: "
    "decided (answered or not, rightly) and valid. Of answers: SentG and Gnd."
)


def evaluation_table(title: str, scored: Sequence[Scored]) -> Table:
    """A row for all questions, and one for each category."""
    heads = [Column(head, justify="right", no_wrap=True) for head in ("n", *COLUMNS)]
    table = Table("category", *heads, title=title, caption=_CAPTION, box=None, padding=(0, 1, 0, 0))
    asked = Counter(one.label.category for one in scored)
    for group, summary in by_category(scored).items():
        questions = str(asked.get(group, len(scored)))
        figures = (_mean(summary.get(name)) for name in COLUMNS.values())
        table.add_row(group, questions, *figures)
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


def _mean(figure: Figure | None) -> str:
    return "-" if figure is None else f"{figure.mean:.3f}"
