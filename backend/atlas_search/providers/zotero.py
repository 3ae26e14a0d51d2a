"""Zotero's own server on a reader's machine, which its browser connector speaks to.

https://github.com/zotero/zotero, `chrome/content/zotero/xpcom/server/server_connector.js`
"""

from collections.abc import Sequence
from http import HTTPStatus

from atlas_search.core.addresses import bounded_request
from atlas_search.core.errors import Unavailable
from atlas_search.providers.http import ErrorStatus, Fault, Lost, http_faults

LOCAL = "http://127.0.0.1:23119"
"""The address at which Zotero listens."""

SECONDS = 20.0
ABSENT = "Zotero is not running. Start it, then try again."
_SLOW = "Zotero took too long to answer. Look whether the items are there, then try again."
_HEADERS = {"X-Zotero-Connector-API-Version": "3"}


def is_running(address: str) -> bool:
    """Return True if Zotero answers at `address`."""
    try:
        with http_faults():
            # what the environment says of proxies is for the web
            response = bounded_request(
                "GET", f"{address}/connector/ping", headers=_HEADERS, timeout=2.0, trust_env=False
            )
    except Fault:
        return False
    return response.is_success


def save_items(address: str, items: Sequence[object], session: str, uri: str) -> None:
    """Put items into the library, or the folder, that is chosen in Zotero.

    `session` names the request, each once. Raises Unavailable, which says what to do.
    """
    sent = {"sessionID": session, "uri": uri, "items": items}
    try:
        with http_faults():
            response = bounded_request(
                "POST",
                f"{address}/connector/saveItems",
                json=sent,
                headers=_HEADERS,
                timeout=SECONDS,
                trust_env=False,
            )
        if response.status_code != HTTPStatus.CREATED:
            raise ErrorStatus(response.status_code, response.text, 0.0)
    except ErrorStatus as fault:
        raise Unavailable(_refused(fault)) from fault
    except Fault as fault:
        reached = isinstance(fault, Lost) and not str(fault).startswith("Connect")
        raise Unavailable(_SLOW if reached else ABSENT) from fault


def _refused(fault: ErrorStatus) -> str:
    if "libraryEditable" in fault.body:
        return "The library that is chosen in Zotero cannot be changed. Choose another in Zotero."
    if fault.status == 412:
        return "This Zotero is too old or too new to take items from here. Update it."
    return f"Zotero could not keep the items (status {fault.status}). Try again, or import a file."
