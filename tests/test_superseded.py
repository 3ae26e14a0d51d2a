"""What a superseded source says, beside its successor."""

import pytest

from atlas_search.answer.conflicts import conflicts_between
from tests.contradictions import passage, superseded


@pytest.mark.parametrize("by", ["refunds-2023", "rules.refunds-2023", "Refunds 2023"])
def test_what_a_superseded_source_says_is_listed_against_its_successor_only(by: str) -> None:
    (conflict,) = conflicts_between("How long are refunds granted?", superseded(by))
    assert conflict.kind == "repealed"
    assert conflict.detail == "Refunds 2019 was superseded by Refunds 2023"
    assert conflict.first.quote == "Refunds are granted within 30 days."


def test_a_successor_that_was_not_found_makes_no_conflict() -> None:
    assert conflicts_between("How long are refunds granted?", superseded("another")) == ()


def test_a_superseded_source_the_question_is_not_about_makes_no_conflict() -> None:
    question = "Which barrister argued for refunds in the London harbour case?"
    assert conflicts_between(question, superseded("refunds-2023")) == ()


def test_a_source_that_says_what_it_supersedes_took_its_place() -> None:
    old = passage("rules.old", "Refunds are granted within 14 days.", title="Refunds of old")
    new = passage(
        "rules.new",
        "Refunds are granted within 30 days.",
        title="Refunds",
        metadata={"supersedes": ("Refunds of old", "Returns")},
    )
    (conflict,) = conflicts_between("How long are refunds granted?", [old, new])
    assert conflict.kind == "repealed"
    assert conflict.detail == "Refunds of old was superseded by Refunds"


def test_one_of_several_successors_took_its_place() -> None:
    old, new = superseded("")[::-1]
    named = passage(
        old.passage.document_id,
        old.passage.text,
        title=old.passage.title,
        metadata={"superseded_by": ("Returns", "Refunds 2023")},
    )
    (conflict,) = conflicts_between("How long are refunds granted?", [new, named])
    assert conflict.kind == "repealed"
