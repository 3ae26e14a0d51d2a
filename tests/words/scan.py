"""Hits and scopes found by a plain look through texts and passages: the engine must agree.

For texts of plain words. A query is a list of words, `("near", a, b, n)` or `("or", a, b)`.
"""

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Document, Passage
from atlas_search.search.query import phrases
from atlas_search.search.request import conditions

WORD = re.compile(r"[A-Za-z0-9]+")

Span = tuple[int, int]


def words_in(text: str) -> list[Span]:
    return [match.span() for match in WORD.finditer(text)]


def scan(query: object, text: str, *, exactly: bool = False) -> list[Span]:
    """The spans of words, by number, at which a query is hit."""
    spans = words_in(text)
    written = [text[start:end] if exactly else text[start:end].lower() for start, end in spans]
    return sorted(_hits(query, written, exactly))


def characters(query: object, text: str, *, exactly: bool = False) -> list[Span]:
    """The same as characters."""
    spans = words_in(text)
    return [(spans[a][0], spans[b - 1][1]) for a, b in scan(query, text, exactly=exactly)]


def scanned(documents: Sequence[Document], query: object) -> list[tuple[str, int, int]]:
    return [(d.id, *span) for d in documents for span in characters(query, d.text)]


def _hits(query: object, written: list[str], exactly: bool) -> set[Span]:
    if isinstance(query, list):
        return {
            (at, at + len(query))
            for at in range(len(written) - len(query) + 1)
            if all(
                fnmatchcase(word, pattern if exactly else pattern.lower())
                for word, pattern in zip(written[at:], query, strict=False)
            )
        }
    assert isinstance(query, tuple)
    left, right = (_hits(part, written, exactly) for part in query[1:3])
    if query[0] == "or":
        return left | right
    return {
        (a, b)
        for a, b in left
        if any(0 < c - b + 1 <= query[3] or 0 < a - d + 1 <= query[3] for c, d in right)
    }


def typed(query: object) -> str:
    """The query as a person types it."""
    if isinstance(query, list):
        return f'"{" ".join(query)}"'
    assert isinstance(query, tuple)
    joint = "OR" if query[0] == "or" else f"NEAR/{query[3]}"
    return f"({typed(query[1])}) {joint} ({typed(query[2])})"


class Scope(NamedTuple):
    """Documents that are looked through, each with whether a span of its characters counts."""

    documents: list[tuple[Document, Callable[[Span], bool]]]
    passages: list[Passage]


def where_of(corpora: str, filters: dict[str, Any], require: str, exclude: str) -> dict[str, Any]:
    return {
        "corpora": corpora,
        "filters": filters,
        "require": [require] if require else [],
        "exclude": [exclude] if exclude else [],
    }


def scope_of(atlas: Atlas, documents: Sequence[Document], where: dict[str, Any]) -> Scope:
    store = atlas.services.store
    required, excluded = ([p.stems for p in phrases(where[n])] for n in ("require", "exclude"))
    filters = conditions(where["filters"], store.manifest.fields)
    rows = store.scope(filters, required, excluded).rows
    chosen = [p for p in store.passages(rows.tolist()) if where["corpora"] in ("all", p.corpus)]
    by_passage = bool(required or excluded)
    scope: list[tuple[Document, Callable[[Span], bool]]] = []
    for document in documents:
        own = [p for p in chosen if p.document_id == document.id]

        def counts(span: Span, own: list[Passage] = own) -> bool:
            return not by_passage or any(p.start <= span[0] and span[1] <= p.end for p in own)

        if own:
            scope.append((document, counts))
    return Scope(scope, chosen)
