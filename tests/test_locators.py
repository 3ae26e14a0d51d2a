"""One grammar of citation tokens: in texts and in the page."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atlas_search.answer.check.markers import read_marked
from atlas_search.core.domain import MARKER, Located, Passage
from atlas_search.core.locator import TOKEN_PLACE, is_locator, place_in_words
from tests.citing import passage
from tests.places import ROOT

KINDS = ["s ", "r ", "reg ", "art ", "cl ", "para ", "sch ", "o ", "§ ", "§", "s\u00a0"]
LEVELS = st.lists(st.text(st.characters(exclude_characters="()[]\n"), max_size=4), max_size=3)
LOCATORS = st.builds(
    lambda kind, number, rest, levels: f"{kind}{number}{rest}{''.join(f'({x})' for x in levels)}",
    st.sampled_from(KINDS),
    st.sampled_from(["1", "10A", "59", "B", "1 para 3", "5.2"]),
    st.text(st.characters(exclude_characters="()[]\n"), max_size=4),
    LEVELS,
)
DOCUMENTS = st.from_regex(r"[^\[\]\s]+", fullmatch=True) | st.sampled_from(
    ["uk.act", "a(b)", "p1", "s10"]
)


def cited(document: str, locator: str, page: int) -> Passage:
    found = passage("The sky is blue.", 0, 16, document=document, page=page)
    return replace(found, locators=(Located(0, locator),) if locator else ())


PASSAGES = st.builds(cited, DOCUMENTS, LOCATORS | st.just(""), st.integers(0, 10**6))


@given(PASSAGES)
@example(cited("acts.dues", "s 10(1)", 1))
@example(cited("acts.dues", "Preamble", 4))
@example(cited("acts.dues", "s 10[A]", 4))
def test_every_token_is_one_wherever_it_stands(found: Passage) -> None:
    marker = found.marker
    assert MARKER.fullmatch(marker)
    assert MARKER.findall(f"It is so {marker}. {marker}{marker}, or not.") == [marker] * 3
    for written in (f"({marker}, [uk.case p3])", f"([uk.case p3]; {marker})", f"({marker})"):
        assert marker in MARKER.findall(written)
        (sentence,) = read_marked(f"It is so {written}.")
        assert sentence.text == "It is so."
        assert marker in sentence.markers


def test_the_page_reads_the_same_tokens() -> None:
    script = (ROOT / "frontend" / "answer" / "sentences.js").read_text(encoding="utf-8")
    assert f"const PLACE = String.raw`{TOKEN_PLACE}`;" in script


@pytest.mark.parametrize("locator", ["Preamble", "s 10[A]", "(1)", "page 3"])
def test_a_place_that_no_token_can_hold_is_cited_by_its_page(locator: str) -> None:
    assert not is_locator(locator)
    assert cited("acts.dues", locator, 4).marker == "[acts.dues p4]"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("s 10(1)", 3, "3"), "s 10(1)"),
        (("", 12, "xii"), "p. xii (page 12 of the file)"),
        (("", 12, "12"), "p. 12"),
        (("", 12, ""), "p. 12"),
        (("", 345, "", "col."), "col. 345"),
    ],
)
def test_a_place_is_named_as_the_source_names_it(place: tuple[str, int, str], words: str) -> None:
    assert place_in_words(*place) == words
