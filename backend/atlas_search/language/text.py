"""One analyser for everything that compares words.

BM25, the ranking signals, highlights, sentence choice and citation checks all read text through
this module, so a word that counts in one of them counts in all of them.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

import sentencex

from atlas_search.language.languages import (
    BREAK,
    DEFAULT_LANGUAGE,
    INVISIBLE,
    MARKS,
    UNSPACED,
    fold,
    halves,
    language_of,
    lower_composed,
    without_marks,
)
from atlas_search.language.lines import fill, mend
from atlas_search.language.numerals import Numeral, numerals

ANALYSER_VERSION = 5
"""Raised when the stems of a text change: a store and its questions must agree on them."""

_start_of = attrgetter("start")
UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_GROUPED_BY_BLANKS = frozenset("bg cs et fi fr hu lt lv nb nn no pl ru sk sv uk".split())
_THREES = r"(?:[{0}]\d{{3}}){1}(?![{0}]?\d)"  # a separator, and how often it must stand


_PART = re.compile(rf"[A-Z]+(?![a-z])|[A-Z]?(?:[^\W\dA-Z_]|[{MARKS}])+|\d+")
_APOSTROPHE = re.compile("['’]")
_BROKEN = re.compile(BREAK)
_LINE = re.compile(r"[^\n]+")
# abbreviations of law reports that sentencex takes for the end of a sentence
_ABBREVIATION = re.compile(r"\b(?:v|vs|ex rel|Nos?|ss?|paras?|[Aa]rts?|cf|cl|pt|ch|Hon)\.\s*\Z")
# those are words, too, before another: `He said No. The next day`, `They love the Arts. She does`
_WORD_TOO = re.compile(r"\b(?:Nos?|[Aa]rts?)\.\s+\Z")
_BEGUN = re.compile(r"(?:I|A|[A-Z][a-z]+),?\s+[a-z]")
# the same before a number only: `94 Stat. 3305`, `Cap. 123`, `App. 4th`; 69 of 2,340 sentences of
# twelve American judgments ended so
_BEFORE_NUMBER = re.compile(
    r"\b(?:Stat|[Cc]ap|Ch|SC|[Ss]ched|[Dd]iv|[Vv]ols?|[Pp]p|Ex|Exhs?|[Aa]pp|Supp|L\. Ed|Gen|Regs?"
    r"|Rev|[Dd]oc|Res|Cong|Cl|Pts?|Secs?|[Ss]ubs?|Evid)\.\s*\Z"
)
_NUMBERED = re.compile(
    r"[§\d]|(?!I(?:['’]|\s+(?!(?:of|and|or|to|in|is|was|has)\b)[a-z]))[IVXLC]+\b"  # `Rev. I did`
)
# titles that are shortened throughout: `Pub. L. No. 96-511`, `Fed. R. Civ. P. 12`
_SHORTENED = re.compile(r"\b(?:Pub|Pub\.\s+L|Civ|Crim|App|Comp)\.\s*\Z")
_SHORTENED_TOO = re.compile(r"(?:L|Nos?|P|Gen)\.")
# the mark of an item inside a sentence, or shillings and pence, before a small letter: `it keeps 1.
# boats and 2. nets`, `at 1s. per 100 words`
_INNER_MARK = re.compile(r"(?:\s(?:\d{1,3}|[a-z]|[ivx]{2,5})|\d[sd])\.\s+\Z")
_LONGEST_END = 24
"""Characters of the end of a sentence that tell whether it is one."""
_WINDOW = 20_000
"""Characters of a line that are split at once: sentencex takes quadratic time for marks that open
and never close, and for sentences without blanks between them. In a shorter window it would pair
the straight quotation marks of longer lines otherwise than it does in the whole line."""
_OVERLAP = 2_000
"""Characters at the end of a window that are read again in the next one."""
_NUMBER = re.compile(r"\s*(?:\d{1,3}|[a-zA-Z])[.)]\s*")
# sentencex panics on a wide blank before a full stop ("Part C\u00a0."); looked for from the first
# blank on, or a long run of them takes quadratic time
_BLANKS_OF_STOP = re.compile(r"(?<!\s)\s++(?=\.)")
_WIDE_BLANK = re.compile(r"[^\S\x00-\x7f]")
_BRACKETED = re.compile(r"\([^()]{1,200}\)")
REMEMBERED = 512
LONGEST_REMEMBERED = 4_000
"""Texts of at most so many characters whose words and sentences are remembered: to answer a
question each passage and its sentences are read five times on the mean."""
_Reading = tuple[str, str, bool, tuple[str, ...]]
"""All of a `Word` but its place."""


class Word(NamedTuple):
    """Word of a text: `text[start:end]`, its folded form and its stem.

    `informative` words say what a text is about; the others say how a question is asked. `parts`
    are further terms it is found by, as `identifier_parts` gives them, and the digits of a number
    that begins there.
    """

    start: int
    end: int
    folded: str
    term: str
    informative: bool
    parts: tuple[str, ...]


class TextSpan(NamedTuple):
    """Characters `start` to `end` (exclusive) of some text."""

    start: int
    end: int


def words(text: str, language: str = DEFAULT_LANGUAGE) -> Sequence[Word]:
    """Return the words of `text` in order, with exact character offsets.

    A word that is hyphenated at the end of a line is one word, unless it goes on with a capital
    or a digit.
    """
    return (_words_once if len(text) <= LONGEST_REMEMBERED else _words)(text, language)


def _words(text: str, language: str) -> Sequence[Word]:
    read = _reader(language)
    matches = list(_pattern_of(language, text).finditer(text))
    surfaces = [match[0] for match in matches]
    result = [
        Word(match.start(), match.end(), *read(surface))
        for match, surface in zip(matches, surfaces, strict=True)
    ]
    for start, _, digits in numerals(text, surfaces, language):
        at = bisect_right(result, start, key=_start_of) - 1
        result[at] = result[at]._replace(parts=(*result[at].parts, digits))
    return result


_words_once = lru_cache(REMEMBERED)(_words)


def terms_and_parts(
    text: str, language: str = DEFAULT_LANGUAGE
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return stems of the words of `text` in order, and all their parts, as `words` gives them."""
    read = _reader(language)
    surfaces = _pattern_of(language, text).findall(text)
    result = [read(surface) for surface in surfaces]
    of_words = [part for *_, parts in result if parts for part in parts]
    digits = [numeral.digits for numeral in numerals(text, surfaces, language)]
    return tuple([term for _, term, _, _ in result]), (*of_words, *digits)


