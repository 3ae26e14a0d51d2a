"""Names in a question that its evidence does not hold."""

from collections.abc import Mapping, Sequence

from atlas_search.core.domain import Passage
from atlas_search.language.english import MONTHS
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import Word, all_terms, fold, words

SUBJECT = 0.2
"""Share of a question's weight from which a name is what it is about."""

_CALENDAR = frozenset(
    fold(day)
    for day in (
        *MONTHS,
        *"monday tuesday wednesday thursday friday saturday sunday".split(),
    )
)


def absent_names(
    question: str, evidence: Sequence[Passage], weights: Mapping[str, float]
) -> tuple[tuple[str, ...], float]:
    """Names of an English question that no passage of the evidence holds, and their share of it.

    A name is a word with a capital that does not begin the question. Titles, headings, speakers
    and metadata hold names too. `weights` are the idf of the question's terms; the share is that of
    the absent names among all of them, in [0, 1].
    """
    wanted = _named(question)
    if not wanted:
        return (), 0.0
    held = frozenset[str]().union(*(_terms_of(passage) for passage in evidence))
    absent = [
        word for word in wanted if word.term not in held and not held.intersection(word.parts)
    ]
    total = sum(weights.values()) or 1.0
    share = sum(weights.get(term, 0.0) for term in {word.term for word in absent}) / total
    return _joined(question, absent), share


def _named(question: str) -> list[Word]:
    """Its capitalised words; none if it capitalises most of what it says."""
    informative = [word for word in words(question) if word.informative]
    capitals = [word for word in informative if question[word.start].isupper()]
    if len(capitals) > max(3 * len(informative) // 4, 3):
        return []
    return [
        word for word in capitals if _stands_inside(question, word) and word.folded not in _CALENDAR
    ]


def _stands_inside(question: str, word: Word) -> bool:
    """Whether its capital is not that of a sentence's beginning."""
    before = question[: word.start].rstrip(" \"'“”‘’(")
    return bool(before) and before[-1] not in ".?!"


def _terms_of(passage: Passage) -> frozenset[str]:
    about = [passage.title, passage.section, passage.speaker, passage.text]
    about += [str(value) for value in passage.metadata.values()]
    return all_terms("\n".join(about), passage.language or DEFAULT_LANGUAGE)


def _joined(question: str, found: Sequence[Word]) -> tuple[str, ...]:
    """The names as they are written, neighbours in one."""
    joined: list[tuple[int, int]] = []
    for word in found:
        if joined and question[joined[-1][1] : word.start] == " ":
            joined[-1] = (joined[-1][0], word.end)
        else:
            joined.append((word.start, word.end))
    return tuple(dict.fromkeys(question[start:end] for start, end in joined))
