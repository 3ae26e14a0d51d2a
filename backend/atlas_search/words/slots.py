"""The words of a query, one after the other, and the forms that each may have in the texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atlas_search.language.languages import DEFAULT_LANGUAGE, MARKS, as_written, fold, language_of
from atlas_search.language.text import term_of, word_spans
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.words import WordTable, find

Form = Literal["surface", "stem"]
"""`stem`: words without a wildcard count in all forms of their stem."""

_LETTERS = rf"[\w{MARKS}*?]+"
_ELIDED = re.compile(_LETTERS)
_WORD = re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})*")
_SIGNS = re.compile(r"([*?])")


@dataclass(frozen=True)
class Literally:
    """A word as it was typed."""

    text: str


@dataclass(frozen=True)
class Wildcard:
    """A word with `*` or `?` in it."""

    text: str


@dataclass(frozen=True)
class AnyWord:
    """Stands for any word."""


Slot = Literally | Wildcard | AnyWord


@dataclass(frozen=True)
class Comparison:
    """How words are compared: with `exactly`, capitals and accents count."""

    language: str
    form: Form
    exactly: bool


def slots(text: str, language: str = DEFAULT_LANGUAGE) -> list[Slot]:
    """The words of a part of a query, as texts of a language are taken apart."""
    if not _SIGNS.search(text):
        return [Literally(text[start:end]) for start, end in word_spans(text, language)]
    pattern = _ELIDED if language_of(language).elides else _WORD
    return [_slot(match.group()) for match in pattern.finditer(text)]


def _slot(text: str) -> Slot:
    if not text.strip("*"):
        return AnyWord()
    return Wildcard(text) if _SIGNS.search(text) else Literally(text)


def forms_of(slot: Literally | Wildcard, table: WordTable, how: Comparison) -> IntArray:
    """The forms of `table` that a word of a query means, ascending."""
    if isinstance(slot, Wildcard):
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
    found = np.array(_like(pieces, words), dtype=np.int64)
    return found if exactly else np.flatnonzero(np.isin(table.folded_of, found))


def _like(pieces: Sequence[str], words: Sequence[str]) -> list[int]:
    """The numbers of those of `words` that are like the pieces, of which some are `*` or `?`."""
    matches = _pattern(pieces).fullmatch
    longest = max((piece for piece in pieces if piece not in "*?"), key=len, default="")
    # a test for the letters is several times faster than the pattern
    return [at for at, word in enumerate(words) if longest in word and matches(word)]


def _pattern(pieces: Sequence[str]) -> re.Pattern[str]:
    """A pattern that takes linear time: what follows a `*` is looked for once, the last at the
    end."""
    runs = "".join({"*": "\0", "?": "."}.get(piece) or re.escape(piece) for piece in pieces)
    first, *others = runs.split("\0")
    if not others:
        return re.compile(first, re.DOTALL)
    middle = "".join(f"(?>.*?{run})" for run in others[:-1] if run)
    return re.compile(f"{first}{middle}.*{others[-1]}", re.DOTALL)
