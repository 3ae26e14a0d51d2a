"""The XML samples, and what is read of them."""

from collections.abc import Sequence
from pathlib import Path

from atlas_search.core.domain import MARKER
from atlas_search.core.locator import is_locator, token_place
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


def places(draft: Draft) -> list[tuple[str, str, str]]:
    """Locator, last heading and text of every segment."""
    ends = [*(segment.start for segment in draft.segments[1:]), len(draft.text)]
    return [
        (segment.locator, segment.section.split(" > ")[-1], draft.text[segment.start : end].strip())
        for segment, end in zip(draft.segments, ends, strict=True)
    ]


def locators(draft: Draft) -> list[str]:
    """The locators of a law in order, all of which a citation token can hold."""
    found = [segment.locator for segment in draft.segments if segment.locator]
    assert all(is_locator(each) for each in found)
    assert all(MARKER.fullmatch(f"[law {token_place(each)}]") for each in found)
    return found


def headed(draft: Draft) -> list[str]:
    """The first lines of the segments that begin with the last part of their section."""
    return [
        text.split("\n")[0] for _, last, text in places(draft) if text.startswith(last) and last
    ]
