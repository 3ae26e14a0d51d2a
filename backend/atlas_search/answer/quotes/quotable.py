"""The statements of a passage that can be quoted, and what each needs to be understood."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from atlas_search.core.domain import MARKER_LIKE, Citation, Passage
from atlas_search.language.languages import UNSPACED
from atlas_search.language.lines import unwrap
from atlas_search.language.text import TextSpan, all_terms, fold_words, sentences, trim, words

MIN_WORDS = 4
MOST_WORDS = 90  # of a sentence with the items of its list

_ENDED = re.compile(r"[.?!…。！？؟।។။][\"'”’»)\]」』）]*$")
_ASKS = re.compile(r"[?؟？][\"'”’»)\]」』）]*$")
_UNFINISHED = re.compile(
    r"(?:[:,;—–-]|\b(?:and|or|if|that|the|a|an|of|to|by|who|which|must|shall|may|should))$"
)
_HEADING = re.compile(r"#{1,6}\s")
_ITEM = re.compile(r"\((?:[a-z]{1,2}|[ivx]{1,5}|\d{1,2}|[A-Z])(?:\.\d+)?\)\s")
_BULLET = re.compile(r"[-*•‣▪–]\s+")
# `(b) if access is given`; a sub-section begins with a capital and stands alone
_LEANING_ITEM = re.compile(rf"(?:{_ITEM.pattern}|{_BULLET.pattern})(?=[a-z])")
_BULLETED = re.compile(r"(?:^|\n)[ \t>]{0,8}[-–—]+\s*\Z")  # a dash is no part of a quote
_ROW = re.compile(r"[^|:]+: [^|]+(?: \| [^|:]+: [^|]+)+")
"""A row of a table as readers write it: `Step: decision | Limit: 20 working days`."""
_FIGURE = r"\(?[^\w\s(]?\s?(?:\d{1,3}(?:[,.]\d+)+|\d+(?=%))\)?%?"
_FIGURES = re.compile(rf"[^\W\d_]{{2,}}\b[^\n]{{1,120}}?\s{_FIGURE}(?:\s+[^\w\s]?\s?{_FIGURE})*")
"""A line of a table in a page, a label and its figures: `Net income 29,998 34,630`."""
_REFERENCE = re.compile(r"sources?:", re.IGNORECASE)
_WORD_OF_PROSE = re.compile(rf"[{UNSPACED}]|\b[^\W\d_]{{2,}}\b(?!\.)")
_SALUTATION = re.compile(
    r"(?:dear|hon(?:ou?rable)?\.? (?:members|senators)|ladies and gentlemen|my lords|"
    r"(?:mr|mrs|ms|madam|sir)\.? (?:deputy )?(?:speaker|president|chair\w*))\b[^.?]{0,40}$",
    re.IGNORECASE,
)
_TITLED = r"(?:(?:the|an) )?(?:senator|mr|mrs|ms|miss|dr|sir|dame|lord|lady|the|hon|an)\b\.?"
_NAMED = r"(?:[^.?!:()]|\([^()]*\))"
_TIME_OF_DAY = r"\(\s*\d{1,2}[.:]\d\d(?:\s*[ap]\.?\s?m\.?)?\s*\)"
_ADDRESSED = re.compile(
    rf"{_TITLED}{_NAMED}{{0,80}}?(?:\.?\s?(?:[—–]|\s-|:)\s*|(?<=[m.]\))\s+)", re.IGNORECASE
)
# the time of day ends in what looks like the end of a sentence: `Senator X (3.15 p.m.) — `
_ADDRESS_ALONE = re.compile(rf"{_TITLED}{_NAMED}{{0,80}}{_TIME_OF_DAY}[.:]?", re.IGNORECASE)
_DASH = re.compile(r"[—–-]+(?=\s|[^\W\d])\s*")
_TITLES = re.compile(
    r"(?i:senator|mr|mrs|ms|miss|dr|sir|dame|lord|lady|hon)\b|"
    r"(?i:the|an) (?:[A-Z]{3,}|(?i:hon|deputy|acting|temporary|speaker|president|chair))"
)
# what stands for something said before: such a sentence cannot be understood alone
_BACKWARDS = re.compile(
    r"(?:he|she|it|they|his|her|its|their|this|that|these|those|such|both|the (?:former|latter|"
    r"same)|(?:also|but|however|moreover|nevertheless|therefore|thus|hence|then|so|instead)\b,?"
    r"(?: (?:he|she|it|they|this|these))?)\b"
    r"(?! (?:is|was|shall be)(?: not)? (?:an offence|lawful|unlawful|necessary|possible|clear|"
    r"\w+ed that)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a passage on one line, and where they stand in its document.

    `terms` are their stems, `rank` that of the passage, from 0. `before` is what must be read
    first, where it begins with a pronoun or is an item of a list. `score` says how much it speaks
    to the question, `similarity` is its cosine to it, estimated for those unlikely to lead.
    """

    text: str
    start: int
    end: int
    terms: frozenset[str]
    passage: Passage
    rank: int
    before: "Quote | None" = None
    score: float = 0.0
    similarity: float = 0.0

    @property
    def order(self) -> tuple[float, int, int]:
        """The sort key: best first, then in order of passage and place."""
        return -self.score, self.rank, self.start

    @property
    def span(self) -> TextSpan:
        """The characters in the passage."""
        return TextSpan(self.start - self.passage.start, self.end - self.passage.start)

    @property
    def place(self) -> tuple[str, int, int]:
        """The document's id, and the characters in it."""
        return self.passage.document_id, self.start, self.end

    def overlaps(self, other: "Quote | Citation") -> bool:
        """Return True if it shares a character of the document with another place."""
        same = self.passage.document_id == other.passage.document_id
        return same and self.start < other.end and other.start < self.end


