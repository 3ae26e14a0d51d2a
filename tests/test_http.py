"""What an HTTP status means for a caller, whoever the provider is."""

import pytest
from httpx2 import LocalProtocolError, ReadTimeout

from atlas_search.core.errors import ConfigurationError, ModelRefused, ModelUnavailable
from atlas_search.providers.http import (
    ErrorStatus,
    Fault,
    Garbled,
    Lost,
    Provider,
    explain,
    http_faults,
    passes,
)

KEY = "a-key"
PROVIDER = Provider(
    "The server",
    KEY,
    key_setting="THE_KEY",
    address_setting="THE_URL",
    model_setting="THE_MODEL",
    refused_key=ConfigurationError,
    refused=ModelRefused,
    unavailable=ModelUnavailable,
    rate_setting="THE_RATE",
    seconds_setting="THE_SECONDS",
    sizes="it is short",
)


@pytest.mark.parametrize(
    ("fault", "error", "again", "advice"),
    [
        (ErrorStatus(401, "", 0), ConfigurationError, False, "Set THE_KEY in"),
        (ErrorStatus(403, "", 0), ConfigurationError, False, "Set THE_KEY in"),
        (ErrorStatus(429, "", 9), ModelUnavailable, True, "later, or lower THE_RATE to"),
        (
            ErrorStatus(429, "insufficient_quota", 9),
            ModelUnavailable,
            False,
            "or lower THE_RATE to",
        ),
        (
            ErrorStatus(400, "", 0),
            ModelRefused,
            False,
            "Check THE_MODEL and THE_URL, and that it is",
        ),
        (ErrorStatus(404, "", 0), ModelRefused, False, "refuses the request for the model m (404)"),
        (ErrorStatus(408, "", 9), ModelUnavailable, True, "later, or check THE_URL"),
        (ErrorStatus(500, "", 9), ModelUnavailable, True, "later, or check THE_URL"),
        (ErrorStatus(301, "", 0), ModelUnavailable, False, "later, or check THE_URL"),
        (Lost("cut"), ModelUnavailable, True, "network and THE_URL, or raise THE_SECONDS;"),
        (Lost("no address", passing=False), ModelUnavailable, False, "network and THE_URL"),
        (Garbled("no JSON"), ModelUnavailable, False, "gives no usable answer (no JSON)"),
    ],
)
def test_each_fault_has_its_error(
    fault: Fault, error: type[Exception], again: bool, advice: str
) -> None:
    told = explain(fault, PROVIDER, "m")
    assert type(told) is error
    assert advice in str(told)
    assert passes(fault) is again
    assert getattr(told, "retry_after", 0) == fault.retry_after


@pytest.mark.parametrize(
    "fault", [ErrorStatus(500, f"{KEY}?", 0), Lost(f"{KEY}?"), Garbled(f"{KEY}?")]
)
def test_no_error_shows_the_key(fault: Fault) -> None:
    assert "[key]?" in str(explain(fault, PROVIDER, "m"))
    assert KEY not in str(explain(fault, PROVIDER, "m")) + repr(PROVIDER)


@pytest.mark.parametrize(
    ("error", "again"),
    [(ReadTimeout("slow"), True), (OSError("TLS"), True), (LocalProtocolError("header"), False)],
)
def test_a_request_that_can_never_be_sent_is_not_tried_again(error: Exception, again: bool) -> None:
    with pytest.raises(Lost, match=f"{type(error).__name__}: ") as caught, http_faults():
        raise error
    assert passes(caught.value) is again
