"""What a section says is quoted from it, and not from another that mentions it."""

import time
from collections.abc import Iterator

import pytest

from atlas_search import Atlas
from atlas_search.answer.quotes.provisions import provision_in
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import collection, said
from tests.truth.test_deadlines import _section
from tests.xml.test_statutes_canada import act

BELL = "Every boat in the harbour shall have a bell of brass."
FLAG = "A boat without a flag shall leave the harbour before dark."
FINE = "Whoever contravenes section 5 is liable to a fine of 40 shillings."
OARS = "No person shall row in the harbour with more than two oars."
NIGHT = "By night a person may row with one oar only."
HARBOUR = f"""---
title: Harbour Act
---
# Harbour Act

## Section 5 Bells

{BELL}

## Section 5A Flags

{FLAG}

## Section 6 Oars

(1) {OARS}

(2) {NIGHT}

## Section 15 Fines

{FINE}
"""
WRECKS = "A wreck belongs to whoever raises it."
SALVORS = "Article III does not deprive a salvor of what he raised."
PRIZES = "A prize of war is shared among the crew."
TREATY = f"""---
title: Treaty of Ostby
---
# Treaty of Ostby

## Article III

{WRECKS}

## Article IV

{SALVORS}
"""
PROTOCOL = f"""---
title: Protocol of Ostby
---
# Text of the Protocol

Article 3
{PRIZES}

Article 4
Article 3, paragraph 1, of the Treaty applies to boats.
Article 3 does not apply to rafts.
"""
MARKET = "---\ntitle: Market Act\n---\n## Section 7 Stalls\n\nA stall shall close at noon.\n"


@pytest.fixture(scope="module")
def acts(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Atlas]:
    files = {"acts/harbour.md": HARBOUR, "acts/market.txt": MARKET}
    files |= {"acts/treaty.md": TREATY, "acts/protocol.md": PROTOCOL}
    with collection(tmp_path_factory.mktemp("acts"), embedder, files) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What does section 5 of the Harbour Act say?", [BELL]),
        ("What does section 5A of the Harbour Act provide?", [FLAG]),
        ("What is provided by section 15 of the Harbour Act?", [FINE]),
        ("What does section 6 of the Harbour Act say?", [f"(1) {OARS}", f"(2) {NIGHT}"]),
        ("What does section 6(1) of the Harbour Act say?", [f"(1) {OARS}"]),
        ("What does section 6(2) of the Harbour Act say about rowing?", [f"(2) {NIGHT}"]),
        ("What does section 7 say?", ["A stall shall close at noon."]),
        ("What does Article III of the Treaty of Ostby say?", [WRECKS]),
        ("What does article IV of the Treaty of Ostby say?", [SALVORS]),
        ("What does article 3 of the Protocol of Ostby say?", [PRIZES]),
    ],
)
def test_a_provision_is_quoted_in_its_own_words(
    acts: Atlas, question: str, told: list[str]
) -> None:
    answer = acts.ask(question)
    assert answer.outcome.decision == "ANSWER"
    assert said(answer) == told


@pytest.mark.parametrize(
    "question",
    [
        "What does section 8 of the Harbour Act say?",
        "What does section 6(3) of the Harbour Act say?",
        "What does section 5 of the Market Act say?",
        "What does section 5 of the Harbour Act say about pilots?",
        "What does article 5 of the Harbour Act say?",
        "What does Article V of the Treaty of Ostby say?",
    ],
)
def test_a_provision_that_no_source_holds_has_no_words(acts: Atlas, question: str) -> None:
    answer = acts.ask(question)
    assert (answer.outcome.decision, answer.text) == ("ABSTAIN", "")


def test_a_provision_is_found_by_how_the_source_cites_it(
    tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> None:
    text = act(f"<Body>{_section(7, 'Bells', BELL)}{_section(8, 'Flags', FLAG)}</Body>")
    folder = tmp_path_factory.mktemp("cited")
    with collection(folder, embedder, {"acts/harbour.xml": text}) as atlas:
        told = said(atlas.ask("What does section 8 of the Bees Act say?"))
    assert told == [f"8 {FLAG}"]


@pytest.mark.parametrize(
    ("question", "called"),
    [
        ("What does s 5 say?", ("section", "5")),
        ("What does Article XIV say?", ("article", "xiv")),
        ("Was bestimmt § 3a der Hafenordnung?", ("section", "3a")),
        ("Que prévoit l'article 515-1 du Code civil ?", ("article", "515-1")),
    ],
)
def test_provisions_are_called_in_several_ways(question: str, called: tuple[str, str]) -> None:
    found = provision_in(question)
    assert found
    assert (found.kind, found.number) == called


@pytest.mark.parametrize(
    "question",
    [
        "What is the fine under section 5?",
        "Who may row under section 6 of the Harbour Act?",
        "What does the Harbour Act say?",
        "In which case was section 5 of the Harbour Act applied?",
    ],
)
def test_what_is_asked_beside_a_provision_is_not_its_words(question: str) -> None:
    assert provision_in(question) is None


@pytest.mark.parametrize("again", ["what does section 5 ", "section 5(2)(", "5-", "s 5 of the "])
def test_a_long_question_takes_no_time(again: str) -> None:
    started = time.process_time()
    provision_in("What does section 5 of " + again * (200_000 // len(again)))
    assert time.process_time() - started < 1