def quotes_of(passage: Passage, rank: int, *, with_questions: bool = False) -> list[Quote]:
    """Return the statements of a passage, in order.

    Headings, salutations and references are none, nor are questions unless they are wanted. A
    sentence that introduces a list is quoted with its items while that is short enough, a row of a
    table with the names of its columns. A source without any full stop has only lines; then all of
    them count but those that its title and headings have too.
    """
    text, language = passage.text, passage.language
    spans = [
        span
        for span in _statements(text, sentences(text, language), passage.speaker)
        if with_questions or not _ASKS.search(text[span.start : span.end])
    ]
    whole = [span for span in spans if _is_whole(text, span)]
    if not whole:
        headings = fold_words(f"{passage.title}\n{passage.section}", language)
        whole = [
            span
            for span in spans
            if fold_words(text[span.start : span.end], language) not in headings
        ]
    quotes: list[Quote] = []
    for span in whole:
        quote = quote_at(passage, span, rank)
        if not MARKER_LIKE.search(quote.text):  # the source's own reference would pass for ours
            quotes.append(quote)
    leaning = _with_what_is_before(quotes)
    # what introduces a list says nothing without it
    return [quote for quote in leaning if not quote.text.endswith(":")] or leaning


def quote_at(passage: Passage, span: TextSpan, rank: int) -> Quote:
    """The characters of a passage's text as a quote."""
    text = unwrap(passage.text[span.start : span.end])
    start, end = passage.start + span.start, passage.start + span.end
    return Quote(text, start, end, all_terms(text, passage.language), passage, rank)


def quote_of(place: Citation, rank: int = 0) -> Quote:
    """A place that is cited as a quote."""
    start = place.passage.start
    return quote_at(place.passage, TextSpan(place.start - start, place.end - start), rank)


