"""The language in which words are looked for, and its parser.

    strike                      a word
    general strike              words that stand next to each other; so does "general strike"
    strike*  *ship  wom?n       `*` for any letters or none, `?` for one; "the * of" for any word
    灯台  灯?台                  letters of scripts without blanks, each a word; `?` for one of them
    strike* NEAR/5 wage*        the left one, where the right one stands at most 5 words away
    strike* NEAR/0,5 wage*      at most 0 words before it, or 5 after it
    strike OR "lock out"        either
    (strike* OR lockout*) NEAR/5 (wage* OR pay)

NEAR binds closer than OR. Operators are in capitals; in quotation marks they are words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from atlas_search.core.errors import InvalidQuery, shown
from atlas_search.language.languages import (
    DEFAULT_LANGUAGE,
    MARKS,
    UNSPACED,
    as_written,
    fold,
    language_of,
)
from atlas_search.language.text import term_of, word_spans
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.words import WordTable, find

Form = Literal["surface", "stem"]
"""`stem`: words without a wildcard count in all forms of their stem."""

_LETTERS = rf"(?:(?![{UNSPACED}])[\w{MARKS}*?])+"
_UNSPACED = rf"[{UNSPACED}][{MARKS}]*"
_ELIDED = re.compile(rf"{_UNSPACED}|{_LETTERS}")
_WORD = re.compile(rf"{_UNSPACED}|{_LETTERS}(?:['’]{_LETTERS})*")
_BETWEEN = re.compile(rf"{_UNSPACED}[*]+(?=[{UNSPACED}])")
# at an end it is for no letter: whatever goes on, or leads there, is found without it
_AT_END = re.compile(rf"({_UNSPACED})[*]+(?![\w*?])|(?<![\w*?])[*]+(?=[{UNSPACED}])")
_SIGNS = re.compile(r"([*?])")


@dataclass(frozen=True)
class TypedWord:
    """A word as it was typed; `joined` to the one before if nothing stands between them.

    That is so where a script has no blanks: then nothing may stand between them in a text.
    """

    text: str
    joined: bool = False

    @property
    def has_wildcard(self) -> bool:
        """True with a `*` or `?` in it."""
        return _SIGNS.search(self.text) is not None


@dataclass(frozen=True)
class AnyWord:
    """Stands for any word."""


Slot = TypedWord | AnyWord


@dataclass(frozen=True)
class WordMatching:
    """The comparison of words: with `exactly`, capitals and accents count."""

    language: str
    form: Form
    exactly: bool


def slots(text: str, language: str = DEFAULT_LANGUAGE) -> list[Slot]:
    """The words of a part of a query, as texts of a language are taken apart."""
    text = _AT_END.sub(r"\1", text)
    if _SIGNS.search(text):
        pattern = _ELIDED if language_of(language).elides else _WORD
        spans = [match.span() for match in pattern.finditer(text)]
    else:
        spans = list(word_spans(text, language))
    ends = [-1, *(end for _, end in spans)]
    return [
        TypedWord(text[start:end], start == before) if text[start:end].strip("*") else AnyWord()
        for (start, end), before in zip(spans, ends, strict=False)
    ]


def forms_of(slot: TypedWord, table: WordTable, how: WordMatching) -> IntArray:
    """The forms of `table` that a word of a query means, ascending."""
    if slot.has_wildcard:
        return _forms_like(slot.text, table, exactly=how.exactly)
    if how.form == "stem":
        stem = find(term_of(slot.text, how.language), table.terms)
        return np.flatnonzero(table.term_of == stem)
    if how.exactly:
        return _equal(as_written(slot.text), table.forms)
    return np.flatnonzero(table.folded_of == find(fold(slot.text), table.folded))


def _equal(word: str, words: Sequence[str]) -> IntArray:
    """The places of a word in a sorted list, where it may stand several times."""
    first = last = find(word, words)
    while 0 <= last < len(words) and words[last] == word:
        last += 1
    return np.arange(first, last)


def _forms_like(text: str, table: WordTable, *, exactly: bool) -> IntArray:
    write = as_written if exactly else fold
    pieces = [part if _SIGNS.fullmatch(part) else write(part) for part in _SIGNS.split(text)]
    words = table.forms if exactly else table.folded
    numbers = np.array(_like(pieces, words), dtype=np.int64)
    return numbers if exactly else np.flatnonzero(np.isin(table.folded_of, numbers))


def _like(pieces: Sequence[str], words: Sequence[str]) -> list[int]:
    """The numbers of those of `words` that are like the pieces, of which some are `*` or `?`."""
    matches = _pattern(pieces).fullmatch
    longest = max((piece for piece in pieces if piece not in "*?"), key=len, default="")
    # a test for the letters is several times faster than the pattern
    return [at for at, word in enumerate(words) if longest in word and matches(word)]


def _pattern(pieces: Sequence[str]) -> re.Pattern[str]:
    """A pattern in linear time: what follows a `*` is looked for once, the last at the end."""
    runs = "".join({"*": "\0", "?": "."}.get(piece) or re.escape(piece) for piece in pieces)
    first, *others = runs.split("\0")
    if not others:
        return re.compile(first, re.DOTALL)
    middle = "".join(f"(?>.*?{run})" for run in others[:-1] if run)
    return re.compile(f"{first}{middle}.*{others[-1]}", re.DOTALL)


MAX_QUERY = 1000
"""Characters."""
MAX_DISTANCE = 100
MOST_WILDCARDS = 20
"""Words with one in a query: all that is ever written in the collection is compared with each."""
MOST_NESTED = 20


@dataclass(frozen=True)
class Words:
    """Words that stand next to each other, as they were typed."""

    text: str


@dataclass(frozen=True)
class Near:
    """Hits of `left` with a hit of `right` at most `before` words before it, or `after` after it.

    Words that stand next to each other are 1 away; hits that overlap are not near.
    """

    left: "Node"
    right: "Node"
    before: int
    after: int


@dataclass(frozen=True)
class Either:
    """Hits of any of its parts."""

    parts: tuple["Node", ...]


Node = Words | Near | Either


def readings(node: Node, language: str) -> dict[str, str]:
    """Return how the parts of a query are read that are not read as they are typed, by these.

    Signs that are no letters are left out, or stand between words: `C++` is `C`, `e-mail` two.
    """
    if isinstance(node, Near):
        return readings(node.left, language) | readings(node.right, language)
    if isinstance(node, Either):
        return {
            typed: read for part in node.parts for typed, read in readings(part, language).items()
        }
    typed = " ".join(node.text.split())
    read = ""
    for slot in slots(node.text, language):
        text, joined = ("*", False) if isinstance(slot, AnyWord) else (slot.text, slot.joined)
        read += text if joined or not read else f" {text}"
    return {} if read == typed else {typed: read}


Kind = Literal["open", "close", "or", "near", "word", "phrase", "end"]


class _Token(NamedTuple):
    kind: Kind
    text: str
    at: int


_TOKEN = re.compile(
    r"""(?P<open>\()|(?P<close>\))|"(?P<plain>[^"]*)"|“(?P<curly>[^”]*)”|„(?P<low>[^“”]*)[“”]"""
    r"""|(?P<word>[^\s()"“”„]+)"""
)
_NO_OPERATOR = re.compile(r"AND|NOT|NEAR[0-9]+|(?!NEAR)(?i:near)/.*")
_NEAR = re.compile(r"NEAR(?:/(.*))?")


