"""What of a conversation fits into the budget. A token is a word here."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.follow_up import CHARACTERS_READ, TURNS_READ
from atlas_search.answer.write.prompt import CHARACTERS_OF_TOKEN, Memory, keep, remember
from atlas_search.core.domain import ChatTurn

FIRST = ChatTurn("user", "one two three")
SECOND = ChatTurn("assistant", "one two")
THIRD = ChatTurn("user", "one two three four")
TURNS = st.lists(
    st.builds(ChatTurn, st.sampled_from(["user", "assistant"]), st.text(alphabet="a ")), max_size=10
)


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@pytest.mark.parametrize(
    ("budget", "memory"),
    [
        (3 + 2 + 4, Memory((FIRST, SECOND, THIRD), dropped=0, tokens=3 + 2 + 4)),
        (3 + 2 + 4 - 1, Memory((SECOND, THIRD), dropped=1, tokens=2 + 4)),
        (4, Memory((THIRD,), dropped=2, tokens=4)),
        (4 - 1, Memory((), dropped=3, tokens=0)),
        (0, Memory((), dropped=3, tokens=0)),
    ],
)
def test_the_newest_turns_that_fit_are_kept_whole(budget: int, memory: Memory) -> None:
    assert remember([FIRST, SECOND, THIRD], budget, count_words) == memory


def test_no_turn_is_kept_from_before_one_that_does_not_fit() -> None:
    assert remember([SECOND, THIRD, SECOND], 2 + 2, count_words).turns == (SECOND,)


def test_without_history_nothing_is_remembered_or_dropped() -> None:
    assert remember([], 100, count_words) == Memory((), dropped=0, tokens=0)


@given(TURNS, st.integers(0, 30))
def test_the_kept_turns_are_the_longest_end_of_the_history_within_the_budget(
    history: list[ChatTurn], budget: int
) -> None:
    memory = remember(history, budget, count_words)
    sizes = [
        max(len(turn.content.split()), len(turn.content) // CHARACTERS_OF_TOKEN) for turn in history
    ]
    assert memory.turns == tuple(history[memory.dropped :])
    assert memory.tokens == sum(sizes[memory.dropped :]) <= budget
    assert memory.dropped == 0 or sum(sizes[memory.dropped - 1 :]) > budget


def test_blanks_and_endless_words_count_by_their_characters() -> None:
    for content in (" " * 160, "a" * 160):
        turn = ChatTurn("user", content)
        assert remember([turn], 9, count_words).turns == ()
        assert remember([turn], 10, count_words) == Memory((turn,), dropped=0, tokens=10)


LONG = ChatTurn("user", "word " * 2000)


def test_what_cannot_fit_is_not_counted() -> None:
    counted: list[str] = []

    def count(texts: Sequence[str]) -> list[int]:
        counted.extend(texts)
        return count_words(texts)

    remember([LONG] * 100 + [ChatTurn("user", "word " * 100)] * 100, 300, count)
    assert counted == ["word " * 100] * 3


def test_of_older_turns_the_beginnings_are_kept_that_a_follow_up_is_read_after() -> None:
    history = [*[LONG] * 50, FIRST, *[LONG] * 5, SECOND, THIRD]
    kept = keep(history, 10, count_words)
    assert len(kept) == TURNS_READ
    assert kept[-2:] == [SECOND, THIRD]
    assert [turn.whole for turn in kept].count(False) == TURNS_READ - 3
    assert {len(turn.content) for turn in kept if not turn.whole} == {CHARACTERS_READ}


def test_what_is_kept_is_remembered_as_all_was() -> None:
    for budget in (0, 5, 10, 2005, 2010, 5000):
        history = [FIRST, LONG, SECOND, LONG, THIRD]
        whole, kept = remember(history, budget, count_words), keep(history, budget, count_words)
        again = remember(kept, budget, count_words)
        assert (again.turns, again.tokens) == (whole.turns, whole.tokens)


@given(TURNS, st.integers(0, 30))
def test_turns_within_the_budget_and_the_last_ones_are_kept(
    history: list[ChatTurn], budget: int
) -> None:
    assert keep(history, budget, count_words) == history  # fewer and shorter than are read
