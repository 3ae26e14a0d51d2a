"""Doctor and the server name the command that works for the file that is damaged."""

from pathlib import Path

import pytest

from atlas_search.cli.doctor import check_store
from atlas_search.core.errors import DamagedStore
from atlas_search.core.settings import Settings
from atlas_search.server.serving import Serving
from tests.hash_embedder import HashEmbedder
from tests.tiny import live
from tests.upkeep.damage import Damage, cut_short, flip, lose

DOCUMENTS: dict[str, Damage] = {
    "a byte": lambda version: flip(version / "records.sqlite", 5000),
    "cut short": lambda version: cut_short(version / "records.sqlite"),
    "lost": lose("records.sqlite"),
}


def said(folder: Path) -> tuple[str, str]:
    """What doctor says of a collection, and the server that does not start with it."""
    settings = Settings(chroma_persist_directory=folder.parent, chroma_collection_name=folder.name)
    with pytest.raises(DamagedStore) as refused:
        Serving(settings, HashEmbedder()).close()
    found = check_store(settings)
    assert found.state == "fault"
    return found.detail, str(refused.value)


@pytest.mark.parametrize("damage", DOCUMENTS)
def test_damaged_documents_are_built_again_or_left_behind(
    folder: Path, source: Path, two: list[str], damage: str
) -> None:
    DOCUMENTS[damage](live(folder))
    for words in said(folder):
        assert "atlas store repair" not in words
        assert f"Build it again from its sources: `atlas create txt {source} --collection" in words
        assert "--force` or go back: `atlas store rollback c`." in words


def test_other_parts_are_made_anew_from_the_documents(folder: Path) -> None:
    flip(live(folder) / "tokens" / "words.offsets.npy", -2)
    for words in said(folder):
        assert "Run `atlas store repair c`." in words


def test_where_both_are_damaged_only_the_sources_help(folder: Path) -> None:
    flip(live(folder) / "tokens" / "words.offsets.npy", -2)
    flip(live(folder) / "records.sqlite", 5000)
    for words in said(folder):
        assert "atlas store repair" not in words
        assert "words.offsets.npy is not as it was written" in words
