"""Whatever an answer holds: quotes are exact, and long garbage is read to its end."""

import pytest
from hypothesis import given as cases
from hypothesis import settings
from hypothesis import strategies as st

from atlas_search.answer.check.citations import verify
from tests.citing import ANSWERS, MARKER, TEXT, check, passage

TEXTS = st.text(max_size=80) | st.just(TEXT)


@settings(max_examples=300)
@cases(ANSWERS, TEXTS, st.integers(0, 3))
def test_any_quote_is_the_documents_text_and_only_markers_of_given_passages_are_valid(
    answer: str, text: str, start: int
) -> None:
    document = f"{'x' * start}{text}"
    given = [
        passage(document, start, len(document)),
        passage(TEXT, 3, 40, document="us.case", page=3),
    ]
    texts = {given[0].marker: document, given[1].marker: TEXT}
    verification = verify(answer, given, 3)
    for citation in verification.citations:
        assert citation.quote == texts[citation.marker][citation.start : citation.end]
    if verification.sentences:
        written = {marker for marker in texts if marker in answer}
        assert {citation.marker for citation in verification.citations} == written
        assert verification.valid <= ("[uk.no p1]" not in answer)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit",
    [
        *["[", "(", "【", '"', "“a", "'a ", "a ", "a. ", "[a p1", "[ p1 ", "1. ", "1,", "-\n", " "],
        *[
            f"Snow. {MARKER} ",
            MARKER,
            f"({MARKER}",
            "Snow [1]. ",
            "the passages ",
            "i'm sorry, but ",
        ],
        *[
            "9",
            "1 000 ",
            "…",
            "[a]",
            "while the passages ",
            "<",
            "{a ",
            "a.a",
            "a.b p",
            "a.b s1(",
            "a.b s1(1)",
            "(s1(1)",
            "a(1)",
            "**",
            "# ",
        ],
        *["as an ai ", "\x0b", "the passages do not say, and ", "insert a ", "dazu steht "],
    ],
)
def test_long_garbage_is_read_to_its_end(unit: str) -> None:
    verification = check(unit * (100_000 // len(unit)))
    assert verification.valid == (unit == f"Snow. {MARKER} ")
