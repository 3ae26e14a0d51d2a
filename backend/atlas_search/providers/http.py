"""The common ground of services over HTTP: their keys, their faults, and when to try again.

    Fault           what a provider's file raises; `explain` makes the error for people of it
    ├── Answered    with an HTTP status that is no success
    ├── Lost        no connection, or one that broke
    └── Garbled     an answer that cannot be read, or that broke off

The meaning of a status stands here alone: in `passes` and in `explain`.
"""

import logging
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from pydantic import SecretStr
from tenacity import RetryCallState

from atlas_search.core.addresses import is_key, login_of, without_login
from atlas_search.core.errors import AtlasError, ConfigurationError, Unavailable

if TYPE_CHECKING:
    from httpx2 import URL, Client, Response


class Fault(Exception):
    """Root of the tree; `str` says what happened. It may hold what a server said, and so a key."""

    retry_after = 0.0
    """The seconds the server asks to wait; 0 if it does not say."""


class ErrorStatus(Fault):
    """The server answered that it will not, with an HTTP status."""

    def __init__(self, status: int, body: str, retry_after: float):
        super().__init__(status)  # not the body, which `repr` would show
        self.status = status
        self.body = " ".join(body.split())
        self.retry_after = retry_after

    def __str__(self) -> str:
        """The status and what came with it."""
        return f"{self.status}: {self.body}" if self.body else str(self.status)


class Lost(Fault):
    """No connection, or one that broke. Unless `passing`, the same request can never be sent."""

    def __init__(self, said: str, *, passing: bool = True):
        super().__init__(said)
        self.passing = passing


class Garbled(Fault):
    """An answer that cannot be read, or that broke off."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider as people know it: `server` names it, `_setting`s are those to check.

    `sizes` says what must be within bounds for a request to be taken, `address` is the server's
    with the login that it may hold. The three types are the errors for a key that is refused, a
    request that is refused, and whatever later may go well.
    """

    server: str
    key: str = field(repr=False)
    key_setting: str
    address_setting: str
    model_setting: str
    refused_key: type[AtlasError]
    refused: type[AtlasError]
    unavailable: type[Unavailable]
    rate_setting: str = ""
    seconds_setting: str = ""
    sizes: str = ""
    address: str = field(default="", repr=False)

    def mask(self, said: str) -> str:
        """Return the text of a server without the key and the login."""
        for secret in login_of(self.address):
            said = said.replace(secret, "[login]")
        return said.replace(self.key, "[key]") if self.key else said


def passes(fault: BaseException) -> bool:
    """Return True if the same request may well succeed in a moment."""
    if isinstance(fault, ErrorStatus):
        no_credit = "insufficient_quota" in fault.body  # OpenAI's 429 for an empty account
        return fault.status in (408, 429, *range(500, 600)) and not no_credit
    return isinstance(fault, Lost) and fault.passing


def explain(fault: Fault, provider: Provider, model: str) -> AtlasError:
    """The error for people."""
    text = excerpt(provider.mask(str(fault)))
    server, address = provider.server, provider.address_setting
    match fault:
        case ErrorStatus(status=401 | 403):
            return provider.refused_key(
                f"{server} refuses the key ({text}). Set {provider.key_setting} in the environment "
                "or .env to a valid one."
            )
        case ErrorStatus(status=429):
            rate = provider.rate_setting
            lower = f", or lower {rate} to what your plan allows" if rate else ""
            return provider.unavailable(
                f"{server} takes no more requests for now ({text}). Try again later{lower}.",
                fault.retry_after,
            )
        case ErrorStatus(status=status) if status in range(400, 500) and not passes(fault):
            sizes = f", and that {provider.sizes}" if provider.sizes else ""
            return provider.refused(
                f"{server} refuses the request for the model {model} ({text}). Check "
                f"{provider.model_setting} and {address}{sizes}."
            )
        case Lost():
            seconds = provider.seconds_setting
            longer = f", or raise {seconds}" if seconds else ""
            return provider.unavailable(
                f"{server} did not answer, or the connection broke ({text}). Check the network and "
                f"{address}{longer}; then try again."
            )
    return provider.unavailable(
        f"{server} gives no usable answer ({text}). Try again later, or check {address}.",
        fault.retry_after,
    )


@contextmanager
def http_faults() -> Iterator[None]:
    """Turn what httpx2 raises into a Fault."""
    from httpx2 import HTTPError, InvalidURL  # only who makes a request pays

    try:
        yield
    except (HTTPError, InvalidURL, OSError) as error:  # broken TLS comes as the last
        raise to_fault(error) from error


def post(
    client: "Client", url: "URL | str", body: Mapping[str, object], seconds: float
) -> "Response":
    """Send JSON, and return the answer within `seconds`. Raises Fault, for an error status too."""
    with http_faults():
        response = client.post(url, json=body, timeout=seconds)
    if not response.is_success:
        raise ErrorStatus(response.status_code, response.text, retry_after(response.headers))
    return response


@contextmanager
def readable_environment() -> Iterator[None]:
    """Open a client in it: what the environment says may make that fail."""
    try:
        yield
    except Exception as error:  # httpx2 raises many kinds
        raise ConfigurationError(
            f"HTTP connections cannot be made ({type(error).__name__}: {error}). Correct "
            "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE or SSL_CERT_DIR in the environment."
        ) from error


def hide_logins() -> None:
    """Let the log of HTTP requests show addresses without the logins that they may hold."""
    logging.getLogger("httpx2").addFilter(_without_logins)


def _without_logins(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        # an address is an object of the client's own
        record.args = tuple(
            without_login(str(part)) if "://" in str(part) else part for part in record.args
        )
    return True


def to_fault(error: BaseException) -> Fault:
    """Turn an error of an HTTP client into a Fault."""
    from httpx2 import DecodingError, InvalidURL, LocalProtocolError, UnsupportedProtocol

    if isinstance(error, DecodingError):
        return Garbled(f"{type(error).__name__}: {error}")
    never = isinstance(error, InvalidURL | LocalProtocolError | UnsupportedProtocol)
    return Lost(f"{type(error).__name__}: {error}", passing=not never)


def wait_as_asked(first: float, longest: float) -> Callable[[RetryCallState], float]:
    """The seconds before the next try: what the server asks for, or else a backoff."""

    def wait(state: RetryCallState) -> float:
        fault = state.outcome and state.outcome.exception()
        server_wait = fault.retry_after if isinstance(fault, Fault) else 0.0
        return server_wait or min(first * 2.0 ** (state.attempt_number - 1), longest)

    return wait


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


def usable_key(secret: SecretStr, setting: str, missing: str) -> str:
    """The key without blanks around it.

    Raises ConfigurationError: with `missing` if there is none, and for one that cannot be a key.
    """
    key = checked_key(secret, setting)
    if not key:
        raise ConfigurationError(missing)
    return key


def checked_key(secret: SecretStr, setting: str) -> str:
    """The key without blanks around it, empty if there is none.

    Raises ConfigurationError for one that cannot be a key.
    """
    key = secret.get_secret_value().strip()
    if not is_key(key):  # the HTTP client's error would show the key
        raise ConfigurationError(
            f"{setting} holds characters that cannot be part of a key. Copy it "
            "again from its provider."
        )
    return key


def excerpt(body: str) -> str:
    """The beginning of what a server said, on one line."""
    return " ".join(body.split())[:300]
