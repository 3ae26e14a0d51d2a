"""Errors as RFC 9457 problem documents: one table of statuses, one shape."""

import logging
import re
from http import HTTPStatus
from math import ceil

from flask import Response, g, json, request
from pydantic import BaseModel, Field, ValidationError
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from atlas_search.core import errors
from atlas_search.server.access.caller import present_caller

PROBLEM_TYPE = "application/problem+json"
TOLD_TO_ADMINISTRATORS = "Something is wrong: an administrator's health, and the log, say what."

log = logging.getLogger(__name__)

STATUS: dict[type[errors.AtlasError], int] = {
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.NotAllowed: 403,
    errors.WrongMediaType: 415,
    errors.UnknownHost: 421,
    errors.UnknownCaller: 401,
    errors.RequestError: 400,
    errors.ConfigurationError: 503,
    errors.Unavailable: 503,
    errors.FullDisk: 507,
    errors.Cancelled: 409,
    errors.BuildRunning: 409,
    errors.TooManyQuestions: 429,
    errors.AtlasError: 500,
}
"""An error's status is that of the first class in its line of descent."""


class Problem(BaseModel):
    """RFC 9457 problem document."""

    type: str = Field(description="Fixed name of the kind of problem")
    title: str
    status: int
    detail: str = Field(description="What is wrong, where, and what to do")
    instance: str = Field(description="Path of the request")
    retry_after: int | None = Field(
        None, description="Seconds after which trying again makes sense, as in `Retry-After`"
    )
    character: int | None = Field(
        None, description="Of a query for words: the character, from 1, at which it cannot be read"
    )


_PATH = re.compile(r"(?<![\w/.:\])-])/(?!api\b)\w")


def sees_paths() -> bool:
    """Return True if the present caller may know where files of the server lie."""
    return "caller" in g and present_caller().sees_traces


def holds_path(text: str) -> bool:
    """Check for an absolute path; an address is none."""
    return bool(_PATH.search(text))


def problem_of(error: Exception, instance: str, *, tells_paths: bool = False) -> Problem:
    """The problem document for any exception; unexpected ones are logged and kept vague.

    So is one whose message holds a path, unless its reader may see it. What a caller can mend holds
    none but their own.
    """
    if isinstance(error, errors.AtlasError):
        status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
        detail = str(error)
        if not (tells_paths or isinstance(error, errors.RequestError)) and holds_path(detail):
            log.warning("%s: %s", instance, detail)
            detail = TOLD_TO_ADMINISTRATORS
        problem = problem_for(_words(type(error).__name__), status, detail, instance)
        if isinstance(error, errors.Unavailable) and error.retry_after:
            wait = ceil(error.retry_after)
            message = f"{problem.detail} {_when(wait)}" if status == 429 else problem.detail
            return problem.model_copy(update={"retry_after": wait, "detail": message})
        if isinstance(error, errors.InvalidQuery) and error.character:
            return problem.model_copy(update={"character": error.character})
        return problem
    if isinstance(error, HTTPException):
        detail = error.description or error.name
        if detail == NotFound.description:
            detail = "There is no such address. The routes of the API are at /api/swagger."
        return problem_for(error.name, error.code or 500, detail, instance)
    log.exception("Unexpected error at %s", instance, exc_info=error)
    detail = "Something went wrong in the server; its log says what."
    return problem_for("Internal Server Error", 500, detail, instance)


def _when(seconds: int) -> str:
    """Say when to try again, in a unit that a reader can picture."""
    for unit, length in (("hour", 3600), ("minute", 60)):
        if seconds > 2 * length:
            return f"Try again in {ceil(seconds / length)} {unit}s."
    return f"Try again in {seconds} second{'' if seconds == 1 else 's'}."


def problem_response(error: Exception) -> Response:
    """A response carrying the problem document."""
    response = response_of(problem_of(error, request.path, tells_paths=sees_paths()))
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return response


def validation_response(error: ValidationError) -> Response:
    """A response for a request whose fields have the wrong form, or values that make no sense."""
    senseless = any(fault["type"] == "value_error" for fault in error.errors())
    title = "Request Error" if senseless else "Invalid Request"
    return response_of(problem_for(title, 400, errors.faults_of(error), request.path))


def problem_for(title: str, status: int, detail: str, instance: str) -> Problem:
    """The problem document of a title, whose kind bears its name."""
    slug = title.lower().replace(" ", "-")
    return Problem(
        type=f"urn:atlas:problem:{slug}",
        title=title,
        status=status,
        detail=detail,
        instance=instance,
    )


def response_of(problem: Problem) -> Response:
    """A response carrying it."""
    return Response(
        json.dumps(problem.model_dump(exclude_none=True)),
        status=problem.status,
        content_type=PROBLEM_TYPE,
        headers=headers_of(problem),
    )


def headers_of(problem: Problem) -> list[tuple[str, str]]:
    """The headers that repeat what a problem says."""
    headers = []
    if problem.retry_after:
        headers.append(("Retry-After", str(problem.retry_after)))
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers.append(("WWW-Authenticate", 'Bearer realm="atlas"'))
    return headers


def _words(name: str) -> str:
    return "".join(f" {c}" if c.isupper() else c for c in name).strip()
