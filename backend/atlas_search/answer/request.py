"""The request of an answer, and its plan once it was checked."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from atlas_search.core.domain import ChatTurn
from atlas_search.core.targets import Target
from atlas_search.search.request import QuestionRequest, SearchPlan

MAX_HISTORY = 200
Mode = Literal["answer", "compare"]
Identifier = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._:-]+$")]


class Turn(BaseModel):
    """An earlier message."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, from_attributes=True)

    role: Literal["user", "assistant"]
    content: str


class AskRequest(QuestionRequest):
    """A question to be answered."""

    mode: Mode = Field(
        "answer", description="`compare`: every corpus answers for itself, then they are compared"
    )
    clarify: bool = Field(
        False,
        description="Do not answer what the sources read in several ways; give the `choices`",
    )
    history: list[Turn] = Field(
        default_factory=list,
        validation_alias="chat_history",
        serialization_alias="chat_history",
        max_length=MAX_HISTORY,
        description="Earlier messages of the conversation, the oldest first",
    )
    read_follow_ups: bool | None = Field(
        None,
        description="Whether a follow-up that points back to `chat_history` is searched for as it "
        "was read (`read_as`), or as it was asked; the target's CONDENSE_FOLLOWUPS",
    )
    session_id: Identifier | None = None
    qa_id: Identifier | None = None


@dataclass(frozen=True)
class AnswerPlan:
    """A question, who asks it, what was said before, and how it is to be answered.

    `mode` is `compare` if every corpus is to answer for itself. `read_follow_ups` says whether a
    follow-up is searched for as it was read; None leaves it to the target. With
    `clarify` a question that the sources read in several ways is not answered; whoever asked is to
    choose. `history` is what is kept of the conversation, after `turns_dropped` older turns.
    Whether it is `streamed` and whose key asks, `user_id`, decides nothing: both are for the trace.
    `asker` is the account that the question counts for: who has asked it before is told so.
    """

    search: SearchPlan
    target_name: str
    target: Target
    run_name: str
    qa_id: str
    session_id: str
    history: tuple[ChatTurn, ...] = ()
    mode: Mode = "answer"
    read_follow_ups: bool | None = None
    clarify: bool = False
    turns_dropped: int = 0
    streamed: bool = False
    user_id: str = ""
    asker: str = ""
