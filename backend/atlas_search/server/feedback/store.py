"""Answers that can be rated, and what was said of them."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from sqlite3 import Connection
from typing import NamedTuple

from atlas_search.core.errors import Conflict, NotFound
from atlas_search.server.feedback.file import FeedbackFile
from atlas_search.server.feedback.rated import RatedAnswer
from atlas_search.server.feedback.votes import Vote

DAY = 86_400.0
MOST_UNRATED = 20_000  # answers without a vote; one takes some 5 kB
MOST_VOTERS = 200  # of one answer: where no keys are used, anyone can be many
TIDY_SECONDS = 3600.0

_UNRATED = "NOT EXISTS (SELECT 1 FROM votes WHERE votes.answer = answers.id)"
_RATING = (
    "SELECT about, voter, vote, updated, version <= sent FROM votes JOIN answers ON id = answer "
)


@dataclass(frozen=True)
class Rating:
    """What one person says of an answer; `sent` says whether Phoenix has it."""

    answer: RatedAnswer
    voter: str
    vote: Vote
    updated: str = ""
    sent: bool = False


class Wanted(NamedTuple):
    """Which ratings: of everybody if `owner` is None; everything else empty is no condition."""

    owner: str | None = None
    voter: str = ""
    target: str = ""
    collection: str = ""
    since: str = ""


class FeedbackStore:
    """Answers and votes in a file. Safe to use from several threads.

    An answer without a vote is forgotten after `days`. Raises ConfigurationError if the file cannot
    be used.
    """

    def __init__(self, file: FeedbackFile, days: int, clock: Callable[[], float] = time.time):
        self._file = file
        self._days = days
        self._clock = clock
        self._tidied = 0.0

    def add(self, answers: Iterable[RatedAnswer]) -> None:
        """Keep answers, so that they can be rated."""
        now = self._clock()
        rows = [
            (a.owner, a.qa_id, a.collection, a.target, now, a.model_dump_json(), a.span_id)
            for a in answers
        ]
        with self._file.open() as connection:
            connection.executemany(
                "INSERT INTO answers (owner, qa_id, collection, target, kept, about, span_id) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            if now - self._tidied >= TIDY_SECONDS:
                self._tidied = now
                self._forget(connection, now)

    def _forget(self, connection: Connection, now: float) -> None:
        oldest = now - self._days * DAY
        # where passages have annotations, Phoenix is still to hear that they were withdrawn
        connection.execute(
            f"DELETE FROM answers WHERE {_UNRATED} AND (placed = '[]' OR voted <= ?) "
            "AND (kept < ? OR id <= (SELECT MAX(id) FROM answers) - ?)",
            (oldest, oldest, MOST_UNRATED),
        )

    def rating(self, owner: str, qa_id: str, voter: str) -> Rating:
        """What somebody says of an answer, which may be nothing. Raises NotFound without it."""
        with self._file.open() as connection:
            return _rating(connection, *_find(connection, owner, qa_id), voter)

    def change(
        self, owner: str, qa_id: str, voter: str, change: Callable[[RatedAnswer, Vote], Vote]
    ) -> Rating:
        """Replace what somebody says of an answer by what `change` makes of it.

        Raises NotFound without the answer, Conflict for one voter too many, and what `change`
        raises.
        """
        with self._file.open() as connection:
            id_, answer = _find(connection, owner, qa_id)
            before = _rating(connection, id_, answer, voter)
            vote = change(answer, before.vote)
            if vote != before.vote:
                self._write(connection, id_, voter, vote)
            return _rating(connection, id_, answer, voter)

    def _write(self, connection: Connection, id_: int, voter: str, vote: Vote) -> None:
        query = "SELECT COUNT(*) FROM votes WHERE answer = ? AND voter <> ?"
        (others,) = connection.execute(query, (id_, voter)).fetchone()
        if others >= MOST_VOTERS:
            raise Conflict(f"{others} others have rated this answer, and no more may.")
        now = self._clock()
        connection.execute(
            "UPDATE answers SET changed = changed + 1, voted = ?, due = ?, tries = 0 WHERE id = ?",
            (now, now, id_),
        )
        updated = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
        connection.execute(
            "INSERT INTO votes (answer, voter, vote, given, updated, version) "
            "SELECT id, ?, ?, ?, ?, changed FROM answers WHERE id = ? "
            "ON CONFLICT (answer, voter) DO UPDATE SET vote = excluded.vote, "
            "given = excluded.given, updated = excluded.updated, version = excluded.version",
            (voter, vote.model_dump_json(), not vote.is_empty, updated, id_),
        )
        # what never reached Phoenix need not be taken back there
        connection.execute(
            "DELETE FROM votes WHERE answer = ? AND NOT given AND placed = '[]'", (id_,)
        )

    def page(self, wanted: Wanted, limit: int, offset: int) -> tuple[int, list[Rating]]:
        """How many ratings there are, and some of them, the last changed first."""
        where, values = _where(wanted)
        if not self._file.path.exists():
            return 0, []
        with self._file.open() as connection:
            counted = f"SELECT COUNT(*) FROM votes JOIN answers ON id = answer {where}"
            (total,) = connection.execute(counted, values).fetchone()
            query = f"{_RATING}{where} ORDER BY updated DESC, id DESC, voter LIMIT ? OFFSET ?"
            rows = connection.execute(query, (*values, limit, offset)).fetchall()
        return total, [_read(row) for row in rows]

    def every(self, wanted: Wanted) -> list[Rating]:
        """All ratings of a kind, the first answer's first."""
        if not self._file.path.exists():
            return []
        where, values = _where(wanted)
        with self._file.open() as connection:
            rows = connection.execute(f"{_RATING}{where} ORDER BY id, voter", values).fetchall()
        return [_read(row) for row in rows]


def _find(connection: Connection, owner: str, qa_id: str) -> tuple[int, RatedAnswer]:
    query = "SELECT id, about FROM answers WHERE owner = ? AND qa_id = ? ORDER BY id DESC LIMIT 1"
    row = connection.execute(query, (owner, qa_id)).fetchone()
    if row is None:
        raise NotFound(f"There is no answer {qa_id} that can be rated, or it is no longer kept.")
    return row[0], RatedAnswer.model_validate_json(row[1])


def _rating(connection: Connection, id_: int, answer: RatedAnswer, voter: str) -> Rating:
    query = f"{_RATING} WHERE id = ? AND voter = ?"
    row = connection.execute(query, (id_, voter)).fetchone()
    return _read(row) if row else Rating(answer, voter, Vote())


def _read(row: Sequence[object]) -> Rating:
    about, voter, vote, updated, sent = row
    return Rating(
        RatedAnswer.model_validate_json(str(about)),
        str(voter),
        Vote.model_validate_json(str(vote)),
        str(updated),
        bool(sent),
    )


def _where(wanted: Wanted) -> tuple[str, list[str]]:
    conditions = {
        "owner = ?": wanted.owner,
        "voter = ?": wanted.voter or None,
        "target = ?": wanted.target or None,
        "collection = ?": wanted.collection or None,
        "updated >= ?": wanted.since or None,
    }
    used = {said: value for said, value in conditions.items() if value is not None}
    return f"WHERE {' AND '.join(['given', *used])}", list(used.values())
