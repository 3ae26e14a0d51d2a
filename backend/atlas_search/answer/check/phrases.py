"""Phrases that an answer is told by: sentences that state nothing, and refusals of a model.

Headings and caveats need no citation. For refusals there is a short list of ways to say it in plain
text; the prompt asks for an empty list. A refusal that is not recognised does no harm: without a
citation no text is sent, so it is repaired and then blocked. Of 98 phrasings the list knows 77;
400 lines of patterns in five languages knew all.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from atlas_search.answer.check.markers import ROUND, MarkedSentence
from atlas_search.answer.check.support import ReadPassage, numbers_missing
from atlas_search.core.domain import SUCCESSOR, Passage
from atlas_search.core.locator import LOCATOR_IN_TEXT
from atlas_search.core.metadata import values_of
from atlas_search.language.text import content_terms, words

# longer brackets are asides; the bound keeps the search linear. What the levels of a locator are in
# belongs to the inside: `(act s10(1)(a))`
_INSIDE = r"(?:[^\[\]［］【】(){}<>]|(?<=[\w)])\([0-9A-Za-z]{1,5}\)){1,300}"
_BRACKETS = re.compile(rf"([\[［【({{<])({_INSIDE})[\]］】)}}>]")
_PAGE = re.compile(r"\bpp?\.?\s?\d")
_TOKEN = re.compile(r"[^\s,;]+[ ,:#]+p\d+")
_NUMBERS = re.compile(r"\s*\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*\s*")
_NUMBERED = re.compile(
    r"\s*(?:source|passage|document|ref(?:erence)?|citation|chunk|excerpt)s?\s*[.:#]?\s*\d+.*",
    re.IGNORECASE | re.DOTALL,
)
_BARE = re.compile(
    rf"(?<![\w.\-/])(\w++(?:[.\-/]\w++)*+)[\s,:#]{{1,3}}(?:p\.?\s?\d++|{LOCATOR_IN_TEXT})"
)
_ID = re.compile(r"[a-z]{2}[\w-]*[._][\w.-]*\w")  # as ids are made: `act.1968`, `uk_act`
_AROUND = 20  # characters on either side that a quotation from the source has in common with it


def lookalikes(
    sentence: str, document_ids: frozenset[str], cited: Sequence[ReadPassage]
) -> list[str]:
    """Find what passes for a citation: brackets, and bare ids with a page or a locator.

    The sentence is without its tokens. A find is the source's own, and left out, if it comes with
    the words around it from one of the `cited` passages.
    """
    return [
        match.group()
        for match in _find(sentence, document_ids)
        if not any(_comes_from(read, match) for read in cited)
    ]


def _find(sentence: str, document_ids: frozenset[str]) -> Iterator[re.Match[str]]:
    end = 0  # of what was found last
    brackets = [m for m in _BRACKETS.finditer(sentence) if _passes(m[1], m[2], document_ids)]
    bare = [m for m in _BARE.finditer(sentence) if m[1] in document_ids or _ID.fullmatch(m[1])]
    for match in sorted([*brackets, *bare], key=lambda m: m.span()):
        if match.start() >= end:
            end = match.end()
            yield match


def _passes(opening: str, inside: str, document_ids: frozenset[str]) -> bool:
    if not document_ids.isdisjoint(re.split(r"[\s,;:#]+", inside)):
        return True
    if opening in "([［" and _TOKEN.fullmatch(inside):
        return True
    if opening in "[［" and _PAGE.search(inside):
        return True
    return opening == "【" or bool(
        _NUMBERED.fullmatch(inside) or (opening != "(" and _NUMBERS.fullmatch(inside))
    )


def _comes_from(read: ReadPassage, match: re.Match[str]) -> bool:
    read.compare()
    around = match.string[max(match.start() - _AROUND, 0) : match.end() + _AROUND]
    return " ".join(around.translate(ROUND).split()) in read.squeezed


_NOT = r"(?: not|n't)"
_PASSAGES = (
    r"(?:passages?|excerpts?|extracts?|sources|documents|context|search results?"
    r"|(?:provided|given|retrieved) (?:text|information|material|evidence))"
)
_HOLD = (
    r"(?:contain|mention|provide|include|state|say|specify|answer|address|give|discuss|describe"
    r"|indicate|explain|support|name)"
)
_SILENT = (
    rf"\b{_PASSAGES}(?: \w+)?,? (?:(?:do|does|did){_NOT} (?!only)(?:\w+ly )?{_HOLD}\b|lacks?\b"
    rf"|(?:contain|provide|give|hold)s? (?:no|not enough|insufficient)\b|(?:is|are) "
    rf"(?:insufficient|silent)\b|says? nothing\b)"
)
_BY_SILENCE = re.compile(rf"(?:[^,.]{{0,40}}, )?(?:the|these|those|this)? ?(?:\w+ )?{_SILENT}")
_REFUSALS = re.compile(
    r"\W*(?:no answer\b|n/a\b|none\b|unknown\b|unanswerable\b)\W*$"
    rf"|\b(?:i|we)(?: do{_NOT} (?:know|have|find|see)|(?: can(?:not|'t)|"
    rf" could{_NOT}| am unable|'m unable| was unable| am not able|'m not able| have no) (?:to )?\w)"
    rf"|^\W*(?:sorry|unfortunately|regrettably|unable to|as an ai\b)|{_SILENT}"
    rf"|\bnot (?:\w+ )?(?:given|stated|mentioned|specified|found|provided|named) (?:in|by) "
    rf"(?:the |these )?(?:\w+ )?{_PASSAGES}"
    rf"|\b(?:none|neither|nothing) (?:of|in) (?:the|these|your) (?:\w+ )?{_PASSAGES}"
    rf"|\b(?:but|they) (?:do|does){_NOT} {_HOLD}\b|\b(?:im|not )possible to\b|\bit is unclear\b"
    r"|\b(?:no|not enough|insufficient|not sufficient) (?:relevant )?(?:information|context"
    r"|evidence|mention|details?)\b|\b(?:cannot|could not) be (?:answered|determined)\b"
    r"|\b(?:language model|llm|service) (?:is )?(?:currently )?unavailable\b"
)
_MORE = re.compile(r"[;:—–(]|,|\b(?:but|because|although|though|while|as|since|who|which|and)\b")
_MARKUP = "*_\"'“”‘’`([{<>#-–•: "
_READ = 500  # characters of a sentence


def is_refusal(written: Sequence[MarkedSentence]) -> bool:
    """Return True if a whole answer says that it cannot answer.

    So does one without a sentence, and one that cites nothing and begins with a refusal. With a
    citation, only one sentence about what the passages do not say is a refusal.
    """
    if not written:
        return True
    if any(sentence.markers for sentence in written):
        return len(written) == 1 and is_caveat(written[0].text)
    return bool(_REFUSALS.search(_fold(written[0].text)))


def is_caveat(sentence: str) -> bool:
    """Return True if a sentence only says what the passages do not hold.

    One with a further clause says more: `The passages do not say so, as he was bribed.`
    """
    folded = _fold(sentence)
    silent = _BY_SILENCE.match(folded) if len(sentence) <= _READ else None
    return silent is not None and not _MORE.search(folded, silent.end())


def _fold(sentence: str) -> str:
    """Casefolded, with straight apostrophes and single blanks, without marks in front."""
    plain = sentence[:_READ].casefold().replace("’", "'")
    return " ".join(plain.split()).lstrip(_MARKUP)


_WORDS_OF_HEADING = 12
_NEGATED = re.compile(
    r"\b(?:not?|never|nor|without|cannot|nicht|kein\w*|pas|jamais|nunca|geen|niet)\b|n['’]t\b",
    re.IGNORECASE,
)
# how an answer speaks of itself and of the passages; who uses them states nothing of the subject
_ANNOUNCING = frozenset(
    """
    answer answers background conclusion context detail details differ difference differences
    document documents evidence example examples excerpt excerpts finding findings follow following
    follows further give gives given here in introduction key list listed lists main mention
    mentions name names note overview passage passages point points question reason reasons
    result results say says section show shows source sources state states summary text texts
    """.split()
)


class SourceWords:
    """All passages that an answer was written from, as one body of words and numbers."""

    def __init__(self, given: Sequence[ReadPassage], language: str):
        self._passages = given
        self._language = language

    def hold(self, said: str) -> bool:
        """Check that all informative words of a text, and all its numbers, are theirs."""
        return self.hold_numbers(said) and any(
            all(
                word.term in known
                for word in words(said, language)
                if word.informative and word.folded not in _ANNOUNCING and not word.folded.isdigit()
            )
            for language, known in self._terms.items()
        )

    def hold_numbers(self, said: str) -> bool:
        """Check that all numbers of a text are theirs."""
        return not numbers_missing(said, (read.numbers for read in self._passages))

    @cached_property
    def _terms(self) -> dict[str, frozenset[str]]:
        """The stems of each language; those of a title and a section are theirs, too."""
        by_language: dict[str, set[str]] = {self._language: set()}
        for read in self._passages:
            passage = read.passage
            headings = content_terms(f"{passage.title}\n{passage.section}", passage.language)
            by_language.setdefault(passage.language, set()).update(read.terms, headings)
        return {language: frozenset(terms) for language, terms in by_language.items()}


def is_heading(text: str, sources: SourceWords) -> bool:
    """Check for a heading: in Markdown's marks, or with a colon at its end.

    A heading in words that no passage holds may state anything, so it is none.
    """
    bold = len(text) > 4 and text.startswith("**") and text.endswith(("**", "**:"))
    title = text.strip("*_#: ")
    announces = bold or text.startswith("#") or text.endswith((":", ":**"))
    short = title[-1:] not in ".!?…" and len(text.split()) <= _WORDS_OF_HEADING
    return announces and short and not _NEGATED.search(title) and sources.hold(title)


_SLUG = re.compile(r"[^a-z0-9]+")


def is_superseded(passage: Passage) -> bool:
    """Return True if another document has taken the place of this one."""
    return SUCCESSOR in passage.metadata


def successors_of(passage: Passage, others: Iterable[Passage]) -> str:
    """Return the titles of the documents that took its place; empty if none did."""
    titles = dict.fromkeys(other.title for other in others if took_over(other, passage))
    return ", ".join(titles or (successor.title for successor in passage.successors))


def took_over(new: Passage, old: Passage) -> bool:
    """Return True if the document of `new` took the place of the document of `old`.

    One of them names the other, by its id or its title.
    """
    if is_superseded(new):
        return False
    return _name_one(old, SUCCESSOR, new) or _name_one(new, "supersedes", old)


def _name_one(passage: Passage, field: str, other: Passage) -> bool:
    names = values_of(passage.metadata, field)
    if not names:
        return False
    ids = (other.document_id, other.document_id.removeprefix(f"{other.corpus}."), other.title)
    return bool({_slug(name) for name in names} & {_slug(name) for name in ids} - {""})


def _slug(name: str) -> str:
    return _SLUG.sub("-", name.lower()).strip("-")
