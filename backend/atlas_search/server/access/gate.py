"""Every request passes here before its route runs."""

from collections.abc import Callable

from flask import request

from atlas_search.core.errors import NotAllowed
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import present_caller
from atlas_search.server.access.rules import RULES, rule_key


def gate(settings: Settings) -> Callable[[], None]:
    """What to call before each request. It raises NotAllowed for what the caller may not do."""

    def admit() -> None:
        if request.url_rule is None or request.method == "OPTIONS":
            return  # there is no such route, which is said later; or only its methods are asked for
        right = RULES.get(rule_key(request.method, request.url_rule.rule))
        if right is None:
            raise NotAllowed("This route is closed: nothing says who may use it.")
        present_caller(settings).check(right)

    return admit
