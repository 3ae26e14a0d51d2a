"""What a request leaves to be counted, by a plain look at each passage."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Document
from atlas_search.search.query import phrases
from atlas_search.search.request import conditions

Span = tuple[int, int]


class Looked(NamedTuple):
    """Documents that are looked through, each with whether a span of its characters counts."""

    documents: list[tuple[Document, Callable[[Span], bool]]]
    passages: int


def where_of(corpora: str, filters: dict[str, Any], require: str, exclude: str) -> dict[str, Any]:
    return {
        "corpora": corpora,
        "filters": filters,
        "require": [require] if require else [],
        "exclude": [exclude] if exclude else [],
    }


def looked_through(atlas: Atlas, documents: Sequence[Document], where: dict[str, Any]) -> Looked:
    store = atlas.services.store
    required, excluded = ([p.stems for p in phrases(where[n])] for n in ("require", "exclude"))
    filters = conditions(where["filters"], store.manifest.fields)
    rows = store.scope(filters, required, excluded).rows
    chosen = [p for p in store.passages(rows.tolist()) if where["corpora"] in ("all", p.corpus)]
    by_passage = bool(required or excluded)
    found: list[tuple[Document, Callable[[Span], bool]]] = []
    for document in documents:
        own = [p for p in chosen if p.document_id == document.id]

        def counts(span: Span, own: list[Any] = own) -> bool:
            return not by_passage or any(p.start <= span[0] and span[1] <= p.end for p in own)

        if own:
            found.append((document, counts))
    return Looked(found, len(chosen))
