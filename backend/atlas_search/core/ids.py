"""Ids of corpora and collections, the clock, and words that several rooms print."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

from atlas_search.core.errors import SourceError

PATTERN = r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*"
LONGEST = 255  # characters: so much do file systems take

_NAME = re.compile(PATTERN)


def is_collection_name(text: str) -> bool:
    """Check that `text` can be the name of a collection."""
    return len(text) <= LONGEST and _NAME.fullmatch(text) is not None


_ID = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?")


def check_id(corpus: str, where: str) -> str:
    """`corpus`, if it can be a corpus id. Raises SourceError saying `where` it stands."""
    if not _ID.fullmatch(corpus) or corpus == "all":
        raise SourceError(
            f"{where}: {corpus!r} cannot be a corpus id. It begins and ends with a letter or "
            "digit, holds only letters, digits, `_` and `-`, and is not `all`. Rename it."
        )
    return corpus


def moment(to: Literal["seconds", "milliseconds"] = "seconds") -> str:
    """Now, in ISO 8601 and UTC."""
    return datetime.now(UTC).isoformat(timespec=to)


COLLECTION_HEADER = "Atlas-Collection"
"""The header that names the collection a request is about."""

CLOSEST = "Closest passages, not an answer"
"""The heading of quotes that come closest to a question that is not answered."""

CONFIDENCE: Mapping[str, str] = {"likely": "Likely an answer", "possible": "Possibly an answer"}
"""The label of a quoted answer, by the word of an answer document's `confidence`."""

__version__ = "0.1.0"