def parse(text: str) -> Node:
    """Parse a query. Raises InvalidQuery with the character that is wrong."""
    if len(text) > MAX_QUERY:
        raise InvalidQuery(f"query has {len(text):,} characters; at most {MAX_QUERY:,} are read.")
    parser = _Parser(_tokens(text))
    node = parser.either(0)
    parser.expect_end()
    if parser.wildcards > MOST_WILDCARDS:
        raise InvalidQuery(
            f"query: {parser.wildcards} words have a wildcard; at most {MOST_WILDCARDS} may."
        )
    return node


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = len(text) - len(text.lstrip())
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise _invalid(at, f"the quotation mark {text[at]} is not closed.")
        tokens.append(_token(match))
        at = match.end()
        at += len(text[at:]) - len(text[at:].lstrip())
    return [*tokens, _Token("end", "", len(text))]


def _token(match: re.Match[str]) -> _Token:
    at, text = match.start(), match.group()
    if match["open"] or match["close"]:
        return _Token("open" if match["open"] else "close", text, at)
    if match["word"] is None:
        return _Token("phrase", text[1:-1], at)
    if text == "OR":
        return _Token("or", text, at)
    if _NO_OPERATOR.fullmatch(text):  # else a slip would find nothing, as if nobody had said it
        raise _invalid(
            at,
            f"{shown([text])} is no operator. There are OR and NEAR/5, in capitals; a word goes "
            "into quotation marks.",
        )
    return _Token("near" if _NEAR.fullmatch(text) else "word", text, at)


