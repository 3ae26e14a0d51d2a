"""The library of a running Zotero, by its local API.

All of it is asked for each time: a change counts up no version of the local API before it is synced
(https://github.com/zotero/zotero/issues/5011), so `since` would miss it.
https://www.zotero.org/support/dev/web_api/v3/local_api
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import typer

from atlas_search.core.addresses import bounded
from atlas_search.core.errors import SourceError
from atlas_search.providers.http import Fault, Lost, http_faults
from atlas_search.providers.zotero import ABSENT, LOCAL, SECONDS
from atlas_search.readers.files import FilesReader, files_reader
from atlas_search.readers.records.bib import paths_of
from atlas_search.readers.tesseract import Ocr

if TYPE_CHECKING:
    from httpx2 import Client, Response

OWN = "users/0"
"""The library of whoever uses this Zotero; a group's is `groups/4711`."""

_LONGEST = 1_000_000_000  # bytes of an answer: notes hold pictures
_LONGEST_LIST = 10_000_000  # bytes of all collections, of half a kilobyte each
_SECONDS = 300.0
_HERE = ("localhost", "127.0.0.1", "::1")
_STORED = ("imported_file", "imported_url", "linked_file")
CLOSED = (
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


def fetch_library(
    address: str,
    suffixes: Collection[str],
    *,
    library: str = OWN,
    collection: str = "",
    named: Callable[[str], str] = str,
    longest: int = _LONGEST,
) -> tuple[str, list[tuple[str, str, Path | None]]]:
    """The items of a library, or of one `collection` by its key and of those inside it.

    They are JSON that is read as any list of literature, in answers of at most `longest` bytes. It
    names files with one of the `suffixes` as they are called beside it: `named` makes that of
    `<key>/<name>`. Beside it all their files: the key of each, its name, and where it is, if it is
    there. Raises SourceError, which says what to do.
    """
    with _zotero(address, library, longest) as (client, base):
        collections = _collections(client, base)
        items = [_item(each) for _, each in sorted(_objects(client, f"{base}/items").items())]
        if collection:
            items = _inside(collection, collections, items)
        files = [_file(client, base, item) for item in items if item.get("linkMode") in _STORED]
    read = tuple(suffixes)
    names = {
        key: named(f"{key}/{name}")
        for key, name, path in files
        if path and name.lower().endswith(read)
    }
    items = [item | {"path": names.get(item["key"], "")} for item in items]
    content = {"collections": collections, "items": items}
    return json.dumps(content, ensure_ascii=False, indent=1), files


def list_collections(address: str) -> list[tuple[str, str]]:
    """The keys and paths (`Coast > Ports`) of the collections of the user, in order of paths.

    Raises SourceError, which says what to do.
    """
    with _zotero(address, OWN, _LONGEST_LIST, SECONDS) as (client, base):
        named = _collections(client, base)
        paths = paths_of({key: (each["name"], each["parent"]) for key, each in named.items()})
    return sorted(paths.items(), key=lambda pair: (pair[1].casefold(), pair[0]))


@contextmanager
def _zotero(
    address: str, library: str, longest: int, seconds: float = _SECONDS
) -> Iterator[tuple["Client", str]]:
    """A client for a library of the Zotero at `address`, and the base of what to ask."""
    if urlsplit(address).hostname not in _HERE:
        raise SourceError(
            f"--address {address}: a Zotero names files of its own machine. Give one of this "
            f"machine, such as {LOCAL}."
        )
    from httpx2 import Client

    headers = {"Zotero-API-Version": "3"}
    with bounded(Client(headers=headers, timeout=seconds, trust_env=False), longest) as client:
        try:
            yield client, f"{address.rstrip('/')}/api/{library}"
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise SourceError(f"Zotero's answer cannot be read ({error!r}). Update it.") from error


def _collections(client: "Client", base: str) -> dict[str, dict[str, str]]:
    return {
        key: {"name": each["name"], "parent": each["parentCollection"] or ""}
        for key, each in sorted(_objects(client, f"{base}/collections").items())
    }


def _inside(
    collection: str, collections: Mapping[str, Mapping[str, str]], items: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    inner = _below({collection}, {key: each["parent"] for key, each in collections.items()})
    own = {item["key"] for item in items if inner.intersection(item.get("collections", ()))}
    wanted = _below(own, {item["key"]: item.get("parentItem", "") for item in items})
    if not wanted:
        raise SourceError("Zotero has nothing in this collection. Choose another.")
    return [item for item in items if item["key"] in wanted]


def _below(keys: set[str], parents: Mapping[str, str]) -> set[str]:
    """Some keys, and those whose parents are among them."""
    while new := {key for key, parent in parents.items() if parent in keys} - keys:
        keys = keys | new
    return keys


def _item(data: dict[str, Any]) -> dict[str, Any]:
    owner = data.pop("library")
    uri = f"http://zotero.org/{owner['type']}s/{owner['id'] or 0}/items/{data['key']}"
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
            found[each["key"]] = each["data"] | {"library": each.get("library")}
        totals.add(int(response.headers.get("Total-Results", len(found))))
    if {len(found)} != totals:
        raise SourceError("Zotero's library changed while it was read. Try again.")
    return found


def _file(client: "Client", base: str, item: dict[str, Any]) -> tuple[str, str, Path | None]:
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
        raise SourceError(CLOSED)
    if query and response.status_code != HTTPStatus.OK:
        raise SourceError(f"Zotero has no {url} ({response.status_code} {response.text}).")
    return response
