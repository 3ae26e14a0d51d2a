"""The rules that hold for the drafts of every reader."""

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
    """Why the one document of a file was skipped."""
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