class _Parser:
    """One look through the tokens; `wildcards` counts the words that have one."""

    def __init__(self, tokens: Sequence[_Token]):
        self._tokens = tokens
        self._next = 0
        self.wildcards = 0

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._token
        self._next += 1
        return token

    def either(self, depth: int) -> Node:
        parts = [self._near(depth)]
        while self._token.kind == "or":
            self._take()
            parts.append(self._near(depth))
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _near(self, depth: int) -> Node:
        node = self._unit(depth)
        while self._token.kind == "near":
            before, after = _distances(self._take())
            node = Near(node, self._unit(depth), before, after)
        return node

    def _unit(self, depth: int) -> Node:
        token = self._take()
        if token.kind == "open":
            if depth == MOST_NESTED:
                raise _invalid(token.at, f"more than {MOST_NESTED} brackets inside each other.")
            node = self.either(depth + 1)
            closing = self._take()
            if closing.kind != "close":
                raise _invalid(closing.at, f"the bracket of character {token.at + 1} is not closed")
            return node
        if token.kind == "phrase":
            return self._words(token.text, token.at)
        if token.kind != "word":
            where = f"before {token.text}" if token.text else "at the end"
            raise _invalid(token.at, f"a word is missing {where}.")
        texts = [token.text]
        while self._token.kind == "word":
            texts.append(self._take().text)
        return self._words(" ".join(texts), token.at)

    def _words(self, text: str, at: int) -> Words:
        if _BETWEEN.search(text):
            raise _invalid(
                at,
                "`*` between letters that are written without blanks is any number of words. Give "
                "`?` for each letter, or NEAR/1,5.",
            )
        parts = slots(text)
        if not parts:
            raise _invalid(at, f"{shown([text])} holds no word.")
        if all(isinstance(slot, AnyWord) for slot in parts):
            raise _invalid(at, "`*` alone is every word: give some letters, or a word beside it.")
        self.wildcards += sum(isinstance(slot, TypedWord) and slot.has_wildcard for slot in parts)
        return Words(text)

    def expect_end(self) -> None:
        token = self._token
        if token.kind == "close":
            raise _invalid(token.at, "this bracket was never opened.")
        if token.kind != "end":
            raise _invalid(
                token.at,
                "an operator is missing: OR, or NEAR/5; words that stand next to each other go "
                "into one pair of quotation marks.",
            )


def _distances(token: _Token) -> tuple[int, int]:
    """Read the words before and after from `NEAR/5` or `NEAR/0,5`."""
    match = _NEAR.fullmatch(token.text)
    numbers = (match[1] or "") if match else ""
    if re.fullmatch("[0-9]{1,3}(,[0-9]{1,3})?", numbers):
        before, *more = map(int, numbers.split(","))
        after = more[0] if more else before
        if 1 <= max(before, after) <= MAX_DISTANCE:
            return before, after
    raise _invalid(
        token.at,
        f"say how near: NEAR/5 for five words, from 1 to {MAX_DISTANCE}, or NEAR/0,5 for those "
        "after it alone.",
    )


def _invalid(at: int, what: str) -> InvalidQuery:
    return InvalidQuery(f"query, character {at + 1}: {what}", at + 1)
