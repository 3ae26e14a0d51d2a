"""Sources that contradict each other, and sources that may both be right."""

import pytest

from atlas_search.answer.conflicts import conflicts_between
from tests.contradictions import (
    BEGIN,
    COMPATIBLE,
    CONTRADICTORY,
    HIGH,
    LIMIT,
    LOW,
    between,
    passage,
)


@pytest.mark.parametrize(("question", "first", "second", "kind"), CONTRADICTORY)
def test_sources_that_contradict_each_other_are_found(
    question: str, first: str, second: str, kind: str
) -> None:
    assert [conflict.kind for conflict in between(question, first, second)] == [kind]
    assert [conflict.kind for conflict in between(question, second, first)] == [kind]


@pytest.mark.parametrize(("question", "first", "second"), COMPATIBLE)
def test_sources_that_may_both_be_right_are_left_alone(
    question: str, first: str, second: str
) -> None:
    assert between(question, first, second) == ()
    assert between(question, second, first) == ()


def test_a_conflict_quotes_the_very_sentences_where_they_stand() -> None:
    (conflict,) = between(LIMIT, f"It is new. {LOW}", f"{HIGH} It is old.")
    assert (conflict.first.quote, conflict.first.start) == (LOW, BEGIN + 11)
    assert (conflict.second.quote, conflict.second.end) == (HIGH, BEGIN + len(HIGH))
    assert conflict.detail == "100 requests per minute or 1000 requests per minute"
    assert not conflict.stated


def test_a_conflict_is_found_over_the_end_of_a_line() -> None:
    old = "A pilot of the harbour of Northport must serve on a boat there for seven\nyears."
    new = "A pilot of the harbour of Northport must serve on a boat there for nine\nyears."
    (found,) = between("How long must a pilot serve?", old, new)
    assert (found.first.quote, found.second.quote) == (old, new)


def test_one_document_does_not_contradict_itself() -> None:
    assert conflicts_between(LIMIT, [passage("a", LOW), passage("a", HIGH)]) == ()


def test_what_the_question_is_not_about_is_no_conflict() -> None:
    assert between("Who may take photographs?", LOW, HIGH) == ()


def test_a_place_found_twice_is_one_conflict() -> None:
    items = [passage("a", LOW), passage("a", f"{LOW} It is new."), passage("b", HIGH)]
    assert len(conflicts_between(LIMIT, items)) == 1


def test_conflicts_come_in_the_order_of_the_passages() -> None:
    found = between(LIMIT, LOW, HIGH, "The API limit is 10 requests per minute.")
    documents = [(c.first.passage.document_id, c.second.passage.document_id) for c in found]
    assert documents == [("rules.0", "rules.1"), ("rules.0", "rules.2"), ("rules.1", "rules.2")]


def test_two_countries_may_have_different_laws() -> None:
    question = "May visitors take photographs?"
    allowed, barred = "Visitors may take photographs.", "Visitors may not take photographs."
    here = passage("here.rules", allowed, corpus="here")
    assert conflicts_between(question, [here, passage("there.rules", barred, "there")]) == ()
    assert len(conflicts_between(question, [here, passage("here.other", barred, "here")])) == 1


def test_two_corpora_that_name_the_same_thing_can_contradict_each_other() -> None:
    items = [passage("x.a", LOW, corpus="x"), passage("y.b", HIGH, corpus="y")]
    assert [conflict.kind for conflict in conflicts_between(LIMIT, items)] == ["number"]


def test_only_english_sentences_are_compared() -> None:
    items = [passage("a", LOW, language="de"), passage("b", HIGH, language="de")]
    assert conflicts_between(LIMIT, items) == ()
