"""Requests that must leave no trace."""

import json

from flask import request
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request

from atlas_search.core.telemetry.names import set_silent


def shares_nothing(asked: Request) -> bool:
    """Whether its browser says that its user wants nothing shared (Global Privacy Control)."""
    return asked.headers.get("Sec-GPC") == "1"


def heed_privacy() -> None:
    """Trace nothing of the present request if its browser or its body says so.

    It comes before all else, so that a request that is refused leaves no trace either.
    """
    set_silent(wanted=shares_nothing(request) or _is_unwanted(_sent()))


def speak_again(_: BaseException | None) -> None:
    """The thread goes on to other requests."""
    set_silent(wanted=False)


def _sent() -> bytes:
    try:
        return request.get_data(cache=True) if request.mimetype == "application/json" else b""
    except HTTPException:  # too long: said where bodies are read
        return b""


def _is_unwanted(body: bytes) -> bool:
    """Whether it has a `telemetry` that is not true; what is wrong with it is said later."""
    if b"telemetry" not in body and b"\\u" not in body:  # as most are: not worth reading twice
        return False
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(asked, dict) and asked.get("telemetry", True) is not True
