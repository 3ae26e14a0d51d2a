"""Answers that state a conflict, or conceal it."""

from atlas_search.answer.check.citations import Verification
from atlas_search.answer.conflicts import conflicts_between, find_concealed, mark_stated
from atlas_search.core.domain import CheckedPassage, CheckedSentence, Citation
from tests.contradictions import BEGIN, HIGH, LIMIT, LOW, passage, superseded


def answer(*items: CheckedPassage) -> Verification:
    """An answer that cites the whole of each passage."""
    sentences = [
        CheckedSentence(p.text, (Citation(p.marker, p, p.start, p.end, p.text),), True)
        for p in (item.passage for item in items)
    ]
    return Verification(tuple(sentences), (), ())


def test_an_answer_states_a_conflict_if_it_cites_both_places() -> None:
    low, high = passage("a", LOW), passage("b", HIGH)
    found = conflicts_between(LIMIT, [low, high])
    assert [c.stated for c in mark_stated(found, answer(low, high))] == [True]
    assert [c.stated for c in mark_stated(found, answer(low))] == [False]


def test_an_answer_conceals_a_conflict_if_it_cites_one_place_only() -> None:
    low, high = passage("a", LOW), passage("b", HIGH)
    found = conflicts_between(LIMIT, [low, high])
    assert find_concealed(found, answer(low)) == found
    assert find_concealed(found, answer(low, high)) == ()
    assert find_concealed(found, answer(passage("c", HIGH))) == ()


def test_citing_another_sentence_of_the_same_page_conceals_nothing() -> None:
    low, high = passage("a", f"{LOW} It is new."), passage("b", HIGH)
    found = conflicts_between(LIMIT, [low, high])
    start = BEGIN + len(LOW) + 1
    cited = Citation(low.passage.marker, low.passage, start, start + 10, "It is new.")
    elsewhere = Verification((CheckedSentence("It is new.", (cited,), True),), (), ())
    assert find_concealed(found, elsewhere) == ()


def test_citing_what_was_superseded_conceals_nothing() -> None:
    items = superseded("refunds-2023")
    found = conflicts_between("How long were refunds granted in 2019?", items)
    assert [conflict.kind for conflict in found] == ["repealed"]
    assert find_concealed(found, answer(items[1])) == ()
