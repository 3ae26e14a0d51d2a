"""Hostile files of every format, each read beside a good one."""

from contextlib import closing
from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.building.prepare import Preparation, Remark
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_rule
from atlas_search.building.workers import End, ReadingLimits, read_files
from atlas_search.readers.files import files_reader
from tests.hostile.builds import build_with
from tests.hostile.files import HOSTILE, lines_for_patterns, long_json_line, write_hostile
from tests.source_builds import documents, remarks

READ = ""
"""In place of a reason: the file gives a document, and nothing is said of it."""

REASONS = {
    "deep.md": "its front matter is nested too deeply",
    "indented.md": "its front matter is nested too deeply",
    "dashed.md": "its front matter is nested too deeply",
    "merged.md": "its front matter is not valid YAML: it holds more than 10000 values",
    "aliases.md": "its front matter is not valid YAML: it holds more than 10000 values",
    "repeats.epub": READ,
    "names.epub": READ,
    "out.epub": "it holds no text; 1 of 1 parts missing or damaged (../../",
    "laughs.epub": "1 of 1 parts not well-formed, read as HTML",
    "wide.csv": READ,
    "flate.pdf": "reading it crashed (SIGABRT), maybe for want of memory; it was left out",
    "circle.pdf": "none of its pages can be read: the file is damaged",
    "deep.docx": "python-docx cannot open it (Excessive depth",
    "deep.html": "its elements are nested too deeply for the parser",
    "closed.html": READ,
    "deep.xml": "line 1: elements are nested more than 256 deep",
    "laughs.xml": "line 1: its entities multiply into more text",
    "laughs.xhtml": "no main text was found",
    "deep.jsonl": "line-1: line 1: not read as JSON: it is nested too deeply",
    "marks.txt": READ,
}
WITH_TEXT = {name for name, reason in REASONS.items() if not reason}
LIMITS = ReadingLimits(workers=2, seconds=120, memory=1000)


def test_hostile_files_cost_only_themselves(tmp_path: Path) -> None:
    for name in HOSTILE:
        write_hostile(tmp_path / "sources" / "town", name)
    (tmp_path / "sources" / "town" / "good.txt").write_text("Sheep give wool.")
    report = build_with(
        files_reader(), tmp_path / "sources", tmp_path / "c", LIMITS, chunking("whole")
    )
    said, counts = remarks(report), documents(report)
    assert counts["town/good.txt"] == 1
    assert {name for name in HOSTILE if not said[f"town/{name}"].startswith(REASONS[name])} == set()
    assert {name for name in WITH_TEXT if not counts[f"town/{name}"]} == set()


def test_one_line_larger_than_memory_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "sources" / "town").mkdir(parents=True)
    (tmp_path / "sources" / "town" / "good.txt").write_text("Sheep give wool.")
    (tmp_path / "sources" / "town" / "long.jsonl").write_bytes(long_json_line())
    limits = ReadingLimits(workers=1, memory=300)
    report = build_with(files_reader(), tmp_path / "sources", tmp_path / "c", limits)
    assert remarks(report) == {
        "town/good.txt": "",
        "town/long.jsonl": "reading it took more than 300 MB of memory; it was left out. "
        "If nothing is wrong with it, raise FILE_MEMORY_MB",
    }


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_no_pattern_goes_wild_on_a_long_line(tmp_path: Path, suffix: str) -> None:
    for name, line in lines_for_patterns().items():
        (tmp_path / f"{name}{suffix}").write_bytes(line)
    reader = files_reader()
    sources = by_rule([tmp_path], reader.suffixes, CorpusRule("town"))
    preparation = Preparation("files", reader, chunking(), _no_tokens, "")
    ends = {}
    with closing(read_files(preparation, LIMITS, sources.files)) as reading:
        for file, given in reading:
            *documents, ends[file.name] = (each for each in given if not isinstance(each, Remark))
            assert len(documents) == 1, file.name
    assert [name for name, end in ends.items() if not isinstance(end, End) or end.failure] == []
    assert len(ends) == len(lines_for_patterns())


def _no_tokens(text: str) -> list[tuple[int, int]]:
    raise NotImplementedError(text)
