"""What `atlas eval` and `atlas calibrate` print."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from rich.table import Column, Table
from rich.text import Text

from atlas_search.evaluation.comparison.slices import CATEGORY
from atlas_search.evaluation.reports.wording import visible
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

WIDTH = 135
"""Characters of a line; the table of the bundled labels needs a few less."""

_CAPTION = (
    "Of answerable questions: recall, MRR, EM, F1, contains, gold (cited) and answered; an "
    "unanswered one counts 0. Of those answered: Sem. Of unanswerable ones: rejected. Of all: "
    "decided (answered or not, rightly) and valid. Of answers: SentG and Gnd. Below each figure is "
    "its 95% interval, in hundredths."
)


def evaluation_table(title: str, scored: Sequence[Scored]) -> Table:
    """A row for all questions, and one for each category: figures with their intervals."""
    heads = [Column(head, justify="right", no_wrap=True) for head in ("n", *COLUMNS)]
    table = Table("category", *heads, caption=_CAPTION, box=None, padding=(0, 1, 0, 0))
    table.title = Text(visible(title))  # no markup here and below: a category may be [legal]
    asked = Counter(f"{CATEGORY}.{one.label.category}" for one in scored)
    for group, summary in by_category(scored).items():
        name, questions = group.removeprefix(f"{CATEGORY}."), asked.get(group, len(scored))
        figures = (_with_interval(summary.get(figure)) for figure in COLUMNS.values())
        table.add_row(Text(visible(name)), str(questions), *figures)
    return table


def index_table(recall: Mapping[str, Figure], asked: Collection[str]) -> Table:
    """What an audit of the index found: a row for all corpora, and one for each.

    Searches of the corpora that are `asked` use it.
    """
    heads = [Column(head, justify="right") for head in ("n", "index recall", "95% interval")]
    table = Table("corpus", *heads, "searches", title="index of vectors", box=None, padding=(0, 1))
    for name, figure in recall.items():
        corpus = name.partition(".")[2] or "all"
        interval = f"{figure.low:.3f} to {figure.high:.3f}"
        by = searched_by(name, asked)
        table.add_row(corpus, str(figure.questions), f"{figure.mean:.3f}", interval, by)
    return table


def searched_by(figure: str, asked: Collection[str]) -> str:
    """How searches find what is nearest in the corpus of a figure of `index_recall`."""
    corpus = figure.partition(".")[2]
    if not corpus:
        return ""
    return "ask the index" if corpus in asked else "compare every vector"


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


def _with_interval(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    return f"{figure.mean:.3f}\n{100 * figure.low:.0f}-{100 * figure.high:.0f}"
