"""From the bytes of a chapter to its tree."""

import re
from html.entities import html5

from lxml import etree

from atlas_search.readers.archive import xml_parser

_REFERENCE = re.compile(rb"&([A-Za-z][A-Za-z0-9]*);")
_OWN = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_ENCODING = re.compile(rb"""^[^<]{0,3}<\?xml[^>]*encoding=["']([A-Za-z0-9_.:-]+)["']""")


def chapter_tree(data: bytes) -> tuple[etree._Element, bool]:
    """The tree of an XHTML file, and whether it is well-formed; if not it is read as HTML.

    Raises ValueError where there is nothing to read.
    """
    for attempt in (data, _REFERENCE.sub(_number, data)):
        try:
            return etree.fromstring(attempt, xml_parser()), True
        except etree.XMLSyntaxError:
            continue
    return _html(data), False


def _number(reference: re.Match[bytes]) -> bytes:
    """`&eacute;` as `&#233;`: without a document type XML does not know the names of HTML."""
    meant = html5.get(f"{reference[1].decode()};")
    if reference[1] in _OWN or meant is None:
        return reference[0]
    return "".join(f"&#{ord(character)};" for character in meant).encode()


def _html(data: bytes) -> etree._Element:
    declared = _ENCODING.match(data)
    try:
        encoding = declared[1].decode() if declared else "utf-8"
        root = etree.fromstring(data, etree.HTMLParser(encoding=encoding, no_network=True))
    except (etree.LxmlError, LookupError) as error:
        raise ValueError(str(error)) from error
    if root is None:
        raise ValueError("it holds no element")
    return root
