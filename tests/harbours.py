"""A collection of two towns with rules of their own, in which some questions have two readings."""

from contextlib import AbstractContextManager
from pathlib import Path

from atlas_search import Atlas
from atlas_search.providers.embedding import Embedder
from tests.answer.collection import collection

FEE = "What is the fee for a mooring in the harbour?"
NORTH = "The fee for a mooring in the harbour is $40."
SOUTH = "The fee for a mooring in the harbour is $75."
RULES = {
    "northport/rules.txt": f"---\ntitle: Northport rules\n---\n{NORTH} Pilots ring the bell.\n",
    "southport/rules.txt": f"---\ntitle: Southport rules\n---\n{SOUTH} The quay is of stone.\n",
}
TARGETS = {"three": "ANSWER_SENTENCES=3", "one": "ANSWER_SENTENCES=1"}


def harbours(folder: Path, embedder: Embedder) -> AbstractContextManager[Atlas]:
    """The collection, built below `folder` and open. The target `one` has one sentence."""
    return collection(folder, embedder, RULES, TARGETS)
