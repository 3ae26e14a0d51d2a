"""What a section, an article or a rule says: words that stand in it, not such as mention it."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from atlas_search.answer.quotes.quotable import Quote
from atlas_search.core.domain import CONTEXT_JOINT, Passage
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import all_terms, words

_KINDS = {
    "section": "section",
    "sec": "section",
    "s": "section",
    "§": "section",
    "paragraph": "paragraph",
    "para": "paragraph",
    "article": "article",
    "artikel": "article",
    "art": "article",
    "rule": "rule",
    "r": "rule",
    "regulation": "regulation",
    "reg": "regulation",
    "clause": "clause",
    "cl": "clause",
}
"""How provisions are called, in words and in locators, by what they are."""
_KIND = rf"(?P<kind>{'|'.join(sorted(_KINDS, key=len, reverse=True))})\.?"
_NUMBER = r"(?P<number>\d+[a-zA-Z]{0,3}(?:[-–.]\d+[a-zA-Z]?){0,3}|(?<!\S)(?-i:[IVXL]{1,8}))"
_PLACE = re.compile(
    rf"(?<!\w){_KIND}\s?{_NUMBER}(?P<levels>(?:\(\w{{1,5}}\))*)(?![\w-])", re.IGNORECASE
)
_HEADING = re.compile(rf"(?:{_KIND}\s?|(?=\d)){_NUMBER}(?![\w(-])", re.IGNORECASE)
_LINE = re.compile(
    # `Article 42 does not preclude` and `Article 297, paragraph 3, applies` are sentences
    rf"(?:^|\n)[#* \t]{{0,8}}{_KIND}\s?{_NUMBER}(?![\w(-])(?!,| (?-i:[a-z]))",
    re.IGNORECASE,
)
_LOCATOR = re.compile(rf"{_KIND}\s?{_NUMBER}(?P<levels>(?:\(\w{{1,5}}\))*)", re.IGNORECASE)
_BEFORE = re.compile(
    r"\s*(?:what (?P<does>do|does|did)|what (?:is|was) (?:said|stated|provided) (?:in|by)|"
    r"was (?:sagt|besagt|bestimmt|regelt|steht in)|que (?:dit|prévoit|dispose) l['’])\s*(?:the )?",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"(?P<law>.{0,300}?)\b(?:say|state|provide|lay down|deal with|require|prohibit|forbid|"
    r"guarantee|define|establish|contain)\b(?P<about>.{0,300})",
    re.IGNORECASE | re.DOTALL,
)
_SUBSECTION = re.compile(r"(?:^|\n)[ \t]{0,8}\((\d{1,3}[a-zA-Z]?)\)\s")


@dataclass(frozen=True)
class Provision:
    """A provision whose words are asked for: what it is, its number, and of which law.

    `level` is the first of its levels (`2` of section 5(2)), `about` what of it is asked for; each
    is empty if the question does not say.
    """

    kind: str
    number: str
    level: str
    law: str
    about: str

    def holds(self, quote: Quote) -> bool:
        """Whether a quote stands in it, in a law that is called as the question calls it."""
        return self._is_at(quote) and self._is_of(quote.passage)

    def _is_of(self, passage: Passage) -> bool:
        about = [passage.title, passage.section, passage.corpus.replace("_", " ")]
        about += [str(value) for value in passage.metadata.values()]
        called = all_terms("\n".join(about), passage.language)
        return _informative(self.law, passage.language) <= called

    def _is_at(self, quote: Quote) -> bool:
        passage = quote.passage
        located = _LOCATOR.fullmatch(passage.locator_at(quote.start))
        if located and self._is_called(located):
            levels = re.findall(r"\((\w+)\)", located["levels"])
            return not self.level or self.level in levels[:1] or self._is_below(quote)
        found = any(self._is_called(heading) for heading in _headings(quote))
        return found and (not self.level or self._is_below(quote))

    def _is_called(self, found: re.Match[str]) -> bool:
        kind = _KINDS[found["kind"].casefold()] if found["kind"] else self.kind
        return kind == self.kind and _plain(found["number"]) == self.number

    def _is_below(self, quote: Quote) -> bool:
        """Whether the last number in brackets, up to its beginning, is that of the level."""
        at = quote.start - quote.passage.start + len(self.level) + 3
        last = _last(_SUBSECTION, quote.passage.text, _section_start(quote), at)
        return bool(last) and last[0][1] == self.level


def _headings(quote: Quote) -> list[re.Match[str]]:
    """The provisions that a quote stands below: by the path of headings, and where that names
    none, by the last line below it that begins as one."""
    passage = quote.passage
    path = passage.section_at(quote.start).split(CONTEXT_JOINT)
    named = [found for found in map(_HEADING.match, path) if found]
    at = quote.start - passage.start
    return named or _last(_LINE, passage.text, _section_start(quote), at)


def _last(pattern: re.Pattern[str], text: str, start: int, end: int) -> list[re.Match[str]]:
    """The last place between them that a pattern finds."""
    found = _found(pattern, text, start)
    behind = bisect_right(found, end, key=lambda match: match.end())
    return found[max(behind - 1, 0) : behind]


@lru_cache(64)  # all quotes of a section ask for it
def _found(pattern: re.Pattern[str], text: str, start: int) -> list[re.Match[str]]:
    return list(pattern.finditer(text, start))


def _section_start(quote: Quote) -> int:
    """Where in its passage the section of a quote begins."""
    at = quote.start - quote.passage.start
    begins = (f.start for f in quote.passage.locators if f.section is not None)
    return max((begin for begin in begins if begin <= at), default=0)


def provision_in(question: str) -> Provision | None:
    """The provision whose words a question asks for: `what does section 5(2) say of dogs?`"""
    place = _PLACE.search(question)
    before = _BEFORE.fullmatch(question, 0, place.start()) if place else None
    if place is None or before is None:
        return None
    rest = question[place.end() :].rstrip(" ?")
    says = _SAYS.match(rest)
    if before["does"] and says is None:
        return None
    law, about = (says["law"], says["about"]) if says else (rest, "")
    levels = re.findall(r"\((\w+)\)", place["levels"])
    kind = _KINDS[place["kind"].casefold()]
    return Provision(kind, _plain(place["number"]), levels[0] if levels else "", law, about)


def words_of(provision: Provision, quotes: Iterable[Quote]) -> list[Quote]:
    """Those of `quotes`, best passage first, that stand in a provision, as the source has them.

    None if nothing of it is about what is asked. Of several laws with such a provision the one
    found first speaks.
    """
    held = sorted((q for q in quotes if provision.holds(q)), key=lambda quote: quote.rank)
    own = [q for q in held if q.passage.document_id == held[0].passage.document_id]
    if provision.about and not _are_about(provision.about, own):
        return []
    return _apart(sorted(own, key=lambda quote: (quote.start, quote.rank)))


def _are_about(about: str, quotes: Sequence[Quote]) -> bool:
    asked = _informative(about, DEFAULT_LANGUAGE)
    return not asked or any(asked & quote.terms for quote in quotes)


def _apart(quotes: Sequence[Quote]) -> list[Quote]:
    """The same, in order of their start, without those that overlapping passages hold twice."""
    said: list[Quote] = []
    for quote in quotes:
        if not said or not quote.within(said[-1].place):
            said.append(quote)
    return said


def _informative(text: str, language: str) -> frozenset[str]:
    return frozenset(word.term for word in words(text, language) if word.informative)


def _plain(number: str) -> str:
    return number.replace("–", "-").casefold()
