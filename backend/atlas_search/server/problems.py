"""Errors as RFC 9457 problem documents: one table of statuses, one shape."""

import logging
from math import ceil

from flask import Response, json, request
from pydantic import BaseModel, Field, ValidationError
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from atlas_search.core import errors

log = logging.getLogger(__name__)

STATUS: dict[type[errors.AtlasError], int] = {
    errors.InvalidQuestion: 400,
    errors.UnknownCorpus: 400,
    errors.UnknownFilterField: 400,
    errors.UnknownTarget: 400,
    errors.UnknownCollection: 400,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.NotAllowed: 403,
    errors.RequestError: 400,
    errors.ConfigurationError: 503,
    errors.Unavailable: 503,
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


def problem_of(error: Exception, instance: str) -> Problem:
    """The problem document for any exception; unexpected ones are logged and kept vague."""
    if isinstance(error, errors.AtlasError):
        status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
        problem = _problem(_words(type(error).__name__), status, str(error), instance)
        if isinstance(error, errors.Unavailable) and error.retry_after:
            return problem.model_copy(update={"retry_after": ceil(error.retry_after)})
        return problem
    if isinstance(error, HTTPException):
        detail = error.description or error.name
        return _problem(error.name, error.code or 500, detail, instance)
    log.exception("Unexpected error at %s", instance, exc_info=error)
    detail = "Something went wrong in the server; its log says what."
    return _problem("Internal Server Error", 500, detail, instance)


def problem_response(error: Exception) -> Response:
    """A response carrying the problem document."""
    response = _response(problem_of(error, request.path))
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return response


def validation_response(error: ValidationError) -> Response:
    """A response for a request whose fields have the wrong shape: all of them at once."""
    faults = [
        f"{'.'.join(str(part) for part in fault['loc']) or 'body'}: {fault['msg']}"
        for fault in error.errors()
    ]
    return _response(_problem("Invalid Request", 400, "; ".join(faults) + ".", request.path))


def _problem(title: str, status: int, detail: str, instance: str) -> Problem:
    slug = title.lower().replace(" ", "-")
    return Problem(
        type=f"urn:atlas:problem:{slug}",
        title=title,
        status=status,
        detail=detail,
        instance=instance,
    )


def _response(problem: Problem) -> Response:
    wait = problem.retry_after
    return Response(
        json.dumps(problem.model_dump(exclude_none=True)),
        status=problem.status,
        content_type="application/problem+json",
        headers={"Retry-After": str(wait)} if wait else None,
    )


def _words(name: str) -> str:
    return "".join(f" {c}" if c.isupper() else c for c in name).strip()
