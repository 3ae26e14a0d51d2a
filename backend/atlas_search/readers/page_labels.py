"""The numbers that stand on pages, beside the numbers that count them."""

import re
from collections.abc import Sequence

_WORDED = re.compile(r"(?:page|pg|pp|p)\b\.?[\s:]*(?=\w)", re.IGNORECASE)
_WRAPPING = " \t\n[](){}|.,:–—"


def labels_of_pages(labels: Sequence[str]) -> tuple[str, ...]:
    """The labels of pages 1, 2, ...; none where they say no more than that: 1, 2, ..."""
    counted = all(label in ("", str(number)) for number, label in enumerate(labels, start=1))
    return () if counted else tuple(labels)


def page_label(written: str) -> str:
    """The number itself: `12` of `Page 12.` or `[p. 12]`."""
    bare = " ".join(written.split()).strip(_WRAPPING)
    return _WORDED.sub("", bare, count=1).strip(_WRAPPING) if _WORDED.match(bare) else bare
