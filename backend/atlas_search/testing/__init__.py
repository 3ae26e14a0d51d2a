"""Contract suites: what every reader, embedder, chat model, reranker, reader model, redaction and
store does, as pytest classes.

A package that offers such a part subclasses the suite in its tests and gives the fixtures that the
suite names. Needs pytest.
"""

from atlas_search.testing.chat_models import ChatModelContract
from atlas_search.testing.embedders import EmbedderContract
from atlas_search.testing.reader_models import ReaderModelContract
from atlas_search.testing.readers import ReaderContract
from atlas_search.testing.redactions import RedactionContract
from atlas_search.testing.rerankers import RerankerContract
from atlas_search.testing.stores import StoreContract

__all__ = [
    "ChatModelContract",
    "EmbedderContract",
    "ReaderContract",
    "ReaderModelContract",
    "RedactionContract",
    "RerankerContract",
    "StoreContract",
]
