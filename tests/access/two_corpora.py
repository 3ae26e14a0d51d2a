"""The old place of what other tests import; it is in `tests/server/two_corpora.py`."""

from tests.server.two_corpora import OPEN as OPEN
from tests.server.two_corpora import PLANTED as PLANTED
from tests.server.two_corpora import QUESTION as QUESTION
from tests.server.two_corpora import SECRET_QUESTION as SECRET_QUESTION
from tests.server.two_corpora import VAULT as VAULT
from tests.server.two_corpora import build_open as build_open
from tests.server.two_corpora import two_corpora as two_corpora
