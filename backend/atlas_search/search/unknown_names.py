"""Names in a question that the sources do not know."""

import re
from collections.abc import Mapping, Sequence

from atlas_search.core.domain import Passage
from atlas_search.language.text import Word, all_terms, names, words
from atlas_search.search.query import Query

_POSSESSIVE = re.compile("['’]s?$")
_AGAINST = frozenset({"v", "vs"})


def unknown_names(
    query: Query,
    languages: Sequence[str],
    vocabulary: Mapping[str, int],
    passages: Sequence[Passage],
) -> tuple[str, ...]:
    """Names none of whose words occurs in a source, and names of cases (`Mabo v Queensland`) whose
    parties do not stand together in one of `passages` or its title.

    A name with a word that is known may be that of somebody the sources call otherwise: President
    Biden's own address does not name him. `languages` are those of the searched corpora.
    """

    def is_known(name: Sequence[Word]) -> bool:
        parties = [query.text[w.start : w.end] for w in name if w.folded not in _AGAINST]
        if len(parties) < len(name):
            return any(_hold(passage, parties) for passage in passages)
        found = [
            any(_stems(party, language) & vocabulary.keys() for language in languages)
            for party in parties
        ]
        # a possessive is a name of its own: Canada's Supreme Court
        return any(found) and (found[0] or not _POSSESSIVE.search(parties[0]))

    return tuple(
        query.text[name[0].start : name[-1].end]
        for name in names(query.text, query.language)
        if not is_known(name)
    )


def _hold(passage: Passage, parties: Sequence[str]) -> bool:
    present = all_terms(f"{passage.title} {passage.text}", passage.language)
    return all(_stems(party, passage.language) <= present for party in parties)


def _stems(surface: str, language: str) -> set[str]:
    return {word.term for word in words(surface, language)}
