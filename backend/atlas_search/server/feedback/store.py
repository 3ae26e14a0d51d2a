"""A file of answers that can be rated, and of the votes on them."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Literal, NamedTuple, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from atlas_search.answer.answer import Answer
from atlas_search.answer.request import Identifier
from atlas_search.core.errors import ConfigurationError, Conflict, NotFound
from atlas_search.server.requests import Strict, StrictBody
from atlas_search.server.state import State, Transaction

TABLES = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS answers (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL, qa_id TEXT NOT NULL, collection TEXT NOT NULL, target TEXT NOT NULL,
    kept REAL NOT NULL, about TEXT NOT NULL, span_id TEXT NOT NULL,
    changed INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0,
    voted REAL NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
    placed TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX IF NOT EXISTS by_name ON answers (owner, qa_id);
CREATE INDEX IF NOT EXISTS to_send ON answers (due) WHERE changed > sent AND span_id <> '';
CREATE TABLE IF NOT EXISTS votes (
    answer INTEGER NOT NULL, voter TEXT NOT NULL, vote TEXT NOT NULL, given BOOLEAN NOT NULL,
    updated TEXT NOT NULL, version INTEGER NOT NULL, placed TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (answer, voter)
) WITHOUT ROWID;
"""
# `changed` counts the changes to an answer's votes, `sent` says up to which Phoenix has them, and
# `placed` what stands there under their names and must be taken back if it is withdrawn


class RatedPlace(BaseModel):
    """A passage of an answer, or what it cites; `quote` only if texts may be kept."""

    model_config = ConfigDict(frozen=True)

    passage_id: str
    document_id: str
    quote: str = ""


class RatedAnswer(BaseModel):
    """An answer without what is not needed to rate it.

    `span_id` is empty if it was not traced. `question`, `answer` and quotes are empty if texts may
    not be kept. `passages` and `citations` are in the order of the answer document. `standalone` is
    what a follow-up was rewritten into; `follow_up` says that one was not, and cannot be understood
    without what was asked before.
    """

    model_config = ConfigDict(frozen=True)

    qa_id: str
    owner: str
    session_id: str
    created: str
    trace_id: str
    span_id: str
    target: str
    composite_target: str
    provider: str
    model: str
    collection: str
    collection_version: str
    corpora: tuple[str, ...]
    narrowed: bool
    mode: str
    decision: str
    reason: str
    follow_up: bool
    question: str
    standalone: str
    answer: str
    passages: tuple[RatedPlace, ...]
    citations: tuple[RatedPlace, ...]


def rated(answer: Answer, owner: str, *, content: bool) -> RatedAnswer:
    """Reduce an answer of `owner`'s to what rating it needs; texts are kept only with `content`."""
    request = answer.request
    return RatedAnswer(
        qa_id=request.qa_id,
        owner=owner,
        session_id=request.session_id,
        created=answer.created.astimezone(UTC).isoformat(timespec="seconds"),
        trace_id=answer.trace_id if answer.span_id else "",
        span_id=answer.span_id,
        target=request.target_name,
        composite_target=request.run_name,
        provider=answer.writer.provider,
        model=answer.writer.model,
        collection=answer.collection,
        collection_version=answer.collection_version,
        corpora=request.search.corpora,
        narrowed=not request.search.every_corpus or answer.scope.narrowed,
        mode=request.mode,
        decision=answer.outcome.decision,
        reason=answer.outcome.code,
        follow_up=not answer.standalone and bool(answer.read_as or answer.standalone_note),
        question=request.search.question if content else "",
        standalone=answer.standalone if content else "",
        answer=answer.text if content else "",
        passages=tuple(
            RatedPlace(passage_id=item.passage.id, document_id=item.passage.document_id)
            for item in answer.result.passages
        ),
        citations=tuple(
            RatedPlace(
                passage_id=cited.passage.id,
                document_id=cited.passage.document_id,
                quote=cited.quote if content else "",
            )
            for cited in answer.citations
        ),
    )


MOST_TAGS = 20
LONGEST_TAG = 64  # characters
LONGEST_COMMENT = 4000
MOST_PARTS = 1000  # passages, or citations, of one request

Thumb = Literal["up", "down"]
Relevance = Literal["relevant", "irrelevant"]
Backing = Literal["supports", "does_not_support"]
Scale = Literal["relevance", "accuracy", "corpus_fidelity", "clarity"]
SCALES: tuple[Scale, ...] = get_args(Scale)

K = TypeVar("K")
V = TypeVar("V")

_KEPT_CONTROLS = "\n\t"


