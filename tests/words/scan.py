"""Hits found by a plain look through texts: what the engine must agree with.

For texts of plain words. A query is a list of words, `("near", a, b, n)` or `("or", a, b)`.
"""

import re
from fnmatch import fnmatchcase

WORD = re.compile(r"[A-Za-z0-9]+")

Span = tuple[int, int]


def words_in(text: str) -> list[tuple[int, int]]:
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


def _hits(query: object, written: list[str], exactly: bool) -> set[Span]:
    if isinstance(query, list):
        return {
            (at, at + len(query))
            for at in range(len(written) - len(query) + 1)
            if all(
                fnmatchcase(word, asked if exactly else asked.lower())
                for word, asked in zip(written[at:], query, strict=False)
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
