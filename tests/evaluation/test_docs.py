"""Copies of facts in pages: metrics in the documentation, pictures of Phoenix, limits of ratings.

`python -m tests.evaluation.test_docs` writes every metric into `docs/evaluation-metrics.md`.
"""

import re
from typing import get_args

import pytest
from PIL import Image

from atlas_search.evaluation.metrics import METRICS, Metric, Tools
from atlas_search.server.feedback.store import (
    LONGEST_COMMENT,
    LONGEST_TAG,
    MOST_TAGS,
    SCALES,
    Backing,
    Relevance,
    Thumb,
)
from tests.hash_embedder import HashEmbedder
from tests.phoenix_pictures import PICTURES, UNEQUAL
from tests.places import ROOT

METRICS_PAGE = ROOT / "docs" / "evaluation-metrics.md"
RATING_SCRIPT = (ROOT / "frontend" / "feedback" / "feedback.js").read_text(encoding="utf-8")
SHOWN = {
    description: name
    for page in sorted((ROOT / "docs").glob("*.md"))
    for description, name in re.findall(
        r"!\[([^\]]+)\]\(images/([^)]+)\)", page.read_text(encoding="utf-8")
    )
}
MOST_BYTES = 150_000  # of a picture
_LISTS = r"(?<=^## Figures\n)(?:(?!## ).*\n)*"
_BETTER = {"higher": "", "lower": " ↓", "none": " ·"}


def with_metrics(text: str) -> str:
    """The page with its lists as the metrics are."""
    text, lists = re.subn(_LISTS, lambda _: _figures(), text, flags=re.MULTILINE)
    assert lists == 1, f"{METRICS_PAGE}: there is no one heading `## Figures`."
    return text


def _figures() -> str:
    """A heading for each group, and a list for each kind of question that its figures are of."""
    groups: dict[str, dict[str, list[str]]] = {}
    for metric in METRICS.values():
        groups.setdefault(metric.group, {}).setdefault(metric.of, []).append(_item(metric))
    lines = ["", "Higher is better, with ↓ lower, with · neither."]
    for group, kinds in groups.items():
        lines += ["", f"### {group}"]
        for of, figures in kinds.items():
            lines += ["", f"Over {of}:", "", *figures]
    return "\n".join([*lines, ""])


def _item(metric: Metric) -> str:
    name = metric.name + {"@": "k", ".": "CORPUS"}.get(metric.name[-1], "")
    return f"- `{name}`{_BETTER[metric.better]}: {metric.description}"


def test_the_list_of_metrics_is_written_from_the_code() -> None:
    text = METRICS_PAGE.read_text(encoding="utf-8")
    assert with_metrics(text) == text
    *most, last = Tools(HashEmbedder()).depths
    assert f"k is {', '.join(map(str, most))} and {last}" in text
    for metric in METRICS.values():
        assert metric.of
        assert not metric.description[0].islower()
        assert not metric.description.endswith(".")


def test_every_picture_is_shown_once_and_described() -> None:
    assert sorted(SHOWN.values()) == sorted(file.name for file in PICTURES.iterdir())
    assert all(len(description) > 20 for description in SHOWN)
    assert f"`{UNEQUAL}`" in (ROOT / "docs" / "phoenix.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHOWN.values())
def test_a_picture_is_small(name: str) -> None:
    file = PICTURES / name
    assert file.stat().st_size < MOST_BYTES
    if file.suffix == ".svg":
        return
    with Image.open(file) as picture:
        assert picture.mode == "P"
        assert "text" not in picture.info


def test_the_page_of_ratings_has_the_limits_scales_and_votes_of_the_server() -> None:
    limits = {
        "LONGEST_COMMENT": LONGEST_COMMENT,
        "LONGEST_TAG": LONGEST_TAG,
        "MOST_TAGS": MOST_TAGS,
    }
    for constant, limit in limits.items():
        assert f"const {constant} = {limit};" in RATING_SCRIPT
    listed = re.search(r"const SCALES = \[(.*?)\]", RATING_SCRIPT)
    assert listed
    assert tuple(re.findall(r'"(\w+)"', listed[1])) == SCALES
    assert all(f'thumb("{value}"' in RATING_SCRIPT for value in get_args(Thumb))
    for value in get_args(Relevance) + get_args(Backing):
        assert f'"{value}",\n' in RATING_SCRIPT


if __name__ == "__main__":
    METRICS_PAGE.write_text(with_metrics(METRICS_PAGE.read_text("utf-8")), encoding="utf-8")
