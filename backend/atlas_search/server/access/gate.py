"""The gate that every request passes before its route runs."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from flask import Response, g, request

from atlas_search.atlas import Atlas
from atlas_search.core.errors import ConfigurationError, NotAllowed
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import (
    FREE,
    NOBODY,
    RULES,
    SENT_AS_WRITTEN,
    Access,
    Caller,
    Right,
    check_listening,
    present_caller,
    rule_key,
)
from atlas_search.server.access.keys import key_place
from atlas_search.server.access.quotas import SPENDING_TABLE, Limiter
from atlas_search.server.serving import Serve
from atlas_search.server.state import open_states


def gate(access: Access, limiter: Limiter) -> Callable[[], None]:
    """Return a function to call before each request: it finds the caller and counts the request.

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
        if rule in SENT_AS_WRITTEN:
            g.release = limiter.open_stream(g.caller, address)

    return admit


def right_of(rule: str) -> Right:
    """Return the right that a route asks of its caller. Raises NotAllowed without a rule."""
    right = RULES.get(rule)
    if right is None:
        raise NotAllowed("This route is closed: nothing says who may use it.")
    return right


def check_caller(caller: Caller, rule: str) -> None:
    """Raise UnknownCaller or NotAllowed for a route that they may not use."""
    right = right_of(rule)
    caller.check(right)
    if right == "administrator" and not caller.sees_everything:  # it is about every corpus
        raise NotAllowed("This is for administrators who see every corpus.")


def release(response: Response) -> Response:
    """Give the caller's place back once the response is sent; called after each request."""
    if "release" in g:
        response.call_on_close(g.release)
    return response


def _caller(access: Access, right: Right) -> Caller:
    try:
        return access.caller(request.environ)
    except ConfigurationError:
        if right != "anyone":
            raise
        return NOBODY


def serve_caller(serve: Serve) -> Serve:
    """Limit what `serve` gives to the caller's corpora; NotAllowed if there are none."""

    def own() -> Atlas:
        atlas = serve()
        corpora = present_caller().sees(atlas.services.settings.chroma_collection_name)
        if corpora is None:
            return atlas
        part = atlas.permitted(corpora) if corpora else None
        if part is None or not part.corpora:
            raise NotAllowed("This key sees no corpus of the collection that is served.")
        return part

    return own


def check_start(settings: Settings) -> None:
    """Raise ConfigurationError for the first thing for which the server cannot start."""
    for check in CHECKS.values():
        check(settings)


def check_keys(settings: Settings) -> None:
    """Raise ConfigurationError if there are keys that cannot be read."""
    if place := key_place(settings):
        place.read()


def check_audit(settings: Settings) -> None:
    """Raise ConfigurationError if a line could not be added to AUDIT_LOG."""
    if not settings.audit_log:
        return
    try:
        _try_file(settings.audit_log)
    except OSError as error:
        raise ConfigurationError(
            f"AUDIT_LOG={settings.audit_log} cannot be written ({error.strerror or error}). Give "
            "the user who runs Atlas the right to write it, or name another file."
        ) from error


def check_state(settings: Settings) -> None:
    """Raise ConfigurationError if what the server keeps of its callers could not be written."""
    if settings.state_url.get_secret_value():
        with open_states(settings)("spending", SPENDING_TABLE).open():
            return
    folder = settings.atlas_state_directory
    try:
        _try_folder(folder)
        for path in folder.glob("*.sqlite"):
            _try_file(path)
    except OSError as error:
        raise ConfigurationError(
            f"ATLAS_STATE_DIRECTORY={folder} cannot be written ({error.strerror or error}). Give "
            "the user who runs Atlas the right to write there, or set it to another folder."
        ) from error


CHECKS: Mapping[str, Callable[[Settings], None]] = {
    "access": check_listening,
    "keys": check_keys,
    "audit": check_audit,
    "state": check_state,
}


def _try_file(path: Path) -> None:
    """Open a file for adding to it, or try the folder in which it would be made."""
    if path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
    else:
        _try_folder(path.parent)


def _try_folder(folder: Path) -> None:
    """Write a nameless file there, or where the folder would be made."""
    place = next(each for each in (folder, *folder.parents) if each.exists())
    with tempfile.TemporaryFile(dir=place):
        pass
