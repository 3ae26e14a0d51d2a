"""Tests that one worker runs together under pytest-xdist, and tests that begin first.

Its own `--dist loadgroup` does nothing here: pytest 9.2 ignores the names that it sets.
"""

from xdist.scheduler import LoadScopeScheduling

LONGEST = (
    "tests/installation/test_clone.py",
    "tests/phoenix/",
    "tests/building/test_kill.py",
    "tests/server/test_process.py",
)
"""These begin first, so that no worker is left with a long one at the end."""

IN_PHOENIX = ("tests/phoenix/", "tests/page/")
"""Folders whose tests need the one Phoenix: another one takes ten seconds of work to start."""


def together(nodeid: str) -> str:
    """The file of a test; for all tests that need the one Phoenix and its server, one name."""
    file = nodeid.partition("::")[0]
    return IN_PHOENIX[0] if file.startswith(IN_PHOENIX) else file


def turn(nodeid: str) -> int:
    """A number to sort tests by: smaller ones begin earlier."""
    name = together(nodeid)
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


class Together(LoadScopeScheduling):
    """Gives a worker all tests that belong together."""

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid)
