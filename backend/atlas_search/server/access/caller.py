"""Who calls: what the credentials of a request give the right to."""

import hmac
from dataclasses import dataclass
from datetime import UTC, datetime

from flask import g

from atlas_search.core.errors import ConfigurationError, NotAllowed, UnknownCaller
from atlas_search.core.settings import Settings
from atlas_search.server.access.keys import ApiKey, KeyRing
from atlas_search.server.access.rules import Right

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
        """Whether they may ask anything of the collection."""
        return "reader" in self.rights

    @property
    def sees_everything(self) -> bool:
        """Whether no corpus of any collection is kept from them."""
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
    """Who is let in. Safe to use from several threads.

    Without API_KEYS_FILE everybody is who reaches the server, and one token gives the right to
    change it. Raises ConfigurationError for a file of keys that cannot be read.
    """

    def __init__(self, settings: Settings):
        self.keys = KeyRing(settings.api_keys_file) if settings.api_keys_file else None
        self._token = settings.atlas_admin_token.get_secret_value()

    @property
    def problem(self) -> str:
        """Why nobody is let in; empty if all is well."""
        try:
            if self.keys:
                self.keys.keys()
        except ConfigurationError:
            return self.keys.problem if self.keys else ""
        return ""

    def caller(self, authorization: str) -> Caller:
        """Whose credentials these are, by the header. Raises ConfigurationError without keys."""
        scheme, _, given = authorization.partition(" ")
        given = given.strip() if scheme.lower() == SCHEME else ""
        is_token = bool(self._token) and hmac.compare_digest(given.encode(), self._token.encode())
        if self.keys is None:
            return self._without_keys(is_token=is_token)
        if is_token:
            return Caller(_ADMINISTRATOR, owner=ADMINISTRATOR, name=ADMINISTRATOR, sees_traces=True)
        if not given:
            return NOBODY
        key = self.keys.find(given, datetime.now(UTC).date())
        return _of_key(key) if key else _UNKNOWN

    def knows(self, owner: str) -> bool:
        """Whether an owner of answers is still let in. Raises ConfigurationError without keys."""
        if self.keys is None:
            return owner == ""
        if owner == ADMINISTRATOR:
            return bool(self._token)
        today = datetime.now(UTC).date()
        valid = (key for key in self.keys.keys().values() if not key.is_expired(today))
        return any(_owner(key) == owner for key in valid)

    def _without_keys(self, *, is_token: bool) -> Caller:
        if is_token:
            return Caller(_ADMINISTRATOR, sees_traces=True)
        refusal = "Nobody may change this server: ATLAS_ADMIN_TOKEN is not set."
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
