"""What a metric is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.reply import Reply
from atlas_search.providers.embedding import Embedder

Group = Literal[
    "retrieval",
    "balance",
    "spans",
    "decisions",
    "answers",
    "citations",
    "sources",
    "overlap",
    "tokens",
    "confidence",
    "judge",
]
"""What a metric says something about.

`overlap` are estimates by shared words, which a judge replaces; `tokens` are those of
bedrock-rag-eval by its own definitions, which nothing replaces; `judge` is about the judge itself.
"""


@dataclass(frozen=True)
class Metric:
    """A figure of a question, in [0, 1] unless its description says otherwise.

    `better` is where a change for the better goes; `none` for what is told and not judged. `of`
    says which questions have it. A name that ends with `@` or `.` stands for a figure at each depth
    or of each corpus: `recall@` for `recall@5`, `kept_share.` for `kept_share.legal_us`.
    """

    name: str
    group: Group
    of: str
    description: str
    better: Literal["higher", "lower", "none"] = "higher"


@dataclass(frozen=True)
class Tools:
    """What metrics need besides: a model for similarity, depths, and the corpora asked.

    `limit` is how many passages each question was to bring (`SEARCH_K`), 0 if that is not known.
    """

    embedder: Embedder
    depths: tuple[int, ...] = (1, 3, 5, 10)
    corpora: tuple[str, ...] = ()
    limit: int = 0


@dataclass(frozen=True)
class Case:
    """A question, what is known about it, and what came back."""

    label: Label
    reply: Reply
    tools: Tools

    @property
    def limit(self) -> int:
        """How deep was asked: below it there is no figure. Else, how many passages came."""
        return self.tools.limit or len(self.reply.passages)


Measure = Callable[[Case], Mapping[str, float]]
"""Figures of a question by name, without those that say nothing of it."""
