"""Names in a question that its evidence does not hold."""

import re
from collections.abc import Iterable, Mapping, Sequence

from atlas_search.answer.conflicts.statements import specific
from atlas_search.answer.quotes.quotable import Quote
from atlas_search.core.domain import Passage
from atlas_search.language.countries import country_of, is_country, words_for
from atlas_search.language.english import FORMS_OF_ADDRESS, MONTHS, OFFICES
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import Word, all_terms, fold, is_function_word, words

SUBJECT = 0.2
"""Share of a question's weight from which a name is what it is about."""

_CALENDAR = frozenset(
    map(fold, (*MONTHS, *"monday tuesday wednesday thursday friday saturday sunday".split()))
)
_BORNE_BY_MANY = FORMS_OF_ADDRESS | OFFICES
_CALLED = re.compile(rf"(?:\b(?:{'|'.join(sorted(_BORNE_BY_MANY))})\b\.? ?)+", re.IGNORECASE)
_CALLED_BEFORE = re.compile(
    rf"(?:\b(?:{'|'.join(sorted(map(str.title, _BORNE_BY_MANY)))})\b\.? )+$"
)
_LONGEST_CALLED = 200  # characters of `Mr Justice` and the like, one behind the other
_WORDS_OF_BODY = 3  # names of fewer words are shortened: `the Court`
_BODIES = frozenset(
    "act agency authority bank charter code commission committee constitution convention council "
    "court department ministry parliament protocol treaty tribunal".split()
)
_SHORT = frozenset("a an and at by for from in of on or the to with".split())
"""What titles write small."""
_FEW = 2  # capitals in so few words are those of names
_LONGEST_CODE = 3  # `USA`; there is no shorter name of a country
_PEOPLE = frozenset("author authors creator sender recipient recipients addressee".split())
_POSSESSIVE = re.compile("['’]s?$")
_OF_A_NATION = re.compile("(?:ian|ean|ese|ish|can)s?$")


def absent_names(
    question: str, passages: Iterable[Passage], weights: Mapping[str, float]
) -> tuple[tuple[str, ...], float]:
    """Names of an English question that none of the passages holds, and their share of it.

    A name is a word with a capital that does not begin the question. Titles, headings, speakers
    and metadata hold names too. A source rarely names its own country: that of a corpus is held by
    its passages, and any may be where nobody says of what country they are. `weights` are the idf
    of the question's terms; the share is that of the absent names among all of them, in [0, 1].
    """
    given = list(passages)
    named, countries = telling_names(question), _countries(question)
    if not named and not countries:
        return (), 0.0
    held = frozenset[str]().union(*(_terms_of(passage) for passage in given))
    absent = [
        [word for word in name if not held.intersection((word.term, *word.parts))] for name in named
    ]
    absent = [
        [] if lacking and _has_surname_alone(question, name, lacking, given) else lacking
        for name, lacking in zip(named, absent, strict=True)
    ]
    foreign = [name for name in countries if not _is_held(as_written(question, name), given, held)]
    named, absent = [*named, *foreign], [*absent, *foreign]
    total = sum(weights.values()) or 1.0
    terms = {word.term for name in absent for word in name}
    share = sum(weights.get(term, 0.0) for term in terms) / total
    written = [
        as_written(question, name) for name, lacking in zip(named, absent, strict=True) if lacking
    ]
    return tuple(dict.fromkeys(written)), share


def _has_surname_alone(
    question: str, name: Sequence[Word], lacking: Sequence[Word], passages: Sequence[Passage]
) -> bool:
    """Whether passages call somebody by his surname, and nobody else has it: `Byrd` for `Terrence
    Byrd`. First names with the same initial may be of one, as Jim and James are."""
    surname = question[name[-1].start : name[-1].end]
    if name[-1] in lacking or name[-1].folded in _BODIES:
        return False
    own = {word.folded for word in name} | _BORNE_BY_MANY
    before = re.compile(rf"\b([A-Z][\w'’-]{{1,30}})\.? {re.escape(_POSSESSIVE.sub('', surname))}\b")
    called = {fold(found) for passage in passages for found in before.findall(passage.text)}
    initials = {word.folded[0] for word in name}
    others = {word for word in called - own if word[0] not in initials}
    return all(is_function_word(word) for word in others)


def bodies_elsewhere(
    question: str, own: Iterable[Passage], others: Iterable[Passage]
) -> tuple[str, ...]:
    """Courts, laws and the like, of three words or more, that `others` name as the question does,
    and no passage of `own`: the words of `Federal Constitutional Court` stand in what is said of
    any federal state. People are not looked for: a name is written in many ways."""
    named = [
        as_written(question, name)
        for name in _capitalised(question)
        if len(name) >= _WORDS_OF_BODY and name[-1].folded in _BODIES
    ]
    if not named:  # as in most questions
        return ()
    here, there = _all_text(own), _all_text(others)
    return tuple(name for name in named if name in there and fold(name) not in fold(here))


def names_in(question: str) -> tuple[str, ...]:
    """The names of an English question as they are written, in order."""
    return tuple(dict.fromkeys(as_written(question, name) for name in telling_names(question)))


def speaks_of(passage: Passage, name: str) -> bool:
    """Whether a passage, or what is known of it, holds every word of a name but how he is called
    in front of it."""
    return terms_of_name(name) <= _terms_of(passage)


