"""Callers and their rights, by the credentials of a request."""

import hmac
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

from flask import g

from atlas_search.core.errors import ConfigurationError, NotAllowed, UnknownCaller
from atlas_search.core.settings import Settings
from atlas_search.server.access.keys import ApiKey, KeyRing, key_place

Right = Literal["anyone", "reader", "administrator"]
"""`anyone` learns nothing of the collection; a `reader` may ask; an `administrator` may change."""

RULES: dict[str, Right] = {
    "GET /": "anyone",
    "GET /static/<path:name>": "anyone",
    # the description of the API and its browsable page
    "GET /api/": "anyone",
    "GET /api/openapi.json": "anyone",
    "GET /api/swagger": "anyone",
    "GET /api/swagger/<path:filename>": "anyone",
    "GET /api/oauth2-redirect.html": "anyone",
    "GET /api/static/<path:filename>": "anyone",
    # for what watches the server and has no key: whether it is well; more only to a reader
    "GET /api/live": "anyone",
    "GET /api/ready": "anyone",
    "GET /api/health": "anyone",
    "GET /metrics": "reader",  # and of keys only those of administrators who see every corpus
    "GET /api/corpora": "reader",
    "GET /api/targets": "reader",
    "GET /api/config": "reader",
    "GET /api/passages/<any_id:id>": "reader",
    "GET /api/documents/<any_id:id>": "reader",
    "GET /api/page-image/<any_id:id>": "reader",
    "GET /api/page-boxes/<any_id:id>": "reader",
    "POST /api/search": "reader",
    "POST /api/facets": "reader",
    "GET /api/suggestions": "reader",
    "POST /api/concordance": "reader",
    "POST /api/trends": "reader",
    "POST /api/collocates": "reader",
    "POST /api/keywords": "reader",
    "POST /api/frequencies": "reader",
    "POST /api/counts": "reader",
    "POST /api/ask": "reader",
    "POST /api/ask/stream": "reader",
    "GET /api/ask/<qa_id>": "reader",
    "GET /api/ask/<qa_id>/stream": "reader",
    "GET /api/ask/<qa_id>/export": "reader",
    "DELETE /api/ask/<qa_id>": "reader",
    "POST /api/ask/<qa_id>/link": "reader",
    "GET /api/shared/<token>": "anyone",  # whoever has the link
    "DELETE /api/shared/<token>": "reader",
    "GET /api/sessions/<session_id>/export": "reader",
    "POST /api/export": "reader",
    "POST /api/citations": "reader",
    "GET /api/zotero": "reader",
    "POST /api/zotero": "reader",
    "POST /api/validate": "reader",
    "POST /api/feedback": "reader",
    "GET /api/feedback": "reader",
    "GET /api/feedback/export": "administrator",
    "GET /api/feedback/<rated_id:qa_id>": "reader",
    "DELETE /api/feedback/<rated_id:qa_id>": "reader",
    "GET /api/collections": "reader",
    "POST /api/collections/<name>/rollback": "administrator",
    "GET /api/collections/<name>/files/<path:file>": "administrator",
    "GET /api/stats": "reader",
    "GET /api/sources": "reader",
    "GET /api/documents": "reader",
    "POST /api/ingest": "administrator",
    "GET /api/ingest/zotero": "administrator",
    "DELETE /api/documents/<any_id:id>": "administrator",
    # a job tells the names of files
    "GET /api/jobs": "administrator",
    "GET /api/jobs/<job_id>": "administrator",
    "GET /api/jobs/<job_id>/events": "administrator",
    "DELETE /api/jobs/<job_id>": "administrator",
    "PUT /api/config/reranker": "administrator",
    "POST /api/cache/clear": "administrator",
    "GET /opensearch.xml": "anyone",
    "GET /llms.txt": "anyone",
    # answered by requests to the routes above
    "GET /oembed": "anyone",
    "POST /mcp": "reader",
    "GET /v1/models": "reader",
    "POST /v1/chat/completions": "reader",
    "POST /v1/responses": "reader",
}

