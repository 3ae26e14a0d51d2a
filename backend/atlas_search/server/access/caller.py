"""Who calls: what the credentials of a request give the right to."""

import hmac
from dataclasses import dataclass

from flask import request

from atlas_search.core.errors import NotAllowed
from atlas_search.core.settings import Settings
from atlas_search.server.access.rules import Right


@dataclass(frozen=True)
class Caller:
    """The sender of a request: whether they may change the server, else the reason why not."""

    administrator: bool
    refusal: str = ""

    def check(self, right: Right) -> None:
        """Raise NotAllowed without the right."""
        if right == "administrator" and not self.administrator:
            raise NotAllowed(self.refusal)


def present_caller(settings: Settings) -> Caller:
    """The sender of the present request."""
    token = settings.atlas_admin_token.get_secret_value()
    if not token:
        return Caller(False, "Nobody may change this server: ATLAS_ADMIN_TOKEN is not set.")
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not hmac.compare_digest(given.encode(), token.encode()):
        return Caller(False, "Send the administrator's token: `Authorization: Bearer <token>`.")
    return Caller(True)
