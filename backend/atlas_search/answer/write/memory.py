"""Chat memory: what of the conversation is kept, and what the model is reminded of.

Search never sees it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas_search.answer.follow_up import CHARACTERS_READ, TURNS_READ
from atlas_search.answer.write.token_count import TokenCounter
from atlas_search.core.domain import ChatTurn

CHARACTERS_OF_TOKEN = 16
"""At most: prose has four or five, but blanks and words without an end count for none, or for one.
Those are sent to the model, too."""


@dataclass(frozen=True)
class Memory:
    """The newest turns that fit, oldest first, and how many older ones did not."""

    turns: tuple[ChatTurn, ...]
    dropped: int
    tokens: int


def remember(history: Sequence[ChatTurn], budget: int, count: TokenCounter) -> Memory:
    """Keep whole turns from the newest back while their tokens fit into `budget`.

    What cannot fit is not counted, so `count` is given few characters, however many there are.
    """
    kept: list[ChatTurn] = []
    tokens = 0
    for turn in reversed(history):
        size = _size(turn.content, budget - tokens, count)
        if not turn.whole or tokens + size > budget:
            break
        tokens += size
        kept.append(turn)
    return Memory(tuple(reversed(kept)), len(history) - len(kept), tokens)


def keep(history: Sequence[ChatTurn], budget: int, count: TokenCounter) -> list[ChatTurn]:
    """What an answer needs of a conversation, oldest turn first.

    These are the turns within `budget` and, of older ones, the beginnings of those that a
    follow-up is read after.
    """
    remembered = remember(history, budget, count).turns
    before = len(history) - len(remembered)
    first = min(max(len(history) - TURNS_READ, 0), before)
    return [*map(_beginning, history[first:before]), *remembered]


def _size(content: str, left: int, count: TokenCounter) -> int:
    """The tokens of a turn, or a smaller number that is more than is `left`."""
    least = len(content) // CHARACTERS_OF_TOKEN
    return least if least > left else max(least, *count([content]))


def _beginning(turn: ChatTurn) -> ChatTurn:
    if len(turn.content) <= CHARACTERS_READ:
        return turn
    return replace(turn, content=turn.content[:CHARACTERS_READ], whole=False)
