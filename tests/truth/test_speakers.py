"""What somebody said is quoted from his own words, and another's are not given as his."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.answer.quotes.quotable import quote_at
from atlas_search.answer.quotes.speakers import is_said_by, own_words, sayers_in
from atlas_search.asking import MAX_QUESTION
from atlas_search.language.text import TextSpan
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import closest, collection, said
from tests.truth.passages import passage

REID = "The tariff protects nobody but the makers of hats."
GRAY = "The tariff gives work to the sugar towns."
SPEECHES = {
    "reid": (
        "Reid, Sir George",
        f"Senator REID (New South Wales) (3.15 p.m.) — {REID} A tariff is a tax upon every "
        "household in the land.",
    ),
    "gray": (
        "Gray, John",
        f"Senator GRAY (Queensland) (4.05 p.m.) — {GRAY} Senator Reid is wrong: tariffs have "
        "built our mills.",
    ),
    "wells": (
        "Wells, Amos",
        "Senator WELLS (Tasmania) — The railway to the north must be built before the mills are.",
    ),
}
EAGER = "ANSWER_LIKELIHOOD=0.05\n"


def speeches(*names: str) -> dict[str, str]:
    """A debate of these speeches."""
    records = [
        {
            "id": name,
            "title": "Tariff debate",
            "date": "1901-05-21",
            "speaker": SPEECHES[name][0],
            "text": SPEECHES[name][1],
        }
        for name in names
    ]
    return {"senate/debate.jsonl": "".join(json.dumps(record) + "\n" for record in records)}


@pytest.fixture(scope="module")
def senate(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("senate")
    with collection(folder, embedder, speeches("reid", "gray", "wells"), EAGER) as opened:
        yield opened


@pytest.mark.parametrize(("name", "words"), [("Reid", REID), ("Gray", GRAY)])
def test_who_said_it_is_quoted_in_his_own_words(senate: Atlas, name: str, words: str) -> None:
    answer = senate.ask(f"What did Senator {name} say about the tariff?")
    assert answer.outcome.decision == "ANSWER"
    assert words in said(answer)
    assert {citation.passage.speaker.split(",")[0] for citation in answer.citations} == {name}


def test_who_speaks_is_no_part_of_what_he_says(senate: Atlas) -> None:
    answer = senate.ask("What did Senator Reid say about the tariff?")
    assert "Senator REID" not in answer.text
    assert not any(sentence.startswith("—") for sentence in said(answer))


@pytest.mark.parametrize(
    "question",
    [
        "What did Senator Reid say about Mabo?",
        "What did Senator Gray say about the Mabo decision?",
    ],
)
def test_words_on_a_subject_that_no_source_holds_are_none(senate: Atlas, question: str) -> None:
    answer = senate.ask(question)
    assert (answer.outcome.decision, answer.text) == ("ABSTAIN", "")
    assert (answer.outcome.code, answer.outcome.message) == (
        "unknown_name",
        "No passage that comes close speaks of Mabo.",
    )


@pytest.mark.parametrize("likelihood", ["", EAGER])
def test_another_s_words_are_not_given_for_one_who_did_not_speak(
    tmp_path: Path, embedder: Embedder, likelihood: str
) -> None:
    with collection(tmp_path, embedder, speeches("gray", "wells"), likelihood) as atlas:
        answer = atlas.ask("What did Senator Turner say about the tariff?")
    assert answer.outcome.decision == "ABSTAIN"
    assert "Turner" in answer.outcome.message
    assert GRAY in closest(answer)


def test_what_another_says_of_him_is_not_what_he_said(tmp_path: Path, embedder: Embedder) -> None:
    """Gray names Reid, and nothing that Reid himself said is held."""
    with collection(tmp_path, embedder, speeches("gray", "wells"), EAGER) as atlas:
        answer = atlas.ask("What did Senator Reid say about the tariff?")
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "not_held")
    assert answer.outcome.message.endswith("None of them gives the words of the one asked for.")


REPORTED = "Senator Reid argued that the tariff is a tax upon every household."
LED = "He argued that the tariff protects nobody but the makers of hats."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"Senator Gray wants a tariff. {REPORTED}", [REPORTED]),
        (f"Reid spoke of the tariff for an hour. {LED}", [LED]),
        ("Senator Gray argued that the tariff gives work, and Reid left the hall.", []),
        ("I asked Senator Reid about the tariff because it gives work to the towns.", []),
        ("Senator Reid left when Colonel Hay told us that the tariff gives work.", []),
        ("Senator Reid (Victoria): A tariff is a tax.\nSenator GRAY: The tariff gives work.", []),
    ],
)
def test_what_a_source_reports_of_him_is_his(
    tmp_path: Path, embedder: Embedder, text: str, told: list[str]
) -> None:
    files = {"town/a.txt": f"---\ntitle: The tariff of Norport\n---\n{text}\n"}
    with collection(tmp_path, embedder, files, "ANSWER_LIKELIHOOD=0\n") as atlas:
        answer = atlas.ask("What did Senator Reid say about the tariff?")
    assert said(answer)[-1:] == told


DEBATE = """---
title: Debate on the harbour
---
The SPEAKER: The mace of the harbour is in the hall, and nobody may take it.

