"""A question with everything that is not search."""

from dataclasses import dataclass, field
from typing import Literal

from atlas_search.core.domain import ChatTurn
from atlas_search.core.targets import Target
from atlas_search.search.request import SearchRequest

Mode = Literal["answer", "compare"]


@dataclass(frozen=True)
class AskRequest:
    """A question, who asks it, what was said before, and how it is to be answered.

    `mode` is `compare` if every corpus is to answer for itself. `read_follow_ups` says whether a
    follow-up is searched for as it was read; None leaves it to the target. With
    `clarify` a question that the sources read in several ways is not answered; whoever asked is to
    choose. `history` is what is kept of the conversation, after `turns_dropped` older turns.
    Whether it is `streamed` and whose key asks, `user_id`, decides nothing: both are for the trace.
    """

    search: SearchRequest
    target_name: str
    target: Target
    run_name: str
    qa_id: str
    session_id: str
    history: tuple[ChatTurn, ...] = field(default=())
    mode: Mode = "answer"
    read_follow_ups: bool | None = None
    clarify: bool = False
    turns_dropped: int = 0
    streamed: bool = False
    user_id: str = ""

    @property
    def reads_follow_ups(self) -> bool:
        """True if a follow-up is searched for as it was read."""
        if self.read_follow_ups is None:
            return self.target.condense_followups
        return self.read_follow_ups
