"""Feedback as the server has it: notes answers, keeps votes, sends them."""

from collections.abc import Callable

from atlas_search.answer.answer import Answer
from atlas_search.core.addresses import phoenix_at
from atlas_search.core.errors import NotFound
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry.names import silent
from atlas_search.core.telemetry.redaction import SpanMask, open_redactions
from atlas_search.server.feedback.delivery import Delivery
from atlas_search.server.feedback.file import FeedbackFile
from atlas_search.server.feedback.noting import Noting
from atlas_search.server.feedback.outbox import Outbox
from atlas_search.server.feedback.phoenix import Phoenix
from atlas_search.server.feedback.rated import RatedAnswer
from atlas_search.server.feedback.store import FeedbackStore, Rating, Wanted
from atlas_search.server.feedback.votes import Vote

FILE = "feedback.sqlite"


def open_store(settings: Settings) -> FeedbackStore:
    """The votes of the configured server; its file need not be there."""
    return _store_in(_file(settings), settings)


class Feedback:
    """What readers say of answers. Safe to use from several threads."""

    def __init__(self, settings: Settings):
        self.collection = settings.chroma_collection_name
        self._content = settings.trace_content
        file = _file(settings)
        self._store = _store_in(file, settings)
        self._noting = Noting(self._store)
        self.outbox = Outbox(file, settings.feedback_days)
        self._delivery: Delivery | None = None
        if settings.phoenix_collector_endpoint:
            self._delivery = Delivery(
                self.outbox,
                Phoenix(
                    phoenix_at(
                        settings.phoenix_collector_endpoint,
                        settings.phoenix_api_key.get_secret_value().strip(),
                    ),
                    settings.phoenix_project_name,
                ),
                SpanMask(open_redactions(settings)).text if settings.trace_content else None,
            )

    def start(self) -> None:
        """Begin to send votes to Phoenix, those of earlier runs too."""
        if self._delivery:
            self._delivery.start()

    def note(self, answer: Answer, owner: str) -> None:
        """Let an answer of `owner`'s be rated. Takes no time, and never fails.

        Of one that must leave no trace no text is kept.
        """
        self._noting.note(answer, owner, content=self._content and not silent())

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
        rating = self._store.change(owner, qa_id, voter, change)
        if self._delivery:
            self._delivery.wake()
        return rating

    def page(self, wanted: Wanted, limit: int, offset: int) -> tuple[int, list[Rating]]:
        """See FeedbackStore."""
        return self._store.page(wanted, limit, offset)

    def every(self, wanted: Wanted) -> list[Rating]:
        """See FeedbackStore."""
        return self._store.every(wanted)

    def close(self) -> None:
        """Write what was noted, and stop sending."""
        self._noting.flush()
        if self._delivery:
            self._delivery.close()


def _file(settings: Settings) -> FeedbackFile:
    return FeedbackFile(settings.atlas_state_directory / FILE)


def _store_in(file: FeedbackFile, settings: Settings) -> FeedbackStore:
    return FeedbackStore(file, settings.feedback_days)
