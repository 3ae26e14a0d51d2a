"""The old place of what other tests import; it is in `tests/server/ingest/handing.py`."""

from tests.server.ingest.handing import ADMINISTRATOR as ADMINISTRATOR
from tests.server.ingest.handing import BEES as BEES
from tests.server.ingest.handing import COLLECTION as COLLECTION
from tests.server.ingest.handing import PATIENCE as PATIENCE
from tests.server.ingest.handing import detail as detail
from tests.server.ingest.handing import documents as documents
from tests.server.ingest.handing import done as done
from tests.server.ingest.handing import ended as ended
from tests.server.ingest.handing import job_of as job_of
from tests.server.ingest.handing import send as send
from tests.server.ingest.handing import served_by as served_by
from tests.server.ingest.handing import settings_for as settings_for
