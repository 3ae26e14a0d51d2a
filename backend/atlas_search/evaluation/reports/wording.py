"""How figures are called and written in a report."""

import re
from collections.abc import Mapping, Sequence

from atlas_search.core.domain import MARKER
from atlas_search.evaluation.metrics.catalogue import metric_of
from atlas_search.evaluation.metrics.metric import Metric
from atlas_search.evaluation.scored import Figure

TITLES = {
    "decided": "Decided rightly",
    "answered": "Answered",
    "rejected": "Rejected",
    "recall": "Recall",
    "mrr": "MRR",
    "exact_match": "Exact match",
    "f1": "F1",
    "contains": "Holds reference",
    "similarity": "Similarity",
    "right": "Right",
    "cites_gold": "Cites gold",
    "citation_precision": "Citation precision",
    "citation_recall": "Citation recall",
    "citation_valid": "Citations valid",
    "sentence_groundedness": "Sentences grounded",
    "grounded": "Answers grounded",
    "coverage_at_90": "Coverage at 90% precision",
    "precision_coverage": "Precision over coverage",
    "calibration_error": "Calibration error",
    "failed": "Failed",
    "index_recall": "Index recall",
}
"""The figures of a summary, in their order."""

LONGEST = 600
"""Characters of a text that are shown; the CSV has all."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def title_of(figure: str) -> str:
    """How a figure is called."""
    words = figure.replace("_", " ")
    return TITLES.get(figure) or f"{words[:1].upper()}{words[1:]}"


def known_metric(figure: str) -> Metric | None:
    """What the catalogue says of a figure; None of one that another version wrote."""
    try:
        return metric_of(figure)
    except KeyError:
        return None


def number(value: float | None, places: int = 2) -> str:
    """A value, `-` for none."""
    if value is None or value != value:  # NaN
        return "-"
    return f"{value:.{places}f}"


def between(figure: Figure) -> str:
    """Its interval."""
    return f"{number(figure.low)} to {number(figure.high)}"


def with_ends(value: float | None, ends: tuple[float, float] | None, places: int = 2) -> str:
    """A value and its interval."""
    if value is None or ends is None:
        return number(value, places)
    return f"{number(value, places)} [{number(ends[0], places)}, {number(ends[1], places)}]"


def with_interval(figure: Figure | None) -> str:
    """A figure, its interval, and over how many questions."""
    if figure is None:
        return "-"
    return (
        f"{number(figure.mean)} [{number(figure.low)}, {number(figure.high)}] n={figure.questions}"
    )


def share(count: int, of: int) -> str:
    """So many of so many."""
    return f"{count} of {of} ({count / of:.0%})" if of else f"{count} of {of}"


def shortened(text: str, longest: int = LONGEST) -> str:
    """`text` without citation tokens and characters that are not shown, and not too long."""
    plain = visible(" ".join(MARKER.sub(" ", text).split()))
    more = len(plain) - longest
    return plain if more <= 0 else f"{plain[:longest]}… ({more:,} more characters)"


def visible(text: str) -> str:
    """`text` with a sign in place of control characters: XML has none, and a terminal obeys."""
    return _CONTROL.sub("\ufffd", text)


def ids(questions: Sequence[str], most: int = 8) -> str:
    """The first ids of questions or documents."""
    more = f" and {len(questions) - most:,} more" if len(questions) > most else ""
    return ", ".join(shortened(each, 80) for each in questions[:most]) + more


def present(names: Sequence[str], figures: Mapping[str, Figure]) -> list[str]:
    """Those of the names that are among the figures."""
    return [name for name in names if name in figures]
