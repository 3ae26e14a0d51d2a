"""What Phoenix may see of an evaluation: what traces may hold, and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atlas_search.core.settings import Settings
from atlas_search.core.telemetry.redaction import SpanMask, open_redactions
from atlas_search.core.telemetry.span import digest


@dataclass(frozen=True)
class Shown:
    """With `content` all, its texts as `mask` gives them; without it ids and figures alone."""

    content: bool
    mask: Callable[[str], str]

    def id(self, id_: str) -> str:
        """The id of a document or passage, as in traces: a digest where there is no content."""
        return id_ if self.content else digest(id_)

    def texts(self, value: Any) -> Any:
        """The same value with every text in it masked."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {name: self.texts(each) for name, each in value.items()}
        if isinstance(value, Sequence):
            return [self.texts(each) for each in value]
        return value


def shown_by(settings: Settings) -> Shown:
    """As TRACE_CONTENT and TRACE_REDACT say. Raises ConfigurationError."""
    return Shown(settings.trace_content, SpanMask(open_redactions(settings)).text)