def places_of(
    forms: Collection[str], text: str, language: str = DEFAULT_LANGUAGE
) -> list[tuple[int, str]]:
    """The places of words of `text` that are found by one of `forms`, in order: start and form.

    As `words` gives their stem and parts; only what is wanted is made a value of, which takes a
    sixth of the time.
    """
    read = _reader(language)
    result: list[tuple[int, str]] = []
    for match in _pattern_of(language, text).finditer(text):
        _, term, _, parts = read(match[0])
        if term in forms:
            result.append((match.start(), term))
        if parts:
            result += [(match.start(), part) for part in parts if part in forms]
    if not any(form[:1].isdigit() for form in forms):
        return result
    surfaces = _pattern_of(language, text).findall(text)
    numbers = numerals(text, surfaces, language)
    return sorted([*result, *((n.start, n.digits) for n in numbers if n.digits in forms)])


def word_spans(text: str, language: str = DEFAULT_LANGUAGE) -> Iterator[tuple[int, int]]:
    """Return the places of the words of `text`, as `words` finds them."""
    return (match.span() for match in _pattern_of(language, text).finditer(text))


def starts_of(numbers: Iterable[int], text: str, language: str = DEFAULT_LANGUAGE) -> Iterator[int]:
    """Return the starts of the words with these numbers in `words`; they ascend, each once.

    Nothing is read behind the last of them.
    """
    result = _pattern_of(language, text).finditer(text)
    following = 0
    for number in numbers:
        yield next(islice(result, number - following, None)).start()
        following = number + 1


def numerals_by_place(
    text: str, every: Iterable[Word], language: str = DEFAULT_LANGUAGE
) -> dict[int, Numeral]:
    """The numbers that some words of `text` write, by each of their characters."""
    surfaces = [text[word.start : word.end] for word in every]
    return {
        at: number
        for number in numerals(text, surfaces, language)
        for at in range(number.start, number.end)
    }


def term_of(surface: str, language: str = DEFAULT_LANGUAGE) -> str:
    """Return the stem of one word, as it stands in a text."""
    return _reader(language)(surface)[1]


