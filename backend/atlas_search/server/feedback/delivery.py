"""Delivery of votes to Phoenix, however late it starts. No request waits for it."""

import hashlib
import json
import logging
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal
from urllib.parse import quote

from atlas_search.answer.answer import Answer
from atlas_search.core.addresses import Destination, bounded_request, phoenix_at
from atlas_search.core.errors import ConfigurationError, NotFound, Unavailable
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry.names import silent
from atlas_search.core.telemetry.redaction import SpanMask, open_redactions
from atlas_search.core.telemetry.span import digest
from atlas_search.server.feedback.store import (
    DAY,
    TABLES,
    AnswerRating,
    FeedbackStore,
    Noting,
    RatedAnswer,
    Vote,
)
from atlas_search.server.state import Busy, OpenState, State, Transaction, open_states

LONGEST_PATIENCE = 3600.0  # seconds between two attempts for one answer
LONGEST_WITHOUT = 60.0  # likewise, of an attempt without Phoenix
SOONEST = 1.0

_WAITING = "changed > sent AND span_id <> '' AND voted > ?"


@dataclass(frozen=True)
class Standing:
    """A voter's present vote, and the names under which Phoenix may have something of theirs."""

    voter: str
    vote: Vote
    placed: frozenset[str]


@dataclass(frozen=True, order=True)
class DocumentMark:
    """The place of a document's annotation: its name, the span, and the position from 0."""

    name: str
    span_id: str
    position: int


@dataclass(frozen=True)
class Parcel:
    """All votes on one answer as they are now, and what of them may be in Phoenix already."""

    id: int
    answer: RatedAnswer
    version: int
    tries: int
    votes: tuple[Standing, ...]
    marks: frozenset[DocumentMark]


class Outbox:
    """The answers whose votes have changed. Safe to use from several threads.

    After `days` without a new vote an answer waits no more. Raises ConfigurationError if the file
    cannot be used.
    """

    def __init__(self, file: State, days: int, clock: Callable[[], float] = time.time):
        self._file = file
        self._days = days
        self._clock = clock

    def take(self, names: Callable[[Vote], Iterable[str]]) -> Parcel | None:
        """The answer that is due longest; None if none is.

        `names` are those that a vote is sent under. They are noted with it: should the machine stop
        on the way, what may have arrived can still be taken back.
        """
        now = self._clock()
        with self._file.open() as connection:
            row = connection.execute(
                "SELECT id, about, changed, tries, placed FROM answers "
                f"WHERE {_WAITING} AND due <= ? ORDER BY due, id LIMIT 1",
                (self._oldest(now), now),
            ).fetchone()
            if row is None:
                return None
            id_, about, version, tries, marks = row
            return Parcel(
                id_,
                RatedAnswer.model_validate_json(about),
                version,
                tries,
                tuple(_standing(connection, id_, names)),
                frozenset(DocumentMark(*mark) for mark in json.loads(marks)),
            )

    def seconds(self) -> float | None:
        """Return the seconds until the next answer is due; None if nothing waits."""
        if not self._file.exists:
            return None
        now = self._clock()
        query = f"SELECT MIN(due) FROM answers WHERE {_WAITING}"
        with self._file.open() as connection:
            (due,) = connection.execute(query, (self._oldest(now),)).fetchone()
        return None if due is None else max(0.0, due - now)

    def mark(self, parcel: Parcel, marks: Iterable[DocumentMark]) -> None:
        """Note, before it is sent, which documents get an annotation."""
        with self._file.open() as connection:
            _set_marks(connection, parcel, parcel.marks.union(marks))

    def done(
        self, parcel: Parcel, names: Callable[[Vote], Iterable[str]], marks: Iterable[DocumentMark]
    ) -> None:
        """Note that Phoenix has the parcel; what changed meanwhile is due again."""
        with self._file.open() as connection:
            connection.execute(
                "UPDATE answers SET sent = ?, tries = 0 WHERE id = ?", (parcel.version, parcel.id)
            )
            _set_marks(connection, parcel, marks)
            for standing in parcel.votes:
                _set_placed(connection, parcel.id, standing.voter, names(standing.vote))
            connection.execute(
                "DELETE FROM votes WHERE answer = ? AND NOT given AND version <= ?",
                (parcel.id, parcel.version),
            )

    def later(self, parcel: Parcel, longest: float = LONGEST_PATIENCE) -> None:
        """Try again after what else is due, each time after twice as long and at most `longest`
        seconds, unless a new vote comes before."""
        patience = SOONEST * 2.0**parcel.tries
        tries = parcel.tries + (patience < longest)  # no more: another fault begins from there
        with self._file.open() as connection:
            connection.execute(
                "UPDATE answers SET due = ?, tries = ? WHERE id = ? AND changed = ?",
                (self._clock() + min(longest, patience), tries, parcel.id, parcel.version),
            )

    def _oldest(self, now: float) -> float:
        return now - self._days * DAY


