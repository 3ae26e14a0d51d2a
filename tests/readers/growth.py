"""How the time of a function grows with what it is given."""

from collections.abc import Callable
from time import process_time
from typing import TypeVar

TRIES = 4  # of a ratio that is too high: something else may have run beside it
MOST = 9.0
"""Times as long as for a quarter: in proportion it is 4, with the square 16."""

T = TypeVar("T")


def grows_evenly(read: Callable[[T], object], make: Callable[[int], T], size: int) -> bool:
    """Whether `read` takes time in proportion to the size of what it is given.

    Of `size` and of four times that something is made; to read the first should take 5 ms or more.
    """
    short, long = make(size), make(4 * size)
    return any(_time(read, long) <= MOST * _time(read, short) for _ in range(TRIES))


def _time(read: Callable[[T], object], given: T) -> float:
    started = process_time()
    read(given)
    return process_time() - started