def is_function_word(surface: str, language: str = DEFAULT_LANGUAGE) -> bool:
    """Return whether one word, as it stands in a text, is no informative one."""
    return not _reader(language)(surface)[2]


def _pattern_of(language: str, text: str) -> re.Pattern[str]:
    """Return the pattern of the words of a text.

    Where a script has no blanks, each letter with its marks is a word, so that whatever is written
    with them is found; the end of a line between two is of the first. A number with its groups of
    digits is one word.
    """
    return _pattern(language, UNSPACED_LETTER.search(text) is not None)


@cache
def _pattern(language: str, mixed: bool) -> re.Pattern[str]:
    spaced = f"(?![{UNSPACED}])" if mixed else ""
    letter = rf"(?:{spaced}[\w{MARKS}])" if mixed else rf"[\w{MARKS}]"
    elides = language_of(language).elides
    joints = rf"[{INVISIBLE}]+|{BREAK}" if elides else rf"['’]|[{INVISIBLE}]+|{BREAK}"
    # `_` inside a word is of it, around it Markdown's mark of italics
    word = rf"{spaced}[^\W_]{letter}*(?:(?:{joints}){spaced}\w{letter}*)*(?<!_)"
    often, rare = (",", ".") if language == "en" else (".", ",")
    groups = "|".join(
        (
            rf"(?:{re.escape(often)}\d\d)*{_THREES.format(often, '+')}",  # 12,34,567 in India
            _THREES.format(rare, "{2,}"),
            _THREES.format("'’\u00a0\u2009\u202f", "+"),
            _THREES.format(" ", "+" if language in _GROUPED_BY_BLANKS else "{2,}"),
        )
    )
    number = rf"[0-9](?<![\w.,][0-9])[0-9]{{0,2}}(?:{groups})"
    alone = rf"[{UNSPACED}][{MARKS}\uff9e\uff9f]*[{INVISIBLE}\u200b]*(?:\r?\n(?=[{UNSPACED}]))?"
    return re.compile("|".join([alone, number, word] if mixed else [number, word]))


def identifier_parts(surface: str, language: str = DEFAULT_LANGUAGE) -> list[str]:
    """Terms that one word is found by besides its own; none for plain words.

    Stems of the parts of `camelCase`, `snake_case` and `s59` words; of the halves of a word that
    a line's end breaks, for the hyphen may be its own; and of a word with accents as it is stemmed
    without them, where that is another stem: `égalité` is found by `egalite`, too.
    """
    return list(_reader(language)(surface)[3])


@cache
def _reader(code: str) -> Callable[[str], _Reading]:
    """Return what reads one word of a language, and remembers it."""
    language = language_of(code)

    def written(surface: str) -> str:
        # the English stemmer knows no accents; others need them: `ité` is an ending, `ite` is not
        return fold(surface) if code == "en" else lower_composed(surface, language.lower)

    def stemmed(word: str) -> str:
        # a stemmer may leave nothing of a single letter
        return fold(language.stem(word)) or fold(word)

    @lru_cache(maxsize=1 << 17)
    def read(surface: str) -> _Reading:
        folded, word = fold(surface), written(surface)
        term = stemmed(word)
        parts = [] if folded.isdigit() else [stemmed(written(part)) for part in _parts(surface)]
        if folded.isascii() and folded != word:
            parts += {stemmed(folded)} - {term}
        return folded, term, not language.is_function(word), tuple(parts)

    return read


def _parts(surface: str) -> list[str]:
    if surface.isalpha() and (surface.islower() or surface.istitle()):
        return []
    parts = halves(surface)
    if len(parts) == 1:
        parts = _PART.findall(without_marks(_APOSTROPHE.split(surface, maxsplit=1)[0]))
    return parts if len(parts) > 1 or "_" in surface else []


def content_words(every: Sequence[Word]) -> list[Word]:
    """Return the words that say what a question is about; all of them if nothing else is left."""
    return [word for word in every if word.informative] or list(every)


def distinct(terms: Iterable[str]) -> tuple[str, ...]:
    """Return `terms` without repeats, in order of first occurrence."""
    return tuple(dict.fromkeys(terms))


