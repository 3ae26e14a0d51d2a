"""Who is judged by a run: a target, here or on a server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.asker import Asker
from atlas_search.evaluation.labels.documents import Collection
from atlas_search.evaluation.metrics.metric import Tools
from atlas_search.evaluation.run import RunSpec
from atlas_search.providers.chat import Health

SERVER = "server"
"""Whose version of Atlas is asked, among the versions of a run."""


@dataclass(frozen=True)
class Facts:
    """What is known of a target before it is asked; see RunSpec for the names.

    `corpora` are those that questions without a choice of their own are asked of; `settings` are
    what answers depend on beside the `options`.
    """

    where: str
    target: str
    composite_target: str
    options: Mapping[str, Any]
    collection: str
    collection_version: str
    corpora: tuple[str, ...]
    settings: Mapping[str, str]
    versions: Mapping[str, str]


class Subject(Protocol):
    """A target that can be asked, and what its replies are judged with."""

    @property
    def facts(self) -> Facts:
        """What is known of it since it was opened."""

    def now(self) -> Facts:
        """What is known of it at this moment. Raises AtlasError."""

    @property
    def tracer(self) -> Tracer:
        """What opens the trace of the run."""

    def asker(self, spec: RunSpec) -> Asker:
        """Who asks it for a run."""

    def tools(self, k: int | None) -> Tools:
        """What its replies are judged with, of `k` passages where that is said."""

    def language_model(self) -> Health:
        """Whether the language model that it writes with can be used, asked for now."""

    @property
    def documents(self) -> Collection:
        """The documents that labels may be about."""
