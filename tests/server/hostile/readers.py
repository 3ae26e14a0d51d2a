"""Readers that do to their process what a hostile file makes a parser do.

Each file holds one word, which says what. They are in a module of their own, so that another
process can find them, and loads nothing else with them.
"""

import ctypes
import errno
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from atlas_search.readers import Draft, Read

LINE = "Sheep give wool. "


@dataclass(frozen=True)
class HostileReader:
    """Does what each file says, after giving one document of it; else reads it as text.

    The id of the process that reads is added to `log`, if there is one.
    """

    log: str = ""
    suffixes: ClassVar[frozenset[str]] = frozenset({".txt"})
    options: ClassVar[Mapping[str, object]] = {"version": 1}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        if self.log:
            with open(self.log, "a") as log:
                log.write(f"{os.getpid()}\n")
        text = path.read_text()
        yield Draft(text, key="first")
        yield from DEEDS.get(text.split()[0], _nothing)()


class LocalReader(HostileReader):
    """Cannot be sent to another process."""

    def __reduce__(self) -> str:
        raise TypeError("this reader holds a connection")


def _nothing() -> Iterator[Read]:
    return iter(())


def _crash() -> Iterator[Read]:
    ctypes.string_at(0)
    return iter(())


def _abort() -> Iterator[Read]:
    os.abort()


def _fill() -> Iterator[Read]:
    held = []
    while True:
        held.append(bytearray(10_000_000))


def _swallow() -> Iterator[Read]:
    """As libraries do that catch whatever they meet."""
    try:
        list(_fill())
    except MemoryError:
        raise ValueError("the file is damaged") from None
    return iter(())


def _compute() -> Iterator[Read]:
    # one call that holds the lock of the interpreter for years
    re.match(r"(a+)+$", "a" * 100 + "b")
    return iter(())


def _wait() -> Iterator[Read]:
    while True:
        time.sleep(60)


def _end() -> Iterator[Read]:
    os.kill(os.getpid(), signal.SIGKILL)
    return iter(())


def _leave() -> Iterator[Read]:
    sys.exit(3)


def _flood() -> Iterator[Read]:
    for number in range(10**9):
        yield Draft(LINE * 1000, key=str(number))


def _lose() -> Iterator[Read]:
    """As where the disk goes away."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def _spoil() -> Iterator[Read]:
    """As libraries do that take a damaged file for one that cannot be opened."""
    raise OSError("the file is damaged")


def _complain() -> Iterator[Read]:
    from atlas_search.readers import Skipped

    for number in range(30_000):
        yield Skipped("it holds no text", str(number))


def _halve() -> Iterator[Read]:
    yield Draft("Sheep \ud83d", key="text")
    yield Draft("Sheep.", key="field", metadata={"kind": ["\udc00"]})


def _recurse() -> Iterator[Read]:
    yield from _recurse()


def _imported() -> Iterator[Read]:
    yield Draft(" ".join(sorted(sys.modules)), key="imported")


DEEDS: Mapping[str, Callable[[], Iterator[Read]]] = {
    "crash": _crash,
    "abort": _abort,
    "fill": _fill,
    "swallow": _swallow,
    "compute": _compute,
    "wait": _wait,
    "end": _end,
    "leave": _leave,
    "flood": _flood,
    "lose": _lose,
    "spoil": _spoil,
    "complain": _complain,
    "halve": _halve,
    "recurse": _recurse,
    "imported": _imported,
}
