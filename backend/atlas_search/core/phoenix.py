"""Whether a Phoenix answers at the address that traces go to."""

from atlas_search.core.otlp import phoenix_at
from atlas_search.core.web_address import without_login

PHOENIX_SECONDS = 3.0


def phoenix_problem(address: str) -> str:
    """Why it does not answer, asked now; empty if it does. Takes up to PHOENIX_SECONDS.

    A password in the address is sent, and not repeated.
    """
    from httpx2 import HTTPError, InvalidURL, get  # 0.15 s: only who asks pays

    try:
        phoenix = phoenix_at(address)
        get(
            f"{without_login(address).rstrip('/')}/healthz",
            headers=dict(phoenix.headers),
            timeout=PHOENIX_SECONDS,
        ).raise_for_status()
    except HTTPError as error:
        return f"{phoenix.shown} does not answer ({error})"
    except (InvalidURL, ValueError) as error:
        return f"Phoenix's address is malformed ({error})"
    return ""