def _statements(text: str, spans: Sequence[TextSpan], speaker: str) -> Iterator[TextSpan]:
    """Sentences, and lists joined to what introduces them, without who speaks and what is none."""
    for span in _join_lists(text, spans):
        opening = _speaker_ends(text[span.start : span.end], speaker)
        dash = _DASH.match(text, span.start + opening, span.end)
        statement = trim(text, dash.end() if dash else span.start + opening, span.end)
        if _is_statement(unwrap(text[statement.start : statement.end])):
            yield statement


def _join_lists(text: str, spans: Sequence[TextSpan]) -> list[TextSpan]:
    """Join a line that is unfinished with the items below it, up to MOST_WORDS."""
    joined: list[TextSpan] = []
    for span in spans:
        whole = TextSpan(joined[-1].start, span.end) if joined else span
        if joined and _goes_on(text, joined[-1], span) and _is_short(text[whole.start : whole.end]):
            joined[-1] = whole
        else:
            joined.append(span)
    return joined


def _goes_on(text: str, last: TextSpan, span: TextSpan) -> bool:
    line, following = text[last.start : last.end], text[span.start : span.end]
    if _HEADING.match(line) or _ENDED.search(line) or len(line.split()) < MIN_WORDS:
        return False
    if bullet := _BULLET.match(following):
        following = following[bullet.end() :]
    return bool(_ITEM.match(following)) or (
        bool(_UNFINISHED.search(line)) and following[:1].islower()
    )


def _is_short(text: str) -> bool:
    return len(text.split()) <= MOST_WORDS


def _speaker_ends(sentence: str, speaker: str) -> int:
    """Return the offset of the words behind `Senator X (New South Wales) (3.15 pm) — `, else 0."""
    addressed = _ADDRESSED.match(sentence)
    if not addressed:
        return 0
    opening = addressed.group()
    surname = speaker.replace(",", " ").split()[:1]
    if sentence[addressed.end() :][:1].islower():  # `Mr X - who kept bees - sold wax.`
        return 0
    is_named = bool(surname) and surname[0].casefold() in opening.casefold()
    return addressed.end() if is_named or _TITLES.match(opening) else 0


def _is_statement(sentence: str) -> bool:
    if _FIGURES.fullmatch(sentence):
        return True
    prose = _WORD_OF_PROSE.findall(sentence)
    return (
        len(words(sentence)) >= MIN_WORDS
        and len(prose) >= MIN_WORDS - 1
        and not _REFERENCE.match(sentence)
        and not _HEADING.match(sentence)
        and not _SALUTATION.match(sentence)
        and not _ADDRESS_ALONE.fullmatch(sentence)
    )


def _is_whole(text: str, span: TextSpan) -> bool:
    """Check that it ends as sentences do, or is an item of a list or a line of a table."""
    sentence = text[span.start : span.end]
    # what begins small is torn off
    ended = not sentence[0].islower() and bool(
        _ENDED.search(sentence) or sentence.endswith((";", ":"))
    )
    is_item = _ITEM.match(sentence) or _is_leaning_item(text, span)
    return ended or bool(is_item) or bool(_ROW.fullmatch(sentence) or _FIGURES.fullmatch(sentence))


def _is_leaning_item(text: str, span: TextSpan) -> bool:
    """Check for an item that goes on with what introduces its list."""
    dashed = _BULLETED.search(text, max(span.start - 16, 0), span.start)
    return bool(_LEANING_ITEM.match(text, span.start, span.end)) or (
        dashed is not None and text[span.start].islower()
    )


def _with_what_is_before(quotes: Sequence[Quote]) -> list[Quote]:
    """Set `before` on the quotes that lean on one before them.

    A pronoun leans on the last one, an item on what introduces its list.
    """
    result, opening = list(quotes[:1]), quotes[0] if quotes else None
    for last, quote in pairwise(quotes):
        is_item = _is_leaning_item(quote.passage.text, quote.span)
        leans_on = opening if is_item else last if _BACKWARDS.match(quote.text) else None
        result.append(replace(quote, before=leans_on))
        if not is_item:
            opening = quote
    return result
