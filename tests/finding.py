"""A small collection of invented texts to be searched, with hashes for vectors."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from atlas_search.core.targets import Target
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.search.flow import search
from atlas_search.search.request import SearchPlan
from atlas_search.search.result import WholeResult
from atlas_search.search.run import Searcher, SearchRun
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, write_sources

TAX = {
    "tax/gains.txt": "A gain on a sale of capital is taxed. Capital gains have a tax of their own.",
    "tax/income.txt": "Income is taxed by the year. The capital of a firm is no income.",
    "tax/losses.txt": "A loss is set off against gains of the same year, not against income.",
    "tax/wool.txt": "The tax on gains of capital is high; wool is exempt from every tax.",
    "town/bridge.txt": "A bright lamp hangs on the bridge of the capital. Keep to the right.",
    "town/mayor.txt": "The mayor Penderry has no right to levy a tax. The councillors do.",
}


@contextmanager
def searching(root: Path, files: Mapping[str, str] = TAX, **cut: object) -> Iterator[Searcher]:
    """A collection built of `files` below `root`, open to be searched."""
    build_tiny(write_sources(root / "source", files), root / "c", HashEmbedder(), **cut)
    store = EmbeddedStore(root / "c")
    with ThreadPoolExecutor(2) as executor:
        yield Searcher(store, HashEmbedder(), executor, Tracer("", "", content=False), {})
    store.close()


def find(
    searcher: Searcher, question: str, target: Target | None = None, **changes: object
) -> WholeResult:
    """What `search_of` finds."""
    return search(search_of(searcher, question, target, **changes))


def search_of(
    searcher: Searcher, question: str, target: Target | None = None, **changes: object
) -> SearchRun:
    """The three best passages of all corpora, unless `changes` of the request say otherwise.

    Scored by words alone: the vectors mean nothing.
    """
    fields: dict[str, object] = {
        "question": question,
        "corpora": tuple(corpus.id for corpus in searcher.store.corpora),
        "every_corpus": True,
        "limit": 3,
        "today": date(2026, 1, 1),
    }
    request = SearchPlan(**(fields | changes))  # type: ignore[arg-type]
    return SearchRun(searcher, request, target or Target(weight_semantic=0))


def names(result: WholeResult) -> list[str]:
    """The documents of the kept passages, best first, without their corpus."""
    return [item.passage.document_id.partition(".")[2] for item in result.passages]
