"""The folder of a run; files and folders appear whole or not at all."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Literal, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, TypeAdapter

from atlas_search.core.errors import AtlasError, SourceError
from atlas_search.core.files import writing
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.run import EvalRun, RunSpec, judge_used
from atlas_search.evaluation.scored import FAILED, Scored, Source
from atlas_search.evaluation.statistics import Figure

LOCK = ".lock"
_PART = ".part"  # what is being written, or was broken off


@contextmanager
def new_folder(path: Path, last: str) -> Iterator[Path]:
    """A folder to write into, whose contents are at `path` when the block has ended.

    If the block fails they are gone. A folder that is empty may be at `path` already; the file
    called `last`, which makes the folder what it is, comes into it after all others. Raises
    AtlasError where anything but Atlas' own traces is there: it is left as it is.
    """
    check_empty(path)
    target = path.resolve()
    there = target.exists()
    name = f".{target.name}.{os.getpid()}{_PART}"
    half = target / name if there else target.with_name(name)
    with writing(target):
        half.mkdir(parents=True)
    try:
        yield half
        check_empty(path)
        with writing(target):
            if there:
                for made in sorted(half.iterdir(), key=lambda made: (made.name == last, made.name)):
                    os.rename(made, target / made.name)
            else:
                os.rename(half, target)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def replace_file(path: Path, text: str) -> None:
    """Write a file, and its folder if need be: a reader finds the old one or the new one.

    What is no file but can be written to, such as a pipe, is written to as it is.
    """
    target = path.resolve()
    with writing(path.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        content = text.encode("utf-8", errors="replace")
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(content)
            return
        half = target.with_name(f".{target.name}.{os.getpid()}{_PART}")
        try:
            half.write_bytes(content)
            os.replace(half, target)
        finally:
            half.unlink(missing_ok=True)


def check_empty(path: Path) -> None:
    """Raise AtlasError unless a new folder can be at `path`."""
    if not path.exists():
        return
    if not path.is_dir():
        raise AtlasError(f"{path} is a file. Name a folder that is not there yet.")
    foreign = sorted(each.name for each in path.iterdir() if not _is_own(each.name))
    if foreign:
        raise AtlasError(f"{path} holds {foreign[0]}, which stays as it is. Name another folder.")


def _is_own(name: str) -> bool:
    return name == LOCK or name.endswith(_PART)


RUN, LABELS, REPLIES, SCORES = "run.json", "labels.jsonl", "replies.jsonl", "scores.jsonl"
JUDGE, JUDGEMENTS = "judge.json", "judgements.jsonl"
TROUBLES, SET_ASIDE = "troubles.json", "replies.broken.jsonl"


class AtWork(AtlasError):
    """Another process adds to a run: it is left alone."""


Part = Literal["run", "judge", "audit"]
"""What of a run may fail and leave the rest to be told."""

Damage = Callable[[SourceError], object]
"""Hears of a line that cannot be read, and is left out; by default it is raised."""


def _reraise(error: SourceError) -> None:
    raise error


Line = TypeVar("Line")

_LABEL = TypeAdapter(Label)
_REPLY = TypeAdapter(Reply)


@dataclass(frozen=True)
class _Scores:
    """A line of SCORES."""

    label_id: str
    figures: dict[str, float]
    sources: dict[str, Source]
    lacking: str = ""


_SCORES = TypeAdapter(_Scores)
_TROUBLES = TypeAdapter(dict[Part, str])


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run. Several threads may add to it."""

    path: Path
    _lock: Lock = field(default_factory=Lock, compare=False, repr=False)

    def begin(self, spec: RunSpec, labels: Iterable[Label]) -> None:
        """Write what is asked of whom, before anything is.

        Raises AtlasError if the folder holds a run already, or anything else: nothing is deleted.
        """
        if (self.path / RUN).exists():
            raise AtlasError(
                f"{self.path} holds a run already. Go on with it with `atlas eval --resume "
                f"{self.path}`, or name another folder."
            )
        with new_folder(self.path, last=RUN) as made, writing(self.path):
            beginning = RunFolder(made)
            beginning._write(LABELS, (_LABEL.dump_json(label).decode() for label in labels))
            beginning._write(RUN, [spec.model_dump_json(indent=2)])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Only this process adds to it while the block runs; what another broke off is mended.

        Raises AtWork if another process does.
        """
        try:
            lock = FileLock(self.path / LOCK).acquire(timeout=0)
        except Timeout as error:
            raise AtWork(
                f"Another process is at work on {self.path}. Wait for its end, or end it."
            ) from error
        with lock:
            self._cut_half_line()
            yield

    def add(self, reply: Reply) -> None:
        """Keep what came back for a question."""
        line = f"{reply.model_dump_json()}\n".encode()
        with self._lock, writing(self.path), (self.path / REPLIES).open("ab") as file:
            file.write(line)

    def finish(self, scored: Iterable[Scored]) -> None:
        """Write the figures of every question. What a judge said of earlier ones goes."""
        lines = (
            _Scores(one.label.id, dict(one.figures), dict(one.sources), one.lacking)
            for one in scored
        )
        with writing(self.path):
            (self.path / JUDGE).unlink(missing_ok=True)
            self._write(SCORES, (_SCORES.dump_json(line).decode() for line in lines))

    def judged(self, scored: Iterable[Scored], report: BaseModel, said: Iterable[str]) -> None:
        """Write figures that a judge gave in part, its report, and what it `said`, as lines."""
        self.finish(scored)
        with writing(self.path):
            self._write(JUDGEMENTS, said)
            self._write(JUDGE, [report.model_dump_json(indent=2)])

    def audited(self, index_recall: Mapping[str, Figure], asked: Iterable[str]) -> RunSpec:
        """Add what an audit of the index found to what is said of the run."""
        found = {"index_recall": dict(index_recall), "index_asked": tuple(asked)}
        spec = self.spec().model_copy(update=found)
        with writing(self.path):
            self._write(RUN, [spec.model_dump_json(indent=2)])
        return spec

    def set_aside_damage(self) -> list[str]:
        """Move replies that cannot be read into SET_ASIDE, so that their questions are asked again.

        What was wrong with each line.
        """
        damaged: list[str] = []
        self.replies(lambda error: damaged.append(str(error)))
        if damaged:
            content = (self.path / REPLIES).read_text(encoding="utf-8", errors="replace")
            lines = [line for line in content.split("\n") if line]
            with writing(self.path):
                with (self.path / SET_ASIDE).open("a", encoding="utf-8") as file:
                    file.writelines(f"{line}\n" for line in lines if not _is_reply(line))
                self._write(REPLIES, filter(_is_reply, lines))
        return damaged

    def troubles(self) -> dict[Part, str]:
        """Return what failed the last time, and why; nothing of a file that cannot be read."""
        try:
            return _TROUBLES.validate_json((self.path / TROUBLES).read_bytes())
        except (OSError, ValueError):
            return {}

    @contextmanager
    def naming(self, part: Part) -> Iterator[None]:
        """Keep what the block raises with the run, for its reports to name, and raise it."""
        others = {name: why for name, why in self.troubles().items() if name != part}
        try:
            yield
        except Exception as error:
            said = (
                str(error) if isinstance(error, AtlasError) else f"{type(error).__name__}: {error}"
            )
            with suppress(OSError, AtlasError):  # a full disk may be what is told
                self._write(TROUBLES, [_TROUBLES.dump_json(others | {part: said}).decode()])
            raise
        if others:
            self._write(TROUBLES, [_TROUBLES.dump_json(others).decode()])
        else:
            (self.path / TROUBLES).unlink(missing_ok=True)

    def spec(self) -> RunSpec:
        """Return what was asked of whom. Raises SourceError if this is no run."""
        path = self.path / RUN
        try:
            return RunSpec.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:  # what is no text, no JSON or no such object
            raise self._no_run(path.name, error) from error

    def labels(self, damage: Damage = _reraise) -> list[Label]:
        """The questions, in order. Raises SourceError."""
        return list(self._lines(LABELS, _LABEL, damage))

    def replies(self, damage: Damage = _reraise) -> dict[str, Reply]:
        """Return what came back so far, by label; of two the later. Raises SourceError."""
        return {reply.label_id: reply for reply in self._lines(REPLIES, _REPLY, damage)}

    def load(self, damage: Damage = _reraise) -> EvalRun:
        """The run with its figures, without those of an earlier reply. Raises SourceError."""
        replies = self.replies(damage)
        scores = {one.label_id: one for one in self._lines(SCORES, _SCORES, damage)}
        scored = (
            Scored(label, replies[label.id], known.figures, known.sources, known.lacking)
            for label in self.labels(damage)
            if label.id in replies and (known := scores.get(label.id))
        )
        kept = tuple(filter(_is_of_its_reply, scored))
        return EvalRun(self.spec(), kept, judge_used(self.path / JUDGE))

    def _write(self, name: str, lines: Iterable[str]) -> None:
        """Replace a file as a whole: a reader finds the old one or the new one."""
        path = self.path / name
        half = path.with_suffix(".part")
        half.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        os.replace(half, path)

    def _lines(self, name: str, form: TypeAdapter[Line], damage: Damage) -> Iterator[Line]:
        """The lines of a file; one that is being written, or was broken off, is none yet."""
        path = self.path / name
        try:
            *whole, _ = path.read_text(encoding="utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._no_run(name, error) from error
        for number, line in enumerate(whole, start=1):
            try:
                if line:
                    yield form.validate_python(json.loads(line))
            except ValueError as error:
                broken = self._no_run(f"{name}:{number}", error)
                broken.__cause__ = error
                damage(broken)

    def _no_run(self, place: str, error: Exception) -> SourceError:
        return SourceError(f"{self.path} is no run of an evaluation: {place}: {error}")

    def _cut_half_line(self) -> None:
        """Take away a last line that was broken off: what is added next begins a line."""
        path = self.path / REPLIES
        content = path.read_bytes() if path.is_file() else b""
        if content and not content.endswith(b"\n"):
            os.truncate(path, content.rfind(b"\n") + 1)


def _is_reply(line: str) -> bool:
    try:
        _REPLY.validate_python(json.loads(line))
    except ValueError:
        return False
    return True


def _is_of_its_reply(one: Scored) -> bool:
    """Return whether the question was not asked again after its figures were written."""
    return bool(one.figures.get(FAILED)) == bool(one.reply.error)
