"""A question as the ranking reads it."""

from dataclasses import dataclass
from itertools import pairwise

from backend.text import FUNCTION_WORDS, content_words, distinct, identifier_parts, words


@dataclass(frozen=True)
class Query:
    """The stems of a question; `has_subject` is False if it holds function words only.

    `words` are all of them in order, `terms` the distinct informative ones together with the
    parts of identifiers, `pairs` the informative words that stand next to each other once the
    function words between them are dropped, as indices into `terms`.
    """

    text: str
    words: tuple[str, ...]
    terms: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    has_subject: bool


def parse_query(text: str) -> Query:
    """Analyse `text`; `terms` is empty only if it holds no word at all."""
    found = words(text)
    informative = content_words(found)
    stems = [word.term for word in informative]
    parts = [part for word in informative for part in identifier_parts(text[word.start : word.end])]
    terms = distinct([*stems, *parts])
    position = {term: index for index, term in enumerate(terms)}
    pairs = {(position[a], position[b]) for a, b in pairwise(stems) if a != b}
    return Query(
        text=text,
        words=tuple(word.term for word in found),
        terms=terms,
        pairs=tuple(sorted(pairs)),
        has_subject=any(word.folded not in FUNCTION_WORDS for word in found),
    )
