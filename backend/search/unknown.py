"""Names in a question that the sources do not know."""

from collections.abc import Iterable, Mapping, Sequence

from backend.domain import Passage
from backend.search.query import Query
from backend.text import all_terms, names, words

_AGAINST = frozenset({"v", "vs"})


def unknown_names(
    query: Query,
    languages: Sequence[str],
    vocabulary: Mapping[str, int],
    passages: Sequence[Passage],
) -> tuple[str, ...]:
    """Words of names that occur in no source, and names of cases that none of `passages` holds.

    `languages` are those of the searched corpora. Of a case both parties must stand in one passage
    or its title: each alone is often known.
    """
    unknown = []
    for name in names(query.text, query.language):
        surfaces = [query.text[word.start : word.end] for word in name]
        missing = [
            surface
            for surface in surfaces
            if not any(_stems(surface, language) & vocabulary.keys() for language in languages)
        ]
        unknown += missing
        parties = [s for s, word in zip(surfaces, name, strict=True) if word.folded not in _AGAINST]
        case = len(parties) < len(surfaces)
        if case and not missing and not any(_holds(passage, parties) for passage in passages):
            unknown.append(query.text[name[0].start : name[-1].end])
    return tuple(unknown)


def _holds(passage: Passage, parties: Iterable[str]) -> bool:
    present = all_terms(f"{passage.title} {passage.text}", passage.language)
    return all(_stems(party, passage.language) <= present for party in parties)


def _stems(surface: str, language: str) -> set[str]:
    return {word.term for word in words(surface, language)}
