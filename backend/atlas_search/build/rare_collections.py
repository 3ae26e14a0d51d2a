"""Python's search for circular garbage, while lists of all documents grow."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 100_000
"""After so many the youngest are searched; Python does after some hundreds. Of one changed document
in a million passages the searches took half of the time, and found nothing."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Search rarely, in this process; what nobody refers to goes at once as ever."""
    before = gc.get_threshold()
    gc.set_threshold(max(_NEW_OBJECTS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
