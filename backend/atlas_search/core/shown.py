"""What a request gave, as a message repeats it: a million characters help nobody."""

from collections.abc import Sequence

_MOST = 10
_LONGEST = 80  # characters of each


def shown(given: Sequence[object]) -> str:
    """The first of `given` with commas between, strings in quotation marks and not longer."""
    more = f" and {len(given) - _MOST:,} more" if len(given) > _MOST else ""
    return ", ".join(map(_show, given[:_MOST])) + more


def _show(given: object) -> str:
    if isinstance(given, str) and len(given) > _LONGEST:
        return f"{given[:_LONGEST]!r}…"
    return repr(given)
