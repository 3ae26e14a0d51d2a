"""`python -m tests.evaluation_docs` writes every metric into `docs/evaluation-metrics.md`.

`tests/evaluation/test_docs.py` holds the page to it.
"""

import re

from atlas_search.evaluation.metrics import METRICS, Metric
from tests.places import ROOT

PAGE = ROOT / "docs" / "evaluation-metrics.md"
_ROWS = r"(^## Metrics\n(?:(?!^## |^\|).*\n)*)(?:^\|.*\n)*"
_BETTER = {"higher": "↑", "lower": "↓", "none": "·"}


def page(text: str) -> str:
    """The page with the rows of its table as the metrics are."""
    text, tables = re.subn(_ROWS, lambda found: found[1] + _table(), text, flags=re.MULTILINE)
    if tables != 1:
        raise ValueError(f"{PAGE}: there is no one heading `## Metrics`.")
    return text


def _table() -> str:
    groups = list(dict.fromkeys(metric.group for metric in METRICS.values()))
    ordered = sorted(METRICS.values(), key=lambda metric: groups.index(metric.group))
    head = "| group | figure | better | over | what it says |\n|---|---|---|---|---|\n"
    return head + "".join(map(_row, ordered))


def _row(metric: Metric) -> str:
    name = metric.name + {"@": "k", ".": "CORPUS"}.get(metric.name[-1], "")
    said = f"{metric.of} | {metric.description}"
    return f"| {metric.group} | `{name}` | {_BETTER[metric.better]} | {said} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
