"""What old XML asks of a DTD that is not there: declarations and names of characters."""

import re
from html.entities import html5

_HEAD = 50_000
"""Bytes from the beginning within which a DOCTYPE ends."""

_NO_TEXT = rb"""(?:\s|<!NOTATION[^<>]*>|<!ENTITY\s+[^<>%"']+(?:"[^"]*"|'[^']*')\s*NDATA[^<>]*>)*"""
"""Declarations of pictures and the like, which stand for no text."""

_HALF_DOCTYPE = re.compile(
    rb"""<!DOCTYPE\s+\S+\s+PUBLIC\s+("[^"]*"|'[^']*')\s*(\[""" + _NO_TEXT + rb"""\])?\s*>"""
)
_SUBSET = re.compile(rb"<!DOCTYPE[^\[<>]*\[(.*?)\]\s*>", re.DOTALL)
_OUTSIDE = re.compile(rb"<!ENTITY\s+%\s+([^\s%;]+)\s+(?:SYSTEM|PUBLIC)\s")
_CALL = re.compile(rb"%([^\s%;]+);")
_CHARACTER = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|&([A-Za-z][A-Za-z0-9]*);", re.DOTALL
)
_ENTITY = re.compile(rb"<!ENTITY\s+([^\s%]+)\s")
_OF_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})


def without_outside_declarations(data: bytes) -> tuple[bytes, str]:
    """`data` without what its DOCTYPE calls from other files, and a remark if there was any.

    A DOCTYPE with a public name but no address, which is not well-formed, goes as a whole: the
    Australian Hansard of 1981 to 1997 has it.
    """
    if half := _HALF_DOCTYPE.search(data, 0, _HEAD):
        lines = b"\n" * half[0].count(b"\n")
        return data[: half.start()] + lines + data[
            half.end() :
        ], "its incomplete DOCTYPE was passed over"
    subset = _SUBSET.search(data, 0, _HEAD)
    outside = set(_OUTSIDE.findall(subset[1])) if subset else set()
    if not subset or not outside:
        return data, ""
    inside = _CALL.sub(lambda call: b"" if call[1] in outside else call[0], subset[1])
    return (
        data[: subset.start(1)] + inside + data[subset.end(1) :],
        "declarations in other files were not read",
    )


def with_html_characters(data: bytes) -> tuple[bytes, list[str]]:
    """`data` with `&eacute;` as `&#233;` unless it declares that itself, and the names in order."""
    own = {name.decode("ascii", "replace") for name in _ENTITY.findall(data)} | _OF_XML
    found: dict[str, None] = {}

    def character(match: re.Match[bytes]) -> bytes:
        name = (match[1] or b"").decode("ascii")
        meant = html5.get(f"{name};", "")
        if not meant or name in own:
            return match[0]
        found[name] = None
        return "".join(f"&#{ord(letter)};" for letter in meant).encode("ascii")

    return _CHARACTER.sub(character, data), list(found)
