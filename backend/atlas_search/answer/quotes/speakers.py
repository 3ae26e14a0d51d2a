"""Who said what is quoted, where a question asks what somebody said."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from atlas_search.answer.quotes.names import as_written, people_of, telling_names, terms_of_name
from atlas_search.answer.quotes.quotable import Quote
from atlas_search.core.domain import Passage
from atlas_search.language.english import FORMS_OF_ADDRESS, OFFICES, any_of, stems
from atlas_search.language.text import all_terms, words

_SAYING = (
    "say says tell state argue think claim call said told stated argued thought claimed called "
    "ask asked reply suggest propose"
)
_SAID = re.compile(
    rf"{any_of('did does do has have had would')} (?:the )?(?P<who>.{{1,120}}?) {any_of(_SAYING)}|"
    r"(?i:\baccording to) (?:the )?(?P<source>[^,?]{1,120})|"
    rf"{any_of('view views opinion opinions position positions words')} of (?:the )?"
    r"(?P<holder>[A-Z][^,?]{0,120})"
)
_SAY = stems(_SAYING)
_REPORTS = re.compile(
    any_of(
        "said says stated states called calls argued argues claimed claims told wrote writes held "
        "holds thought asked replied suggested proposed declared explained observed concluded "
        "noted submitted contended mentioned"
    )
)
_REPORTED = re.compile(
    # `I asked Mr Hay` is not what he asked; `"Is it so?" asked Mr Hay` is
    rf"(?:{any_of('said replied wrote')}|[?,\"”’]\s?asked) (?P<after>[^.,;]{{1,60}})|"
    r"\b(?i:according to|(?:view|opinion|words) of) (?P<source>[^.,;]{1,60})"
)
_ANOTHER = re.compile(r"(?<!\bof )(?<!\bfor )(?<!\()\b[A-Z][\w'’-]+")
"""Whoever is named between somebody and a verb says it: `Hay knew that Roe had told him`."""
_WORDS_BEFORE = 5  # `Justice Holmes, in his dissent, called it`
_HE = re.compile(r"(?:he|she)\b", re.IGNORECASE)
_HIGHER = frozenset("deputy vice acting shadow assistant former".split())
"""What makes another office of one: the Deputy Speaker is not the Speaker."""
_HEADS = OFFICES | _HIGHER | frozenset("chair chairman chairperson chairwoman leader whip".split())
_SMALL = frozenset("a an and de der di du for in la le of on the van von".split())
_STAGED = re.compile(r"\s*\[[^\[\]]{1,40}\]\s*")
_OPENING = re.compile(
    r"(?:^|(?<=[\n\]])[ \t]{0,12})\[?(?P<who>[A-Z][^:\n—–]{1,80}?)(?::|\.?\s?[—–])\s"
)


@dataclass(frozen=True)
class Sayer:
    """Somebody whose words are asked for: as the question writes it, the stems that tell him from
    others, and whether these are those of his office."""

    name: str
    terms: frozenset[str]
    is_office: bool

    def is_named(self, text: str) -> bool:
        """Whether a text that names somebody names him. Two who share a title or a first name are
        not the same, nor are an office and its deputy."""
        if not self.is_office:
            return bool(self.terms & all_terms(text))
        said = {word.folded for word in words(text)}
        asked = {word.folded for word in words(self.name)}
        return self.terms <= all_terms(text) and said & _HIGHER == asked & _HIGHER


def sayers_in(question: str) -> tuple[Sayer, ...]:
    """Of whom an English question asks what they said."""
    said = _SAID.search(question)
    if not said:
        return ()
    start, end = next(span for span in map(said.span, said.groupdict()) if span[0] >= 0)
    office = _office_in(question[start:end])
    if office:
        return (office,)
    named = [name for name in telling_names(question) if start <= name[0].start < end]
    sayers = (
        Sayer(as_written(question, name), frozenset({name[-1].term}), is_office=False)
        for name in named
    )
    return tuple(dict.fromkeys(sayers))


def is_said_by(passage: Passage, question: str) -> bool:
    """Whether one of whom the question asks what he said speaks in a passage; or its title or its
    author is he, where it has no speaker."""
    sayers = sayers_in(question)
    if not sayers:
        return False
    speaking = [passage.speaker, *(who for _, who in _openings(passage.text))]
    spoken = list(filter(None, speaking)) or [passage.title, *people_of(passage)]
    return any(sayer.is_named(who) for sayer in sayers for who in spoken)


def own_words(question: str, quotes: Iterable[Quote]) -> list[Quote]:
    """Those of `quotes` that he says of whom a question asks what he said, or that report it, and
    that are on what is asked; all if it asks for nobody's words."""
    sayers = sayers_in(question)
    if not sayers:
        return list(quotes)
    subject = words_beside_names(question)
    own = [q for q in quotes if any(_is_his(sayer, q) for sayer in sayers)]
    return [q for q in own if not subject or subject & _said_about(q)]


