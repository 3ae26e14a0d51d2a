"""What a request may carry: JSON, and said to be JSON."""

import json
from math import isinf
from typing import Any, cast

from flask import g, request
from flask.json.provider import DefaultJSONProvider
from pydantic import BaseModel, ConfigDict, model_validator
from werkzeug.exceptions import BadRequest

from atlas_search.core.errors import WrongMediaType
from atlas_search.server.access.rules import rule_key

JSON = "application/json"
FORM = "multipart/form-data"
TAKES_FORMS = frozenset({"POST /api/ingest"})
"""The routes that take files. Their own code reads them, once it is known who sends them."""

_EXACT = 2**53  # up to there a number with a point stands for one integer alone


class OptionalBody(BaseModel):
    """What a request may say, but need not: without a body it says nothing."""

    # flask-openapi3 reads the last of these for its description
    model_config = cast(
        "ConfigDict", {"extra": "forbid", "frozen": True, "openapi_extra": {"required": False}}
    )

    @model_validator(mode="before")
    @classmethod
    def _nothing(cls, body: object) -> object:
        return {} if body is None else body


class StrictJSON(DefaultJSONProvider):
    """JSON as RFC 8259 has it, of which Python reads more than there is."""

    def loads(self, s: str | bytes, **options: Any) -> Any:
        """See JSONProvider. Raises ValueError for NaN, and for a number that is too large."""
        return json.loads(s, parse_constant=_no_number, parse_float=_number, **options)


def read_body() -> None:
    """Read the body of the present request. Raises WrongMediaType and BadRequest.

    A page of another origin may send a form or a plain text to any server without asking first;
    JSON it may not. Where files are taken, the administrator's token or key is asked for.
    Malformed JSON is told here; later it would count as a missing field.
    """
    if request.url_rule is None:
        return  # there is no such route, or it has another method, which is said later
    rule = rule_key(request.method, request.url_rule.rule)
    if rule in TAKES_FORMS and request.mimetype == FORM:
        return
    if request.content_length and request.mimetype != JSON:
        raise WrongMediaType(
            f"The body is sent as {request.mimetype[:80] or 'nothing in particular'}. Send JSON, "
            f"with the header `Content-Type: {JSON}`."
        )
    if request.method in {"POST", "PUT", "PATCH"} and request.get_data(cache=True):
        try:
            body = request.get_json()
            # half a character can be written as an escape, but no model or store can read it
            json.dumps(body, ensure_ascii=False).encode()
        except (BadRequest, RecursionError, UnicodeEncodeError) as error:
            raise BadRequest("The body is not valid JSON. Send a JSON object.") from error
        g.body = body
        if not isinstance(body, dict):  # a text would be read as JSON once more
            raise BadRequest("The body is JSON, but no object. Send a JSON object.")


def _number(text: str) -> int | float:
    """What JSON calls an integer is one, also as `5.0`."""
    number = float(text)
    if isinf(number):
        _no_number(text)
    return int(number) if number.is_integer() and abs(number) <= _EXACT else number


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number that can be read.")