def _standing(
    connection: Transaction, id_: int, names: Callable[[Vote], Iterable[str]]
) -> list[Standing]:
    query = "SELECT voter, vote, placed FROM votes WHERE answer = ? ORDER BY voter"
    standings = []
    for voter, text, before in connection.execute(query, (id_,)).fetchall():
        vote = Vote.model_validate_json(text)
        placed = frozenset(json.loads(before)).union(names(vote))
        _set_placed(connection, id_, voter, placed)
        standings.append(Standing(voter, vote, placed))
    return standings


def _set_placed(connection: Transaction, id_: int, voter: str, names: Iterable[str]) -> None:
    connection.execute(
        "UPDATE votes SET placed = ? WHERE answer = ? AND voter = ?",
        (json.dumps(sorted(names)), id_, voter),
    )


def _set_marks(connection: Transaction, parcel: Parcel, marks: Iterable[DocumentMark]) -> None:
    rows = [[mark.name, mark.span_id, mark.position] for mark in sorted(marks)]
    query = "UPDATE answers SET placed = ? WHERE id = ?"
    connection.execute(query, (json.dumps(rows), parcel.id))


Annotation = dict[str, Any]

RELEVANCE = "relevance"
SUPPORT = "citation_support"
WITHDRAWN = "withdrawn"

_LABELS = {RELEVANCE: ("relevant", "irrelevant"), SUPPORT: ("supports", "does_not_support")}
_LISTED = {"RERANKER": "reranker.output_documents", "": "retrieval.documents"}
_DOCUMENT = re.compile(r"^(retrieval\.documents|reranker\.output_documents)\.(\d+)\.document\.id$")


Masked = Callable[[str], str] | None
"""Masks a free text before it is sent; None if none may be sent."""


def results(vote: Vote, masked: Masked) -> dict[str, Annotation]:
    """The annotations that a vote makes of the whole answer, by name."""
    annotations: dict[str, Annotation] = {}
    if vote.thumb:
        annotations["thumbs"] = {"label": vote.thumb, "score": 1.0 if vote.thumb == "up" else 0.0}
    annotations |= {scale: {"score": float(mark)} for scale, mark in vote.scores.items()}
    if vote.tags and masked:
        annotations["tags"] = {"label": masked(", ".join(vote.tags))}
    if vote.comment and masked:
        annotations["comment"] = {"explanation": masked(vote.comment)}
    return annotations


def identifier(answer: RatedAnswer, voter: str) -> str:
    """The identifier of a voter's annotations of this answer alone: Phoenix deletes by it."""
    digest = hashlib.sha256(f"{answer.owner}\0{voter}".encode()).hexdigest()
    return f"atlas-{answer.span_id}-{digest[:16]}"


def annotations_of(
    answer: RatedAnswer, votes: Iterable[Standing], masked: Masked
) -> list[Annotation]:
    """The votes on the whole answer, for its trace and its root span."""
    return [
        {
            "name": name,
            "annotator_kind": "HUMAN",
            "identifier": identifier(answer, standing.voter),
            "result": result,
            "metadata": {"qa_id": answer.qa_id, "user_id": standing.voter},
        }
        for standing in votes
        for name, result in results(standing.vote, masked).items()
    ]


