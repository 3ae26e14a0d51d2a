"""Sentences that can be quoted of a source, and what each brings along to be understood."""

import sys
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.quotes.choose import Chosen, Extract, Opposed, choose
from atlas_search.answer.quotes.quotable import Quote, quotes_of
from atlas_search.answer.quotes.scores import SentenceVectors
from atlas_search.core.domain import CheckedPassage, Passage, RankedPassage
from atlas_search.language.lines import unwrap
from atlas_search.language.text import all_terms
from tests.answer.passages import passage
from tests.hash_embedder import HashEmbedder

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


def test_what_introduces_a_list_is_no_quote_without_it() -> None:
    items = [f"- {'shall keep every record of the office and ' * 14}more of {n}" for n in "abc"]
    text = "\n\n".join(("Every judge of the court of the harbour:", *items))
    quotes = quotes_of(passage(text), 0)
    assert [f"- {quote.text}" for quote in quotes] == items
    assert {quote.before.text for quote in quotes if quote.before} == {text.split("\n")[0]}


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


EMBEDDER = HashEmbedder()
PIECES = [
    "The pier was built in 1880. ",
    "However, it was rebuilt by Amos Tyler. ",
    "Senator REID (Victoria) (3.15 p.m.) — The tariff is a tax. ",
    "The head shall, within thirty days after the request is received,\n(a) give notice; and\n",
    "(b) give the record.\n",
    "R.S., 1985, c. H-6, s. 3\n",
    "Page 3 of 10\n",
    "[town.pier p1] ",
    "THE PIER OF NORPORT\n\n",
    "— ",
    "“He said: ‘no.’” ",
    "Éa\u0301\u200b\u202e ﷽ 码头建于一八八零年。",
    "\U0001f6a2\ufe0f \x0b\x85\u2028 ",
    "( [ { ",
    "wool " * 1000,
    "x" * 5000 + ". ",
    "- bell\n",
    "\n\n",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=12).map("".join)
QUESTIONS = st.sampled_from(
    [
        "pier",
        "WHO BUILT THE PIER OF NORPORT IN 1880?",
        "When was the pier built?",
        "What did Senator Reid say about the tariff?",
        "How did the pier change from 1880 to 1902?",
        "Is the pier old now?",
        "?",
        "",
        "Which piers are not of oak?",
        "码头",
    ]
) | st.text(max_size=40)
DATES = st.sampled_from(["", "1880", "1902-05-01"])
SPEAKERS = st.sampled_from(["", "Reid, George", "Gray", "?"])


@st.composite
def prompts(draw: st.DrawFn) -> Extract:
    result = [
        passage(text, f"town.{n % 2}", start=n * 100_000, speaker=draw(SPEAKERS), date=draw(DATES))
        for n, text in enumerate(draw(st.lists(TEXTS, min_size=1, max_size=4)))
    ]
    question = draw(QUESTIONS)
    parts = draw(st.lists(QUESTIONS, max_size=2, unique=True))
    return Extract(
        question=question,
        question_vector=EMBEDDER.embed_query(question),
        passages=tuple(CheckedPassage(RankedPassage(p, 1.0, {}), True, 1.0, ()) for p in result),
        term_weights=dict.fromkeys(sorted(all_terms(question)), 1.0),
        limit=draw(st.integers(1, 3)),
        opposed=tuple(_whole(a, b) for a, b in pairwise(result) if draw(st.booleans())),
        parts={part: EMBEDDER.embed_query(part) for part in parts},
        most=draw(st.integers(1, 4)),
    )


def _whole(a: Passage, b: Passage) -> Opposed:
    return a.cite(0, len(a.text)), b.cite(0, len(b.text))


def is_its_own(quote: Quote) -> bool:
    """Compare a quote with its place in its passage."""
    of = quote.passage
    return quote.text == unwrap(of.text[quote.start - of.start : quote.end - of.start])


@given(TEXTS, SPEAKERS)
def test_what_can_be_quoted_is_in_order_and_apart(text: str, speaker: str) -> None:
    quotes = quotes_of(passage(text, start=9, speaker=speaker), 0)
    assert all(map(is_its_own, quotes))
    assert all(9 <= quote.start < quote.end <= 9 + len(text) for quote in quotes)
    assert all(a.end <= b.start for a, b in pairwise(quotes))
    assert all(quote.before is None or quote.before.end <= quote.start for quote in quotes)


@pytest.mark.thorough
@given(prompts(), st.sampled_from([0.0, 0.3, 1.0]))
def test_what_is_chosen_is_verbatim_apart_and_not_too_much(prompt: Extract, needed: float) -> None:
    choice = choose(prompt, SentenceVectors(EMBEDDER))
    quotes = choice.quotes(prompt, needed)
    assert all(map(is_its_own, quotes))
    assert len(quotes) <= prompt.most
    opposed = {
        (place.passage.document_id, place.start, place.end)
        for pair in prompt.opposed
        for place in pair
    }
    for number, quote in enumerate(quotes):
        apart = [other for other in quotes[:number] if other.place not in opposed]
        assert quote.place in opposed or not any(quote.overlaps(other) for other in apart)
    assert 0.0 <= choice.confidence.likelihood <= 1.0
    assert all(isinstance(note, str) for note in choice.notes(needed))


@pytest.mark.thorough
@given(prompts())
def test_the_order_is_total_and_the_same_again(prompt: Extract) -> None:
    first, again = (choose(prompt, SentenceVectors(EMBEDDER)) for _ in range(2))
    assert _places(first) == _places(again)
    for part in (first.whole, *first.parts):
        orders = [(*quote.order, quote.place) for quote in part.quotes]
        assert len(set(orders)) == len(orders)


def _places(chosen: Chosen) -> list[list[tuple[str, int, int]]]:
    return [[quote.place for quote in part.quotes] for part in (chosen.whole, *chosen.parts)]


def test_a_line_of_many_words_is_no_trouble() -> None:
    text = "the pier of oak " * (sys.getrecursionlimit() * 2)
    assert all(map(is_its_own, quotes_of(passage(text), 0)))


NOTICE = (
    "Where access to a record is requested under this Act, the head of the office to which the "
    "request is made shall, within thirty days after the request is received,"
)
ITEMS = (
    "(a) give written notice to the person who made the request as to whether or not access to "
    "the record will be given; and",
    "(b) if access is to be given, give that person access to the record.",
)
LIST = "\n".join((NOTICE, *ITEMS))


def test_a_list_is_quoted_with_what_introduces_it() -> None:
    (quote,) = quotes_of(passage(LIST), 0)
    assert quote.text == " ".join((NOTICE, *ITEMS))
    assert (quote.start, quote.end) == (0, len(LIST))


def test_an_item_of_a_list_too_long_to_join_brings_what_is_before_it() -> None:
    items = [f"({letter}) {'every record of the office and ' * 8}so on;" for letter in "abc"]
    quotes = quotes_of(passage("\n".join((NOTICE, *items))), 0)
    assert len(quotes) > 1
    assert all(quote.before for quote in quotes[1:])
