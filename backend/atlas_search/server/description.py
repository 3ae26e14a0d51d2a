"""The description of the API at /api/openapi.json: what routes say, and what holds of them all.

A route declares what it answers itself. What the gates before it answer, how a problem looks and
who may use it is the same for every route, and is added here.
"""

from http import HTTPStatus
from typing import Any

from flask_openapi3.openapi import OpenAPI

from atlas_search.server.access.rules import RULES, Right, described_route, rule_key
from atlas_search.server.problems import PROBLEM_TYPE, Problem

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
}
"""The statuses of problems, and what each means of any route."""

EVERY_ROUTE = (403, 415, 421, 500, 503)
"""What the gates and the server itself may answer in place of any route."""

_OF_CALLERS = (401, 429)
_WITH_BODY = (400, 413)
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
        """See OpenAPI: the document is made when it is first asked for."""
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
    answers = {status: said for status, said in declared.items() if int(status) < 400}
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
    found = set(EVERY_ROUTE)
    places = {parameter["in"] for parameter in operation.get("parameters", ())}
    if places:
        found.add(400)
    if "path" in places:
        found.add(404)
    if "requestBody" in operation:
        found.update(_WITH_BODY)
    return found


def _problem(status: int) -> Document:
    content = {PROBLEM_TYPE: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}}
    phrase = HTTPStatus(status).phrase
    said: Document = {"description": f"{phrase}. {STATUSES[status]}.", "content": content}
    if status in _LATER:
        said["headers"] = _RETRY
    return said


_RIGHTS = {described_route(route): right for route, right in RULES.items()}
