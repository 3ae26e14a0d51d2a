"""Questions that the sources read in several ways."""

from dataclasses import replace

import pytest

from atlas_search.answer.readings import clarify, readings
from atlas_search.core.domain import CheckedPassage
from tests.contradictions import BEGIN, passage

LABELS = {"north": "North Shire", "south": "South Shire"}
FEE = "What is the fee for a mooring?"


def said(
    text: str, corpus: str = "north", title: str = "", date: str = "", number: int = 0
) -> CheckedPassage:
    found = passage(f"{corpus}.{title or number}", text, corpus=corpus, title=title)
    return dated(found, date) if date else found


def dated(item: CheckedPassage, date: str) -> CheckedPassage:
    ranked = replace(item.ranked, passage=replace(item.passage, date=date))
    return replace(item, ranked=ranked)


SEVERAL = [
    (
        FEE,
        "The fee for a mooring is $40.",
        "The fee for a mooring is $75.",
    ),
    (
        "What does weapon mean?",
        "In this Act, weapon means anything used to cause injury.",
        "“Weapon” means a firearm, its parts and its ammunition.",
    ),
    (
        "What is the definition of a minor?",
        "A minor means a person below the age of eighteen years.",
        "The term “minor” means whoever has not yet been enrolled as a voter.",
    ),
    (
        "May tenants keep dogs?",
        "Tenants may keep dogs.",
        "Tenants must not keep dogs.",
    ),
    (
        "How long is the notice period for a mooring?",
        "The notice period for a mooring is 30 days.",
        "The notice period for a mooring is 90 days.",
    ),
    (
        "What is the penalty for littering?",
        "The penalty for littering is a fine of up to $200.",
        "The penalty for littering is at most $500.",
    ),
]


@pytest.mark.parametrize(("question", "north", "south"), SEVERAL)
def test_what_two_corpora_say_differently_are_two_readings(
    question: str, north: str, south: str
) -> None:
    first, second = readings(question, [said(north), said(south, "south")], LABELS)
    assert (first.label, second.label) == ("North Shire", "South Shire")
    assert (first.corpora, second.corpora) == (("north",), ("south",))
    assert (first.citation.quote, second.citation.quote) == (north, south)
    assert first.citation.start == BEGIN
    assert first.filters == {}


ONE = [
    # it says where or when
    ("What is the fee for a mooring in North Shire?", *SEVERAL[0][1:]),
    ("What is the fee for a mooring in the north?", *SEVERAL[0][1:]),
    ("What was the fee for a mooring?", *SEVERAL[0][1:]),
    ("What is the fee for a mooring now?", *SEVERAL[0][1:]),
    ("What is the fee for a mooring in 2019?", *SEVERAL[0][1:]),
    # it asks for no term and no rule
    ("Why is there a fee for a mooring?", *SEVERAL[0][1:]),
    ("Who sets the fee for a mooring?", *SEVERAL[0][1:]),
    # both say the same
    (FEE, "The fee for a mooring is $40.", "A mooring has a fee of 40 dollars at most $40."),
    (FEE, "The fee for a mooring is $40.", "For a mooring the fee is $40."),
    (
        "What does weapon mean?",
        "Weapon means anything used to cause injury.",
        "In this Code, “weapon” means anything used to cause injury to others.",
    ),
    # they speak of different things
    (FEE, "The fee for a mooring is $40.", "The fee for a mooring of a barge is $75."),
    (FEE, "The fee for a mooring is $40.", "The annual fee for a mooring is $300."),
    (FEE, "The fee for a mooring is $40.", "The fee for a berth is $75."),
    (FEE, "The fee for a mooring is $40.", "A mooring must be paid for within 30 days."),
    (FEE, "The fee for a mooring is $40.", "If it is wide, the fee for a mooring is $75."),
    (
        "What does weapon mean?",
        "Weapon means anything used to cause injury.",
        "Weapon has the same meaning as in section 2.",
    ),
    (
        "What does weapon mean?",
        "Weapon means anything used to cause injury.",
        "Prohibited weapon means a firearm with its parts.",
    ),
    (
        "What does weapon mean?",
        "Weapon means anything used to cause injury.",
        "Weapon means any weapon, as defined in section 2 of the Arms Act.",
    ),
    (
        "What does pilot mean?",
        "Pilot means whoever steers a ship.",
        "Pilotage means the guidance of ships in the harbour.",
    ),
    (
        "What does officer mean?",
        "Officer means whoever is appointed by the town.",
        "Office means the house of the harbour master.",
    ),
    (
        "What does weapon mean?",
        "Weapon means anything used to cause injury.",
        "To carry a weapon means trouble.",
    ),
]


