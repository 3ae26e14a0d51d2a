"""The old place of what tests of the page import; it is in `tests/server/two_corpora.py`."""

from tests.server.two_corpora import COLLECTION as COLLECTION
from tests.server.two_corpora import TOKEN as TOKEN
from tests.server.two_corpora import Signed as Signed
from tests.server.two_corpora import guard as guard
