"""A stream that is watched gives the sentences that the whole text gives."""

import pytest
from hypothesis import given as cases
from hypothesis import settings
from hypothesis import strategies as st

from atlas_search.answer.check.citations import verify
from atlas_search.answer.check.watch import Watch
from atlas_search.core.domain import CheckedSentence
from tests.citing import ANSWERS, GIVEN, MARKER, passage

OTHER = passage("The sky is blue at noon. Der Himmel ist blau.", 0, 45, document="us.case", page=3)
PASSAGES = [*GIVEN, OTHER]


def watched(pieces: list[str], citation_limit: int = 5) -> list[tuple[int, CheckedSentence]]:
    """All that a watch gives for these pieces."""
    watch = Watch(PASSAGES, citation_limit)
    found = [sentence for piece in pieces for sentence in watch.add(piece)]
    return [*found, *watch.finish()]


def expected(answer: str, citation_limit: int = 5) -> list[tuple[int, CheckedSentence]]:
    return list(enumerate(verify(answer, PASSAGES, citation_limit).sentences, start=1))


def texts(found: list[tuple[int, CheckedSentence]]) -> list[tuple[int, str]]:
    return [(number, sentence.text) for number, sentence in found]


def test_a_sentence_comes_when_the_next_begins_behind_its_tokens() -> None:
    watch = Watch(PASSAGES, 5)
    assert watch.add("The sky is blue.") == []
    assert watch.add(f" {MARKER}") == []
    assert watch.add(" [us.case") == []
    assert watch.add(" p3]\n") == []
    ((number, sentence),) = watch.add("Snow")
    assert (number, sentence.text, len(sentence.citations)) == (1, "The sky is blue.", 2)
    assert watch.add(f" is white {MARKER}.") == []
    assert texts(watch.finish()) == [(2, "Snow is white.")]
    assert watch.finish() == []


def test_an_unsupported_sentence_is_flagged_before_the_answer_ends() -> None:
    watch = Watch(PASSAGES, 5)
    found = watch.add(f"The sky is blue. {MARKER} Grass is red. [uk.no p1] Snow")
    assert [sentence.errors for _, sentence in found] == [
        (),
        ("cites [uk.no p1], which was not retrieved.",),
    ]


def test_the_citation_limit_counts_over_the_whole_stream() -> None:
    pieces = [f"The sky is blue. {MARKER}\n", f"Snow is white. {MARKER}\n"]
    assert [len(sentence.errors) for _, sentence in watched(pieces, 1)] == [0, 1]


def test_every_split_of_an_answer_in_two_gives_the_same() -> None:
    answer = (
        f"## Colours\n1. The sky is blue, {MARKER}, [us.case p3]. 2. In Sky v. Snow [us.case p3] "
        f"it was. ({MARKER}; [us.case p3]) The passages do not say why.\n\nGrass re-\nmains green"
        f'\n{MARKER}\n"Roses are red." {MARKER} [p1] Snow [uk.no p1].\nDer Himmel. [us.case p3]'
    )
    for end in range(len(answer) + 1):
        assert watched([answer[:end], answer[end:]]) == expected(answer), end


ODD = [
    f"i?\u00a0{OTHER.marker}M",
    f"s{MARKER}! *{MARKER}. v",
    f"U。\x0b({MARKER})5",
    f"U\n*{MARKER}。 p",
    f"The sky is blue {MARKER}.\n\u00a0{MARKER} Smith bribed the judge.",
    f"Snow\n1. {MARKER}\x0b. ",
    f"Snow。\u3000{MARKER} Snow. \u2028({MARKER}) Snow",
]


@pytest.mark.parametrize("answer", ODD)
def test_a_token_is_never_read_forwards_because_the_text_was_cut_before_it(answer: str) -> None:
    for end in range(len(answer) + 1):
        assert watched([answer[:end], answer[end:]]) == expected(answer), end
    assert watched(list(answer)) == expected(answer)


def test_a_token_at_the_head_of_a_line_belongs_to_the_sentence_before() -> None:
    found = expected(f"The sky is blue.\n\u00a0{MARKER} Smith bribed the judge.")
    assert [sentence.grounded for _, sentence in found] == [True, False]


def test_a_token_behind_the_mark_of_a_line_belongs_to_that_line() -> None:
    found = expected(f"Grass is blue\n*{MARKER}。 snow is white")
    assert [sentence.grounded for _, sentence in found] == [False, True]


def test_one_character_after_the_other_gives_the_same() -> None:
    answer = f"The sky is blue. {MARKER} Snow is white ({MARKER}). Grass is green.{MARKER}Roses"
    assert watched(list(answer)) == expected(answer)


@settings(max_examples=300)
@cases(ANSWERS, st.lists(st.integers(0, 200), max_size=12), st.integers(0, 3))
def test_any_split_of_any_text_gives_what_the_whole_gives(
    answer: str, cuts: list[int], citation_limit: int
) -> None:
    ends = sorted({min(cut, len(answer)) for cut in cuts} | {len(answer)})
    pieces = [answer[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    assert watched(pieces, citation_limit) == expected(answer, citation_limit)


def test_a_line_without_an_end_is_watched_to_its_end() -> None:
    answer = "[a" * 20_000
    pieces = [answer[at : at + 4] for at in range(0, len(answer), 4)]
    assert watched(pieces) == expected(answer)