def document_annotations(
    answer: RatedAnswer, votes: Iterable[Standing], places: Mapping[str, tuple[str, int]]
) -> dict[DocumentMark, Annotation]:
    """Annotate documents of spans with the votes on passages and citations.

    `places` are spans and positions by the ids of passages. Phoenix knows one annotation of a name
    for each document, so all voters share it: its score is the share of those who agree.
    """
    annotations = {}
    for (name, passage_id), verdicts in _by_passage(answer, votes).items():
        # without content a span has digests for ids
        if place := places.get(passage_id) or places.get(digest(passage_id)):
            mark = DocumentMark(name, *place)
            annotations[mark] = document_annotation(mark, _shared(name, verdicts))
    return annotations


def document_annotation(mark: DocumentMark, result: Annotation) -> Annotation:
    """An annotation of one document."""
    return {
        "span_id": mark.span_id,
        "document_position": mark.position,
        "name": mark.name,
        "annotator_kind": "HUMAN",
        "result": result,
    }


def document_places(spans: Sequence[Mapping[str, Any]], root: str) -> dict[str, tuple[str, int]]:
    """Find the span and position of each passage in a trace.

    The root comes first, then what was reranked, then what was retrieved.
    """
    order = sorted(spans, key=lambda span: _preference(span, root))
    places: dict[str, tuple[str, int]] = {}
    for span in order:
        for passage_id, position in _documents(span):
            places.setdefault(passage_id, (span["context"]["span_id"], position))
    return places


def _preference(span: Mapping[str, Any], root: str) -> tuple[bool, bool, str]:
    span_id = span["context"]["span_id"]
    return span_id != root, span["span_kind"] != "RERANKER", span["start_time"]


