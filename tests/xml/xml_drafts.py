"""The XML samples, and what is read of them."""

from collections.abc import Sequence
from pathlib import Path

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.xml.read import XmlReader
from tests.places import ROOT

DATA = ROOT / "tests" / "data" / "xml"

HEAD = "<teiHeader><fileDesc><titleStmt><title>T</title></titleStmt></fileDesc></teiHeader>"


def reads(path: Path, encoding: str = "", **settings: object) -> list[Read]:
    return list(XmlReader(**settings).read(path, encoding))  # type: ignore[arg-type]


def drafts(name: str, **settings: object) -> list[Draft]:
    found = reads(DATA / name, **settings)
    assert all(isinstance(read, Draft) for read in found), found
    return [read for read in found if isinstance(read, Draft)]


def paragraphs(draft: Draft) -> list[str]:
    return draft.text.split("\n\n")


def speeches(draft: Draft) -> list[tuple[str, str, str]]:
    """Section, speaker and text of every segment."""
    ends = [*(segment.start for segment in draft.segments[1:]), len(draft.text)]
    return [
        (segment.section, segment.speaker, draft.text[segment.start : end].strip())
        for segment, end in zip(draft.segments, ends, strict=True)
    ]


def page(draft: Draft, number: int) -> str:
    """The text of a page, by its number."""
    ends = [*draft.pages[1:], len(draft.text)]
    return draft.text[draft.pages[number - 1] : ends[number - 1]].strip()


def reason(found: Sequence[Read]) -> str:
    (skipped,) = found
    assert isinstance(skipped, Skipped), skipped
    return skipped.reason
