"""A run on disk: a folder that can be read, compared, scored again and gone on with.

`run.json` says what was asked of whom, `labels.jsonl` are its questions, `replies.jsonl` what came
back (a line as soon as it is there) and `scores.jsonl` the figures of each question.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.reply import Reply
from atlas_search.evaluation.run import EvalRun, RunSpec
from atlas_search.evaluation.scored import Scored, Source

RUN, LABELS, REPLIES, SCORES = "run.json", "labels.jsonl", "replies.jsonl", "scores.jsonl"

_LABEL = TypeAdapter(Label)


@dataclass(frozen=True)
class _Scores:
    """A line of SCORES."""

    label_id: str
    figures: dict[str, float]
    sources: dict[str, Source]


_SCORES = TypeAdapter(_Scores)


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    def begin(self, spec: RunSpec, labels: Iterable[Label]) -> None:
        """Write what is asked of whom, before anything is."""
        self.path.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{_LABEL.dump_json(label).decode()}\n" for label in labels)
        (self.path / LABELS).write_text(text, encoding="utf-8")
        (self.path / RUN).write_text(spec.model_dump_json(indent=2), encoding="utf-8")

    def add(self, reply: Reply) -> None:
        """Keep what came back for a question."""
        with (self.path / REPLIES).open("a", encoding="utf-8") as file:
            file.write(f"{reply.model_dump_json()}\n")

    def finish(self, scored: Iterable[Scored]) -> None:
        """Write the figures of every question."""
        lines = (_Scores(one.label.id, dict(one.figures), dict(one.sources)) for one in scored)
        text = "".join(f"{_SCORES.dump_json(line).decode()}\n" for line in lines)
        (self.path / SCORES).write_text(text, encoding="utf-8")

    def spec(self) -> RunSpec:
        """What was asked of whom. Raises SourceError if this is no run."""
        path = self.path / RUN
        try:
            return RunSpec.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValidationError) as error:
            raise SourceError(
                f"{self.path} is no run of an evaluation: {path.name}: {error}"
            ) from error

    def labels(self) -> list[Label]:
        """The questions, in order. Raises SourceError."""
        return [_LABEL.validate_python(line) for line in self._lines(LABELS)]

    def replies(self) -> dict[str, Reply]:
        """What came back so far, by label; of two the later. Raises SourceError."""
        read = (Reply.model_validate(line) for line in self._lines(REPLIES))
        return {reply.label_id: reply for reply in read}

    def load(self) -> EvalRun:
        """The run with its figures. Raises SourceError."""
        replies = self.replies()
        scores = {one.label_id: one for one in map(_SCORES.validate_python, self._lines(SCORES))}
        scored = (
            Scored(label, replies[label.id], known.figures, known.sources)
            for label in self.labels()
            if label.id in replies and (known := scores.get(label.id))
        )
        return EvalRun(self.spec(), tuple(scored))

    def _lines(self, name: str) -> Iterator[object]:
        path = self.path / name
        if not path.is_file():
            return
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
            try:
                if line:
                    yield json.loads(line)
            except ValueError as error:
                raise SourceError(f"{path}:{number}: {error}") from error
