"""The words of documents as they are stored: every word once, wherever passages lie."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.language.languages import as_written
from atlas_search.language.text import TextSpan, words
from atlas_search.stores.arrays import Ragged
from atlas_search.stores.order import KeyCounts, Order
from atlas_search.stores.words import WordTable, WordWriter

BLOCKS = [
    "Strike",
    "strikes ",
    "STRIKE. ",
    "l'égalité ",
    "egalite ",
    "wa-\nges",
    "don’t ",
    "\n",
    "1",
]
TEXTS = st.lists(st.sampled_from(BLOCKS), max_size=20).map("".join) | st.text(max_size=40)

Documents = list[tuple[str, str, list[TextSpan]]]


@st.composite
def documents(draw: st.DrawFn) -> Documents:
    """Texts in one of two languages, with passages anywhere in them, overlapping too."""
    texts = []
    for text in draw(st.lists(TEXTS, max_size=4)):
        ends = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
        spans = sorted(TextSpan(*sorted(pair)) for pair in draw(st.lists(ends, max_size=4)))
        texts.append((text, draw(st.sampled_from(["en", "fr"])), spans))
    return texts


def table_of(of: Documents) -> WordTable:
    writer = WordWriter()
    for document in of:
        writer.add(*document)
    return writer.table()


@settings(max_examples=150)
@given(documents())
def test_every_word_of_every_document_stands_once(
    of: Documents,
) -> None:
    table, row = table_of(of), 0
    assert isinstance(table.places, Ragged)
    assert table.documents == len(of)
    assert sorted(table.places.flat.tolist()) == list(range(len(table.tokens)))
    for document, (text, language, spans) in enumerate(of):
        first, last = int(table.ends[document]), int(table.ends[document + 1])
        read = words(text, language)
        stored = [
            (
                int(table.starts[place]),
                int(table.starts[place]) + int(table.lengths[place]),
                table.forms[form],
                table.folded[table.folded_of[form]],
                table.terms[table.term_of[form]],
            )
            for place in range(first, last)
            for form in [int(table.tokens[place])]
        ]
        assert stored == [
            (w.start, w.end, as_written(text[w.start : w.end]), w.folded, w.term) for w in read
        ]
        for start, end in spans:
            inside = [n + first for n, w in enumerate(read) if start <= w.start and w.end <= end]
            assert list(range(int(table.firsts[row]), int(table.lasts[row]))) == inside
            row += 1
    for form in range(len(table.forms)):
        places = table.places_of(np.array([form]))
        assert (table.tokens[places] == form).all()
        assert (np.diff(places) > 0).all()


@settings(max_examples=50)
@given(documents(), documents())
def test_documents_that_are_kept_give_the_table_that_reading_them_gives(
    before: Documents, new: Documents
) -> None:
    live, writer = table_of(before), WordWriter()
    for document in new:
        writer.add(*document)
    rows = np.cumsum([0, *(len(spans) for _, _, spans in before)]).tolist()
    half = len(before) // 2  # the later ones first, as a run, and the others one by one
    writer.keep(live, range(half, len(before)), range(rows[half], rows[-1]))
    for number in range(half):
        writer.keep(live, range(number, number + 1), range(rows[number], rows[number + 1]))
    assert_same(writer.table(), table_of([*new, *before[half:], *before[:half]]))


@pytest.mark.parametrize(
    "texts",
    [[], [("Strikes, a strike\nand wa-\nges.", "en", [TextSpan(0, 9)]), ("!", "en", [])]],
)
def test_a_table_is_read_as_it_was_written(tmp_path: Path, texts: Documents) -> None:
    table = table_of(texts)
    table.write(tmp_path / "words")
    assert_same(WordTable.read(tmp_path / "words"), table)


def assert_same(one: WordTable, other: WordTable) -> None:
    for name, value in vars(one).items():
        if name == "places":
            for part in ("flat", "offsets"):
                assert np.array_equal(getattr(value, part), getattr(other.places, part))
        else:
            assert np.array_equal(value, getattr(other, name)), name


@settings(max_examples=200)
@given(documents(), st.randoms(use_true_random=False), documents())
@pytest.mark.thorough
def test_the_words_of_two_tables_in_a_common_order_are_those_of_one(
    of: Documents, chance: random.Random, others: Documents
) -> None:
    """Each document is in the base or came later; others of the base are gone."""
    if not of:
        return
    is_base = [chance.random() < 0.6 for _ in of]
    base: Documents = []
    keys: list[int] = []
    row_keys: list[int] = []
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
    spliced = table_of(base).spliced(table_of(recent), order, document_of)
    assert content(spliced) == content(table_of(of))


def _numbered(keys: list[int], base: int) -> np.ndarray:
    """Later ones count on."""
    numbers = np.array(keys, dtype=np.int64)
    numbers[numbers < 0] = base + np.arange(np.count_nonzero(numbers < 0))
    return numbers


def content(table: WordTable) -> dict[str, object]:
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
