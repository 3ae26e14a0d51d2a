"""All that is told of runs, for programs."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime

from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.faults import Fault, Faults

NAME = "results.json"

_PARTS: Mapping[str, Callable[[Analysis], object]] = {
    "spec": lambda run: run.of.spec.model_dump(mode="json"),
    "questions": lambda run: {
        "asked": len(run.of.scored),
        "failed": sum(map(len, run.errors.values())),
        "unasked": run.of.unasked,
        "unjudged": run.of.unjudged,
        "lacking": sum(bool(one.lacking) for one in run.of.scored),
    },
    "troubles": lambda run: [
        *run.of.troubles,
        *dict.fromkeys(one.lacking for one in run.of.scored if one.lacking),
    ],
    "metrics_source": lambda run: run.metrics_source,
    "sources": lambda run: run.sources,
    "figures": lambda run: {
        part: {name: asdict(figure) for name, figure in figures.items()}
        for part, figures in run.figures.items()
    },
    "decisions": lambda run: [
        {"expected": expected, "taken": taken, "questions": count}
        for expected, taken, count in run.confusion
    ],
    "operations": lambda run: run.took,
    "reliability": lambda run: [each._asdict() for each in run.reliability],
    "coverage": lambda run: [each._asdict() for each in run.curve],
    "findings": lambda run: [each._asdict() for each in run.findings],
    "errors": lambda run: run.errors,
}


def results_json(
    runs: Sequence[Analysis], written: Sequence[str], faults: Faults, now: datetime
) -> str:
    """Each run with every part that can be told, the reports that were written, and what failed.

    A value that is no number is null.
    """
    told = [{"name": run.name} | _parts(run, faults) for run in runs]
    document = {
        "format": 1,
        "written": now.isoformat(),
        "runs": told,
        "reports": [*written, NAME],
        "failed": [fault._asdict() for fault in faults.found],
    }
    return json.dumps(_plain(document), indent=2, allow_nan=False) + "\n"


def _parts(run: Analysis, faults: Faults) -> dict[str, object]:
    made = {
        name: faults.attempt(NAME, name, lambda make=make: _plain(make(run)))  # type: ignore[misc]
        for name, make in _PARTS.items()
    }
    return {name: None if isinstance(part, Fault) else part for name, part in made.items()}


def _plain(value: object) -> object:
    """What JSON has: no data classes, and no float that is not a number."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
