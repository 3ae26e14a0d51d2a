"""Odd names of sources, and files that cannot be read: each is built or reported."""

import os
from pathlib import Path

import pytest

from atlas_search.building import source_file
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_folder, by_rule
from atlas_search.core.errors import SourceError
from tests.source_builds import (
    SUFFIXES,
    build_from,
    documents,
    reader_of,
    remarks,
    sources_of,
    stored,
    texts_or_refusal,
    write_good,
)
from tests.source_files import good_files, write_files

ODD_NAMES = {
    "a b": "a-b",
    "brackets [1] (2)": "brackets-1-2",
    "100% %2F": "100-2F",
    "dots..and.more": "dots-and-more",
    "quotes 'a' \"b\"": "quotes-a-b",
    "-dash": "dash",
    "Zürich 史记": "Zürich-史记",
    "new\nline": "new-line",
    "#hash?query&more": "hash-query-more",
    "x" * 240: "x" * 120 + "-718df670",
}
"""Names of files, and what becomes of them in the ids of documents."""


RECORDS = {"csv": ".row-1", "jsonl": ".row-1", "xlsx": "", "mail": "", "bib": ".record-1"}
"""Types whose files may hold several documents, and what their only one adds to its id."""

pytestmark = pytest.mark.usefixtures("read_here")


# the ids of MARC are those of its records
@pytest.mark.parametrize("kind", [kind for kind in SUFFIXES if kind != "marc"])
def test_any_name_of_a_file_will_do(kind: str, tmp_path: Path) -> None:
    root = tmp_path / "sources"
    # the file of one record, where others have several
    place, content = list(good_files(kind).items())[-1 if kind in RECORDS else 0]
    suffix = Path(place).suffix
    write_files(root, {f"town/{name}{suffix}": content for name in ODD_NAMES})
    write_files(root, {f"town/.hidden{suffix}": content, f"town/.git/config{suffix}": content})
    report = build_from(kind, tmp_path / "c", sources_of(kind, root))
    assert documents(report) == {f"town/{name}{suffix}": 1 for name in ODD_NAMES}
    key = RECORDS.get(kind, "")
    ids = {passage.document_id for passage in stored(tmp_path / "c")}
    assert ids == {f"town.{id_}{key}" for id_ in ODD_NAMES.values()}


def test_a_name_that_is_not_utf_8_is_read_or_reported(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good("txt", root)
    try:
        (root / "town" / os.fsdecode(b"caf\xe9.txt")).write_text("A text.")
    except OSError:
        pytest.skip("this file system takes no name that is not UTF-8")
    report = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert len(report.files) == 3


@pytest.mark.parametrize("is_named", [True, False])
def test_files_below_a_name_that_is_not_utf_8_are_reported_and_those_above_it_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_named: bool
) -> None:
    """The name may be that of a folder of the sources, or of one that they lie in."""
    monkeypatch.setattr(source_file, "_SETTLED_NS", -1)
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        odd.mkdir()
    except OSError:
        pytest.skip("this file system takes no name that is not UTF-8")
    root = tmp_path / "sources" if is_named else odd / "sources"
    write_good("txt", root)
    if is_named:
        inner = root / "town" / odd.name
        inner.mkdir()
        (inner / "letter.txt").write_text("A letter.")
    for _ in range(2):
        report = build_from("txt", tmp_path / "c", sources_of("txt", root))
        assert remarks(report) == {"farm/wool.txt": "", "town/ledger.md": ""} | (
            {"town/caf\ufffd/letter.txt": "its name is not UTF-8: rename it"} if is_named else {}
        )


def test_files_of_one_name_in_different_folders_have_ids_of_their_own(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_files(
        root,
        {f"{path}/letter.txt": path.encode() for path in ("town/1901", "town/1902", "farm/1901")}
        | {"town/1901/letter.md": b"# Letter", "town/1901-letter.txt": b"Another."},
    )
    build_from("txt", tmp_path / "c", sources_of("txt", root))
    ids = sorted(passage.document_id for passage in stored(tmp_path / "c"))
    assert [ids[0], ids[1], ids[4]] == ["farm.1901.letter", "town.1901-letter", "town.1902.letter"]
    assert ids[2:4] == [id_ for id_ in ids if id_.startswith("town.1901.letter-")]


@pytest.mark.parametrize("way", ["folders", "links", "folders of one corpus", "files"])
def test_sources_of_one_name_are_both_read_or_refused(tmp_path: Path, way: str) -> None:
    write_files(tmp_path, {f"{box}/letters/x.txt": box.encode() for box in ("box-1", "box-2")})
    roots = [tmp_path / box / "letters" for box in ("box-1", "box-2")]
    suffixes = reader_of("txt").suffixes
    if way == "links":
        (tmp_path / "links").mkdir()
        for root in roots:
            (tmp_path / "links" / root.parent.name).symlink_to(root)
    if way == "files":
        roots = [root / "x.txt" for root in roots]
    locate_them = {
        "folders": lambda: by_folder(roots, suffixes, ""),
        "links": lambda: by_folder([tmp_path / "links"], suffixes, ""),
    }.get(way, lambda: by_rule(roots, suffixes, CorpusRule("letters")))
    assert texts_or_refusal("txt", tmp_path / "c", locate_them) in ({"box-1", "box-2"}, SourceError)


def test_a_folder_with_the_name_of_a_file_is_a_folder(tmp_path: Path) -> None:
    for kind, suffix in SUFFIXES.items():
        place, content = next(iter(good_files(kind).items()))
        name = f"folder{suffix}/inside{Path(place).suffix}"
        write_files(tmp_path / "sources", {f"town/{name}": content})
    report = build_from("files", tmp_path / "c", sources_of("files", tmp_path / "sources"))
    assert {Path(name).parent.name for name in remarks(report)} == {
        f"folder{suffix}" for suffix in SUFFIXES.values()
    }
    assert all(documents(report).values())


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_a_file_that_must_not_be_read_is_reported(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good("files", root)
    for kind, suffix in SUFFIXES.items():
        path = root / "town" / f"locked{suffix}"
        path.write_bytes(next(iter(good_files(kind).values())))
        path.chmod(0)
    report = build_from("files", tmp_path / "c", sources_of("files", root))
    reasons = {remarks(report)[f"town/locked{suffix}"] for suffix in SUFFIXES.values()}
    assert reasons == {"cannot be read: Permission denied"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every folder")
def test_a_folder_that_must_not_be_read_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good("txt", root)
    write_files(root, {"town/box/letter.txt": b"A letter."})
    (root / "town" / "box").chmod(0)
    try:
        with pytest.raises(SourceError, match="Permission denied"):
            sources_of("txt", root)
    finally:
        (root / "town" / "box").chmod(0o700)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="only Linux has /proc")
def test_a_file_that_fails_while_it_is_read_is_reported(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    for suffix in SUFFIXES.values():
        write_files(root, {"town/good.txt": b"A letter."})
        # the kernel answers as a failing disk does: nothing lies at the beginning of memory
        (root / "town" / f"failing{suffix}").symlink_to("/proc/self/mem")
    # whoever names a link means what it leads to
    roots = sorted((root / "town").iterdir())
    sources = by_rule(roots, reader_of("files").suffixes, CorpusRule("town"))
    report = build_from("files", tmp_path / "c", sources)
    reasons = {suffix: remarks(report)[f"failing{suffix}"] for suffix in SUFFIXES.values()}
    assert all(reasons.values()), reasons
    assert reasons[".txt"] == "cannot be read: Input/output error"