def content_terms(text: str, language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """Return the stems of the informative words of `text`."""
    return frozenset(word.term for word in content_words(words(text, language)))


def fold_words(text: str, language: str = DEFAULT_LANGUAGE) -> str:
    """Return the words of `text` in their folded forms, a blank on either side of each."""
    return f" {' '.join(word.folded for word in words(text, language))} "


def all_terms(text: str, language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """Return the stems of all words of `text`, and of their parts."""
    result = words(text, language)
    return frozenset(term for word in result for term in (word.term, *word.parts))


def sentences(text: str, language: str = DEFAULT_LANGUAGE) -> Sequence[TextSpan]:
    """Return the sentences of `text` as spans without surrounding blanks.

    A line's end ends a sentence too, for headings and list items stand on lines of their own, but
    not where it only breaks the line (`language.wraps`) or a word, with a blank line or none.
    `unwrap` shows such a sentence on one line, and the sentences of that line are itself.
    """
    return (_sentences_once if len(text) <= LONGEST_REMEMBERED else _whole)(text, language)


def _whole(text: str, language: str) -> Sequence[TextSpan]:
    return _settle(fill(mend(text)), language)


_sentences_once = lru_cache(REMEMBERED)(_whole)


def _settle(text: str, language: str) -> list[TextSpan]:
    settled = []
    for span in _sentences(text, language):
        inner = text[span.start : span.end]
        # in-line lists and unbalanced quotes are split only when they stand alone
        alone = len(_sentences(inner, language)) < 2
        parts = [TextSpan(0, len(inner))] if alone else _settle(inner, language)
        settled += [TextSpan(span.start + start, span.start + end) for start, end in parts]
    return settled


def lines(text: str) -> list[TextSpan]:
    """Return lines of `text` that are not empty; a hyphenated word joins its line with the next."""
    joined = _BROKEN.sub(lambda broken: "x" * len(broken[0]), text) if "\n" in text else text
    return [TextSpan(*line.span()) for line in _LINE.finditer(joined)]


def _sentences(text: str, language: str) -> list[TextSpan]:
    spans = []
    for line in lines(text):
        start = line.start
        # sentencex takes "59)" for a list item and loses count of brackets after it
        masked = _BRACKETED.sub(_mask, text[line.start : line.end].replace("\n", " "))
        masked = _BLANKS_OF_STOP.sub(lambda blanks: _WIDE_BLANK.sub(" ", blanks[0]), masked)
        for stop in _stops(masked, language):
            end = line.start + stop
            if language == "en" and end < line.end and _is_inside(text, start, end):
                continue
            if end < line.end and _NUMBER.fullmatch(text, start, end):  # that of a list item
                continue
            span = trim(text, start, end)
            start = end
            if span.start < span.end:
                spans.append(span)
    return spans


def _stops(line: str, language: str) -> Iterator[int]:
    """Return where the sentences of a line end for sentencex; of a long line window by window."""
    at = 0
    while at < len(line):
        window = line[at : at + _WINDOW]
        result = sentencex.get_sentence_boundaries(language, window)
        ends = [at + boundary["end_index"] for boundary in result]
        at += len(window)
        if at < len(line):  # the last sentence, and a quotation of several, may go on behind it
            ends = [end for end in ends if end <= at - _OVERLAP] or ends[:-1]
            at = ends[-1] if ends else at
        yield from ends


def _is_inside(text: str, start: int, end: int) -> bool:
    """Return whether what began at `start` and seems to end before `end` goes on behind it."""
    # only from near the end on, or a sentence of many abbreviations takes quadratic time
    near = max(start, end - _LONGEST_END)
    if _ABBREVIATION.search(text, near, end):
        return not (_WORD_TOO.search(text, near, end) and _BEGUN.match(text, end))
    if _BEFORE_NUMBER.search(text, near, end):
        return _NUMBERED.match(text, end) is not None
    if text[end].islower():
        return _INNER_MARK.search(text, near, end) is not None
    return bool(_SHORTENED.search(text, near, end) and _SHORTENED_TOO.match(text, end))


def _mask(bracket: re.Match[str]) -> str:
    """Return the bracket as one word of the same length, with the case and end its inside has."""
    inside = bracket.group()[1:-1]
    first = "X" if inside[:1].isupper() else "x"
    last = inside[-1] if inside[-1] in ".?!" else "x"
    return first + "x" * len(inside) + last


def trim(text: str, start: int, end: int) -> TextSpan:
    """Trim blanks at both ends; the span is empty (`start == end`) if it held nothing else."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return TextSpan(start, end)