RELAYS = ("/mcp", "/v1/")
"""Beginnings of paths answered by requests from within, each of which takes its own turn."""

RELAYED = frozenset(rule for rule in RULES if rule.partition(" ")[2].startswith(RELAYS))

FREE = frozenset(
    rule for rule, right in RULES.items() if right == "anyone" and rule != "GET /api/shared/<token>"
) | {"GET /metrics", *RELAYED}
"""Not counted: the page and what it loads, what watches whether the server is well, and what is
answered by requests that are counted."""

SENT_AS_WRITTEN = frozenset(
    {
        "POST /api/ask",
        "POST /api/ask/stream",
        "GET /api/ask/<qa_id>/stream",
        "GET /api/jobs/<job_id>/events",
        "GET /api/collections/<name>/files/<path:file>",
    }
)
"""Keep a thread of the server until the answer, the job or the file ends."""


@cache
def described_route(rule: str) -> str:
    """A route as the description of the API writes it: `/api/jobs/{job_id}`."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule)


def rule_key(method: str, route: str) -> str:
    """The key of RULES for a request's method and the pattern of its path."""
    return f"{'GET' if method == 'HEAD' else method} {route}"


ADMINISTRATOR = "administrator"  # owns no key's answers: a key begins with eight digits
SCHEME = "bearer"


@dataclass(frozen=True)
class Caller:
    """The sender of a request: the rights they have, and why not the others.

    Answers belong to their `owner`: a key and what it sees; empty where no keys are used. Without a
    `key` a reader sees everything. Traces hold what everybody asked, so few may see them.
    """

    rights: frozenset[Right]
    refusal: str = ""
    owner: str = ""
    name: str = ""
    key: ApiKey | None = None
    sees_traces: bool = False

    def check(self, right: Right) -> None:
        """Raise UnknownCaller without any right, NotAllowed without this one."""
        if right in self.rights:
            return
        if "reader" not in self.rights:
            raise UnknownCaller(self.refusal)
        raise NotAllowed(self.refusal)

    @property
    def is_known(self) -> bool:
        return "reader" in self.rights

    @property
    def changes_all(self) -> bool:
        """True if they may change the whole server, such as bring sources in."""
        return "administrator" in self.rights and self.sees_everything

    @property
    def sees_everything(self) -> bool:
        return self.key is None or self.key.corpora == "*"

    def sees(self, collection: str) -> frozenset[str] | None:
        """The corpora they see of a collection; None: all of them."""
        return self.key.sees(collection) if self.key else None


_ANYONE: frozenset[Right] = frozenset({"anyone"})
_READER: frozenset[Right] = frozenset({"anyone", "reader"})
_ADMINISTRATOR: frozenset[Right] = frozenset({"anyone", "reader", "administrator"})

NOBODY = Caller(_ANYONE, "Nobody asks this server without a key: `Authorization: Bearer <key>`.")
_UNKNOWN = Caller(_ANYONE, "This server does not know the key, or it has expired or was revoked.")


