"""The demo collection, whose corpora are found by the index though they are small."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from atlas_search.services import Services
from atlas_search.stores import embedded
from atlas_search.stores.embedded import EmbeddedStore


@contextmanager
def by_index(services: Services, exact_up_to: int = 0) -> Iterator[Services]:
    """The services; corpora of more than `exact_up_to` passages ask the index."""
    with patch.object(embedded, "EXACT_UP_TO", exact_up_to):
        store = EmbeddedStore(services.settings.collection_folder)
    try:
        searcher = replace(services.searcher, store=store)
        answerer = replace(services.answerer, searcher=searcher)
        yield replace(services, store=store, answerer=answerer)
    finally:
        store.close()