def terms_of_name(name: str) -> frozenset[str]:
    """The stems of a name but of how he is called in front of it, as `Senator`."""
    return all_terms(_CALLED.sub("", name))


def speaks_of_any(passages: Iterable[Passage], question: str) -> bool:
    """Whether one of the passages speaks of a name in the question; so if there is no name."""
    named = names_in(question)
    return not named or any(speaks_of(passage, name) for passage in passages for name in named)


def on_the_named(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """Those of `quotes`, best first, whose documents speak of somebody the question names, if the
    document of the best one does: beside it, the others speak of somebody else."""
    if not quotes or quotes[0].passage.language != DEFAULT_LANGUAGE:
        return list(quotes)
    named = [q for q in quotes if speaks_of_any(passages_beside(q, quotes), question)]
    return named if quotes[0] in named else list(quotes)


def passages_beside(quote: Quote, quotes: Sequence[Quote]) -> list[Passage]:
    """The passages of `quotes` that are of the same document as a quote."""
    return [q.passage for q in quotes if q.passage.document_id == quote.passage.document_id]


def telling_names(question: str) -> list[list[Word]]:
    """Its names but those of countries, each with its words."""
    joined = _capitalised(question)
    named = [name for name in joined if not is_country(as_written(question, name))]
    return [kept for name in named if (kept := [w for w in name if _is_telling(question, w)])]


def _countries(question: str) -> list[list[Word]]:
    return [name for name in _capitalised(question) if is_country(as_written(question, name))]


def _is_held(country: str, passages: Sequence[Passage], held: frozenset[str]) -> bool:
    """Whether passages that hold these terms can be about a country."""
    called = words_for(country)
    if any(all_terms(name) <= held for name in called if len(name) > _LONGEST_CODE):
        return True
    # `let us marry` speaks of no country
    short = [re.compile(rf"\b{name.upper()}\b") for name in called if len(name) <= _LONGEST_CODE]
    told = [f"{p.title}\n{p.text}\n{' '.join(map(str, p.metadata.values()))}" for p in passages]
    if any(name.search(text) for name in short for text in told):
        return True
    own = {country_of(passage.corpus) for passage in passages}
    return "" in own or country_of(country) in own


def _capitalised(question: str) -> list[list[Word]]:
    """Runs of words with a capital; none if it is written as titles are."""
    if _is_title(question):
        return []
    capitals = [w for w in words(question) if w.informative and question[w.start].isupper()]
    joined: list[list[Word]] = []
    for word in capitals:
        if joined and question[joined[-1][-1].end : word.start] == " ":
            joined[-1].append(word)
        elif _stands_inside(question, word):
            joined.append([word])
    return joined


def _is_title(question: str) -> bool:
    """Whether all but short words have a capital: `Who Built the Pier`, not `Who was John Gray`."""
    long = [word for word in words(question)[1:] if word.folded not in _SHORT]
    capitals = [word for word in long if question[word.start].isupper()]
    return question.isupper() or (len(long) > _FEW and len(capitals) == len(long))


def _stands_inside(question: str, word: Word) -> bool:
    """Whether its capital is not that of a sentence's beginning."""
    before = question[: _called_from(question, word.start)].rstrip(" \"'“”‘’(")
    return bool(before) and before[-1] not in ".?!"


def _is_telling(question: str, word: Word) -> bool:
    """Whether it tells one thing from another: no court, no month, no adjective of a nation, no
    form of address."""
    return (
        word.folded not in _CALENDAR
        and word.folded not in _BORNE_BY_MANY
        and bool(specific(frozenset({word.term})))
        and not _OF_A_NATION.search(question[word.start : word.end])
    )


def as_written(question: str, name: Sequence[Word]) -> str:
    """A name as the question writes it, with `Senator` or `Mr` in front of it."""
    start = _called_from(question, name[0].start)
    return _POSSESSIVE.sub("", question[start : name[-1].end])


def _called_from(question: str, at: int) -> int:
    """Where `Senator` or `Mr` in front of a name begins, or the name itself."""
    # only from near the name on, or a question of many names takes quadratic time
    called = _CALLED_BEFORE.search(question, max(at - _LONGEST_CALLED, 0), at)
    return called.start() if called else at


def _all_text(passages: Iterable[Passage]) -> str:
    parts = (
        (p.title, p.section, p.speaker, p.text, *map(str, p.metadata.values())) for p in passages
    )
    return "\n".join(text for of_one in parts for text in of_one)


def people_of(passage: Passage) -> list[str]:
    """Who wrote its document and to whom, as its metadata say: `recipient`, `author.name`."""
    return [
        ", ".join(value) if isinstance(value, tuple) else str(value)
        for field, value in passage.metadata.items()
        if field.split(".")[0] in _PEOPLE and field.split(".")[-1] in (*_PEOPLE, "name")
    ]


def _terms_of(passage: Passage) -> frozenset[str]:
    about = [passage.title, passage.section, passage.speaker, passage.date]
    about += [passage.corpus.replace("_", " "), *map(str, passage.metadata.values())]
    language = passage.language or DEFAULT_LANGUAGE
    # apart: the words of a passage's text are remembered, and the checks read them too
    return all_terms(passage.text, language) | all_terms("\n".join(about), language)
