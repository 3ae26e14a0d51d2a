"""What is kept of a collection beside what its live version holds: the next ingest builds it."""

import logging
from contextlib import closing

from atlas_search.building.kept_files import INGEST, kept_sources
from atlas_search.building.live import Live
from atlas_search.core.errors import AtlasError
from atlas_search.core.settings import Settings
from atlas_search.readers.files import files_reader
from atlas_search.stores.manifest import Manifest

log = logging.getLogger(__name__)


def kept_beside(settings: Settings) -> list[str]:
    """The kept files that the live version does not have, or has with another length, in order.

    Empty, and logged, where that cannot be found out.
    """
    kept = settings.ingest_root / settings.chroma_collection_name
    folder = settings.collection_folder
    if not kept.is_dir():
        return []
    try:
        sources = kept_sources(kept, None, files_reader().suffixes)
        with closing(Live(folder, Manifest.read(folder))) as live:
            held = {s.name: s.bytes for s in live.sources if s.origin == INGEST}
        return [f.name for f in sources.files if held.get(f.name) != f.path.stat().st_size]
    except (AtlasError, OSError):
        log.exception("The kept files of %s cannot be compared.", settings.chroma_collection_name)
        return []
