"""The present moment, as documents and logs write it."""

from datetime import UTC, datetime
from typing import Literal


def moment(to: Literal["seconds", "milliseconds"] = "seconds") -> str:
    """Now, in ISO 8601 and UTC."""
    return datetime.now(UTC).isoformat(timespec=to)
