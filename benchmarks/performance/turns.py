"""Calls in turns: what else the machine does slows all of them."""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TypeVar

T = TypeVar("T")


def medians(
    ways: Mapping[str, Callable[[T], object]], given: Sequence[T], rounds: int, warming: int = 10
) -> dict[str, float]:
    """Milliseconds of this process's processor a call, by way.

    Each of `given` goes through all ways one after another, in another order each time. For each
    the fastest round counts, and of these the median.
    """
    for each in given[:warming]:
        for work in ways.values():
            work(each)
    taken: dict[str, list[list[float]]] = {name: [[] for _ in given] for name in ways}
    names = list(ways)
    for number in range(rounds):
        for at, each in enumerate(given):
            first = (number + at) % len(names)
            for name in names[first:] + names[:first]:
                began = time.process_time()
                ways[name](each)
                taken[name][at].append((time.process_time() - began) * 1000)
    return {name: median(map(min, of)) for name, of in taken.items()}
