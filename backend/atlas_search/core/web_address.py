"""Addresses of the web: the only ones that are handed out as links.

A source may state any text as its address. One that runs a script, shows a password or is read
otherwise by a browser than by a person is never a link; where it is harmless it stays as text.
"""

import base64
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from atlas_search.core.domain import Metadata, MetadataValue, plain_metadata

LONGEST = 2_000
"""Characters of an address; browsers and bibliographies take no more for certain."""

URL = "url"
UNLINKED = "unlinked_url"
"""The metadata field that keeps as text what a source states as its address, but is no link."""

_SHOWN = 80  # characters of a refused address in a remark
_UNSAFE = frozenset('\\<>"`')  # a browser reads `\` as `/`; the others end an address in a text
_HARMFUL = re.compile(r"\s*(?:javascript|vbscript|data|file|blob|filesystem):", re.IGNORECASE)


def address_fault(address: str) -> str:
    """Why `address` is no link to the web, as a sentence goes on after "it"; empty if it is one."""
    if len(address) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if not _is_plain(address) or _UNSAFE & {*address} or " " in address:
        return "holds blanks or other characters that no address has"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"is malformed ({error})"
    if parts.scheme not in ("http", "https") or not host:
        return "does not begin with http:// or https://"
    if "@" in parts.netloc:
        return "holds a user name or a password"
    return ""


def is_link(address: object) -> bool:
    """Whether it is an address that may be handed out as a link."""
    return isinstance(address, str) and not address_fault(address)


class Linked(NamedTuple):
    """Metadata whose `url`, if there is one, is a link; `remark` says what was refused and why."""

    metadata: dict[str, MetadataValue]
    remark: str


def with_link(metadata: Metadata) -> Linked:
    """`metadata` with the first link of its `url` alone.

    What is harmless of the rest becomes UNLINKED, unless the source has such a field itself.
    """
    kept = dict(metadata)
    stated = kept.pop(URL, ())
    addresses = stated if isinstance(stated, tuple) else (str(stated),)
    links = [address for address in addresses if is_link(address)]
    others = [address for address in addresses if address not in links[:1]]
    if links:
        kept[URL] = links[0]
    if texts := tuple(filter(_is_harmless, others)):
        kept.setdefault(UNLINKED, texts if len(texts) > 1 else texts[0])
    refused = [address for address in others if address not in links]
    return Linked(kept, "; ".join(map(_remark, refused)))


def linked_fields(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as JSON has it, with no `url` but a link; it is not changed if it has one."""
    stated = metadata.get(URL)
    if stated is None or is_link(stated):
        return dict(metadata)
    addresses = tuple(map(str, stated)) if isinstance(stated, list | tuple) else str(stated)
    rest = {name: value for name, value in metadata.items() if name != URL}
    return plain_metadata(with_link({URL: addresses}).metadata) | rest


def unlink(document: Any) -> None:
    """Change a document of the API: no `url` in it, at any depth, is anything but a link."""
    found = [document]
    while found:  # not by recursion: whoever sends a document chooses how deep it is
        part = found.pop()
        if isinstance(part, dict):
            if isinstance(part.get("metadata"), dict):
                part["metadata"] = linked_fields(part["metadata"])
            if URL in part and not is_link(part[URL]):
                part[URL] = None
            found += part.values()
        elif isinstance(part, list):
            found += part


def without_login(address: str) -> str:
    """An address without the user name and the password that it may hold."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return re.sub(r"//[^/]*@", "//", address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=host)) if "@" in parts.netloc else address


def login_of(address: str) -> tuple[str, ...]:
    """What must not be told of an address: its password in every form in which it is sent, and with
    the user name before it; nothing of an address without one."""
    try:
        login = urlsplit(address).netloc.rpartition("@")[0]
    except ValueError:
        login = "".join(re.findall(r"//([^/]*)@", address))
    written = login.partition(":")[2]
    if not written:
        return ()
    sent = unquote(login)
    encoded = base64.b64encode(sent.encode()).decode()
    # the longest first: a part that is masked hides the whole
    return (encoded, login, sent, written, unquote(written))


def _remark(address: str) -> str:
    fault = address_fault(address)
    shown = f" {address[:_SHOWN]!a}" if _is_harmless(address) else ""
    return f"its address{shown} {fault}: no link is made of it"


def _is_harmless(address: str) -> bool:
    """Whether it may be shown as a text: it runs nothing, hides nothing and is no secret."""
    too_long = len(address) > LONGEST
    return (
        not too_long and _is_plain(address) and "@" not in address and not _HARMFUL.match(address)
    )


def _is_plain(text: str) -> bool:
    """Without control and format characters (those of writing from right to left are), nor any
    white space but the blank."""
    return text.isprintable()  # by definition all of them but categories C and Z; 50 times as fast
