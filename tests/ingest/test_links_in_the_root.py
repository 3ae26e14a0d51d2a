"""A folder that becomes a link, before or while files are taken in, leads nowhere."""

from pathlib import Path

import pytest

from atlas_search.core.errors import Conflict, RequestError
from atlas_search.server.ingest.arrival import (
    MOST_FILES,
    MOST_LEFT_OUT,
    Arrival,
    Handed,
    Places,
    UploadLimits,
    files_below,
    path_below,
    take_in,
)

LIMITS = UploadLimits(1_000_000, 10_000_000, frozenset({".txt"}))
PLACES = ("farm/.jobs/20260102T030405-0a1b2c3d/documents", "farm/documents")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a folder `inbox` of two files."""
    folder = tmp_path / "root" / "inbox" / "inner"
    folder.mkdir(parents=True)
    (folder.parent / "ants.txt").write_text("Ants carry leaves.")
    (folder / "bees.txt").write_text("Bees give honey.")
    return tmp_path / "root"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "bees.txt").write_text("Do not read this.")
    return folder


def found(root: Path, path: str) -> list[Handed]:
    return files_below(root, path_below(root, path), LIMITS.suffixes)


def taken(root: Path, handed: list[Handed]) -> Arrival:
    places = Places(root, *(Path(place) for place in PLACES))
    return take_in(handed, places, LIMITS, replace=False, waiting=())


def swap(folder: Path, outside: Path) -> None:
    folder.rename(folder.with_name(f".{folder.name}"))
    folder.symlink_to(outside)


@pytest.mark.parametrize("path", ["inbox", "inbox/inner", "inbox/inner/bees.txt"])
def test_a_folder_that_becomes_a_link_after_it_was_listed_is_not_followed(
    root: Path, outside: Path, path: str
) -> None:
    handed = found(root, path)
    swap(root / "inbox" / "inner", outside)
    with pytest.raises(RequestError, match="cannot be read"):
        taken(root, handed)
    assert not list(root.rglob(f"{PLACES[0]}/**/bees.txt"))


def test_nor_one_that_becomes_a_link_before_it_is_listed(root: Path, outside: Path) -> None:
    meant = path_below(root, "inbox/inner")
    swap(root / "inbox" / "inner", outside)
    with pytest.raises(RequestError, match="cannot be listed"):
        files_below(root, meant, LIMITS.suffixes)


def test_one_sentence_for_what_is_not_there_and_what_lies_outside(
    root: Path, outside: Path
) -> None:
    said = set()
    for path in ("../outside/bees.txt", "../outside/wasp.txt", str(outside), "/nowhere"):
        with pytest.raises(RequestError) as refused:
            path_below(root, path)
        said.add(str(refused.value).replace(path[:80], "PATH"))  # no more is told of a long one
    assert len(said) == 1, said


@pytest.mark.parametrize("place", ["farm/documents", "farm/documents/a", "farm"])
def test_a_link_among_the_kept_files_is_a_conflict(root: Path, outside: Path, place: str) -> None:
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).symlink_to(outside)
    (outside / "documents" / "a").mkdir(parents=True)
    handed = [Handed("a/bees.txt", found(root, "inbox/inner/bees.txt")[0].open)]
    with pytest.raises((Conflict, RequestError)):
        taken(root, handed)
    assert (outside / "bees.txt").read_text() == "Do not read this."


def test_a_link_in_the_place_of_a_kept_file_is_not_compared(root: Path, outside: Path) -> None:
    (root / PLACES[1]).mkdir(parents=True)
    (root / PLACES[1] / "bees.txt").symlink_to(outside / "bees.txt")
    with pytest.raises(Conflict, match="link has that name"):
        taken(root, found(root, "inbox/inner/bees.txt"))


def test_a_path_leads_to_as_many_files_as_a_request_may_have(root: Path) -> None:
    for number in range(MOST_FILES - 1):
        (root / "inbox" / "inner" / f"{number}.txt").touch()
    for number in range(MOST_LEFT_OUT + 20):
        (root / "inbox" / f"{number}.bin").touch()
    with pytest.raises(RequestError, match=f"More than {MOST_FILES} files"):
        found(root, "inbox")
    (root / "inbox" / "ants.txt").unlink()
    arrival = taken(root, found(root, "inbox"))
    assert len(arrival.files) == MOST_FILES
    assert (len(arrival.left_out), arrival.more_left_out) == (MOST_LEFT_OUT, 20)
