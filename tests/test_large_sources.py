"""Many small files, and files with very long lines."""

from pathlib import Path

from atlas_search.building.chunking import chunking
from tests.broken_files import WRAPS
from tests.source_builds import build_from, sources_of, stored
from tests.source_files import write_files

MEGABYTES = ("txt", "csv", "jsonl", "html")


def test_a_thousand_small_files_are_a_thousand_documents(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_files(root, {f"town/{n // 100}/{n}.txt": f"Letter {n}.".encode() for n in range(1000)})
    report = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert report.manifest.documents == report.read == report.embedded == 1000
    again = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert (again.unchanged, again.read) == (True, 0)
    assert stored(tmp_path / "c")[-1].text == "Letter 999."


def test_a_line_of_twenty_megabytes_is_read_to_its_end(tmp_path: Path) -> None:
    line = "It begins " + "-" * 20_000_000 + " and ends."
    content = {f"town/{kind}.{kind}": WRAPS[kind].format(line).encode() for kind in MEGABYTES}
    write_files(tmp_path / "sources", content)
    sources = sources_of("files", tmp_path / "sources")
    build_from("files", tmp_path / "c", sources, chunking("whole"))
    assert [passage.text == line for passage in stored(tmp_path / "c")] == [True] * len(MEGABYTES)
