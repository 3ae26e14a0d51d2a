"""One analyser for everything that compares words.

BM25, the ranking signals, highlights, sentence choice and citation checks all read text through
this module, so a word that counts in one of them counts in all of them.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import sentencex
import Stemmer

ANALYSER_VERSION = 1
"""Raised when the stems of a text change: a store and its questions must agree on them."""

# combining marks: text in decomposed form must not be cut at each of them
_LETTER = r"[\w\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_WORD = re.compile(rf"\w{_LETTER}*(?:['’]\w{_LETTER}*)*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_APOSTROPHE = re.compile("['’]")
# abbreviations of law reports that sentencex takes for the end of a sentence
_ABBREVIATION = re.compile(r"\b(?:v|vs|ex rel|Nos?|ss?|paras?|[Aa]rts?|cf|cl|pt|ch|Hon)\.\s*\Z")
_CAPITAL = f"[{''.join(chr(code) for code in range(0x250) if chr(code).isupper())}]"
_NAME = re.compile(rf"\b{_CAPITAL}[\w'’]*\.?(?:\s+(?:(?:of|the|v|vs)\.?\s+)*{_CAPITAL}[\w'’]*\.?)+")
_BRACKETED = re.compile(r"\([^()]{1,200}\)")
_stemmer = Stemmer.Stemmer("english", 0)  # its own cache is not thread-safe; `_stem` has one

FUNCTION_WORDS = frozenset(
    """
    a about after all also an and any are as at be because been before being between both but by can
    could describe did do does done during each either every explain for from get give gives had has
    have having he her hers him his how i if in into is it its itself just let may me might more
    most much must my no not of on once only or other our out over own please s shall she should
    show so some such t tell than that the their them then there these they this those through to
    under until up upon us very was we were what when where whether which while who whom whose why
    will with would you your
    """.split()
)
"""Words that say how a question is asked, not what it is about; the index keeps them."""


class Word(NamedTuple):
    """One word of a text: `text[start:end]`, its folded form and its stem."""

    start: int
    end: int
    folded: str
    term: str


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of some text."""

    start: int
    end: int


def fold(word: str) -> str:
    """Case-folded, without diacritics, with a straight apostrophe: `Café` and `CAFE` meet."""
    # casefolding can bring marks back, and decomposing capitals, hence twice
    return _without_marks(_without_marks(word).casefold()).replace("’", "'")


def _without_marks(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


@lru_cache(maxsize=1 << 18)
def _stem(folded: str) -> str:
    return str(_stemmer.stemWord(folded))


def words(text: str) -> list[Word]:
    """The words of `text` in order, with exact character offsets."""
    found = []
    for match in _WORD.finditer(text):
        folded = fold(match.group())
        found.append(Word(match.start(), match.end(), folded, _stem(folded)))
    return found


def identifier_parts(surface: str) -> list[str]:
    """Stems of the parts of `camelCase`, `snake_case` and `s59` words; empty for plain words."""
    parts = _PART.findall(_without_marks(_APOSTROPHE.split(surface, maxsplit=1)[0]))
    if len(parts) < 2:
        return []
    return [_stem(fold(part)) for part in parts]


def content_words(question: Sequence[Word]) -> list[Word]:
    """The words that say what a question is about; all of them if nothing else is left."""
    informative = [word for word in question if word.folded not in FUNCTION_WORDS]
    return informative or list(question)


def distinct(terms: Iterable[str]) -> tuple[str, ...]:
    """`terms` without repeats, in order of first occurrence."""
    return tuple(dict.fromkeys(terms))


def content_terms(text: str) -> frozenset[str]:
    """The stems of the informative words of `text`."""
    return frozenset(word.term for word in content_words(words(text)))


def sentences(text: str) -> list[Span]:
    """The sentences of `text` as spans without surrounding blanks.

    A line break ends a sentence too: headings and list items stand on lines of their own. The
    sentences of a sentence are itself.
    """
    settled = []
    for span in _sentences(text):
        inner = text[span.start : span.end]
        # in-line lists and unbalanced quotes are split only when they stand alone
        parts = sentences(inner) if len(_sentences(inner)) > 1 else [Span(0, len(inner))]
        settled += [Span(span.start + start, span.start + end) for start, end in parts]
    return settled


def _sentences(text: str) -> list[Span]:
    spans = []
    for line in re.finditer(r"[^\n]+", text):
        start = line.start()
        # sentencex takes "59)" for a list item and loses count of brackets after it
        masked = _BRACKETED.sub(_masked, line.group())
        for boundary in sentencex.get_sentence_boundaries("en", masked):
            end = line.start() + boundary["end_index"]
            if end < line.end() and _ABBREVIATION.search(text, start, end):
                continue
            span = trimmed(text, start, end)
            start = end
            if span.start < span.end:
                spans.append(span)
    return spans


def names(question: str) -> list[list[Word]]:
    """The informative words of each name in a question: two or more capitalised words in a row.

    Single capitalised words are left out (too many are adjectives), and so is everything in a
    question that capitalises most of its words.
    """
    informative = content_words(words(question))
    capitals = sum(question[word.start].isupper() for word in informative)
    if capitals > max(len(informative) * 3 // 4, 3):
        return []
    found = []
    for match in _NAME.finditer(question):
        inside = [w for w in informative if match.start() <= w.start and w.end <= match.end()]
        if len(inside) > 1:
            found.append(inside)
    return found


def _masked(bracket: re.Match[str]) -> str:
    """The bracket as one word of the same length, with the case and end its inside has."""
    inside = bracket.group()[1:-1]
    first = "X" if inside[:1].isupper() else "x"
    last = inside[-1] if inside[-1] in ".?!" else "x"
    return first + "x" * len(inside) + last


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without blanks at either end; empty (`start == end`) if it held only blanks."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
