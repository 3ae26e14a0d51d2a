"""Several origins in one collection: each is updated alone and cut in its own way."""

from pathlib import Path

from atlas_search.building.document_ids import Changes
from atlas_search.stores.manifest import Manifest
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, contents, document_ids
from tests.updates.changes import TABLE, change


def test_a_second_origin_does_not_remove_the_first(two_origins: Path, folder: Path) -> None:
    assert document_ids(folder) == [
        *("farm.cows", "farm.r1", "farm.r2", "farm.sheep"),
        *("port.r1", "port.r2", "town.trade"),
    ]
    origins = Manifest.read(folder).origins
    assert {kind: origin.documents for kind, origin in origins.items()} == {"csv": 4, "txt": 3}


def test_each_origin_is_updated_alone(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    assert build_tiny(source, folder, hashes).unchanged
    change(two_origins, {"port/ships.csv": TABLE.replace("r2,Ships carry cloth.\n", "")})
    assert build_tiny(two_origins, folder, hashes, kind="csv").changes == Changes(0, 0, 6, 1)
    change(source, {"farm/cows.txt": None, "farm/goats.txt": "Goats climb."})
    assert build_tiny(source, folder, hashes).changes == Changes(1, 0, 5, 1)
    assert document_ids(folder) == [
        *("farm.goats", "farm.r1", "farm.r2", "farm.sheep"),
        *("port.r1", "town.trade"),
    ]
    assert hashes.embedded == 3


def test_the_order_of_origins_does_not_matter(
    two_origins: Path, source: Path, folder: Path, tmp_path: Path, hashes: HashEmbedder
) -> None:
    build_tiny(two_origins, tmp_path / "c2", hashes, kind="csv")
    build_tiny(source, tmp_path / "c2", hashes)
    assert contents(tmp_path / "c2") == contents(folder)


def test_each_origin_is_cut_in_its_own_way(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    build_tiny(source, folder, hashes, splitter="sentence")
    origins = Manifest.read(folder).origins
    assert (origins["txt"].splitter, origins["csv"].splitter) == ("sentence", "recursive")
    assert build_tiny(two_origins, folder, hashes, kind="csv").unchanged
