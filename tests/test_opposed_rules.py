"""Rules that contradict each other, and rules that hold side by side."""

import pytest

from atlas_search.answer.conflicts import conflicts_between
from tests.contradictions import between, passage
from tests.opposed_rules import RULES_IN_CONFLICT, RULES_SIDE_BY_SIDE

MAY = "Tenants of the harbour may keep dogs."
MAY_NOT = "Tenants of the harbour may not keep dogs."


@pytest.mark.parametrize(("question", "first", "second", "kind"), RULES_IN_CONFLICT)
def test_rules_of_which_one_can_hold_are_a_conflict(
    question: str, first: str, second: str, kind: str
) -> None:
    assert [conflict.kind for conflict in between(question, first, second)] == [kind]
    assert [conflict.kind for conflict in between(question, second, first)] == [kind]


@pytest.mark.parametrize(("question", "first", "second"), RULES_SIDE_BY_SIDE)
def test_rules_that_hold_side_by_side_are_no_conflict(
    question: str, first: str, second: str
) -> None:
    assert between(question, first, second) == ()
    assert between(question, second, first) == ()


def test_a_conflict_of_rules_says_their_force() -> None:
    (found,) = between("May tenants keep dogs?", MAY, MAY_NOT)
    assert found.detail == "permitted or forbidden"


def test_an_exception_is_no_conflict_unless_the_rule_allows_none() -> None:
    question = "May tenants keep dogs?"
    exception = "Tenants may keep dogs in houses with a garden."
    assert between(question, "Tenants may not keep dogs.", exception) == ()
    assert len(between(question, "Tenants may never keep dogs in houses.", exception)) == 1


@pytest.mark.parametrize(
    ("title", "metadata"),
    [
        ("Draft rules of the harbour", {}),
        ("Harbour Bill", {}),
        ("Rules of the harbour", {"status": "repealed"}),
    ],
)
def test_what_is_not_in_force_contradicts_nothing(title: str, metadata: dict[str, str]) -> None:
    items = [
        passage("rules.new", MAY, title=title, metadata=metadata),
        passage("rules.old", MAY_NOT, title="Rules"),
    ]
    assert conflicts_between("May tenants keep dogs?", items) == ()


def test_titles_of_different_years_make_no_conflict() -> None:
    question = "How many berths has the harbour?"
    older = passage("rules.a", "The harbour has 40 berths.", title="Report for 2019")
    newer, undated = (
        passage("rules.b", "The harbour has 55 berths.", title=title)
        for title in ("Report for 2020", "Report")
    )
    assert conflicts_between(question, [older, newer]) == ()
    assert len(conflicts_between(question, [older, undated])) == 1


def test_a_title_does_not_make_one_thing_of_two() -> None:
    items = [
        passage("rules.a", "Marked strings are not supported.", title="Marks"),
        passage(
            "rules.b", "Template strings are a kind of marked strings.", title="Template strings"
        ),
    ]
    assert conflicts_between("What is said of strings?", items) == ()