def words_beside_names(question: str) -> frozenset[str]:
    """The stems of a question but those of who says something, of all names and of `say`."""
    known = frozenset[str]().union(*(sayer.terms for sayer in sayers_in(question)))
    known |= {word.term for name in telling_names(question) for word in name}
    asked = {word.term for word in words(question) if word.informative}
    return frozenset(asked - known - _SAY)


def _said_about(quote: Quote) -> frozenset[str]:
    """What a quote says, with the title and the headings that say what it is about."""
    passage = quote.passage
    about = f"{passage.title}\n{passage.section_at(quote.start)}"
    before = quote.before.terms if quote.before else frozenset[str]()
    return quote.terms | before | all_terms(about, passage.language)


def _is_his(sayer: Sayer, quote: Quote) -> bool:
    who = speaker_of(quote)
    if who and sayer.is_named(who):
        return True
    if not who and any(map(sayer.is_named, (quote.passage.title, *people_of(quote.passage)))):
        return True
    before = quote.before.text if quote.before else ""
    is_he = bool(before and _HE.match(quote.text)) and bool(_REPORTS.search(quote.text))
    return _reports(sayer, quote.text) or (is_he and sayer.terms <= all_terms(before))


def speaker_of(quote: Quote) -> str:
    """Who speaks where a quote begins, empty if the source does not say."""
    passage = quote.passage
    at = quote.start - passage.start
    begun = _STAGED.match(passage.text, at)  # `[Applause.] Mr SMITH: `
    at = begun.end() if begun else at
    openings = _openings(passage.text)
    before = bisect_right(openings, at, key=lambda opening: opening[0])
    return openings[before - 1][1] if before else passage.speaker.partition(";")[0].strip()


@lru_cache(32)  # each quote of a passage asks for the same
def _openings(text: str) -> tuple[tuple[int, str], ...]:
    """Where somebody begins to speak, and who: `Mr SMITH: `."""
    found = ((match.start(), match["who"].strip()) for match in _OPENING.finditer(text))
    return tuple((start, who) for start, who in found if _is_somebody(who))


def _is_somebody(who: str) -> bool:
    """Whether all but small words have a capital, and there are at least two or all capitals."""
    said = re.sub(r"\([^()]*\)", "", who).split()
    large = [word for word in said if word.casefold() not in _SMALL]
    named = bool(large) and all(word[0].isupper() for word in large)
    return named and (len(said) > 1 or who.isupper())


def _office_in(who: str) -> Sayer | None:
    """The office of `the Minister of Trade`, none of `Senator Reid`."""
    found = [word for word in words(who) if word.folded not in FORMS_OF_ADDRESS]
    heads = [word for word in found if word.folded in _HEADS]
    rest = who[heads[-1].end :].lstrip() if heads else ""
    if not heads or heads[0] is not found[0] or (rest and not rest.startswith(("of ", "for "))):
        return None
    return Sayer(who, frozenset(word.term for word in found if word.informative), is_office=True)


def _reports(sayer: Sayer, sentence: str) -> bool:
    """Whether a sentence says that he said something."""
    for found in _REPORTS.finditer(sentence):
        near = sentence[max(found.start() - 80, 0) : found.start()]
        before = words(near)[-_WORDS_BEFORE:]
        own = [word for word in before if word.term in sayer.terms]
        if sayer.terms <= {word.term for word in own} and not _ANOTHER.search(near, own[-1].end):
            return True
    after = [found["after"] or found["source"] for found in _REPORTED.finditer(sentence)]
    return any(sayer.terms <= all_terms(who) for who in after)


def is_said_by_another(question: str, sayings: Sequence[str]) -> bool:
    """Whether others than those asked for are the ones that `sayings` name."""
    asked = frozenset[str]().union(*(terms_of_name(s.name) for s in sayers_in(question)))
    sayers = [terms_of_name(name) for name in sayings]
    return bool(asked and sayers) and not any(asked & sayer for sayer in sayers)