@pytest.mark.parametrize(("question", "north", "south"), ONE)
def test_other_questions_have_one_reading(question: str, north: str, south: str) -> None:
    assert readings(question, [said(north), said(south, "south")], LABELS) == ()


def test_two_sources_of_one_corpus_contradict_each_other_instead() -> None:
    assert readings(FEE, [said(SEVERAL[0][1], title="A"), said(SEVERAL[0][2], title="B")]) == ()


def test_sources_of_two_periods_are_two_readings() -> None:
    old = said(SEVERAL[0][1], title="Fees", date="1950")
    new = said(SEVERAL[0][2], title="Charges", date="1970-05-01")
    first, second = readings(FEE, [old, new])
    assert (first.label, second.label) == ("Fees (1950)", "Charges (1970-05-01)")
    assert second.filters == {"document_id": ("north.Charges",)}
    late = said(SEVERAL[0][2], title="Charges", date="1969-05-01")
    assert readings(FEE, [old, late]) == ()


def test_two_laws_are_two_readings() -> None:
    one, other = (
        said(text, title=title)
        for text, title in zip(SEVERAL[1][1:], ("Arms Act 1990", "Customs Act 1985"), strict=True)
    )
    first, second = readings("What does weapon mean?", [one, other])
    assert (first.label, second.label) == ("Arms Act 1990", "Customs Act 1985")
    assert first.filters == {"document_id": ("north.Arms Act 1990",)}


def test_a_definition_is_cited_out_of_a_list_of_them() -> None:
    listed = "barge means a boat without a motor; (péniche) berth means a place of a quay; (poste)"
    other = "Berth means a bed on board."
    first, second = readings("What does berth mean?", [said(listed), said(other, "south")], LABELS)
    assert first.citation.quote == "berth means a place of a quay"
    place = first.citation.start - BEGIN
    assert listed[place : first.citation.end - BEGIN] == first.citation.quote
    assert second.citation.quote == other


def test_documents_that_say_the_same_are_one_reading() -> None:
    items = [
        said("The fee for a mooring is $40.", title="A"),
        said("The fee for a mooring is $75.", "south", title="B"),
        said("For a mooring the fee is $40.", title="C"),
    ]
    first, second = readings(FEE, items, LABELS)
    assert first.documents == ("north.A", "north.C")
    assert second.documents == ("south.B",)


def test_a_document_that_says_several_things_gives_no_reading() -> None:
    both = "The fee for a mooring is $75. The fee for a mooring is $80."
    assert readings(FEE, [said(SEVERAL[0][1]), said(both, "south")], LABELS) == ()


def test_what_is_superseded_gives_no_reading() -> None:
    old = passage("south.a", SEVERAL[0][2], corpus="south", metadata={"superseded_by": "Charges"})
    assert readings(FEE, [said(SEVERAL[0][1]), old], LABELS) == ()


def test_who_is_asked_to_choose_hears_of_every_reading() -> None:
    found = readings(FEE, [said(SEVERAL[0][1]), said(SEVERAL[0][2], "south")], LABELS)
    outcome = clarify(found)
    assert (outcome.decision, outcome.code) == ("ABSTAIN", "clarify")
    assert "North Shire; South Shire" in outcome.message
