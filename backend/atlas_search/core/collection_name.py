"""What can be the name of a collection: it is that of a folder, too."""

import re

PATTERN = r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*"
LONGEST = 255  # characters: so much do file systems take

_NAME = re.compile(PATTERN)


def is_collection_name(text: str) -> bool:
    """Whether a collection can be called so."""
    return len(text) <= LONGEST and _NAME.fullmatch(text) is not None
