"""Ending a command when it is told to: in order, within a bound, at the second signal at once."""

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import NoReturn

LAST_SECONDS = 7.0  # then whatever still holds on is left behind

_groups: set["subprocess.Popen[bytes]"] = set()
"""Processes that lead a group of their own, which would outlive this one."""


def stop_on_signal() -> None:
    """Let SIGTERM, SIGINT and SIGHUP raise KeyboardInterrupt; the second ends everything at once.

    SIGINT too: a shell starts background commands with it ignored. SIGHUP is a closed terminal,
    which shell and system may both tell: a second one means nothing.
    """
    stopping = False

    def interrupt(number: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        if stopping and number == signal.SIGHUP:
            return
        if stopping:
            _end_at_once(128 + number)
        stopping = True
        last = threading.Timer(LAST_SECONDS, _give_up)
        last.daemon = True
        last.start()
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupt)


def end_process(code: int) -> NoReturn:
    """End now that all is closed and sent.

    Taking the interpreter apart writes nothing more, and takes seconds with the libraries of a
    model on a busy machine, when no timer runs that could cut it short.
    """
    for child in multiprocessing.active_children():
        child.kill()  # the interpreter would: they are daemons
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # whoever read it may have gone
            stream.flush()
    _end_at_once(code)


def end_with_this(process: "subprocess.Popen[bytes]") -> None:
    """See to it that a process which leads a group ends even if this one has to end at once."""
    _groups.add(process)


def signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Send a signal to a process and those it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _give_up() -> None:
    print("atlas: not everything ended in time; it is left behind.", file=sys.stderr, flush=True)
    _end_at_once(1)


def _end_at_once(code: int) -> NoReturn:
    for process in list(_groups):
        if process.poll() is None:
            signal_group(process, signal.SIGKILL)
    os._exit(code)
