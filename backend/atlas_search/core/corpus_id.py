"""What can be the id of a corpus."""

import re

from atlas_search.core.errors import SourceError

_ID = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?")


def check_id(corpus: str, where: str) -> str:
    """`corpus`, if it can be a corpus id. Raises SourceError saying `where` it stands."""
    if not _ID.fullmatch(corpus) or corpus == "all":
        raise SourceError(
            f"{where}: {corpus!r} cannot be a corpus id. It begins and ends with a letter or "
            "digit, holds only letters, digits, `_` and `-`, and is not `all`. Rename it."
        )
    return corpus
