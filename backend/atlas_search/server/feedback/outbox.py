"""Votes that Phoenix does not have yet. The file is the queue: it forgets nothing."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from sqlite3 import Connection

from atlas_search.server.feedback.file import FeedbackFile
from atlas_search.server.feedback.rated import RatedAnswer
from atlas_search.server.feedback.store import DAY
from atlas_search.server.feedback.votes import Vote

LONGEST_PATIENCE = 3600.0  # seconds between two attempts for one answer
LONGEST_WITHOUT = 60.0  # likewise, of an attempt without Phoenix
SOONEST = 1.0

_WAITING = "changed > sent AND span_id <> '' AND voted > ?"


@dataclass(frozen=True)
class Standing:
    """What one voter says now, and the names under which Phoenix may have something of theirs."""

    voter: str
    vote: Vote
    placed: frozenset[str]


@dataclass(frozen=True, order=True)
class DocumentMark:
    """Where a document has an annotation: by name, span and position from 0."""

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

    def __init__(self, file: FeedbackFile, days: int, clock: Callable[[], float] = time.time):
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
        """Until the next one is due; None if nothing waits."""
        if not self._file.path.exists():
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
        """Phoenix has it as it was taken; what changed meanwhile is due again."""
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
    connection: Connection, id_: int, names: Callable[[Vote], Iterable[str]]
) -> list[Standing]:
    query = "SELECT voter, vote, placed FROM votes WHERE answer = ? ORDER BY voter"
    found = []
    for voter, text, before in connection.execute(query, (id_,)).fetchall():
        vote = Vote.model_validate_json(text)
        placed = frozenset(json.loads(before)).union(names(vote))
        _set_placed(connection, id_, voter, placed)
        found.append(Standing(voter, vote, placed))
    return found


def _set_placed(connection: Connection, id_: int, voter: str, names: Iterable[str]) -> None:
    connection.execute(
        "UPDATE votes SET placed = ? WHERE answer = ? AND voter = ?",
        (json.dumps(sorted(names)), id_, voter),
    )


def _set_marks(connection: Connection, parcel: Parcel, marks: Iterable[DocumentMark]) -> None:
    kept = [[mark.name, mark.span_id, mark.position] for mark in sorted(marks)]
    query = "UPDATE answers SET placed = ? WHERE id = ?"
    connection.execute(query, (json.dumps(kept), parcel.id))
