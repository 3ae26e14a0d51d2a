"""What every trace that some work begins says of it, such as the run of an evaluation."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_LABELS: ContextVar[Mapping[str, str]] = ContextVar("labels", default={})  # noqa: B039


@contextmanager
def label_traces(**labels: str) -> Iterator[None]:
    """Set these attributes on every root that the present thread opens while the block runs."""
    before = _LABELS.set({**_LABELS.get(), **labels})
    try:
        yield
    finally:
        _LABELS.reset(before)


def present_labels() -> Mapping[str, str]:
    """Those of the present thread."""
    return _LABELS.get()
