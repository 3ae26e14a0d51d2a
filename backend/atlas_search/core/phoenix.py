"""Whether a Phoenix answers at the address that traces go to."""

PHOENIX_SECONDS = 3.0


def phoenix_problem(address: str) -> str:
    """Why it does not answer, asked now; empty if it does. Takes up to PHOENIX_SECONDS."""
    from httpx2 import HTTPError, InvalidURL, get  # 0.15 s: only who asks pays

    try:
        get(f"{address.rstrip('/')}/healthz", timeout=PHOENIX_SECONDS).raise_for_status()
    except (HTTPError, InvalidURL) as error:
        return f"{address} does not answer ({error})"
    return ""
