"""Collecting the words of documents for a `WordTable`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from atlas_search.language.spelling import as_written, fold
from atlas_search.language.text import TextSpan, term_of, word_spans
from atlas_search.stores.tokens import IntArray, Ragged
from atlas_search.stores.words import WordTable

_Form = tuple[str, str]
"""A word as it is written, and its stem."""


class WordWriter:
    """Takes documents in order and makes a table of their words.

    What was read before leaves no trace: the same documents give the same table.
    """

    def __init__(self) -> None:
        self._forms: dict[_Form, int] = {}
        self._known: dict[str, dict[str, int]] = {}
        self._documents: list[tuple[IntArray, IntArray, IntArray]] = []
        self._bounds: list[tuple[IntArray, IntArray]] = []
        self._places = 0

    def add(self, text: str, language: str, passages: Sequence[TextSpan]) -> None:
        """Add a document and the places of its passages."""
        known = self._known.setdefault(language, {})
        spans = word_spans(text, language)
        tokens = np.empty(len(spans), dtype=np.int32)
        for at, (start, end) in enumerate(spans):
            surface = text[start:end]
            if (number := known.get(surface)) is None:
                form = (as_written(surface), term_of(surface, language))
                number = known[surface] = self._forms.setdefault(form, len(self._forms))
            tokens[at] = number
        places = np.array(spans, dtype=np.int32).reshape(-1, 2)
        self._append(tokens, places[:, 0], places[:, 1] - places[:, 0], passages)

    @property
    def words_of_last(self) -> int:
        """How many words the document has that was added last."""
        return len(self._documents[-1][0])

    def keeper(self, table: WordTable) -> Callable[[int, Sequence[TextSpan]], None]:
        """What adds a document of `table`, by its index there, as `add` would add its text."""
        number = np.full(len(table.forms), -1, dtype=np.int32)

        def keep(document: int, passages: Sequence[TextSpan]) -> None:
            own = slice(int(table.ends[document]), int(table.ends[document + 1]))
            tokens = table.tokens[own]
            for form in np.unique(tokens[number[tokens] < 0]).tolist():
                written = (table.forms[form], table.terms[table.term_of[form]])
                number[form] = self._forms.setdefault(written, len(self._forms))
            self._append(number[tokens], table.starts[own], table.lengths[own], passages)

        return keep

    def _append(
        self, tokens: IntArray, starts: IntArray, lengths: IntArray, passages: Sequence[TextSpan]
    ) -> None:
        # as many words as begin in time may end too late
        begin = np.searchsorted(starts, [span.start for span in passages])
        end = np.searchsorted(starts + lengths, [span.end for span in passages], side="right")
        self._documents.append((tokens, starts, lengths))
        self._bounds.append((begin + self._places, np.maximum(begin, end) + self._places))
        self._places += len(tokens)

    def table(self) -> WordTable:
        """The table of all that was added."""
        used = sorted(self._forms)  # by form, then by stem
        number = np.empty(len(used), dtype=np.int32)
        number[[self._forms[form] for form in used]] = np.arange(len(used))
        tokens, starts, lengths = (self._joined(column) for column in range(3))
        tokens = number[tokens] if len(used) else tokens
        counts = np.bincount(tokens, minlength=len(used))
        folded, folded_of = _numbered([fold(form) for form, _ in used])
        terms, stem_of = _numbered([term for _, term in used])
        firsts, lasts = (
            np.concatenate([_EMPTY, *(bounds[side] for bounds in self._bounds)]) for side in (0, 1)
        )
        sizes = [len(of_document[0]) for of_document in self._documents]
        return WordTable(
            forms=[form for form, _ in used],
            folded=folded,
            terms=terms,
            folded_of=folded_of,
            term_of=stem_of,
            tokens=tokens.astype(np.int32),
            starts=starts.astype(np.int32),
            lengths=lengths.astype(np.min_scalar_type(int(lengths.max(initial=0)))),
            ends=np.cumsum([0, *sizes], dtype=np.int64),
            places=Ragged(
                np.argsort(tokens, kind="stable").astype(_place_type(len(tokens))),
                np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            ),
            firsts=firsts.astype(np.int64),
            lasts=lasts.astype(np.int64),
        )

    def _joined(self, column: int) -> IntArray:
        parts = [np.asarray(of_document[column]) for of_document in self._documents]
        return np.concatenate([_EMPTY.astype(np.int32), *parts])


_EMPTY = np.empty(0, dtype=np.int64)


def _numbered(words: Sequence[str]) -> tuple[list[str], IntArray]:
    """The distinct words, sorted, and the number of each."""
    distinct = sorted(set(words))
    number = {word: at for at, word in enumerate(distinct)}
    return distinct, np.array([number[word] for word in words], dtype=np.int32)


def _place_type(count: int) -> type[np.signedinteger[Any]]:
    return np.int32 if count < 2**31 else np.int64
