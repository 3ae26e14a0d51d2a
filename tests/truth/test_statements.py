"""What of a source can be quoted, and what each quote brings along to be understood."""

from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.answer.quotes.quotable import quotes_of
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import collection, is_verbatim, said
from tests.truth.passages import passage

HATS = "The tariff protects nobody but the makers of hats."


def quoted(text: str, speaker: str = "") -> list[str]:
    """All that can be quoted of a text, each as it stands there."""
    of = passage(text, start=70, speaker=speaker)
    quotes = quotes_of(of, 0)
    assert all(text[q.start - 70 : q.end - 70].split() == q.text.split() for q in quotes)
    return [quote.text for quote in quotes]


@pytest.mark.parametrize(
    "statement",
    [
        "Both men were convicted.",
        "Nobody paid the fee.",
        "The harbour master said - and he was right - that the pier was rotten.",
        "Sir George Turner was the treasurer of the colony - and a good one.",
        "Mr Jones - who kept bees - sold the wax in the town market.",
        "The Speaker of the House - a farmer - sold his wool in May.",
        "Mr Speaker, honourable members, I rise to speak of the wool that we sell.",
        "The Act applies to bees: a hive must have two doors.",
        "Sir George Turner was the treasurer of the colony (until the vote of 1899).",
        "Step: decision on a request | Limit: at most 20 working days | Section: 15",
    ],
)
def test_a_statement_is_quoted_whole(statement: str) -> None:
    assert quoted(statement) == [statement]


@pytest.mark.parametrize(
    "opening",
    [
        "Senator Reid (Victoria) (3.15 pm) — ",
        "Senator REID (New South Wales) (3.15 p.m.) — ",
        "Senator REID (New South Wales) (3.15 p.m.).—",
        "Mr REID (Dalby—Minister for Wheat) (5.20 p.m.) ",
        "Ms REID (Leader of the Opposition) (11:02): ",
        "Mr. REID.—",
        "Mr REID: ",
        "The Hon. George Reid MP: ",
        "An hon. member: ",
        "The PRESIDENT — ",
    ],
)
def test_who_speaks_is_not_quoted(opening: str) -> None:
    assert quoted(f"{opening}{HATS} I shall vote against it.") == [HATS, "I shall vote against it."]


def test_a_speaker_the_source_names_needs_no_title() -> None:
    assert quoted(f"The member for Dalby — {HATS}") == [f"The member for Dalby — {HATS}"]
    assert quoted(f"The member for Dalby — {HATS}", speaker="Dalby, the member for") == [HATS]


@pytest.mark.parametrize(
    "furniture",
    [
        "Sir George TURNER - Oh, no.",
        "Mr Speaker, honourable members",
        "Dear Sir or Madam,",
        "The harbour act of Norport",
        "CHAPTER IV OF THE MOORINGS AND QUAYS",
        "1980-81-82-83, c. 111, Sch. II",
        "R.S., 1985, c. H-6, s. 3; 1996, c. 14, s. 2; 2012, c. 9, s. 11(E).",
        "R.S., 1985, c. H-6, s. 3; 1996, c. 14, s. 2",
        "[2019, c. 7, s. 2]",
        "Page 3 of 10",
        "Source: the wool and the sheep, 1901.",
        "Sources: the book of the harbour, 1901.",
    ],
)
def test_what_is_no_statement_is_not_quoted(furniture: str) -> None:
    assert quoted(f"{furniture}\nBoth men were convicted.") == ["Both men were convicted."]


def test_a_text_that_is_all_furniture_has_nothing_to_quote() -> None:
    assert quoted("Page 3 of 10\n\n1980-81-82-83, c. 111, Sch. II\n\nOh, no.") == []


BUILT = "The pier of Norport was built in 1880."


@pytest.mark.parametrize(
    "leaning",
    [
        "It was rebuilt in 1902 after a storm.",
        "However, it was rebuilt in 1902 after a storm.",
        "But it was rebuilt in 1902 after a storm.",
        "This was the work of Amos Tyler.",
        "Both were the work of Amos Tyler.",
        "The former was the work of Amos Tyler.",
    ],
)
def test_what_stands_for_something_said_before_brings_it(leaning: str) -> None:
    first, second = quotes_of(passage(f"{BUILT} {leaning}"), 0)
    assert first.before is None
    assert second.text == leaning
    assert second.before == first


