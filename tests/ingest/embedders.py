"""The old place of what other tests import; it is in `tests/server/ingest/embedders.py`."""

from tests.server.ingest.embedders import hashing as hashing
from tests.server.ingest.embedders import slowly_hashing as slowly_hashing
from tests.server.ingest.embedders import waiting as waiting
