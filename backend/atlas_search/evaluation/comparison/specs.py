"""What two runs were asked with, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from atlas_search.evaluation.run import RunSpec

UNSET = "(not there)"


@dataclass(frozen=True)
class Change:
    """What is called `name` in either run; UNSET where one has no such thing."""

    name: str
    a: Any
    b: Any


def changed_options(a: RunSpec, b: RunSpec) -> list[Change]:
    """Options of the targets that differ, by name."""
    return _changes(a.options, b.options)


def changed_basis(a: RunSpec, b: RunSpec) -> list[Change]:
    """What else differs that figures depend on: questions, collection, who was asked, versions."""
    return _changes(_basis(a), _basis(b)) + _changes(a.versions, b.versions)


def _basis(spec: RunSpec) -> dict[str, Any]:
    return {
        "labels": spec.labels.name,
        "contents of the labels": spec.labels.sha256[:12],
        "split": spec.labels.split or "all",
        "collection": spec.collection,
        "version of the collection": spec.collection_version,
        "corpora": ", ".join(spec.corpora),
        "only searched": spec.search_only,
        "asked": spec.where,
    }


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Change]:
    names = sorted(a.keys() | b.keys())
    changes = (Change(name, a.get(name, UNSET), b.get(name, UNSET)) for name in names)
    return [change for change in changes if change.a != change.b]
