"""The library of a running Zotero, by its local API.

All of it is asked for each time: a change counts up no version of the local API before it is synced
(https://github.com/zotero/zotero/issues/5011), so `since` would miss it.
https://www.zotero.org/support/dev/web_api/v3/local_api
"""

import json
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import typer

from atlas_search.core.addresses import bounded
from atlas_search.core.errors import SourceError
from atlas_search.providers.http import Fault, Lost, http_faults
from atlas_search.providers.zotero import ABSENT, LOCAL
from atlas_search.readers.files import FilesReader, files_reader
from atlas_search.readers.tesseract import Ocr
from atlas_search.stores.versions import make_folder

if TYPE_CHECKING:
    from httpx2 import Client, Response

OWN = "users/0"
"""The library of whoever uses this Zotero; a group's is `groups/4711`."""

_LONGEST = 1_000_000_000  # bytes of an answer: notes hold pictures
_SECONDS = 300.0
_HERE = ("localhost", "127.0.0.1", "::1")
_STORED = ("imported_file", "imported_url", "linked_file")
_CLOSED = (
    "Zotero lets no other program read its library. Allow it there, in Settings > Advanced > Allow "
    "other applications on this computer to communicate with Zotero; then try again."
)


def zotero_reader(
    source: Annotated[
        list[Path], typer.Argument(help="Folder that Zotero exported (default: its library)")
    ] = [],  # noqa: B006
    address: Annotated[str, typer.Option(help="Address of the running Zotero")] = LOCAL,
    library: Annotated[
        str, typer.Option(help="Library of the running Zotero: users/0 or groups/ID")
    ] = OWN,
    ocr: Ocr = "",
) -> FilesReader:
    """Build a collection from Zotero: its items with their files, notes and abstracts.

    Without SOURCE the running Zotero is asked. Allow that in its Settings > Advanced.
    """
    return files_reader(ocr=ocr)


StoredFile = tuple[str, str, Path | None]
"""A file of an item: its key, its name, and where it is, if it is there."""


def fetch_library(
    address: str, library: str, list_file: Path, suffixes: frozenset[str]
) -> list[StoredFile]:
    """Write the items of a library to a file that is read as any list of literature.

    It names their files with one of the `suffixes`; all are returned. Raises SourceError, which
    says what to do.
    """
    if urlsplit(address).hostname not in _HERE:
        raise SourceError(
            f"--address {address}: a Zotero names files of its own machine. Give one of this "
            f"machine, such as {LOCAL}."
        )
    from httpx2 import Client

    base = f"{address.rstrip('/')}/api/{library}"
    headers = {"Zotero-API-Version": "3"}
    with bounded(Client(headers=headers, timeout=_SECONDS, trust_env=False), _LONGEST) as client:
        try:
            collections = {
                key: {"name": each["name"], "parent": each["parentCollection"] or ""}
                for key, each in sorted(_objects(client, f"{base}/collections").items())
            }
            items = [_item(each) for _, each in sorted(_objects(client, f"{base}/items").items())]
            files = [_file(client, base, item) for item in items if item.get("linkMode") in _STORED]
        except (KeyError, TypeError, ValueError) as error:
            raise SourceError(f"Zotero's answer cannot be read ({error!r}). Update it.") from error
    read = tuple(suffixes)
    paths = {key: str(path) for key, name, path in files if path and name.lower().endswith(read)}
    items = [item | {"path": paths.get(item["key"], "")} for item in items]
    make_folder(list_file.parent, 0o700)  # notes are private
    content = {"collections": collections, "items": items}
    list_file.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    return files


def _item(data: dict[str, Any]) -> dict[str, Any]:
    owner = data.pop("library")
    uri = f"http://zotero.org/{owner['type']}s/{owner['id']}/items/{data['key']}"
    return data | {"uri": uri, "version": 0, "dateModified": ""}  # which change with no word


def _objects(client: "Client", url: str) -> dict[str, dict[str, Any]]:
    """All objects by their keys. A Zotero gives them at once, unless one day it has pages.

    Raises SourceError if they change meanwhile.
    """
    found: dict[str, dict[str, Any]] = {}
    totals: set[int] = set()
    before = -1
    while before < len(found) and {len(found)} != totals:
        before = len(found)
        response = _get(client, url, {"start": len(found)})
        for each in response.json():
            found[each["key"]] = each["data"] | {"library": each["library"]}
        totals.add(int(response.headers.get("Total-Results", len(found))))
    if {len(found)} != totals:
        raise SourceError("Zotero's library changed while it was read. Try again.")
    return found


def _file(client: "Client", base: str, item: dict[str, Any]) -> StoredFile:
    response = _get(client, f"{base}/items/{item['key']}/file", {})
    parts = urlsplit(response.headers.get("Location", ""))
    path = Path(url2pathname(parts.path))
    is_there = parts.scheme == "file" and parts.hostname in (None, *_HERE) and path.is_file()
    name = path.name or str(item.get("filename") or item.get("title"))
    return item["key"], name, path if is_there else None


def _get(client: "Client", url: str, query: dict[str, int]) -> "Response":
    try:
        with http_faults():
            response = client.get(url, params=query)
    except Fault as fault:
        is_absent = isinstance(fault, Lost) and str(fault).startswith("Connect")
        raise SourceError(ABSENT if is_absent else f"Zotero did not answer: {fault}.") from fault
    if response.status_code == HTTPStatus.FORBIDDEN:
        raise SourceError(_CLOSED)
    if query and response.status_code != HTTPStatus.OK:
        raise SourceError(f"Zotero has no {url} ({response.status_code} {response.text}).")
    return response
