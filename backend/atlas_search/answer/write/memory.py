"""Chat memory: what of the conversation the model is reminded of. Search never sees it."""

from collections.abc import Sequence
from dataclasses import dataclass

from atlas_search.answer.write.token_count import TokenCounter
from atlas_search.core.domain import ChatTurn


@dataclass(frozen=True)
class Memory:
    """The newest turns that fit, oldest first, and how many older ones did not."""

    turns: tuple[ChatTurn, ...]
    dropped: int
    tokens: int


def remember(history: Sequence[ChatTurn], budget: int, count: TokenCounter) -> Memory:
    """Keep whole turns from the newest back while their tokens fit into `budget`."""
    sizes = count([turn.content for turn in history]) if history else []
    kept = 0
    tokens = 0
    for size in reversed(sizes):
        if tokens + size > budget:
            break
        tokens += size
        kept += 1
    return Memory(tuple(history[len(history) - kept :]), len(history) - kept, tokens)