@pytest.mark.parametrize(
    "alone",
    [
        "It is unlawful to moor at the pier by night.",
        "It is not lawful to moor at the pier by night.",
        "It shall be unlawful to moor at the pier by night.",
        "It is an offence to moor at the pier by night.",
        "It is clear that nobody mended the pier.",
        "There is no fee for a boat at the pier.",
    ],
)
def test_what_can_be_understood_alone_brings_nothing(alone: str) -> None:
    _, second = quotes_of(passage(f"{BUILT} {alone}"), 0)
    assert second.before is None


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_no_more_places_are_cited_than_wanted(
    tmp_path: Path, embedder: Embedder, limit: int
) -> None:
    rules = "The pier of Norport is of oak. It was mended by Amos Tyler after the storm of 1902."
    target = f"CITATION_LIMIT={limit}\nANSWER_SENTENCES=1\nANSWER_LIKELIHOOD=0\n"
    with collection(tmp_path, embedder, {"town/pier.txt": rules}, target) as atlas:
        answer = atlas.ask("Who mended it after the storm of 1902?", read_follow_ups=False)
        assert all(is_verbatim(atlas, citation) for citation in answer.citations)
    mended = "It was mended by Amos Tyler after the storm of 1902."
    # what answers goes before what it leans on
    assert said(answer) == ([mended] if limit == 1 else ["The pier of Norport is of oak.", mended])


def test_the_rows_of_a_table_are_quoted_beside_sentences() -> None:
    rows = [
        "Step: transfer of a request | Limit: at most 10 working days",
        "Step: decision on a request | Limit: at most 20 working days",
    ]
    sentence = "The clerk keeps the list of requests."
    assert quoted("\n\n".join(["Time limits", "Step | Limit", *rows, sentence])) == [
        *rows,
        sentence,
    ]


def test_a_list_with_bullets_is_quoted_with_what_introduces_it() -> None:
    items = ("- retain the passport of the party;", "- remain with the party.")
    text = "\n\n".join(("The leader of a party on its travels shall:", *items))
    assert quoted(text) == [" ".join(text.split())]


def test_what_introduces_a_list_is_no_quote_without_it() -> None:
    items = [f"- {'shall keep every record of the office and ' * 14}more of {n}" for n in "abc"]
    text = "\n\n".join(("Every judge of the court of the harbour:", *items))
    quotes = quotes_of(passage(text), 0)
    assert [f"- {quote.text}" for quote in quotes] == items
    assert {quote.before.text for quote in quotes if quote.before} == {text.split("\n")[0]}


def test_it_of_no_thing_leans_on_nothing() -> None:
    text = "The ferry is old. It is recognised that the harbour should pay for the pier."
    assert [quote.before for quote in quotes_of(passage(text), 0)] == [None, None]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        # an interviewer's question, and a member's
        ("Q: When did you leave the harbour?\nI left the harbour at dawn.",
         ["I left the harbour at dawn."]),
        ("Will the Minister say whether the mole is safe? The mole is safe, as far as I know.",
         ["The mole is safe, as far as I know."]),
        # a line torn from its sentence
        ("of the harbour was closed by the board.\n\nThe mole was opened again in May.",
         ["The mole was opened again in May."]),
        # shillings end no sentence
        ("Speeches were sent at 1s. per 100 words. Others paid the full rate of 3s. each.",
         ["Speeches were sent at 1s. per 100 words.", "Others paid the full rate of 3s. each."]),
        # lines of a page of figures
        ("Three months ended\nNet income 29,998 34,630\nCost of sales (66,822) 69,702",
         ["Net income 29,998 34,630", "Cost of sales (66,822) 69,702"]),
        # what introduces a list
        ("The owner of a boat must\n(a) paint its name on the bow; and\n(b) pay the fee.",
         ["The owner of a boat must (a) paint its name on the bow; and (b) pay the fee."]),
    ],
)  # fmt: skip
def test_only_what_states_something_whole_is_quoted(text: str, statements: list[str]) -> None:
    assert quoted(text) == statements


def test_a_heading_alone_is_not_quoted() -> None:
    title = "An Act respecting the moles of the harbour"
    of = replace(passage(title), title=title)
    assert quotes_of(of, 0) == []
    assert [quote.text for quote in quotes_of(passage(title), 0)] == [title]


def test_words_that_are_looked_for_may_stand_in_a_question(
    tmp_path: Path, embedder: Embedder
) -> None:
    asked = "Will the Prime Minister set apart a day for the old-age pension question?"
    files = {"town/debate.txt": f"{asked} The Ministers will consider the matter.\n"}
    with collection(tmp_path, embedder, files, "ANSWER_LIKELIHOOD=0\n") as atlas:
        assert said(atlas.ask('"old-age pension" Prime Minister'))[0] == asked
        assert asked not in said(atlas.ask("What did the Prime Minister say of a pension?"))
