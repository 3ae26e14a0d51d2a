"""Sources of each format beside what is read of them: `x.xml` gives `x.xml.json`.

`python -m tests.readers.cases` writes the latter anew. What is read of `tests/data/xml` is among
the golden files of `tests/faces`.
"""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from atlas_search.core.domain import MARKER, Segment
from atlas_search.core.locator import is_locator, token_place
from atlas_search.readers import Draft, Read
from atlas_search.readers.files import files_reader
from tests.faces.golden_files import WRITE, written
from tests.faces.plain import plain
from tests.places import ROOT
from tests.readers.drafts import check

CASES = Path(__file__).with_name("cases")
SOURCES = sorted(path for path in CASES.glob("[a-z]*/*") if "." not in path.stem)
XML = ROOT / "tests" / "data" / "xml"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_source_is_read_as_its_case_says(path: Path) -> None:
    kept = path.with_name(f"{path.name}.json")
    reads = [shown(read) for read in files_reader().read(path, "")]
    text = written(kept.name, plain(reads, {}, frozenset()))
    if WRITE in os.environ:
        kept.write_text(text, encoding="utf-8", newline="")
    assert json.loads(text) == json.loads(kept.read_text(encoding="utf-8"))


def test_every_case_has_its_source() -> None:
    results = {path.with_suffix("") for path in CASES.glob("[a-z]*/*.*.json")}
    assert results == set(SOURCES)


@pytest.mark.parametrize("path", [*SOURCES, *XML.glob("*.xml")], ids=lambda path: path.name)
def test_drafts_keep_the_rules_of_all_drafts_and_are_always_the_same(path: Path) -> None:
    reads = list(files_reader().read(path, ""))
    assert reads == list(files_reader().read(path, ""))
    for draft in reads:
        if isinstance(draft, Draft):
            if path.parent.name in ("xml", "html"):  # others keep blank lines and form feeds
                check(draft)
            locators = [segment.locator for segment in draft.segments if segment.locator]
            assert all(is_locator(each) for each in locators)
            assert all(MARKER.fullmatch(f"[law {token_place(each)}]") for each in locators)


def shown(read: Read) -> dict[str, Any]:
    """A draft with the text of each segment and the beginning of each page, or a skipped file,
    without what is empty."""
    if not isinstance(read, Draft):
        return full({"skipped": read.reason, "key": read.key})
    fields = full({name: getattr(read, name) for name in ("title", "key", "metadata", "remark")})
    segments = read.segments
    if not segments or segments[0].start:
        segments = (Segment(0), *segments)
    ends = [*(segment.start for segment in segments[1:]), len(read.text)]
    pieces = [
        full(
            {
                "locator": segment.locator,
                "section": segment.section,
                "speaker": segment.speaker,
                "text": read.text[segment.start : end].strip("\n"),
            }
        )
        for segment, end in zip(segments, ends, strict=True)
    ]
    return {**fields, "segments": pieces} | full({"pages": pages(read)})


def pages(draft: Draft) -> list[list[str]]:
    """The number of each page that has text, with its first characters, if there are several."""
    labels = draft.printed_pages or [str(number + 1) for number in range(len(draft.pages))]
    spans = pairwise([*draft.pages, len(draft.text)])
    begun = [
        (label, start) for label, (start, end) in zip(labels, spans, strict=True) if start < end
    ]
    return [[label, draft.text[start:][:20]] for label, start in begun if len(draft.pages) > 1]


def full(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}
