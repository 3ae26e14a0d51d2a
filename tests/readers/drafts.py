"""Drafts of one file, and the rules that hold for the drafts of every reader."""

from collections.abc import Iterable
from itertools import pairwise

from atlas_search.readers import Draft, Read, Skipped


def only_draft(reads: Iterable[Read]) -> Draft:
    """The one draft of a file, checked."""
    (draft,) = reads
    assert isinstance(draft, Draft), draft
    check(draft)
    return draft


def only_reason(reads: Iterable[Read]) -> str:
    """The reason for which the one document of a file was skipped."""
    (skipped,) = reads
    assert isinstance(skipped, Skipped), skipped
    return skipped.reason


def check(draft: Draft) -> None:
    text = draft.text
    assert text
    assert text == text.strip("\n").rstrip()
    assert not set(text) & {"\r", "\f", "\v", "\x00", "\x02", "\ufffe", "\u2028"}
    assert "\n\n\n" not in text
    assert all(line == line.rstrip() for line in text.split("\n"))
    assert draft.pages[0] == 0
    assert list(draft.pages) == sorted(draft.pages)
    assert draft.pages[-1] <= len(text)
    assert len(draft.printed_pages) in (0, len(draft.pages))
    starts = [segment.start for segment in draft.segments]
    assert all(earlier < later for earlier, later in pairwise(starts))
    assert all(0 <= start < len(text) for start in starts)
    assert all(name == name.lower() and " " not in name for name in draft.metadata)
    assert all(value not in ("", [], None) for value in draft.metadata.values())


def pieces(draft: Draft) -> list[tuple[str, str, str]]:
    """Section, speaker and text of every segment."""
    ends = [*(segment.start for segment in draft.segments[1:]), len(draft.text)]
    return [
        (segment.section, segment.speaker, draft.text[segment.start : end].strip())
        for segment, end in zip(draft.segments, ends, strict=True)
    ]


def paragraphs(draft: Draft) -> list[str]:
    return draft.text.split("\n\n")


def pages(draft: Draft) -> list[str]:
    """The text of every page."""
    ends = [*draft.pages[1:], len(draft.text)]
    return [draft.text[start:end].strip() for start, end in zip(draft.pages, ends, strict=True)]


def locators(draft: Draft) -> list[str]:
    return [segment.locator for segment in draft.segments if segment.locator]


def headings(draft: Draft) -> list[tuple[str, str]]:
    """The first line of each segment, and its section."""
    return [(draft.text[s.start :].split("\n")[0], s.section) for s in draft.segments]
