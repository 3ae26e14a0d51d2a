"""What every provider that is reached over HTTP needs."""

import math
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from pydantic import SecretStr

from atlas_search.core.errors import ConfigurationError


def usable_key(secret: SecretStr, setting: str, missing: str) -> str:
    """The key without blanks around it.

    Raises ConfigurationError: with `missing` if there is none, and for one that cannot be a key.
    """
    key = secret.get_secret_value().strip()
    if not key:
        raise ConfigurationError(missing)
    if not (key.isascii() and key.isprintable()):  # the HTTP client's error would show the key
        raise ConfigurationError(
            f"{setting} holds characters that no key has. Copy it again from its provider."
        )
    return key


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds a server asks to wait, as a number or a date; 0 if it does not say."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value)) if math.isfinite(float(value)) else 0.0
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
        return max(0.0, (moment - datetime.now(moment.tzinfo)).total_seconds())
    except ValueError:
        return 0.0


def backoff(attempt: int, first: float, longest: float) -> float:
    """The seconds to wait after an attempt, counted from 1: each time twice as long."""
    return min(first * 2.0 ** (attempt - 1), longest)


def excerpt(body: str) -> str:
    """The beginning of what a server said, on one line."""
    return " ".join(body.split())[:300]
