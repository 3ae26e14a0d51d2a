"""Who asks, and in which conversation: said on every span, so that each can be found by it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from openinference.semconv.trace import SpanAttributes

from atlas_search.core.tracing.gen_ai import CONVERSATION


@dataclass(frozen=True, slots=True)
class Ids:
    """The conversation, the answer, and whose key it was asked with; what is empty is not said."""

    session_id: str = ""
    qa_id: str = ""
    user_id: str = ""

    def attributes(self) -> dict[str, str]:
        """As attributes of a span."""
        said = {
            SpanAttributes.SESSION_ID: self.session_id,
            CONVERSATION: self.session_id,
            SpanAttributes.USER_ID: self.user_id,
            "qa_id": self.qa_id,
        }
        return {name: value for name, value in said.items() if value}


_NOBODY = Ids()
_present: ContextVar[Ids] = ContextVar("ids", default=_NOBODY)


def present_ids() -> Ids:
    """Those of what is being done; a thread has them if it got a copy of the context."""
    return _present.get()


@contextmanager
def identify(ids: Ids) -> Iterator[None]:
    """Say these ids on every span that opens inside the block."""
    before = _present.set(ids)
    try:
        yield
    finally:
        _present.reset(before)
