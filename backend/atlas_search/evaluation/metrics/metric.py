"""What a metric is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.reply import Reply
from atlas_search.providers.embedding import Embedder

Group = Literal["retrieval", "balance", "spans", "decisions", "answers", "citations", "overlap"]
"""What a metric says something about; `overlap` are estimates by shared words."""


@dataclass(frozen=True)
class Metric:
    """A figure of a question, in [0, 1] unless its description says otherwise.

    `better` is where a change for the better goes; `none` for what is told and not judged. `of`
    says which questions have it. Those of depths have a name that ends with `@`, and stand for a
    figure at each depth: `recall@` for `recall@5`.
    """

    name: str
    group: Group
    of: str
    description: str
    better: Literal["higher", "lower", "none"] = "higher"


@dataclass(frozen=True)
class Tools:
    """What metrics need besides: a model for similarity, depths, and the corpora asked."""

    embedder: Embedder
    depths: tuple[int, ...] = (1, 3, 5, 10)
    corpora: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A question, what is known about it, and what came back."""

    label: Label
    reply: Reply
    tools: Tools


Measure = Callable[[Case], Mapping[str, float]]
"""Figures of a question by name, without those that say nothing of it."""
