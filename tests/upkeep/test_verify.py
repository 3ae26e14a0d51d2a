"""`atlas store verify`: damage is found in the part where it is, and mended there."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.building.maintain import NeedsSources, repair
from atlas_search.stores import verify as verifying
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from atlas_search.stores.versions import remove_old, versions
from tests.hash_embedder import HashEmbedder
from tests.tiny import all_vectors, build_tiny, contents, live, silent
from tests.upkeep.damage import DAMAGE, PARTS, Atlas, damaged, flip


def test_a_whole_version_has_no_problem(folder: Path) -> None:
    findings = verify(folder, Manifest.read(folder))
    assert [found.part for found in findings] == PARTS
    assert {found.problem for found in findings} == {""}
    assert findings[1].checked == "4 documents, every span of 4 passages"


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
    problems = {f.part: f.problem for f in verify(folder, Manifest.read(folder)) if f.problem}
    assert part in problems
    for other in problems.keys() - {part}:
        assert problems[other].startswith("cannot be checked: ")
    hashes = HashEmbedder()
    if part == "records.sqlite":
        with pytest.raises(NeedsSources, match="The documents of c are damaged"):
            repair(folder, hashes, silent)
        assert Manifest.read(folder).version == before
        return
    manifest, findings, embedded = repair(folder, hashes, silent)
    assert {found.part for found in findings if found.problem} == problems.keys()
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


def test_verify_prints_every_part(folder: Path, atlas: Atlas) -> None:
    code, said, _ = atlas("verify", "c")
    assert code == 0
    assert "4 documents, every span of 4 passages" in said
    assert [part for part in PARTS if part not in said] == []
    flip(live(folder) / "tokens/words.flat.npy", -1)
    code, said, error = atlas("verify")
    assert code == 1
    assert "damaged: tokens/words.flat.npy is not as it was written" in said
    assert error == "atlas: Run `atlas store repair c`.\n"
    code, said, _ = atlas("verify", "--json")
    findings = json.loads(said)
    assert code == 1
    assert [f["part"] for f in findings if f["problem"]] == ["tokens", "keywords"]
    code, said, _ = atlas("repair")
    assert code == 0
    assert f"Repaired: version {Manifest.read(folder).version} is live, 0 passages" in said
    assert atlas("verify")[0] == 0