class Access:
    """The check of credentials, by keys or one token. Safe to use from several threads.

    Without keys everybody is who reaches the server, and one token gives the right to change it;
    without a token whoever is on its machine has it. Raises ConfigurationError for keys that cannot
    be read.
    """

    def __init__(self, settings: Settings):
        place = key_place(settings)
        self.keys = KeyRing(place) if place else None
        self._token = settings.atlas_admin_token.get_secret_value()
        self._settings = settings

    @property
    def problem(self) -> str:
        """The reason why nobody is let in; empty if all is well."""
        if self.keys is None:
            return ""
        with suppress(ConfigurationError):
            self.keys.keys()
        return self.keys.problem

    def caller(self, environ: Mapping[str, Any]) -> Caller:
        """Identify the caller by the WSGI environment of a request.

        Raises ConfigurationError without keys.
        """
        scheme, _, secret = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        secret = secret.strip() if scheme.lower() == SCHEME else ""
        is_token = bool(self._token) and hmac.compare_digest(secret.encode(), self._token.encode())
        if self.keys is None:
            beside = not self._token and is_beside(self._settings, environ)
            return self._without_keys(may_change=is_token or beside)
        if is_token:
            return Caller(_ADMINISTRATOR, owner=ADMINISTRATOR, name=ADMINISTRATOR, sees_traces=True)
        if not secret:
            return NOBODY
        key = self.keys.find(secret, datetime.now(UTC).date())
        return _of_key(key) if key else _UNKNOWN

    def knows(self, owner: str) -> bool:
        """Return True if an owner of answers is let in. Raises ConfigurationError without keys."""
        if self.keys is None:
            return owner == ""
        if owner == ADMINISTRATOR:
            return bool(self._token)
        today = datetime.now(UTC).date()
        valid = (key for key in self.keys.keys().values() if not key.is_expired(today))
        return any(_owner(key) == owner for key in valid)

    def _without_keys(self, *, may_change: bool) -> Caller:
        if may_change:
            return Caller(_ADMINISTRATOR, sees_traces=True)
        refusal = "Only its own machine may change this server: ATLAS_ADMIN_TOKEN is not set."
        if self._token:
            refusal = "Send the administrator's token: `Authorization: Bearer <token>`."
        return Caller(_READER, refusal, sees_traces=True)


def present_caller() -> Caller:
    """The sender of the present request, as the gate found them."""
    caller: Caller = g.caller
    return caller


def _of_key(key: ApiKey) -> Caller:
    return Caller(
        _ADMINISTRATOR if key.administrator else _READER,
        f"The key {key.name} has not the right of an administrator.",
        owner=_owner(key),
        name=key.name,
        key=key,
        sees_traces=key.administrator and key.corpora == "*",
    )


def _owner(key: ApiKey) -> str:
    # who sees other corpora from now on does not see again what was answered before
    return f"{key.id} {key.corpora}"


def check_listening(settings: Settings) -> None:
    """Raise ConfigurationError if others could ask without anybody having allowed it."""
    if settings.api_keys_file or settings.atlas_access != "keys":
        return
    name = "ATLAS_ADDRESS" if settings.atlas_address else "ATLAS_HOST"
    address = settings.atlas_address or settings.atlas_host
    if not is_loopback(address):
        raise ConfigurationError(
            f"{name}={address} lets other machines ask this server, and nothing "
            "says who may. Set API_KEYS_FILE (`atlas keys add NAME` makes a key), or "
            "ATLAS_ACCESS=proxy if a proxy in front, or the network, lets in only whom it should."
        )


PASSED_ON = ("FOR", "PROTO", "HOST", "PORT", "BY")
"""The ends of the names `X-Forwarded-…`."""

FORWARDED = "atlas.forwarded"
"""Of a WSGI environment: whether a proxy passed the request on, trusted or not."""


def is_forwarded(environ: Mapping[str, Any]) -> bool:
    """Return True if a header of a WSGI environment tells of a proxy."""
    names = ("HTTP_FORWARDED", "HTTP_VIA", *(f"HTTP_X_FORWARDED_{name}" for name in PASSED_ON))
    return bool(environ.get(FORWARDED)) or any(environ.get(name) for name in names)


def is_beside(settings: Settings, environ: Mapping[str, Any]) -> bool:
    """Check that server and caller are on one machine, by the WSGI environment of a request.

    The caller's address, the name they ask for and the page they use are this machine's. With a
    proxy nobody can know: on this machine, it makes every request come from here.
    """
    proxied = (
        settings.atlas_access == "proxy"
        or settings.trusted_proxies
        or settings.atlas_public_url
        or is_forwarded(environ)
    )
    addresses = [f"//{environ.get('HTTP_HOST', '')}", *filter(None, [environ.get("HTTP_ORIGIN")])]
    hosts = [
        settings.atlas_address or settings.atlas_host,
        environ.get("REMOTE_ADDR"),
        *(urlsplit(address).hostname for address in addresses),
    ]
    return not proxied and all(is_loopback(host or "") for host in hosts)


def is_loopback(host: str) -> bool:
    """Return True if only this machine reaches a server that listens on `host`."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
