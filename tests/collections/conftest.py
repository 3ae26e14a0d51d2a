"""The old place of what tests of the page import; it is in `tests/server/conftest.py`."""

from tests.server.conftest import SEA as SEA
