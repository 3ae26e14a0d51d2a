"""A table of which some records changed: the others are neither cut nor analysed again."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.building import prepare
from atlas_search.building.document_ids import Changes
from atlas_search.building.flow import BuildReport
from tests.hash_embedder import HashEmbedder
from tests.tiny import all_vectors, build_tiny, contents, write_sources
from tests.updates.changes import problems

Records = dict[str, str]
RECORDS = {f"r{n}": f"Ship {n} carries wool.\n\nIt is law {n}." for n in range(40)}


@pytest.fixture
def table(tmp_path: Path) -> Callable[[Records], Path]:
    def write(records: Records) -> Path:
        lines = (json.dumps({"id": key, "text": text}) for key, text in records.items())
        return write_sources(tmp_path / "port", {"port/ships.jsonl": "\n".join(lines) + "\n"})

    return write


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts of the documents that were cut into passages."""
    seen: list[str] = []
    original = prepare.passage_spans

    def spy(document: object, *rest: object) -> object:
        seen.append(document.text)  # type: ignore[attr-defined]
        return original(document, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(prepare, "passage_spans", spy)
    return seen


def build(source: Path, folder: Path, **options: Any) -> BuildReport:
    return build_tiny(source, folder, HashEmbedder(), kind="jsonl", **options)


def require_like_new(source: Path, folder: Path, **options: Any) -> None:
    """Equal to a collection that is built at once from the same table."""
    at_once = folder.with_name("at-once")
    build(source, at_once, **options)
    assert not problems(folder)
    assert contents(folder) == contents(at_once)
    assert np.array_equal(all_vectors(folder), all_vectors(at_once))


def test_only_records_that_changed_are_cut_again(
    tmp_path: Path, table: Callable[[Records], Path], cut: list[str]
) -> None:
    build(table(RECORDS), tmp_path / "c")
    cut.clear()
    changed = {**RECORDS, "r7": "Ship 7 is lost.", "new": "A new ship.", "r3": RECORDS["r4"]}
    del changed["r11"]
    source = table(changed)
    report = build(source, tmp_path / "c")
    assert report.changes == Changes(added=1, changed=2, unchanged=37, removed=1)
    assert sorted(cut) == sorted([changed["r7"], changed["new"], changed["r3"]])
    assert report.files[0].documents == len(changed)
    require_like_new(source, tmp_path / "c")


def test_all_records_are_cut_again_in_another_way(
    tmp_path: Path, table: Callable[[Records], Path], cut: list[str]
) -> None:
    build(table(RECORDS), tmp_path / "c")
    cut.clear()
    source = table({**RECORDS, "new": "A new ship."})
    build(source, tmp_path / "c", size=50, overlap=0)
    assert len(cut) == 41
    require_like_new(source, tmp_path / "c", size=50, overlap=0)


def test_a_forced_build_reads_all(
    tmp_path: Path, table: Callable[[Records], Path], cut: list[str]
) -> None:
    source = table(RECORDS)
    build(source, tmp_path / "c")
    cut.clear()
    build(source, tmp_path / "c", force=True)
    assert len(cut) == 40


class Ended(Exception):
    """The build is ended from outside."""


class Ending(HashEmbedder):
    """Ends the build when the first text is to be embedded: all is staged then."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise Ended


@pytest.fixture
def begun(tmp_path: Path, table: Callable[[Records], Path]) -> Path:
    """A table whose changes were read by a build that did not come to its end."""
    build(table(RECORDS), tmp_path / "c")
    source = table({**RECORDS, "r7": "Ship 7 is lost."})
    with pytest.raises(Ended):
        build_tiny(source, tmp_path / "c", Ending(), kind="jsonl")
    return source


def test_an_ended_build_goes_on_with_what_it_had_read(
    tmp_path: Path, begun: Path, cut: list[str]
) -> None:
    cut.clear()
    report = build(begun, tmp_path / "c")
    assert (report.read, cut) == (0, [])
    assert report.changes == Changes(added=0, changed=1, unchanged=39, removed=0)
    require_like_new(begun, tmp_path / "c")


@pytest.mark.parametrize("force", [False, True], ids=["as before", "forced"])
def test_what_was_kept_is_read_if_the_live_version_has_it_no_longer(
    tmp_path: Path, begun: Path, force: bool
) -> None:
    folder = tmp_path / "c"
    staged = (folder / "staging.sqlite").read_bytes()
    other = write_sources(tmp_path / "other", {"port/ships.jsonl": '{"id": "r1", "text": "x"}\n'})
    build(other, folder)
    (folder / "staging.sqlite").write_bytes(staged)
    report = build(begun, folder, force=force)
    assert report.read == 1
    require_like_new(begun, folder)
