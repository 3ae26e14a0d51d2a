"""What the system knows of this process."""

import os
import resource
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from atlas_search.core.metrics.metrics import Read, Reading

_OWN = Path("/proc/self")  # of Linux; elsewhere only time is told


def process_readings() -> Mapping[str, Read]:
    """The readings of this process, by instrument."""
    begun = time.monotonic()
    return {
        "process.memory.usage": _memory,
        "process.cpu.time": _processor,
        "process.thread.count": lambda: _entries("task"),
        "process.unix.file_descriptor.count": lambda: _entries("fd"),
        "process.uptime": lambda: [(time.monotonic() - begun, {})],
    }


def _memory() -> list[Reading]:
    with suppress(OSError):
        pages = int((_OWN / "statm").read_text().split()[1])
        return [(pages * resource.getpagesize(), {})]
    return []


def _processor() -> list[Reading]:
    spent = os.times()
    return [(spent.user, {"cpu.mode": "user"}), (spent.system, {"cpu.mode": "system"})]


def _entries(folder: str) -> list[Reading]:
    with suppress(OSError):
        return [(len(os.listdir(_OWN / folder)), {})]
    return []
