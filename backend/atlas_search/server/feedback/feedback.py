"""Feedback as the server has it: notes answers, keeps votes, sends them."""

from collections.abc import Callable

from atlas_search.answer.answer import Answer
from atlas_search.core.errors import NotFound
from atlas_search.core.settings import Settings
from atlas_search.server.feedback.file import FeedbackFile
from atlas_search.server.feedback.noting import Noting
from atlas_search.server.feedback.rated import RatedAnswer
from atlas_search.server.feedback.store import FeedbackStore, Rating, Wanted
from atlas_search.server.feedback.votes import Vote

FILE = "feedback.sqlite"


def open_store(settings: Settings) -> FeedbackStore:
    """The votes of the configured server; its file need not be there."""
    return FeedbackStore(_file(settings), settings.feedback_days)


def _file(settings: Settings) -> FeedbackFile:
    return FeedbackFile(settings.atlas_state_directory / FILE)


class Feedback:
    """What readers say of answers. Safe to use from several threads."""

    def __init__(self, settings: Settings):
        self._content = settings.trace_content
        self._store = open_store(settings)
        self._noting = Noting(self._store)

    def note(self, answer: Answer, owner: str) -> None:
        """Let an answer of `owner`'s be rated. Takes no time, and never fails."""
        self._noting.note(answer, owner, content=self._content)

    def rating(self, owner: str, qa_id: str, voter: str) -> Rating:
        """What somebody says of an answer. Raises NotFound if it is nothing."""
        self._noting.flush()
        rating = self._store.rating(owner, qa_id, voter)
        if rating.vote.is_empty:
            raise NotFound(f"The answer {qa_id} has no rating of {voter}.")
        return rating

    def change(
        self, owner: str, qa_id: str, voter: str, change: Callable[[RatedAnswer, Vote], Vote]
    ) -> Rating:
        """See FeedbackStore."""
        self._noting.flush()
        return self._store.change(owner, qa_id, voter, change)

    def page(self, wanted: Wanted, limit: int, offset: int) -> tuple[int, list[Rating]]:
        """See FeedbackStore."""
        return self._store.page(wanted, limit, offset)

    def every(self, wanted: Wanted) -> list[Rating]:
        """See FeedbackStore."""
        return self._store.every(wanted)

    def close(self) -> None:
        """Write what was noted."""
        self._noting.flush()
