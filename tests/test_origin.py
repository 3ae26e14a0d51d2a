"""The old place of what other tests import; it is in `tests/server/access/test_origin.py`."""

from tests.server.access.test_origin import app_with as app_with
from tests.server.access.test_origin import client_with as client_with
