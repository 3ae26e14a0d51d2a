"""What goes wrong at a provider, and how it is put to people.

The providers' files turn what their clients raise into a Fault; `explained` makes the error of it.
"""

from dataclasses import dataclass

from atlas_search.core.errors import ConfigurationError, ModelRefused, ModelUnavailable


@dataclass(frozen=True)
class Place:
    """A provider as people know it: `server` names it, the others are the settings behind it."""

    server: str
    key: str
    key_setting: str
    address_setting: str


class Fault(Exception):
    """Root of what a provider's file raises."""


class Answered(Fault):
    """The provider answered that it will not, with an HTTP status."""

    def __init__(self, status: int, body: str, retry_after: float):
        super().__init__(status)
        self.status = status
        self.body = " ".join(body.split())
        self.retry_after = retry_after


class Lost(Fault):
    """No connection, or one that broke; `str` says how."""


class Garbled(Fault):
    """An answer that cannot be read, or that broke off; `str` says how."""


def passes(fault: BaseException) -> bool:
    """Whether the same request may well succeed in a moment."""
    if isinstance(fault, Answered):
        no_credit = "insufficient_quota" in fault.body  # OpenAI's 429 for an empty account
        return fault.status in (408, 429, *range(500, 600)) and not no_credit
    return isinstance(fault, Lost)


def explained(fault: Fault, place: Place, model: str) -> ConfigurationError | ModelUnavailable:
    """The error for people."""
    if isinstance(fault, Answered):
        return _refusal(fault, place, model)
    said = str(fault).replace(place.key, "[key]")
    if isinstance(fault, Lost):
        return ModelUnavailable(
            f"{place.server} cannot be reached, or the connection broke ({said}). Check the "
            f"network and {place.address_setting}, then try again."
        )
    return ModelUnavailable(
        f"{place.server} gives no usable answer ({said}). Try again, or check "
        f"{place.address_setting}."
    )


def _refusal(fault: Answered, place: Place, model: str) -> ConfigurationError | ModelUnavailable:
    said = f"{fault.status}: {fault.body.replace(place.key, '[key]')[:300]}"
    if fault.status in (401, 403):
        return ModelRefused(
            f"{place.server} refuses the key ({said}). Set {place.key_setting} in the environment "
            "or .env to a valid one."
        )
    if fault.status == 429:
        return ModelUnavailable(
            f"{place.server} takes no more requests for now ({said}). Try again later, or lower "
            "LLM_CONCURRENCY to what your plan allows.",
            fault.retry_after,
        )
    if 400 <= fault.status < 500 and fault.status != 408:
        return ModelRefused(
            f"{place.server} refuses the request for the model {model} ({said}). Check LLM_MODEL "
            f"and {place.address_setting}, and that CONTEXT_TOKENS and MAX_TOKENS are within what "
            "the model takes."
        )
    return ModelUnavailable(
        f"{place.server} gives no usable answer ({said}). Try again later, or check "
        f"{place.address_setting}.",
        fault.retry_after,
    )
