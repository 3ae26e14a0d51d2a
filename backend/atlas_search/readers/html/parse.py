"""The element tree of a page."""

import re
from html.entities import html5

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, XHTMLParser, document_fromstring, xhtml_to_html

_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]*;)")


class Unreadable(ValueError):
    """A page that cannot be parsed in full; says why and what to do."""


def parse(content: str, *, xml: bool) -> HtmlElement:
    """The tree of a page without comments; of XHTML too, if it is well-formed, as a browser would.

    Raises Unreadable for an empty page and for one of which the parser would drop a part.
    """
    if xml:
        try:
            return _parse_xml(content)
        except etree.XMLSyntaxError:
            pass  # browsers show nothing then; most such pages were only ever read as HTML
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        page = document_fromstring(content.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError as error:
        raise Unreadable("it holds no text") from error
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise Unreadable(
            "its elements are nested too deeply for the parser, which would drop the rest; "
            "save it as text"
        )
    return page


def _parse_xml(content: str) -> HtmlElement:
    # without its DTD a parser does not know &nbsp; and the like
    known = _ENTITY.sub(lambda match: html5.get(match[1], match[0]), content)
    parser = XHTMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )
    page = etree.fromstring(known.encode("utf-8", "replace"), parser)
    xhtml_to_html(page)
    return page
