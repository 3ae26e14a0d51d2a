"""How ingested documents are cut: what was asked, within bounds, and what came of it."""

from atlas_search.building.chunking import Chunking, chunking
from atlas_search.building.kept_files import INGEST
from atlas_search.core.errors import MissingStore
from atlas_search.core.settings import Settings
from atlas_search.server.ingest.documents import ChunksOut, ClampedOut
from atlas_search.stores.manifest import Manifest, Origin

LEAST, MOST = 100, 4000  # characters of a passage


def ingest_origin(settings: Settings) -> Origin | None:
    """What the collection says of its ingested documents; None if it is lost, or has had none."""
    try:
        return Manifest.read(settings.collection_folder).origins.get(INGEST)
    except MissingStore:
        return None


def choose_chunks(
    size: int | None, overlap: int | None, before: Origin | None
) -> tuple[Chunking, ChunksOut]:
    """The cut for all ingested documents of a collection, and what is said of it.

    What is not asked for stays as it is `before`. A size is brought within LEAST and MOST, an
    overlap within 0 and half the size.
    """
    given = [size, overlap]
    if size is None and before:
        size, overlap = before.size, before.overlap if overlap is None else overlap
    clamped = []
    if size is not None and (used := min(max(size, LEAST), MOST)) != size:
        clamped.append(ClampedOut(setting="chunk_size", asked=size, used=used))
        size = used
    chosen = chunking(size=size)
    if overlap is not None:
        used = min(max(overlap, 0), chosen.size // 2)
        if used != overlap:
            clamped.append(ClampedOut(setting="chunk_overlap", asked=overlap, used=used))
        chosen = chunking(size=chosen.size, overlap=used)
    recut = before is not None and (chosen.size, chosen.overlap) != (before.size, before.overlap)
    said = ChunksOut(
        size=chosen.size,
        overlap=chosen.overlap,
        defaults=given == [None, None],
        clamped=clamped,
        recut=before.documents if before and recut else 0,
    )
    return chosen, said
