"""Python's search for circular garbage, while lists of all documents grow."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 1_000_000
"""After so many the youngest are searched; Python does after some hundreds. Of one changed document
in a million passages the searches took half of the time, and found nothing. After 100,000 they took
a tenth of what was left."""

_lock = threading.Lock()
_before: list[tuple[int, int, int]] = []


@contextmanager
def rare_collections() -> Iterator[None]:
    """Search rarely, in this process; what nobody refers to goes at once as ever.

    As a decorator it lets go of what a function holds before Python searches again. Threads may be
    inside at once: the last one out puts things back.
    """
    with _lock:
        before = gc.get_threshold()
        _before.append(before)
        gc.set_threshold(max(_NEW_OBJECTS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                gc.set_threshold(*before)
