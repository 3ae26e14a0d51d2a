"""Which tests one worker runs together under pytest-xdist, and which begin first.

Its own `--dist loadgroup` does nothing here: pytest 9.2 ignores the names that it sets.
"""

from xdist.scheduler import LoadScopeScheduling

LONGEST = ("test_clone", "phoenix", "test_phoenix_beside", "test_server", "test_kill")
"""These begin first, so that no worker is left with a long one at the end."""

IN_PHOENIX = (
    "/test_phoenix.py",
    "/test_real_phoenix.py",
    "/test_phoenix_filters.py",
    "/test_phoenix_responses.py",
    "/traces/test_filters.py",
)
"""Files that need the one Phoenix: another one takes ten seconds of work to start."""


def together(nodeid: str) -> str:
    """The file of a test; for all tests that need the one Phoenix and its server, one name."""
    file = nodeid.partition("::")[0]
    if "/page/" in file or "/phoenix/" in file or file.endswith(IN_PHOENIX):
        return "phoenix"
    return file


def turn(nodeid: str) -> int:
    """A number to sort tests by: smaller ones begin earlier."""
    name = together(nodeid).rpartition("/")[2].removesuffix(".py")
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


class Together(LoadScopeScheduling):
    """Gives a worker all tests that belong together."""

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid)
