"""The old place of what other tests import; it is in `tests/server/ingest/handing.py`."""

from tests.server.ingest.handing import child as child
from tests.server.ingest.handing import embedding as embedding
from tests.server.ingest.handing import running as running
