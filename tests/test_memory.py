"""What of a conversation fits into the budget. A token is a word here."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.write.memory import Memory, remember
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
    sizes = count_words([turn.content for turn in history])
    assert memory.turns == tuple(history[memory.dropped :])
    assert memory.tokens == sum(sizes[memory.dropped :]) <= budget
    assert memory.dropped == 0 or sum(sizes[memory.dropped - 1 :]) > budget
