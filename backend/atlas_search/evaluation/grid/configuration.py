"""The configurations of a grid: each a target with some of its values changed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from atlas_search.core.errors import RequestError
from atlas_search.core.targets import Target
from atlas_search.providers.open import EXTRACTIVE

_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9._-]+")  # of a model's name: `org/model:7b`


class Configuration(BaseModel):
    """A target, and what is changed in it; None: it is as the target says."""

    model_config = ConfigDict(frozen=True)

    target: str
    k: int | None = None
    model: str | None = None
    reranker: str | None = None
    balance: str | None = None

    @property
    def name(self) -> str:
        """That of its own target: fit for a file."""
        k = f"k{self.k}" if self.k else None
        parts = (self.target, k, self.model, self.reranker, self.balance)
        return _NOT_IN_FILE_NAMES.sub("-", "_".join(part for part in parts if part))

    def of(self, target: Target) -> Target:
        """The target with its changes. Raises RequestError for one it cannot have."""
        if self.model and target.llm_provider == EXTRACTIVE:
            raise RequestError(
                f"The target {self.target} answers in the sources' own sentences: {self.model} "
                "would not be asked. Name a target with a language model."
            )
        try:
            return Target.model_validate(target.model_dump() | self._changes())
        except ValidationError as error:
            first = error.errors()[0]
            raise RequestError(f"{first['loc'][0]}={first['input']!r}: {first['msg']}.") from error

    def _changes(self) -> dict[str, Any]:
        values = {
            "search_k": self.k,
            "llm_model": self.model,
            "reranker": self.reranker,
            "balance": self.balance,
        }
        return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True)
class Axes:
    """What a grid goes over; of an empty axis only what the target says."""

    targets: Sequence[str]
    k: Sequence[int] = ()
    models: Sequence[str] = ()
    rerankers: Sequence[str] = ()
    balances: Sequence[str] = ()


def configurations(axes: Axes, targets: Mapping[str, Target]) -> dict[Configuration, Target]:
    """All combinations, in the order of the axes, with the target that each comes to.

    Raises RequestError for what cannot be combined.
    """
    found: dict[Configuration, Target] = {}
    names: dict[str, Configuration] = {}
    for made in _products(axes):
        if made.target not in targets:
            known = ", ".join(targets)
            raise RequestError(f"There is no target {made.target}. Known targets: {known}.")
        other = names.setdefault(made.name, made)
        if other != made:
            raise RequestError(f"{made} and {other} would have the same name: {made.name}.")
        found[made] = made.of(targets[made.target])
    return found


def _products(axes: Axes) -> Iterator[Configuration]:
    return (
        Configuration(target=target, k=k, model=model, reranker=reranker, balance=balance)
        for target in axes.targets
        for k in axes.k or (None,)
        for model in axes.models or (None,)
        for reranker in axes.rerankers or (None,)
        for balance in axes.balances or (None,)
    )
