"""Sends votes to Phoenix, however late it comes. No request waits for it."""

import logging
import threading
import time
from collections.abc import Iterable

from atlas_search.core.errors import ConfigurationError
from atlas_search.server.feedback.annotations import (
    WITHDRAWN,
    Masked,
    document_annotation,
    document_annotations,
    document_places,
    identifier,
    results,
    span_annotations,
)
from atlas_search.server.feedback.outbox import LONGEST_WITHOUT, DocumentMark, Outbox, Parcel
from atlas_search.server.feedback.phoenix import (
    Failed,
    Phoenix,
    PhoenixAway,
    Refused,
    SpanUnknown,
)
from atlas_search.server.feedback.votes import Vote

SHORTEST_PAUSE = 1.0  # seconds without Phoenix; each one after it is twice as long
LONGEST_PAUSE = 60.0
CLOSING_SECONDS = 2.0
LOG_SECONDS = 60.0  # between two lines that feedback waits

log = logging.getLogger(__name__)


class Delivery:
    """One thread that sends what is due, from `start` to `close`.

    The comment and tags are sent as `masked` gives them, and not at all without it.
    """

    def __init__(self, outbox: Outbox, phoenix: Phoenix, masked: Masked):
        self._outbox = outbox
        self._phoenix = phoenix
        self._masked = masked
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._pause = 0.0
        self._told_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="feedback", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def wake(self) -> None:
        """There is a new vote."""
        self._wake.set()

    def close(self) -> None:
        """Stop; what is not sent is sent after the next start."""
        self._stopped.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(CLOSING_SECONDS)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._wake.clear()
            try:
                self._send_due()
                self._pause = 0.0
                self._wake.wait(self._outbox.seconds())
            except PhoenixAway as error:
                self._wait("Phoenix cannot be reached; feedback waits for it: %s", error)
            except ConfigurationError as error:
                self._wait("Feedback cannot be sent: %s", error)
            except Exception:
                log.exception("Feedback could not be sent.")
                self._stopped.wait(LONGEST_PAUSE)

    def _wait(self, message: str, error: Exception) -> None:
        """Say why, and wait, longer each time."""
        self._tell(message, error)
        self._pause = min(LONGEST_PAUSE, self._pause * 2 or SHORTEST_PAUSE)
        self._stopped.wait(self._pause)

    def _tell(self, message: str, *details: object) -> None:
        """A line of the log, at most one in LOG_SECONDS."""
        now = time.monotonic()
        if self._told_at is None or now - self._told_at >= LOG_SECONDS:
            self._told_at = now
            log.warning(message, *details)

    def _send_due(self) -> None:
        while not self._stopped.is_set() and (parcel := self._outbox.take(self._names)):
            try:
                self._send(parcel)
            except SpanUnknown:
                self._outbox.later(parcel)
            except Refused as error:
                if not parcel.tries:
                    log.warning("Phoenix takes no feedback on %s: %s", parcel.answer.qa_id, error)
                self._outbox.later(parcel)
            except Failed as error:
                self._tell("Phoenix fails on feedback on %s: %s", parcel.answer.qa_id, error)
                self._outbox.later(parcel)
            except PhoenixAway:
                self._outbox.later(parcel, LONGEST_WITHOUT)  # it may be this one that it hangs on
                raise
            except ConfigurationError:
                raise
            except Exception:  # the next one may do better
                log.exception("Feedback on %s could not be sent.", parcel.answer.qa_id)
                self._outbox.later(parcel)
            self._pause = 0.0  # it answers

    def _send(self, parcel: Parcel) -> None:
        """Let Phoenix have the votes on an answer as they are; doing it twice changes nothing."""
        answer = parcel.answer
        self._phoenix.annotate_spans(span_annotations(answer, parcel.votes, self._masked))
        for standing in parcel.votes:
            for name in sorted(standing.placed.difference(self._names(standing.vote))):
                self._phoenix.delete_annotation(name, identifier(answer, standing.voter))
        self._outbox.done(parcel, self._names, self._send_documents(parcel))

    def _send_documents(self, parcel: Parcel) -> Iterable[DocumentMark]:
        """The same for passages and citations; where they have annotations now."""
        said = any(standing.vote.passages or standing.vote.citations for standing in parcel.votes)
        if not said and not parcel.marks:
            return ()
        answer = parcel.answer
        spans = self._phoenix.spans(answer.trace_id) if said else ()
        places = document_places(spans, answer.span_id)
        given = document_annotations(answer, parcel.votes, places)
        self._outbox.mark(parcel, given)
        # Phoenix deletes no annotation of a document
        gone = [
            document_annotation(mark, {"label": WITHDRAWN, "score": None})
            for mark in sorted(parcel.marks.difference(given))
        ]
        self._phoenix.annotate_documents([*given.values(), *gone])
        return given

    def _names(self, vote: Vote) -> Iterable[str]:
        return results(vote, self._masked)
