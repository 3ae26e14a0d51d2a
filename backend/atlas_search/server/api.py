"""The description of the API at /api/openapi.json, with the parts that are the same for all routes.

A route declares what it answers itself. What the gates before it answer, how a problem looks and
who may use it is the same for every route, and is added here.
"""

import json
from http import HTTPStatus
from math import isinf
from typing import Any, cast

from flask import g, request
from flask.json.provider import DefaultJSONProvider
from flask_openapi3.openapi import OpenAPI
from pydantic import BaseModel, ConfigDict, model_validator
from werkzeug.exceptions import BadRequest

from atlas_search.core.errors import WrongMediaType
from atlas_search.server.access.caller import RULES, Right, described_route, rule_key
from atlas_search.server.problems import PROBLEM_TYPE, Problem

JSON = "application/json"
FORM = "multipart/form-data"
TAKES_FORMS = frozenset({"POST /api/ingest"})
"""The routes that take files. Their own code reads them, once it is known who sends them."""

_EXACT = 2**53  # up to there a number with a point stands for one integer alone


class OptionalBody(BaseModel):
    """An optional body: without one a request says nothing."""

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
        """Parse JSON. Raises ValueError for NaN, and for a number that is too large."""
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
        if not isinstance(body, dict):  # a text would be read as JSON once more
            raise BadRequest("The body is JSON, but no object. Send a JSON object.")
        g.body = body


def _number(text: str) -> int | float:
    """Read a number: a whole one is an integer, even if it is written as `5.0`."""
    number = float(text)
    if isinf(number):
        _no_number(text)
    return int(number) if number.is_integer() and abs(number) <= _EXACT else number


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number.")


STATUSES = {
    400: "The request is wrong; `detail` says where",
    401: "No key was sent, or none that is known, where keys are used",
    403: "Not allowed to this caller, or to a page of another origin",
    404: "There is no such thing, or it is no longer kept",
    409: "The id or name is taken, the answer was stopped, or another build or server is at it",
    413: "The body is too long, or brings too many files",
    415: "The body is not said to be JSON, or a form where files are sent",
    421: "The server is called by a name that is not its own",
    429: "As many answers as can wait are waiting, or the caller has taken what they may",
    500: "Something went wrong in the server; its log says what",
    503: "The server is busy or set up wrong, or a provider cannot be reached",
    507: "The server's disk has no room for what was sent",
}
"""The statuses of problems, and the meaning of each on any route."""

EVERY_ROUTE = (403, 415, 421, 500, 503)
"""Statuses that the gates and the server itself may answer in place of any route."""

_OF_CALLERS = (401, 429)
_WITH_BODY = (400, 413, 507)
_LATER = (429, 503)
_RETRY = {
    "Retry-After": {
        "description": "Seconds after which trying again makes sense, if that is known",
        "schema": {"type": "integer", "minimum": 1},
    }
}
_SCHEMES = {
    "key": {"type": "http", "scheme": "bearer", "description": "A key, where keys are used"},
    "administrator": {
        "type": "http",
        "scheme": "bearer",
        "description": "The value of ATLAS_ADMIN_TOKEN, or the key of an administrator",
    },
}
_SECURITY: dict[Right, list[dict[str, list[str]]]] = {
    "anyone": [],
    "reader": [{"key": []}, {}],  # without keys everybody is a reader
    "administrator": [{"administrator": []}],
}

Document = dict[str, Any]
"""An OpenAPI document, or a part of one."""


class DescribedAPI(OpenAPI):
    """A Flask application with the whole description of its API."""

    def generate_spec_json(self) -> None:
        """Make the document when it is first asked for, and complete it."""
        super().generate_spec_json()  # type: ignore[no-untyped-call]
        complete(self.spec_json)


def complete(document: Document) -> None:
    """Add to every operation of the document what its route does not say."""
    components = document["components"]
    components["securitySchemes"] = _SCHEMES
    components["responses"] = {str(status): _problem(status) for status in STATUSES}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            _complete(operation, rule_key(method.upper(), path))


def _complete(operation: Document, route: str) -> None:
    declared = operation["responses"]
    answers = {status: response for status, response in declared.items() if int(status) < 400}
    problems = {int(status) for status in declared} - {400} - {int(status) for status in answers}
    right = _RIGHTS[route]
    of_callers = () if right == "anyone" else _OF_CALLERS
    statuses = sorted(problems | _common(operation) | set(of_callers))
    operation["responses"] = answers | {
        str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses
    }
    if _SECURITY[right]:
        operation["security"] = _SECURITY[right]


def _common(operation: Document) -> set[int]:
    """The problems that an operation may answer with, as far as its parameters tell."""
    statuses = set(EVERY_ROUTE)
    places = {parameter["in"] for parameter in operation.get("parameters", ())}
    if places:
        statuses.add(400)
    if "path" in places:
        statuses.add(404)
    if "requestBody" in operation:
        statuses.update(_WITH_BODY)
    return statuses


def _problem(status: int) -> Document:
    content = {PROBLEM_TYPE: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}}
    phrase = HTTPStatus(status).phrase
    response: Document = {"description": f"{phrase}. {STATUSES[status]}.", "content": content}
    if status in _LATER:
        response["headers"] = _RETRY
    return response


_RIGHTS = {described_route(route): right for route, right in RULES.items()}