def plain(text: str) -> str:
    """Remove the characters that command a terminal, and which some databases refuse."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in lines if c in _KEPT_CONTROLS or not _is_control(c)).strip()


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character < "\xa0"


def _tags(tags: list[str] | None) -> list[str] | None:
    """Reduce tags to one line each, without repeats."""
    if tags is None:
        return None
    lines = (" ".join(plain(tag).split()) for tag in tags)
    return list(dict.fromkeys(tag for tag in lines if tag))


Mark = Annotated[int, Field(ge=1, le=5)]
Tag = Annotated[str, Field(max_length=LONGEST_TAG)]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS)]
Comment = Annotated[str, Field(max_length=LONGEST_COMMENT), AfterValidator(plain)]


class Vote(Strict):
    """All that somebody says of an answer now; empty if nothing."""

    thumb: Thumb | None = None
    scores: dict[Scale, int] = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list)
    comment: str = ""
    passages: dict[str, Relevance] = Field(default_factory=dict)
    citations: dict[int, Backing] = Field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return self == Vote()


class ScoresBody(StrictBody):
    """Marks from 1, the worst, to 5; null withdraws one."""

    relevance: Mark | None = Field(None, description="Whether it answers what was asked")
    accuracy: Mark | None = Field(None, description="Whether it is right")
    corpus_fidelity: Mark | None = Field(None, description="Whether it says what the sources say")
    clarity: Mark | None = Field(None, description="Whether it is clear")


class FeedbackBody(StrictBody):
    """A rating of an answer. An absent field stays as it was; null withdraws it."""

    qa_id: Identifier
    user_id: Identifier | None = Field(
        None, description="Who says it, where no keys are used; with a key it is the key's owner"
    )
    thumb: Thumb | None = None
    scores: ScoresBody | None = None
    tags: Annotated[Tags | None, AfterValidator(_tags)] = None
    comment: Comment | None = None
    passages: dict[str, Relevance | None] | None = Field(
        None, max_length=MOST_PARTS, description="By the id of a passage of the answer"
    )
    citations: dict[str, Backing | None] | None = Field(
        None, max_length=MOST_PARTS, description="By the number of a citation, from 1"
    )


def changed(vote: Vote, body: FeedbackBody) -> Vote:
    """Apply a body to a vote."""
    fields = body.model_fields_set
    scores = body.scores.model_dump(exclude_unset=True) if body.scores else None
    citations = (
        {int(number): backing for number, backing in body.citations.items()}
        if body.citations is not None
        else None
    )
    return Vote(
        thumb=body.thumb if "thumb" in fields else vote.thumb,
        scores=_merge(vote.scores, scores) if "scores" in fields else vote.scores,
        tags=(body.tags or []) if "tags" in fields else vote.tags,
        comment=(body.comment or "") if "comment" in fields else vote.comment,
        passages=_merge(vote.passages, body.passages) if "passages" in fields else vote.passages,
        citations=_merge(vote.citations, citations) if "citations" in fields else vote.citations,
    )


def new_marks(before: Vote, after: Vote) -> list[tuple[str, str]]:
    """List the marks that a vote has gained, as name and value; no tags and no comment."""
    marks: list[tuple[str, str]] = []
    if after.thumb and after.thumb != before.thumb:
        marks.append(("thumb", after.thumb))
    marks += [(name, str(score)) for name, score in _new(before.scores, after.scores)]
    marks += [("passage", value) for _, value in _new(before.passages, after.passages)]
    marks += [("citation", value) for _, value in _new(before.citations, after.citations)]
    return marks


def _new(before: Mapping[K, V], after: Mapping[K, V]) -> list[tuple[K, V]]:
    return [(name, value) for name, value in after.items() if before.get(name) != value]


def _merge(before: dict[K, V], change: Mapping[K, V | None] | None) -> dict[K, V]:
    """Apply a change to earlier entries; null takes one of them, or all, away."""
    if change is None:
        return {}
    return {name: value for name, value in {**before, **change}.items() if value is not None}


DAY = 86_400.0
MOST_UNRATED = 20_000  # answers without a vote; one takes some 5 kB
MOST_VOTERS = 200  # of one answer: where no keys are used, anyone can be many
TIDY_SECONDS = 3600.0

_UNRATED = "NOT EXISTS (SELECT 1 FROM votes WHERE votes.answer = answers.id)"
_RATING = (
    "SELECT about, voter, vote, updated, version <= sent FROM votes JOIN answers ON id = answer "
)


@dataclass(frozen=True)
class AnswerRating:
    """One person's vote on an answer; `sent` is true once Phoenix has it."""

    answer: RatedAnswer
    voter: str
    vote: Vote
    updated: str = ""
    sent: bool = False