The DEPUTY SPEAKER: The mace is lost, and the harbour is without it.

The MINISTER OF HARBOURS: The mace belongs to the harbour and not to the hall.

The DEPUTY MINISTER OF HARBOURS: Any mace of oak will do for the harbour.

Mr T D HARRIS: The harbour needs a crane and no mace.
"""


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("the Speaker", "The mace of the harbour is in the hall, and nobody may take it."),
        ("the Deputy Speaker", "The mace is lost, and the harbour is without it."),
        ("the Minister of Harbours", "The mace belongs to the harbour and not to the hall."),
        ("the Deputy Minister of Harbours", "Any mace of oak will do for the harbour."),
        ("Mr Harris", "The harbour needs a crane and no mace."),
    ],
)
def test_of_several_who_speak_in_a_passage_the_one_asked_for_is_quoted(
    tmp_path: Path, embedder: Embedder, who: str, words: str
) -> None:
    with collection(tmp_path, embedder, {"town/debate.txt": DEBATE}, EAGER) as atlas:
        answer = atlas.ask(f"What did {who} say about the mace of the harbour?")
    assert said(answer) == [words]


def test_what_he_says_of_another_subject_is_not_what_is_asked(
    tmp_path: Path, embedder: Embedder
) -> None:
    with collection(tmp_path, embedder, {"town/debate.txt": DEBATE}, EAGER) as atlas:
        answer = atlas.ask("What did Mr Harris say about lamps?")
    assert answer.outcome.decision == "ABSTAIN"


@pytest.mark.parametrize(
    "again", ["Mr SMITH: ", "A", "According to ", "Mr said ", "\n", "[x] ", "A-A’", "did Gray say "]
)
def test_a_text_of_one_thing_takes_no_time(again: str) -> None:
    text = again * (200_000 // len(again))
    started = time.process_time()
    of = passage(text)
    end = TextSpan(0, len(text))
    assert own_words("What did Mr Reid say about wool?", [quote_at(of, end, 0)]) == []
    sayers_in(f"What did {text[:MAX_QUESTION]}")
    assert time.process_time() - started < 4  # most of it are the words themselves


def test_an_office_nobody_speaks_in_has_no_words(tmp_path: Path, embedder: Embedder) -> None:
    with collection(tmp_path, embedder, {"town/debate.txt": DEBATE}, EAGER) as atlas:
        answer = atlas.ask("What did the Prime Minister say about the mace of the harbour?")
    assert answer.outcome.decision == "ABSTAIN"


def test_who_spoke_of_other_things_is_not_given_the_words_of_those_who_did(senate: Atlas) -> None:
    answer = senate.ask("What did Senator Wells say about the tariff?")
    assert not {REID, GRAY} & set(said(answer))


@pytest.mark.parametrize(
    ("speaker", "asked"),
    [
        ("Reid, Sir George", "Senator Reid"),
        ("Senator Reid", "Senator Reid"),
        ("George Reid", "George Reid"),
    ],
)
def test_a_speaker_is_known_by_his_surname(speaker: str, asked: str) -> None:
    assert is_said_by(passage(REID, speaker=speaker), f"What did {asked} say about the tariff?")


@pytest.mark.parametrize(
    ("speaker", "asked"),
    [
        ("Senator Gray", "Senator Reid"),
        ("George Gray", "George Reid"),
        ("Sir George Gray", "Sir George Reid"),
    ],
)
def test_a_title_or_a_first_name_makes_nobody_the_speaker(speaker: str, asked: str) -> None:
    assert not is_said_by(passage(GRAY, speaker=speaker), f"What did {asked} say about the tariff?")


@pytest.mark.parametrize(
    ("question", "speakers"),
    [
        ("When was the whale of Krag stranded?", ()),
        ("When did the ferry belong to Krag?", ()),
        ("What did the Court of Appeal in London decide?", ()),
        ("What are the views of Senator Ray on coal?", ("Senator Ray",)),
        ("According to Lord Keith, may a council sue?", ("Lord Keith",)),
    ],
)
def test_only_who_is_asked_for_his_words_is_a_speaker(
    question: str, speakers: tuple[str, ...]
) -> None:
    assert tuple(sayer.name.split(" on ")[0] for sayer in sayers_in(question)) == speakers
