"""Whatever the passages and the question are, quotes are the sources' own and in one order."""

import sys
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.quotes.choose import Chosen, Extract, Opposed, QuoteChooser
from atlas_search.answer.quotes.quotable import Quote, quotes_of
from atlas_search.core.domain import CheckedPassage, Passage, RankedPassage
from atlas_search.language.lines import unwrap
from atlas_search.language.text import all_terms
from tests.hash_embedder import HashEmbedder
from tests.truth.passages import passage

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
    found = [
        passage(text, f"town.{n % 2}", start=n * 100_000, speaker=draw(SPEAKERS), date=draw(DATES))
        for n, text in enumerate(draw(st.lists(TEXTS, min_size=1, max_size=4)))
    ]
    question = draw(QUESTIONS)
    parts = draw(st.lists(QUESTIONS, max_size=2, unique=True))
    return Extract(
        question=question,
        question_vector=EMBEDDER.embed_query(question),
        passages=tuple(CheckedPassage(RankedPassage(p, 1.0, {}), True, 1.0, ()) for p in found),
        term_weights=dict.fromkeys(sorted(all_terms(question)), 1.0),
        limit=draw(st.integers(1, 3)),
        opposed=tuple(_whole(a, b) for a, b in pairwise(found) if draw(st.booleans())),
        parts={part: EMBEDDER.embed_query(part) for part in parts},
        most=draw(st.integers(1, 4)),
    )


def _whole(a: Passage, b: Passage) -> Opposed:
    return a.cite(0, len(a.text)), b.cite(0, len(b.text))


def is_its_own(quote: Quote) -> bool:
    """Whether it is what stands at its place in its passage."""
    of = quote.passage
    return quote.text == unwrap(of.text[quote.start - of.start : quote.end - of.start])


@given(TEXTS, SPEAKERS)
def test_what_can_be_quoted_is_in_order_and_apart(text: str, speaker: str) -> None:
    quotes = quotes_of(passage(text, start=9, speaker=speaker), 0)
    assert all(map(is_its_own, quotes))
    assert all(9 <= quote.start < quote.end <= 9 + len(text) for quote in quotes)
    assert all(a.end <= b.start for a, b in pairwise(quotes))
    assert all(quote.before is None or quote.before.end <= quote.start for quote in quotes)


@given(prompts(), st.sampled_from([0.0, 0.3, 1.0]))
def test_what_is_chosen_is_verbatim_apart_and_not_too_much(prompt: Extract, needed: float) -> None:
    chosen = QuoteChooser(EMBEDDER).choose(prompt)
    quotes = chosen.quotes(prompt, needed)
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
    assert 0.0 <= chosen.confidence.likelihood <= 1.0
    assert all(isinstance(note, str) for note in chosen.notes(needed))


@given(prompts())
def test_the_order_is_total_and_the_same_again(prompt: Extract) -> None:
    first, again = (QuoteChooser(EMBEDDER).choose(prompt) for _ in range(2))
    assert _places(first) == _places(again)
    for part in (first.whole, *first.parts):
        orders = [(*quote.order, quote.place) for quote in part.quotes]
        assert len(set(orders)) == len(orders)


def _places(chosen: Chosen) -> list[list[tuple[str, int, int]]]:
    return [[quote.place for quote in part.quotes] for part in (chosen.whole, *chosen.parts)]


def test_a_line_of_many_words_is_no_trouble() -> None:
    text = "the pier of oak " * (sys.getrecursionlimit() * 2)
    assert all(map(is_its_own, quotes_of(passage(text), 0)))
