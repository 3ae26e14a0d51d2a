"""What two runs were asked with, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from atlas_search.evaluation.run import JudgeUsed, RunSpec
from atlas_search.evaluation.scored import MetricsSource

UNSET = "(not there)"


@dataclass(frozen=True)
class Change:
    """What is called `name` in either run; UNSET where one has no such thing."""

    name: str
    a: Any
    b: Any


class Measured(Protocol):
    """A run, or what is kept of one."""

    @property
    def spec(self) -> RunSpec:
        """What was asked of whom."""

    @property
    def metrics_source(self) -> MetricsSource:
        """Who gave the figures that a judge or a heuristic can give."""

    @property
    def judge(self) -> JudgeUsed | None:
        """Who judged, if anyone did."""


def changed_options(a: RunSpec, b: RunSpec) -> list[Change]:
    """Options of the targets that differ, by name."""
    return _changes(a.options, b.options)


def changed_basis(a: Measured, b: Measured) -> list[Change]:
    """What else differs that figures depend on.

    Questions, collection, who was asked and who judged, settings, versions.
    """
    changes = _changes(_basis(a), _basis(b))
    if a.judge and b.judge:
        changes += _changes(_prompts(a.judge), _prompts(b.judge))
    changes += _changes(a.spec.settings, b.spec.settings)
    return changes + _changes(a.spec.versions, b.spec.versions)


def _basis(run: Measured) -> dict[str, Any]:
    spec, judge = run.spec, run.judge
    drawn = "all" if spec.limit is None else f"{spec.limit} with seed {spec.seed}"
    return {
        "labels": spec.labels.name,
        "contents of the labels": spec.labels.sha256[:12],
        "split": spec.labels.split or "all",
        "collection": spec.collection,
        "version of the collection": spec.collection_version,
        "corpora": ", ".join(spec.corpora),
        "only searched": spec.search_only,
        "asked": spec.where,
        "passages wanted": spec.options.get("search_k", UNSET) if spec.k is None else spec.k,
        "today": UNSET if spec.today is None else str(spec.today),
        "questions drawn": drawn,
        "figures by": run.metrics_source,
        "judge": _judge(judge) if judge else "none",
    }


def _judge(judge: JudgeUsed) -> str:
    by = "".join(f", {name} {version}" for name, version in sorted(judge.libraries.items()))
    return f"{judge.provider} {judge.model}, {judge.votes} votes{by}"


def _prompts(judge: JudgeUsed) -> dict[str, str]:
    return {f"prompt of the judge: {name}": version for name, version in judge.prompts.items()}


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Change]:
    names = sorted(a.keys() | b.keys())
    changes = (Change(name, a.get(name, UNSET), b.get(name, UNSET)) for name in names)
    return [change for change in changes if change.a != change.b]
