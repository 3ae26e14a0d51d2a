"""The words of two tables in a common order are those of one table of the same documents."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.stores.order import KeyCounts, Order
from atlas_search.stores.words import WordTable
from tests.words.test_word_table import documents, table_of


@settings(max_examples=200)
@given(documents(), st.randoms(use_true_random=False), documents())
def test_two_tables_tell_what_one_does(of, chance, others) -> None:
    """Each document is in the base or came later; others of the base are gone."""
    if not of:
        return
    is_base = [chance.random() < 0.6 for _ in of]
    base, keys, row_keys = [], [], []
    left = list(others)
    rows = 0
    for document, stays in zip(of, is_base, strict=True):
        if stays:
            while left and chance.random() < 0.5:
                rows += len(left[-1][2])
                base.append(left.pop())
            keys.append(len(base))
            row_keys += range(rows, rows + len(document[2]))
            rows += len(document[2])
            base.append(document)
        else:
            keys.append(-1)
            row_keys += [-1] * len(document[2])
    recent = [document for document, stays in zip(of, is_base, strict=True) if not stays]
    counts = KeyCounts(rows + 1000, len(base) + 1000, rows, len(base))
    order = Order(_numbered(row_keys, rows), _numbered(keys, len(base)), counts, {})
    document_of = np.repeat(np.arange(len(of)), [len(spans) for *_, spans in of])
    found = table_of(base).spliced(table_of(recent), order, document_of)
    assert told(found) == told(table_of(of))


def _numbered(keys: list[int], base: int) -> np.ndarray:
    """Later ones count on."""
    found = np.array(keys, dtype=np.int64)
    found[found < 0] = base + np.arange(np.count_nonzero(found < 0))
    return found


def told(table: WordTable) -> dict[str, object]:
    forms = np.arange(len(table.forms))
    mask = np.arange(len(table.tokens)) % 2 == 0
    return {
        "lists": [[*table.forms], [*table.folded], [*table.terms]],
        "of": [table.folded_of.tolist(), table.term_of.tolist()],
        "tokens": table.tokens[:].tolist(),
        "masked": table.tokens[mask].tolist(),
        "starts": table.starts[np.arange(len(table.tokens))].tolist(),
        "lengths": table.lengths[:].tolist(),
        "ends": table.ends.tolist(),
        "bounds": [table.firsts.tolist(), table.lasts.tolist()],
        "places": [table.places.row(form).tolist() for form in forms.tolist()],
        "taken": [part.tolist() for part in table.places.take(forms[::-1])],
        "sizes": table.places.sizes.tolist(),
    }
