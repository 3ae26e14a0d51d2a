"""What is written down before a run asks, and compared before it goes on."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from atlas_search.core.errors import AtlasError, RequestError, SourceError
from atlas_search.core.registry import DISTRIBUTION
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.run import LabelsUsed, RunSpec, labels_digest, labels_used, run_id
from atlas_search.evaluation.runs.subject import SERVER, Facts, Subject

_SAME = ("target", "options", "where", "collection", "collection_version", "corpora", "settings")
"""What must be as it was for a run to go on."""


@dataclass(frozen=True)
class Wanted:
    """How a run asks, whoever is asked; see RunSpec for the names."""

    today: date
    search_only: bool = False
    k: int | None = None
    limit: int | None = None
    seed: int = 0
    parallel: int = 1
    command: str = ""
    id: str = field(default_factory=run_id)


@dataclass(frozen=True)
class Questions:
    """The questions of a run, and where they are from."""

    path: Path
    split: str
    labels: tuple[Label, ...]

    @property
    def used(self) -> LabelsUsed:
        """What a run says of them."""
        return labels_used(self.path, self.split, self.labels)


def choose_questions(
    path: Path, split: str, labels: Sequence[Label], limit: int | None, seed: int
) -> Questions:
    """The questions to ask: all, or `limit` drawn at random, in their order.

    Always the same for the same seed. Raises RequestError if there are none, or two of one id.
    """
    if not labels:
        of = f"the split {split} of " if split else ""
        raise RequestError(f"There is no question in {of}{path}.")
    ids = {label.id for label in labels}
    if len(ids) < len(labels):
        twice = next(i for i in sorted(ids) if sum(label.id == i for label in labels) > 1)
        raise SourceError(f"{path}: two questions have the id {twice}. Give each its own.")
    if limit is not None and limit < len(labels):
        drawn = sorted(random.Random(seed).sample(range(len(labels)), limit))
        labels = [labels[place] for place in drawn]
    return Questions(path, split, tuple(labels))


def begin_run(folder: RunFolder, subject: Subject, questions: Questions, wanted: Wanted) -> RunSpec:
    """Write down what is asked of whom. Raises AtlasError if the folder holds a run already."""
    spec = _spec(subject.facts, questions.used, wanted)
    folder.begin(spec, questions.labels)
    return spec


def check_same(folder: RunFolder, subject: Subject) -> None:
    """Raise AtlasError if a run cannot go on: it would mix what cannot be compared."""
    spec, facts = folder.spec(), subject.facts
    if labels_digest(folder.labels()) != spec.labels.sha256:
        raise AtlasError(
            f"The questions of {folder.path} were changed after it began. Begin a new run."
        )
    for change in changes(spec, facts):
        raise AtlasError(
            f"{folder.path} cannot go on: {change}. Make it as it was, or begin a new run."
        )


def changes(spec: RunSpec, facts: Facts) -> Iterator[str]:
    """What is not as it was when a run began, a clause for each thing."""
    pairs = {name: (getattr(spec, name), getattr(facts, name)) for name in _SAME}
    pairs["version of Atlas"] = (_own_versions(spec.versions), _own_versions(facts.versions))
    for name, (then, now) in pairs.items():
        if then != now:
            yield f"{name} was {_shown(then, now)} and is {_shown(now, then)}"


def _spec(facts: Facts, used: LabelsUsed, wanted: Wanted) -> RunSpec:
    return RunSpec(
        id=wanted.id,
        started=datetime.now(UTC),
        labels=used,
        target=facts.target,
        composite_target=facts.composite_target,
        options=dict(facts.options),
        where=facts.where,
        collection=facts.collection,
        collection_version=facts.collection_version,
        corpora=facts.corpora,
        search_only=wanted.search_only,
        k=wanted.k,
        today=wanted.today,
        seed=wanted.seed,
        limit=wanted.limit,
        parallel=wanted.parallel,
        settings=dict(facts.settings),
        versions=dict(facts.versions),
        command=wanted.command,
    )


def _own_versions(versions: Mapping[str, str]) -> dict[str, str]:
    """Of Atlas here and on the server; a library may be another and answer the same."""
    return {name: versions[name] for name in (DISTRIBUTION, SERVER) if name in versions}


def _shown(value: object, other: object) -> str:
    """A value; of a mapping what the other one has otherwise."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        unlike = sorted(name for name in {*value, *other} if value.get(name) != other.get(name))
        return ", ".join(f"{name}={value.get(name)}" for name in unlike)
    return str(value)
