"""Of two deadlines in one act, the one asked for is quoted, with all that it is said of."""

from collections.abc import Iterator

import pytest

from atlas_search import Atlas
from atlas_search.answer.quotes.quotable import quotes_of
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import collection, is_verbatim, said
from tests.truth.passages import passage
from tests.xml.test_statutes_canada import act

NOTICE = (
    "Where access to a record is requested under this Act, the head of the office to which the "
    "request is made shall, within thirty days after the request is received,"
)
ITEMS = (
    "(a) give written notice to the person who made the request as to whether or not access to "
    "the record will be given; and",
    "(b) if access is to be given, give that person access to the record.",
)
TRANSFER = (
    "Where the head of an office considers that another office has a greater interest in the "
    "record, the head may, within fifteen days after the request is received, transfer the "
    "request to that other office."
)
REVIEW = (
    "Any person who has been refused access to a record may apply to the court for a review of "
    "the matter within 90 days after the time the results of an investigation are reported to "
    "that person."
)
SALARY = "The Commissioner shall be paid the salary of a judge, and reasonable travel expenses."
LIST = "\n".join((NOTICE, *ITEMS))
AS_TEXT = f"""---
title: Records Access Act
---
# Time limits

## 7 Notice where access is requested

{LIST}

## 8 Transfer of request

{TRANSFER}

## 41 Review by the court

{REVIEW}

## 42 Salaries

{SALARY}
"""


def _section(number: int, note: str, text: str, items: tuple[str, ...] = ()) -> str:
    below = "".join(
        f"<Paragraph><Label>{item[:3]}</Label><Text>{item[4:]}</Text></Paragraph>" for item in items
    )
    return (
        f"<Section><MarginalNote>{note}</MarginalNote><Label>{number}</Label><Text>{text}</Text>"
        f"{below}<HistoricalNote><HistoricalNoteSubItem>R.S., 1985, c. A-1, s. {number}; 2019, "
        "c. 18, s. 6</HistoricalNoteSubItem></HistoricalNote></Section>"
    )


AS_XML = act(
    "<Body>"
    + _section(7, "Notice where access is requested", NOTICE, ITEMS)
    + _section(8, "Transfer of request", TRANSFER)
    + _section(41, "Review by the court", REVIEW)
    + _section(42, "Salaries", SALARY)
    + "</Body>"
)
FILES = {"text": {"acts/records.txt": AS_TEXT}, "xml": {"acts/records.xml": AS_XML}}
ASKED = [
    (
        "Within how many days must the head of the office give written notice after a request is "
        "received?",
        "within thirty days after the request is received, (a) give written notice",
    ),
    ("Within how many days must a person apply to the court for a review?", "within 90 days"),
    ("How long may the head take to transfer a request to another office?", "within fifteen days"),
]


@pytest.fixture(scope="module", params=FILES)
def atlas(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("act")
    files = FILES[request.param]
    with collection(folder, embedder, files, "ANSWER_LIKELIHOOD=0.2\n") as opened:
        yield opened


@pytest.mark.parametrize(("question", "deadline"), ASKED)
def test_the_deadline_asked_for_is_quoted_first(atlas: Atlas, question: str, deadline: str) -> None:
    answer = atlas.ask(question)
    assert answer.outcome.decision == "ANSWER"
    assert deadline in said(answer)[0]
    assert all(is_verbatim(atlas, citation) for citation in answer.citations)
    assert "R.S., 1985" not in answer.text


def test_a_list_is_quoted_with_what_introduces_it() -> None:
    (quote,) = quotes_of(passage(LIST), 0)
    assert quote.text == " ".join((NOTICE, *ITEMS))
    assert (quote.start, quote.end) == (0, len(LIST))


def test_an_item_of_a_list_too_long_to_join_brings_what_is_before_it() -> None:
    items = [f"({letter}) {'every record of the office and ' * 8}so on;" for letter in "abc"]
    quotes = quotes_of(passage("\n".join((NOTICE, *items))), 0)
    assert len(quotes) > 1
    assert all(quote.before for quote in quotes[1:])
