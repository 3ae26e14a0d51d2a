"""The old place of what tests of the page import; it is in `tests/server/test_collections.py`."""

from tests.server.test_collections import SEA as SEA