def _documents(span: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    # of a span Phoenix annotates the documents of one list, by its kind
    prefix = _LISTED.get(span["span_kind"], _LISTED[""])
    for key, value in span["attributes"].items():
        if (match := _DOCUMENT.match(key)) and match[1] == prefix:
            yield value, int(match[2])


def _by_passage(
    answer: RatedAnswer, votes: Iterable[Standing]
) -> dict[tuple[str, str], list[bool]]:
    """Collect one verdict of each voter on a passage: yes if any of its citations has one."""
    verdicts: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for standing in votes:
        for about, opinions in _by_one(answer, standing.vote).items():
            verdicts[about].append(any(opinions))
    return verdicts


def _by_one(answer: RatedAnswer, vote: Vote) -> dict[tuple[str, str], list[bool]]:
    opinions: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for passage_id, relevance in vote.passages.items():
        opinions[RELEVANCE, passage_id].append(relevance == "relevant")
    for number, backing in vote.citations.items():
        passage_id = answer.citations[number - 1].passage_id
        opinions[SUPPORT, passage_id].append(backing == "supports")
    return opinions


def _shared(name: str, votes: Sequence[bool]) -> Annotation:
    yes, no = _LABELS[name]
    share = fmean(votes)
    label = {1.0: yes, 0.0: no}.get(share, "mixed")
    return {"label": label, "score": share, "explanation": f"{sum(votes)} of {len(votes)}: {yes}"}


Annotated = Literal["trace", "span", "document"]
SECONDS = 10.0  # for each request
MOST_SPANS = 1000
_BUSY = frozenset({401, 403, 408, 429, 502, 503, 504})
_SHOWN = 200  # characters of what Phoenix says


class PhoenixAway(Unavailable):
    """Phoenix cannot be reached, or lets nobody in: nothing can be sent now."""


class Failed(Unavailable):
    """Phoenix broke on this one request; it may take others, and this one later."""


class SpanUnknown(Unavailable):
    """Phoenix has not got the span, or not yet."""


class PhoenixRefused(Unavailable):
    """Phoenix will not take this one request."""


class Phoenix:
    """Phoenix at its destination for traces.

    Every call raises PhoenixAway, Failed, SpanUnknown or Refused.
    """

    def __init__(self, destination: Destination, project: str):
        import httpx2  # 0.15 s: only who traces pays

        self._http = httpx2
        self._address = destination.base
        self._headers = destination.headers
        self._project = f"/v1/projects/{quote(project, safe='')}"

    def annotate(self, what: Annotated, annotations: Sequence[Annotation]) -> None:
        """Add or replace annotations, all or none; it is done when this returns."""
        if annotations:
            self._call("POST", f"/v1/{what}_annotations", {"sync": "true"}, {"data": annotations})

    def delete_annotation(self, what: Annotated, name: str, identifier: str) -> None:
        """Remove the annotations with this name and identifier, if there are any."""
        query = {"name": name, "identifier": identifier, "delete_all": "true"}
        self._call("DELETE", f"{self._project}/{what}_annotations", query)

    def spans(self, trace_id: str) -> list[dict[str, Any]]:
        """The spans of a trace."""
        query = {"trace_id": trace_id, "limit": str(MOST_SPANS)}
        spans: list[dict[str, Any]] = self._call("GET", f"{self._project}/spans", query)["data"]
        return spans

    def _call(self, method: str, path: str, query: dict[str, str], body: object = None) -> Any:
        try:
            response = bounded_request(
                method,
                f"{self._address}{path}",
                params=query,
                json=body,
                headers=self._headers,
                timeout=SECONDS,
            )
            if response.is_success:
                return response.json() if response.content else None
        except (self._http.HTTPError, self._http.InvalidURL, ValueError) as error:
            raise PhoenixAway(str(error) or type(error).__name__) from error
        status, message = response.status_code, response.text[:_SHOWN]
        if status == 404:
            raise SpanUnknown(message)
        if status in _BUSY or status < 400:
            raise PhoenixAway(f"it answers {status}")
        if status >= 500:
            raise Failed(f"it answers {status}")
        raise PhoenixRefused(f"it answers {status}: {message}")


SHORTEST_PAUSE = 1.0  # seconds without Phoenix; each one after it is twice as long
LONGEST_PAUSE = 60.0
CLOSING_SECONDS = 2.0
LOG_SECONDS = 60.0  # between two lines that feedback waits

log = logging.getLogger(__name__)


class RatingDelivery:
    """One thread that sends what is due, from `start` to `close`.

    The comment and tags are sent as `masked` gives them, and not at all without it. Of servers that
    share the outbox the one that has `turn` open sends, so that nothing older comes after what is
    newer.
    """

    def __init__(self, outbox: Outbox, phoenix: Phoenix, masked: Masked, turn: State | None = None):
        self._outbox = outbox
        self._phoenix = phoenix
        self._masked = masked
        self._turn = turn
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._pause = 0.0
        self._logged_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="feedback", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def wake(self) -> None:
        """Look for new votes now."""
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
                with self._turn.open() if self._turn else nullcontext():
                    self._send_due()
                self._pause = 0.0
                self._wake.wait(self._seconds())
            except Busy:
                self._stopped.wait(SHORTEST_PAUSE)
            except PhoenixAway as error:
                self._wait("Phoenix cannot be reached; feedback waits for it: %s", error)
            except ConfigurationError as error:
                self._wait("Feedback cannot be sent: %s", error)
            except Exception:
                log.exception("Feedback could not be sent.")
                self._stopped.wait(LONGEST_PAUSE)

    def _seconds(self) -> float | None:
        """The seconds until there is something to send; another server may end before it has."""
        seconds = self._outbox.seconds()
        if self._turn is None:
            return seconds
        return LONGEST_PAUSE if seconds is None else min(LONGEST_PAUSE, seconds)

    def _wait(self, message: str, error: Exception) -> None:
        """Say why, and wait, longer each time."""
        self._tell(message, error)
        self._pause = min(LONGEST_PAUSE, self._pause * 2 or SHORTEST_PAUSE)
        self._stopped.wait(self._pause)

    def _tell(self, message: str, *details: object) -> None:
        """A line of the log, at most one in LOG_SECONDS."""
        now = time.monotonic()
        if self._logged_at is None or now - self._logged_at >= LOG_SECONDS:
            self._logged_at = now
            log.warning(message, *details)

    def _send_due(self) -> None:
        while not self._stopped.is_set() and (parcel := self._outbox.take(self._names)):
            try:
                self._send(parcel)
            except SpanUnknown:
                self._outbox.later(parcel)
            except PhoenixRefused as error:
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
        own = annotations_of(answer, parcel.votes, self._masked)
        # the list of traces shows those of traces, experiments and exports those of spans
        places: dict[Annotated, str] = {"span": answer.span_id, "trace": answer.trace_id}
        for what, id_ in places.items():
            self._phoenix.annotate(what, [{f"{what}_id": id_, **each} for each in own])
            for standing in parcel.votes:
                for name in sorted(standing.placed.difference(self._names(standing.vote))):
                    self._phoenix.delete_annotation(what, name, identifier(answer, standing.voter))
        self._outbox.done(parcel, self._names, self._send_documents(parcel))

    def _send_documents(self, parcel: Parcel) -> Iterable[DocumentMark]:
        """Send the votes on passages and citations; return the documents annotated now."""
        has_votes = any(
            standing.vote.passages or standing.vote.citations for standing in parcel.votes
        )
        if not has_votes and not parcel.marks:
            return ()
        answer = parcel.answer
        spans = self._phoenix.spans(answer.trace_id) if has_votes else ()
        places = document_places(spans, answer.span_id)
        annotations = document_annotations(answer, parcel.votes, places)
        self._outbox.mark(parcel, annotations)
        # Phoenix deletes no annotation of a document
        gone = [
            document_annotation(mark, {"label": WITHDRAWN, "score": None})
            for mark in sorted(parcel.marks.difference(annotations))
        ]
        self._phoenix.annotate("document", [*annotations.values(), *gone])
        return annotations

    def _names(self, vote: Vote) -> Iterable[str]:
        return results(vote, self._masked)


NAME = "feedback"


def open_store(settings: Settings) -> FeedbackStore:
    """The votes of the configured server, of which there need not be any."""
    return FeedbackStore(open_states(settings)(NAME, TABLES), settings.feedback_days)


class Feedback:
    """The ratings that readers give answers. Safe to use from several threads."""

    def __init__(self, settings: Settings, open_state: OpenState):
        self.collection = settings.chroma_collection_name
        self._content = settings.trace_content
        self.state = open_state(NAME, TABLES)
        self.store = FeedbackStore(self.state, settings.feedback_days)
        self._noting = Noting(self.store)
        self.outbox = Outbox(self.state, settings.feedback_days)
        self._delivery: RatingDelivery | None = None
        if settings.phoenix_collector_endpoint:
            self._delivery = RatingDelivery(
                self.outbox,
                Phoenix(
                    phoenix_at(
                        settings.phoenix_collector_endpoint,
                        settings.phoenix_api_key.get_secret_value().strip(),
                    ),
                    settings.phoenix_project_name,
                ),
                SpanMask(open_redactions(settings)).text if settings.trace_content else None,
                open_state("delivery", "") if self.state.is_shared else None,
            )

    def start(self) -> None:
        """Begin to send votes to Phoenix, those of earlier runs too."""
        if self._delivery:
            self._delivery.start()

    def note(self, answer: Answer, owner: str) -> None:
        """Let an answer of `owner`'s be rated. Takes no time in a file, and never fails.

        Of one that must leave no trace no text is kept.
        """
        self._noting.note(answer, owner, content=self._content and not silent())

    def rating(self, owner: str, qa_id: str, voter: str) -> AnswerRating:
        """Return somebody's rating of an answer. Raises NotFound if there is none."""
        self._noting.flush()
        rating = self.store.rating(owner, qa_id, voter)
        if rating.vote.is_empty:
            raise NotFound(f"The answer {qa_id} has no rating of {voter}.")
        return rating

    def change(
        self, owner: str, qa_id: str, voter: str, change: Callable[[RatedAnswer, Vote], Vote]
    ) -> AnswerRating:
        self._noting.flush()
        rating = self.store.change(owner, qa_id, voter, change)
        if self._delivery:
            self._delivery.wake()
        return rating

    def close(self) -> None:
        """Write what was noted, and stop sending."""
        self._noting.flush()
        if self._delivery:
            self._delivery.close()
