"""Ratings by people: raters, scales, files and agreement."""

import fcntl
import hashlib
import hmac
import json
import os
import random
import re
import secrets
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from atlas_search.answer.wire import AnswerDocument
from atlas_search.core.errors import Conflict, NotFound, RequestError, SourceError
from atlas_search.core.files import writing
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.statistics import Figure, cohen_kappa, krippendorff_alpha, mean_figures

_UNCHANGED = (
    "Nothing of the file has changed. Make room, or give this user the right to write, and save "
    "again."
)


def read_lines(path: Path) -> list[str]:
    """The lines of a file, without empty ones; none if there is no file. Raises SourceError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} cannot be read: {error}") from error
    # not by splitlines: a text may hold other ends of lines
    return [line.rstrip("\r") for line in text.split("\n") if line.strip()]


def digest_of(path: Path) -> str:
    """Return the key of a browser's drafts: the same however the path is written."""
    return hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """No other thread or process that asks for the same file is in this block."""
    folder = path.resolve().parent
    with writing(folder, then=_UNCHANGED):
        folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)  # the folder itself: no file of locks is left behind
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace_lines(path: Path, lines: Sequence[str]) -> None:
    """Let a file hold these lines: whoever reads it finds all of them or those before."""
    path = path.resolve()  # a link stays one
    with (
        writing(path.parent, then=_UNCHANGED),
        NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file,
    ):
        try:
            file.write("".join(f"{line}\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, file.name)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


MOST_STEPS = 11
_CHOICE = re.compile(r"([A-Za-z][\w -]{0,39}?)\s*(?::\s*(\d{1,3})\s*-\s*(\d{1,3}))?")


class Scale(BaseModel):
    """Whole numbers from `low` to `high`, of which more is better.

    `meanings` say what each stands for, from the lowest; none, or one for each.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=40)
    low: int = Field(1, ge=0)
    high: int = 5
    description: str = Field("", max_length=500)
    meanings: tuple[Annotated[str, Field(max_length=500)], ...] = ()

    @model_validator(mode="after")
    def _has_steps(self) -> "Scale":
        if not 2 <= len(self.steps) <= MOST_STEPS:
            raise ValueError(f"a scale has 2 to {MOST_STEPS} steps")
        if self.meanings and len(self.meanings) != len(self.steps):
            raise ValueError(
                f"{self.name} has {len(self.steps)} steps and {len(self.meanings)} meanings"
            )
        return self

    @property
    def steps(self) -> range:
        """The numbers that can be given."""
        return range(self.low, self.high + 1)


KNOWN: Mapping[str, str] = {
    "relevance": "Does it speak to the question? Lowest: not at all. Highest: to all of it.",
    "accuracy": "Is what it says right? Lowest: wrong. Highest: nothing is wrong.",
    "completeness": "Is what matters there? Lowest: nothing of it. Highest: all.",
    "citations": "Do the quoted words support what they stand behind? Lowest: none. Highest: all.",
    "clarity": "Is it plain to a reader who knows the field? Lowest: not at all. Highest: wholly.",
}
"""What scales mean that are chosen by their name alone."""

USUAL = tuple(Scale(name=name, description=KNOWN[name]) for name in ("relevance", "accuracy"))

_TABLE = TypeAdapter(dict[str, dict[str, int | str | list[str]]])


def read_scales(text: str) -> tuple[Scale, ...]:
    """Scales by name and range, `relevance,accuracy:1-3`, or of a TOML file.

    In the file a table is a scale, with `low`, `high`, `description` and `meanings`. Raises
    SourceError.
    """
    path = Path(text)
    scales = _of_file(path) if path.suffix == ".toml" else tuple(map(_choice, text.split(",")))
    names = [scale.name for scale in scales]
    if not scales or len(set(names)) < len(names):
        raise SourceError(f"{text}: name at least one scale, and each once.")
    return scales


def _choice(text: str) -> Scale:
    found = _CHOICE.fullmatch(text.strip())
    if found is None:
        raise SourceError(f"{text.strip()!r} is no scale: write `accuracy` or `accuracy:1-5`.")
    name, low, high = found.groups()
    bounds = {"low": int(low), "high": int(high)} if low else {}
    return _scale({"name": name, "description": KNOWN.get(name, ""), **bounds}, text)


def _of_file(path: Path) -> tuple[Scale, ...]:
    try:
        table = _TABLE.validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} cannot be read as scales: {error}") from error
    return tuple(
        _scale({"name": name, "description": KNOWN.get(name, ""), **fields}, str(path))
        for name, fields in table.items()
    )


def _scale(fields: Mapping[str, object], place: str) -> Scale:
    try:
        return Scale.model_validate(fields)
    except ValidationError as error:
        raise SourceError(f"{place}: {error.errors()[0]['msg']}.") from error


RATINGS, SCALES, SECRET = "ratings.jsonl", "scales.json", "rating.key"
LONGEST_NAME = 60

_SCALES = TypeAdapter(tuple[Scale, ...])


class Rating(BaseModel):
    """Rating by `rater` of the answer to the question `label_id`: a number on each scale.

    `rationales` give reasons, by scale. `answer` is the digest of what was answered, for a question
    can be asked again; empty if it is not known.
    """

    model_config = ConfigDict(frozen=True)

    rater: str
    label_id: str
    scores: Mapping[str, int]
    rationales: Mapping[str, str] = {}
    comment: str = ""
    at: datetime
    answer: str = ""


@dataclass(frozen=True)
class Ratings:
    """The ratings in the folder of a run. Safe to use from several threads and processes."""

    folder: Path

    def scales(self) -> tuple[Scale, ...]:
        """Return what is rated; the usual scales before anybody began. Raises SourceError."""
        path = self.folder / SCALES
        if not path.exists():
            return USUAL
        try:
            return _SCALES.validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValidationError) as error:
            raise SourceError(f"{path} cannot be read as scales: {error}") from error

    def begin(self, scales: Sequence[Scale]) -> None:
        """Rate on these scales. Raises SourceError if one that was rated on has another range."""
        path = self.folder / SCALES
        with alone(path):
            rated = {name for rating in self.all() for name in rating.scores}
            before = {scale.name: scale for scale in self.scales() if scale.name in rated}
            for scale in scales:
                known = before.get(scale.name, scale)
                if known.steps != scale.steps:
                    raise SourceError(
                        f"{scale.name} was rated from {known.low} to {known.high} in {self.folder}."
                        " Give the scale another name."
                    )
            chosen = {scale.name for scale in scales}
            # what was rated keeps its range, so that its agreement can still be computed
            kept = [scale for name, scale in before.items() if name not in chosen]
            replace_lines(path, [_SCALES.dump_json((*scales, *kept), indent=2).decode()])

    def all(self, answers: Mapping[str, str] | None = None) -> list[Rating]:
        """Read the last rating of each answer by each rater, in order. Raises SourceError.

        With the digests of `answers` by label, what was said of others is left out.
        """
        path = self.folder / RATINGS
        found: dict[tuple[str, str], Rating] = {}
        for number, line in enumerate(read_lines(path), start=1):
            try:
                rating = Rating.model_validate(json.loads(line))
            except (ValueError, ValidationError) as error:
                raise SourceError(f"{path}: line {number} is no rating: {error}") from error
            if answers and rating.answer not in ("", answers.get(rating.label_id)):
                continue
            key = rating.rater, rating.label_id
            found[key] = _joined(found[key], rating) if key in found else rating
        return [found[key] for key in sorted(found)]

    def of_rater(self, rater: str, answers: Mapping[str, str] | None = None) -> dict[str, Rating]:
        """Return what one rater has said, by label. Raises SourceError."""
        return {rating.label_id: rating for rating in self.all(answers) if rating.rater == rater}

    def add(self, rating: Rating) -> None:
        """Keep a rating. Raises RequestError for a number that is not on its scale."""
        check_scores(rating.scores, rating.rationales, self.scales())
        path = self.folder / RATINGS
        with alone(path):
            replace_lines(path, [*read_lines(path), rating.model_dump_json()])

    def rater_key(self, rater: str) -> str:
        """Derive the key of a rater's link: the same at each start, while the file is there."""
        path = self.folder / SECRET
        with alone(path):
            if not read_lines(path):
                replace_lines(path, [secrets.token_urlsafe()])  # of its owner alone
            secret = "".join(read_lines(path))
        return hmac.new(secret.encode(), rater.encode(), "sha256").hexdigest()


def answer_digest(answer: AnswerDocument) -> str:
    """Digest what a rater is shown of an answer."""
    shown = (answer.decision, answer.answer, answer.reason.message)
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def answer_digests(replies: Mapping[str, Reply]) -> dict[str, str]:
    """Digest the answers of a run, by label."""
    return {id_: answer_digest(one.answer) for id_, one in replies.items() if one.answer}


def _joined(before: Rating, after: Rating) -> Rating:
    """The later rating, with what was said before on scales that it does not have."""
    if before.answer not in ("", after.answer):
        return after
    return after.model_copy(
        update={
            "scores": {**before.scores, **after.scores},
            "rationales": {**before.rationales, **after.rationales},
        }
    )


def check_scores(
    scores: Mapping[str, int], rationales: Iterable[str], scales: Sequence[Scale]
) -> None:
    """Raise RequestError for a scale that there is not, or a number that is not on it."""
    known = {scale.name: scale for scale in scales}
    for name in (*scores, *rationales):
        if name not in known:
            raise RequestError(f"There is no scale {name[:80]!r}.")
    for name, score in scores.items():
        if score not in known[name].steps:
            low, high = known[name].low, known[name].high
            raise RequestError(f"{name} goes from {low} to {high}; {score} is not on it.")


COHEN, WEIGHTED, KRIPPENDORFF = "cohen", "cohen_weighted", "krippendorff"

Table = Mapping[str, Mapping[str, int]]
"""By label, what each rater gave."""


@dataclass(frozen=True)
class Agreement:
    """Agreement on one scale.

    `items` have a rating, `shared` of them have several. `coefficients` are by name, those that
    cannot be computed in `missing` with the reason. `mean` is over the items' own means.
    """

    scale: Scale
    raters: tuple[str, ...]
    items: int
    shared: int
    ratings: int
    coefficients: Mapping[str, float]
    missing: Mapping[str, str]
    mean: Figure | None


def agreements(ratings: Sequence[Rating], scales: Sequence[Scale]) -> list[Agreement]:
    """The agreement on each scale, in their order."""
    return [_agreement(_table(ratings, scale.name), scale) for scale in scales]


def _table(ratings: Sequence[Rating], name: str) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    for rating in sorted(ratings, key=lambda one: (one.label_id, one.rater)):
        if name in rating.scores:
            table.setdefault(rating.label_id, {})[rating.rater] = rating.scores[name]
    return table


def _agreement(table: Table, scale: Scale) -> Agreement:
    raters = tuple(sorted({rater for row in table.values() for rater in row}))
    coefficients, missing = _coefficients(table, raters)
    return Agreement(
        scale=scale,
        raters=raters,
        items=len(table),
        shared=sum(len(row) > 1 for row in table.values()),
        ratings=sum(map(len, table.values())),
        coefficients=coefficients,
        missing=missing,
        mean=_mean(table),
    )


def _coefficients(table: Table, raters: Sequence[str]) -> tuple[dict[str, float], dict[str, str]]:
    """Kappa is over the items that both have rated, alpha over those that two have."""

    def cohen(*, squared: bool) -> float:
        if len(raters) != 2:
            raise RequestError("Cohen's kappa is of two raters.")
        both = [row for row in table.values() if len(row) == 2]
        first, second = ([row[rater] for row in both] for rater in raters)
        return cohen_kappa(first, second, squared=squared)

    computed: Mapping[str, Callable[[], float]] = {
        COHEN: lambda: cohen(squared=False),
        WEIGHTED: lambda: cohen(squared=True),
        KRIPPENDORFF: lambda: krippendorff_alpha([list(row.values()) for row in table.values()]),
    }
    coefficients, missing = {}, {}
    for name, compute in computed.items():
        try:
            coefficients[name] = compute()
        except RequestError as error:
            missing[name] = str(error)
    return coefficients, missing


def _mean(table: Table) -> Figure | None:
    means = [sum(row.values()) / len(row) for row in table.values()]
    return mean_figures({"": means})[""] if means else None


def rater_name(given: str, known: Iterable[str], *, others: bool) -> str:
    """The name as it is kept: that of a known rater, however it is spelt, or with `others` a new
    one. Raises RequestError."""
    name = " ".join(given.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise RequestError(f"Give a name of 1 to {LONGEST_NAME} letters.")
    same = [each for each in known if each.casefold() == name.casefold()]
    if same:
        return same[0]
    if not others:
        raise RequestError(f"{name} is not among the raters of this run.")
    return name


def allocate(
    label_ids: Sequence[str], raters: Sequence[str], each: int, seed: int
) -> dict[str, list[str]]:
    """The answers of each rater: every answer has `each` raters, and no rater has two more than
    another. Raises RequestError if they are fewer.

    Who rates together changes from answer to answer.
    """
    if each > len(raters):
        raise RequestError(f"Each answer needs {each} raters, and there are {len(raters)}.")
    chance = random.Random(seed)
    given: dict[str, list[str]] = {rater: [] for rater in raters}
    for id_ in own_order(label_ids, "", seed):
        drawn = chance.sample(sorted(given), len(given))
        for rater in sorted(drawn, key=lambda rater: len(given[rater]))[:each]:
            given[rater].append(id_)
    return given


def own_order(label_ids: Sequence[str], rater: str, seed: int) -> list[str]:
    """The answers in an order of the rater's own, the same whenever they come back.

    Who grows tired or lenient does so at other answers than the next rater.
    """
    order = sorted(label_ids)
    random.Random(f"{seed}:{rater}").shuffle(order)
    return order


_LABEL = TypeAdapter(Label)
_UNORDERED = ("gold_document_ids", "gold_passage_ids")


@dataclass(frozen=True)
class SavedLabel:
    """A label as it stands in the file; another `revision` says that somebody changed it."""

    label: Label
    revision: str


@dataclass(frozen=True)
class LabelFile:
    """A JSONL file of labels. Safe to use from several threads and processes."""

    path: Path

    def saved(self) -> list[SavedLabel]:
        """All labels, in order. Raises SourceError with the first line that is none."""
        return self._read(read_lines(self.path))

    def find(self, label_id: str) -> SavedLabel:
        """One label. Raises NotFound and SourceError."""
        return _find(self.saved(), label_id)

    def save(self, label: Label, revision: str = "") -> SavedLabel:
        """Add a label, or replace the one of its id if it still has this revision.

        Raises Conflict if somebody else has changed, removed or made it meanwhile. The same label
        may be saved twice.
        """
        line = label_line(label)
        with alone(self.path):
            lines = read_lines(self.path)
            saved = self._read(lines)
            place = _place(saved, label.id)
            if place is None and revision:
                raise Conflict("This label was removed from the file meanwhile.")
            if place is None:
                lines.append(line)
            elif saved[place].revision in (revision, revision_of(line)):
                lines[place] = line
            else:
                raise Conflict("This label was changed in the file meanwhile.")
            replace_lines(self.path, lines)
        return SavedLabel(label, revision_of(line))

    def remove(self, label_id: str, revision: str) -> None:
        """Take a label out of the file. Raises NotFound and Conflict."""
        with alone(self.path):
            lines = read_lines(self.path)
            saved = self._read(lines)
            if _find(saved, label_id).revision != revision:
                raise Conflict("This label was changed in the file meanwhile.")
            kept = [
                line for line, one in zip(lines, saved, strict=True) if one.label.id != label_id
            ]
            replace_lines(self.path, kept)

    def _read(self, lines: Sequence[str]) -> list[SavedLabel]:
        saved: list[SavedLabel] = []
        known: set[str] = set()
        for number, line in enumerate(lines, start=1):
            try:
                label = _with_graded(_LABEL.validate_python(json.loads(line)))
            except (ValueError, ValidationError) as error:
                raise SourceError(
                    f"{self.path}: line {number} is no label of the form that the page writes; "
                    f"give it another file: {error}"
                ) from error
            if label.id in known:
                raise SourceError(f"{self.path}: two labels have the id {label.id}.")
            known.add(label.id)
            saved.append(SavedLabel(label, revision_of(line)))
        return saved


def label_line(label: Label) -> str:
    """A label as a line of its file: the same for the same label, without what it leaves out."""
    document = _LABEL.dump_python(label, mode="json", exclude_defaults=True)
    fields = {n: sorted(value) if n in _UNORDERED else value for n, value in document.items()}
    return json.dumps(fields, ensure_ascii=False)


def revision_of(line: str) -> str:
    """Digest a line."""
    return hashlib.sha256(line.encode()).hexdigest()[:16]


def _with_graded(label: Label) -> Label:
    """A label whose graded documents are gold, as whoever evaluates reads them (`labels.read`)."""
    graded = {id_ for id_, grade in label.grades.items() if grade > 0}
    gold = label.gold_document_ids | (graded - label.gold_passage_ids)
    return replace(label, gold_document_ids=gold)


def _place(saved: Sequence[SavedLabel], label_id: str) -> int | None:
    found = (number for number, one in enumerate(saved) if one.label.id == label_id)
    return next(found, None)


def _find(saved: Sequence[SavedLabel], label_id: str) -> SavedLabel:
    place = _place(saved, label_id)
    if place is None:
        raise NotFound(f"There is no label {label_id[:80]!r} in the file.")
    return saved[place]
