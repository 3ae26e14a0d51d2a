"""What the process of a job embeds with. It imports this module, so nothing of a server is here."""

import time

from atlas_search.core.settings import Settings
from tests.hash_embedder import HashEmbedder


def hashing(settings: Settings) -> HashEmbedder:
    """Vectors of hashes."""
    return HashEmbedder()


def slowly_hashing(settings: Settings) -> HashEmbedder:
    """The same, so slowly that a build can be met."""
    return HashEmbedder(delay=20.0)


def waiting(settings: Settings) -> HashEmbedder:
    """The same, once there is a file `go` beside the kept files."""
    while not (settings.ingest_root / "go").exists():
        time.sleep(0.05)
    return HashEmbedder()
