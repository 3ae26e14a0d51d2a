"""A small collection of invented texts to be searched through `Atlas`, with hashes for vectors."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from atlas_search import Atlas, SearchResult
from atlas_search.building.sources import by_mapping
from atlas_search.core.targets import Target
from atlas_search.providers.embedding import Embedder
from tests.hash_embedder import HashEmbedder
from tests.tiny import READERS, build_tiny, write_sources

TAX = {
    "tax/gains.txt": "A gain on a sale of capital is taxed. Capital gains have a tax of their own.",
    "tax/income.txt": "Income is taxed by the year. The capital of a firm is no income.",
    "tax/losses.txt": "A loss is set off against gains of the same year, not against income.",
    "tax/wool.txt": "The tax on gains of capital is high; wool is exempt from every tax.",
    "town/bridge.txt": "A bright lamp hangs on the bridge of the capital. Keep to the right.",
    "town/mayor.txt": "The mayor Penderry has no right to levy a tax. The councillors do.",
}
WORDS_ALONE = Target(weight_semantic=0)
"""The vectors of hashes mean nothing."""


@contextmanager
def searching(
    root: Path,
    files: Mapping[str, str] = TAX,
    embedder: Embedder | None = None,
    **cut: object,
) -> Iterator[Atlas]:
    """A collection built of `files` below `root`, open to be searched.

    Each folder is a corpus, unless there is a `corpora.toml`.
    """
    embedder = embedder or HashEmbedder()
    source = write_sources(root / "source", files)
    mapping = source / "corpora.toml"
    mapped = by_mapping(source, mapping, READERS["txt"].suffixes, "") if mapping.exists() else None
    build_tiny(mapped or source, root / "c", embedder, **cut)
    with Atlas.open(root / "c", embedder=embedder) as atlas:
        yield atlas


def aimed(atlas: Atlas, target: Target = WORDS_ALONE) -> Atlas:
    """The same collection with this target alone, by the name of `test`."""
    return Atlas(replace(atlas.services, targets={"test": target}))


def find(atlas: Atlas, question: str, target: Target = WORDS_ALONE, **where: Any) -> SearchResult:
    """The three best passages of all corpora and every candidate, unless `where` says otherwise."""
    usual: dict[str, Any] = {"k": 3, "as_of": date(2026, 1, 1), "explain": True}
    return aimed(atlas, target).search(question, target="test", **(usual | where))


def names(result: SearchResult) -> list[str]:
    """The documents of the kept passages, best first, without their corpus."""
    return [item.passage.document_id.partition(".")[2] for item in result.passages]
