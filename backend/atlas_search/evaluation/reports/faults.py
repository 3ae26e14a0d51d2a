"""What could not be written, so that the rest is."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from atlas_search.core.errors import AtlasError

_log = logging.getLogger(__name__)

Made = TypeVar("Made")


class Fault(NamedTuple):
    """A part of a report that failed, and why."""

    report: str
    part: str
    error: str

    def __str__(self) -> str:  # noqa: D105
        of = f", {self.part}" if self.part else ""
        return f"{self.report}{of}: {self.error}"


@dataclass
class Faults:
    """All that failed so far, each once."""

    found: list[Fault] = field(default_factory=list)

    def add(self, report: str, part: str, error: Exception) -> Fault:
        """Keep why a part failed; what nobody raises on purpose is logged whole."""
        if isinstance(error, AtlasError | OSError):
            said = str(error)
        else:
            _log.error("%s: %s cannot be written.", report, part or "it", exc_info=error)
            said = f"{type(error).__name__}: {error}"
        fault = Fault(report, part, said)
        if fault not in self.found:
            self.found.append(fault)
        return fault

    def attempt(self, report: str, part: str, make: Callable[[], Made]) -> Made | Fault:
        """What `make` gives, else why it does not."""
        try:
            return make()
        except Exception as error:
            return self.add(report, part, error)
