"""Every request passes here before its route runs."""

from collections.abc import Callable

from flask import g, request

from atlas_search.core.errors import ConfigurationError, NotAllowed
from atlas_search.server.access.caller import NOBODY, Access, Caller
from atlas_search.server.access.rules import RULES, Right, rule_key


def gate(access: Access) -> Callable[[], None]:
    """What to call before each request: it finds the caller.

    It raises UnknownCaller and NotAllowed for what they may not do, and ConfigurationError while
    the keys cannot be read.
    """

    def admit() -> None:
        if request.url_rule is None or request.method == "OPTIONS":
            return  # there is no such route, which is said later; or only its methods are asked for
        right = RULES.get(rule_key(request.method, request.url_rule.rule))
        if right is None:
            raise NotAllowed("This route is closed: nothing says who may use it.")
        g.caller = _caller(access, right)
        g.caller.check(right)

    return admit


def _caller(access: Access, right: Right) -> Caller:
    try:
        return access.caller(request.headers.get("Authorization", ""))
    except ConfigurationError:
        if right != "anyone":
            raise
        return NOBODY
