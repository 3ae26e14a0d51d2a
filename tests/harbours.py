"""A collection of two towns with rules of their own, in which some questions have two readings."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atlas_search import Atlas
from atlas_search.providers.embedding import Embedder
from tests.tiny import write_sources

FEE = "What is the fee for a mooring in the harbour?"
NORTH = "The fee for a mooring in the harbour is $40."
SOUTH = "The fee for a mooring in the harbour is $75."
RULES = {
    "northport/rules.txt": f"---\ntitle: Northport rules\n---\n{NORTH} Pilots ring the bell.\n",
    "southport/rules.txt": f"---\ntitle: Southport rules\n---\n{SOUTH} The quay is of stone.\n",
}


@contextmanager
def harbours(folder: Path, embedder: Embedder) -> Iterator[Atlas]:
    """The collection, built below `folder` and open. The target `one` has one sentence."""
    sources = write_sources(folder / "sources", RULES)
    stores, targets = folder / "stores", folder / "targets"
    targets.mkdir()
    (targets / "three.txt").write_text("ANSWER_SENTENCES=3\n")
    (targets / "one.txt").write_text("ANSWER_SENTENCES=1\n")
    Atlas.build(sources, stores / "harbours", embedder=embedder)
    with Atlas.open(
        stores / "harbours", embedder=embedder, targets_directory=targets, test_target="three"
    ) as opened:
        yield opened
