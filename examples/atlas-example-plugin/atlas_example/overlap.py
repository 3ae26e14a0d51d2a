"""A second stage: the share of the question's words that stand in a passage."""

from collections.abc import Sequence

import numpy as np

from atlas_search.core.settings import Settings
from atlas_search.search.rerankers import Relevance


class Overlap:
    def __init__(self, settings: Settings, model: str) -> None:
        self.name = model or "overlap"

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        asked = set(question.lower().split())
        shares = [len(asked & set(text.lower().split())) / len(asked) for text in texts]
        return Relevance(np.array(shares), "")
