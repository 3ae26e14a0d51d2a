"""The words of a table as they are counted: several forms may be one word."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from atlas_search.core.stop import Stop
from atlas_search.language.text import is_function_word
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.words import WordTable
from atlas_search.words.hits import BoolArray
from atlas_search.words.request import Where

AT_ONCE = 1_000_000
"""Places that are looked at together: some tens of megabytes."""


@dataclass(frozen=True)
class Vocabulary:
    """The words of a table: form `f` is the word `labels[word_of[f]]`; `labels` ascend."""

    table: WordTable
    labels: Sequence[str]
    word_of: IntArray

    def sums(self, counts: IntArray) -> IntArray:
        """Counts of forms, by word."""
        # sums of integers below 2 ** 53 are exact
        found = np.bincount(self.word_of, weights=counts, minlength=len(self.labels))
        return found.astype(np.int64)

    def written(self, words: IntArray, counts: IntArray) -> list[str]:
        """How each word is written most often, by the counts of forms."""
        order = np.lexsort((-np.arange(len(counts)), counts, self.word_of))
        last = np.searchsorted(self.word_of[order], words, side="right") - 1
        return [self.table.forms[form] for form in order[last].tolist()]

    def documents_with(self, words: IntArray, counted: BoolArray, stop: Stop) -> IntArray:
        """In how many documents each word stands at a place that is counted."""
        if not len(words):
            return np.empty(0, dtype=np.int64)
        table = self.table
        document_of = np.repeat(np.arange(table.documents, dtype=np.int32), table.words_of)
        order = np.argsort(self.word_of, kind="stable")
        numbers = self.word_of[order]
        costs = self.sums(table.places.sizes)[words]
        found = []
        for part in np.split(words, np.flatnonzero(np.diff(np.cumsum(costs) // AT_ONCE)) + 1):
            stop.check()
            low, high = (np.searchsorted(numbers, part, side=side) for side in ("left", "right"))
            forms = np.concatenate([order[a:b] for a, b in zip(low, high, strict=True)])
            taken = table.places.take(forms)
            kept = counted[taken.value]
            row = np.repeat(np.arange(len(part)), high - low)[taken.row[kept]]
            pairs = row * table.documents + document_of[taken.value[kept]]
            pairs.sort(kind="stable")  # those of each form ascend, which it makes use of
            distinct = pairs[np.diff(pairs, prepend=-1) > 0]
            found.append(np.bincount(distinct // table.documents, minlength=len(part)))
        return np.concatenate(found)


def vocabulary(table: WordTable, where: Where) -> Vocabulary:
    """Words as a request compares them: by stem, as they are written, or folded."""
    if where.form == "stem":
        return Vocabulary(table, table.terms, np.asarray(table.term_of))
    if not where.exactly:
        return Vocabulary(table, table.folded, np.asarray(table.folded_of))
    # of two languages a form may stand twice, one directly after the other
    forms = table.forms
    is_new = [at > 0 and word != forms[at - 1] for at, word in enumerate(forms)]
    return Vocabulary(table, list(dict.fromkeys(forms)), np.cumsum(is_new, dtype=np.int64))


def informative(written: Iterable[str], languages: Iterable[str]) -> BoolArray:
    """Which words are function words in none of the languages."""
    asked = list(languages)
    return np.array(
        [not any(is_function_word(word, code) for code in asked) for word in written], dtype=bool
    )
