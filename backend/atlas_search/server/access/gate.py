"""Every request passes here before its route runs."""

from collections.abc import Callable

from flask import Response, g, request

from atlas_search.core.errors import ConfigurationError, NotAllowed
from atlas_search.server.access.caller import NOBODY, Access, Caller
from atlas_search.server.access.limits import Limiter
from atlas_search.server.access.rules import (
    ANSWERED,
    FREE,
    RULES,
    SENT_AS_WRITTEN,
    WHOLE,
    Right,
    rule_key,
)


def gate(access: Access, limiter: Limiter) -> Callable[[], None]:
    """What to call before each request: it finds the caller, and counts what they take.

    It raises UnknownCaller and NotAllowed for what they may not do, TooManyQuestions for what is
    too much, and ConfigurationError while the keys cannot be read.
    """

    def admit() -> None:
        if request.url_rule is None or request.method == "OPTIONS":
            return  # there is no such route, which is said later; or only its methods are asked for
        rule = rule_key(request.method, request.url_rule.rule)
        g.caller = _caller(access, right_of(rule))
        address = request.remote_addr or ""
        if rule not in FREE:
            limiter.count_request(g.caller, address)
        check_caller(g.caller, rule)
        if rule in ANSWERED:
            limiter.check_cost(g.caller, address)
        if rule in SENT_AS_WRITTEN:
            g.release = limiter.open_stream(g.caller, address)

    return admit


def right_of(rule: str) -> Right:
    """What a route asks of its caller. Raises NotAllowed if nothing says so."""
    right = RULES.get(rule)
    if right is None:
        raise NotAllowed("This route is closed: nothing says who may use it.")
    return right


def check_caller(caller: Caller, rule: str) -> None:
    """Raise UnknownCaller or NotAllowed for a route that they may not use."""
    caller.check(right_of(rule))
    if rule in WHOLE and not caller.sees_everything:
        raise NotAllowed("This is for administrators who see every corpus.")


def release(response: Response) -> Response:
    """What to call after each request: it gives back its place once the response is sent."""
    if "release" in g:
        response.call_on_close(g.release)
    return response


def _caller(access: Access, right: Right) -> Caller:
    try:
        return access.caller(request.headers.get("Authorization", ""))
    except ConfigurationError:
        if right != "anyone":
            raise
        return NOBODY