class RatingFilter(NamedTuple):
    """A filter of ratings: of everybody if `owner` is None; another empty field is no condition."""

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

    def __init__(self, file: State, days: int, clock: Callable[[], float] = time.time):
        self._file = file
        self.is_shared = file.is_shared
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
            for row in rows:
                connection.execute(
                    "INSERT INTO answers (owner, qa_id, collection, target, kept, about, span_id) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    row,
                )
            if now - self._tidied >= TIDY_SECONDS:
                self._tidied = now
                self._forget(connection, now)

    def _forget(self, connection: Transaction, now: float) -> None:
        oldest = now - self._days * DAY
        # where passages have annotations, Phoenix is still to hear that they were withdrawn
        connection.execute(
            f"DELETE FROM answers WHERE {_UNRATED} AND (placed = '[]' OR voted <= ?) "
            "AND (kept < ? OR id <= (SELECT MAX(id) FROM answers) - ?)",
            (oldest, oldest, MOST_UNRATED),
        )

    def rating(self, owner: str, qa_id: str, voter: str) -> AnswerRating:
        """Return somebody's rating, which may be empty. Raises NotFound without the answer."""
        with self._file.open() as connection:
            return _rating(connection, *_find(connection, owner, qa_id), voter)

    def change(
        self, owner: str, qa_id: str, voter: str, change: Callable[[RatedAnswer, Vote], Vote]
    ) -> AnswerRating:
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

    def _write(self, connection: Transaction, id_: int, voter: str, vote: Vote) -> None:
        query = "SELECT COUNT(*) FROM votes WHERE answer = ? AND voter <> ?"
        (others,) = connection.execute(query, (id_, voter)).fetchone()
        if others >= MOST_VOTERS:
            raise Conflict(f"{others} others have rated this answer, which is the limit.")
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

    def page(self, wanted: RatingFilter, limit: int, offset: int) -> tuple[int, list[AnswerRating]]:
        """Count the ratings, and return some of them, the last changed first."""
        where, values = _where(wanted)
        if not self._file.exists:
            return 0, []
        with self._file.open() as connection:
            counted = f"SELECT COUNT(*) FROM votes JOIN answers ON id = answer {where}"
            (total,) = connection.execute(counted, values).fetchone()
            query = f"{_RATING}{where} ORDER BY updated DESC, id DESC, voter LIMIT ? OFFSET ?"
            rows = connection.execute(query, (*values, limit, offset)).fetchall()
            return total, [_read(row) for row in rows]

    def every(self, wanted: RatingFilter) -> list[AnswerRating]:
        """Return the ratings that pass the filter, the first answer's first."""
        if not self._file.exists:
            return []
        where, values = _where(wanted)
        with self._file.open() as connection:
            rows = connection.execute(f"{_RATING}{where} ORDER BY id, voter", values).fetchall()
            return [_read(row) for row in rows]


def _find(connection: Transaction, owner: str, qa_id: str) -> tuple[int, RatedAnswer]:
    query = "SELECT id, about FROM answers WHERE owner = ? AND qa_id = ? ORDER BY id DESC LIMIT 1"
    row = connection.execute(query, (owner, qa_id)).fetchone()
    if row is None:
        raise NotFound(f"There is no answer {qa_id} that can be rated, or it is no longer kept.")
    return row[0], RatedAnswer.model_validate_json(row[1])


def _rating(connection: Transaction, id_: int, answer: RatedAnswer, voter: str) -> AnswerRating:
    query = f"{_RATING} WHERE id = ? AND voter = ?"
    row = connection.execute(query, (id_, voter)).fetchone()
    return _read(row) if row else AnswerRating(answer, voter, Vote())


def _read(row: Sequence[object]) -> AnswerRating:
    about, voter, vote, updated, sent = row
    return AnswerRating(
        RatedAnswer.model_validate_json(str(about)),
        str(voter),
        Vote.model_validate_json(str(vote)),
        str(updated),
        bool(sent),
    )


def _where(wanted: RatingFilter) -> tuple[str, list[str]]:
    conditions = {
        "owner = ?": wanted.owner,
        "voter = ?": wanted.voter or None,
        "target = ?": wanted.target or None,
        "collection = ?": wanted.collection or None,
        "updated >= ?": wanted.since or None,
    }
    used = {condition: value for condition, value in conditions.items() if value is not None}
    return f"WHERE {' AND '.join(['given', *used])}", list(used.values())


MOST_WAITING = 1000  # answers; of more, while the disk hangs, the oldest cannot be rated

log = logging.getLogger(__name__)


class Noting:
    """A queue of answers for the store, written by a thread that ends when none is left."""

    def __init__(self, store: FeedbackStore):
        self._store = store
        self._waiting: deque[Callable[[], RatedAnswer]] = deque(maxlen=MOST_WAITING)
        self._writing = threading.Lock()
        self._is_failing = False

    def note(self, answer: Answer, owner: str, *, content: bool) -> None:
        """Let an answer of `owner`'s be rated; with `content` its texts are kept. Never fails.

        Where another server may be told the rating at once, the answer is written at once.
        """
        self._waiting.append(partial(rated, answer, owner, content=content))
        if self._store.is_shared:
            self.flush()
            return
        try:
            threading.Thread(target=self.flush, name="rateable", daemon=True).start()
        except RuntimeError:  # no more threads; the next vote or answer writes it
            log.warning("No thread is free to note answers; they can be rated later.")

    def flush(self) -> None:
        """Write the answers noted before this call, or log that it failed and let them wait."""
        with self._writing:
            taken = []
            while self._waiting:
                taken.append(self._waiting.popleft())
            if not taken:
                return
            try:
                self._store.add(each() for each in taken)
                self._is_failing = False
            except ConfigurationError as error:
                if not self._is_failing:
                    log.warning("Answers cannot be rated until this is mended: %s", error)
                self._is_failing = True
                self._waiting.extendleft(reversed(taken))
            except Exception:
                log.exception("%d answers cannot be rated.", len(taken))
