"""Documents whose ids would be equal: two of one stem, and one whose stem ends as a digest does."""

from pathlib import Path

import pytest

from atlas_search.core.errors import SourceError
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, document_ids, write_sources

TWO = {"farm/sheep.txt": "Sheep give wool.\n", "farm/sheep.md": "Sheep sleep.\n"}


@pytest.mark.parametrize("at_once", [True, False])
def test_a_stem_that_ends_as_a_digest_does_is_told(tmp_path: Path, at_once: bool) -> None:
    build_tiny(write_sources(tmp_path / "s", TWO), tmp_path / "c", HashEmbedder())
    (first, _) = document_ids(tmp_path / "c")
    other = f"farm/{first.removeprefix('farm.')}.txt"
    write_sources(tmp_path / "s", TWO | {other: "Another.\n"})
    folder = tmp_path / ("new" if at_once else "c")
    with pytest.raises(SourceError, match=rf"both give the document {first}: rename one"):
        build_tiny(tmp_path / "s", folder, HashEmbedder())
    (tmp_path / "s" / other).unlink()
    build_tiny(tmp_path / "s", folder, HashEmbedder())
    assert len(document_ids(folder)) == 2
