"""`atlas store verify`: damage is found in the part where it is, and mended there."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.building.maintain import NeedsSources, repair
from atlas_search.cli.doctor import check_store
from atlas_search.core.errors import DamagedStore
from atlas_search.core.settings import Settings
from atlas_search.server.serving import Serving
from atlas_search.stores import verify as verifying
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from atlas_search.stores.versions import remove_old, versions
from tests.building.conftest import AtlasStore
from tests.building.damage import DAMAGE, PARTS, Damage, cut_short, damaged, flip, lose, problems
from tests.hash_embedder import HashEmbedder
from tests.tiny import all_vectors, build_tiny, contents, live, silent


def test_a_whole_version_has_no_problem(folder: Path) -> None:
    findings = verify(folder, Manifest.read(folder))
    assert [found.part for found in findings] == PARTS
    assert {found.problem for found in findings} == {""}
    assert findings[1].checked == "3 documents, every span of 3 passages"


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_in_the_part_where_it_is_and_mended(
    folder: Path,
    source: Path,
    whole: tuple[dict[str, Any], NDArray[np.float32]],
    name: str,
) -> None:
    before = Manifest.read(folder).version
    part, damage = DAMAGE[name]
    damage(live(folder))
    reported = dict(problem.split(": ", 1) for problem in problems(folder))
    assert part in reported
    for other in reported.keys() - {part}:
        assert reported[other].startswith("cannot be checked: ")
    hashes = HashEmbedder()
    if part == "records.sqlite":
        with pytest.raises(NeedsSources, match="The documents of c are damaged"):
            repair(folder, hashes, silent)
        assert Manifest.read(folder).version == before
        return
    manifest, findings, embedded = repair(folder, hashes, silent)
    assert {found.part for found in findings if found.problem} == reported.keys()
    assert (embedded, hashes.embedded) == (0, 0)
    assert damaged(folder) == []
    assert contents(folder) == whole[0]
    assert np.allclose(all_vectors(folder), whole[1], atol=1e-6)
    assert [m.version for m in versions(folder)] == [manifest.version]
    assert (manifest.version == before) == (part == "manifest.json")
    assert build_tiny(source, folder, hashes).unchanged


def test_a_version_is_not_removed_while_it_is_verified(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = verifying._check_records

    def meanwhile(version: Any) -> str:
        remove_old(folder, set())  # as the second of two builds does
        return check(version)

    monkeypatch.setattr(verifying, "_check_records", meanwhile)
    assert {found.problem for found in verify(folder, Manifest.read(folder))} == {""}


def test_verify_prints_every_part(folder: Path, atlas_store: AtlasStore) -> None:
    code, output, _ = atlas_store("verify", "c")
    assert code == 0
    assert "3 documents, every span of 3 passages" in output
    assert [part for part in PARTS if part not in output] == []
    flip(live(folder) / "tokens/words.flat.npy", -1)
    code, output, error = atlas_store("verify")
    assert code == 1
    assert "damaged: tokens/words.flat.npy is not as it was written" in output
    assert error == "atlas: Run `atlas store repair c`.\n"
    code, output, _ = atlas_store("verify", "--json")
    assert code == 1
    assert [f["part"] for f in json.loads(output) if f["problem"]] == ["tokens", "keywords"]
    code, output, _ = atlas_store("repair")
    assert code == 0
    assert f"Repaired: version {Manifest.read(folder).version} is live, 0 passages" in output
    assert atlas_store("verify")[0] == 0


# doctor and a server that starts name the command that works for the file that is damaged

DOCUMENTS: dict[str, Damage] = {
    "a byte": lambda version: flip(version / "records.sqlite", 5000),
    "cut short": lambda version: cut_short(version / "records.sqlite"),
    "lost": lose("records.sqlite"),
}


def remedies(folder: Path) -> tuple[str, str]:
    """Return the messages of doctor and of the server that does not start."""
    settings = Settings(chroma_persist_directory=folder.parent, chroma_collection_name=folder.name)
    with pytest.raises(DamagedStore) as refused:
        Serving(settings, HashEmbedder()).close()
    check = check_store(settings)
    assert check.state == "fault"
    return check.detail, str(refused.value)


@pytest.mark.parametrize("damage", DOCUMENTS)
def test_damaged_documents_are_built_again_or_left_behind(
    folder: Path, source: Path, two: list[str], damage: str
) -> None:
    DOCUMENTS[damage](live(folder))
    for words in remedies(folder):
        assert "atlas store repair" not in words
        assert f"Build it again from its sources: `atlas create txt {source} --collection" in words
        assert "--force` or go back: `atlas store rollback c`." in words


def test_other_parts_are_made_anew_from_the_documents(folder: Path) -> None:
    flip(live(folder) / "tokens" / "words.offsets.npy", -2)
    for words in remedies(folder):
        assert "Run `atlas store repair c`." in words


def test_where_both_are_damaged_only_the_sources_help(folder: Path) -> None:
    flip(live(folder) / "tokens" / "words.offsets.npy", -2)
    flip(live(folder) / "records.sqlite", 5000)
    for words in remedies(folder):
        assert "atlas store repair" not in words
        assert "words.offsets.npy is not as it was written" in words
