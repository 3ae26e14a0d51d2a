"""Which part of a page is its main text.

trafilatura finds the main text, but what it returns is not cited: it drops times, captions and
standfirsts, and joins lines. What it finds is looked up in the page, and the page around it is kept
as it stands. On the 879 pages of trafilatura's evaluation that can be decoded, this keeps 98 % of
the passages that belong to the text and 21 % of those that do not; trafilatura 95 % and 10 %.
"""

import re
from collections.abc import Iterable, Iterator

from lxml.etree import _Element
from lxml.html import HtmlElement

_CONTAINERS = frozenset(
    "address article aside center details dialog div fieldset footer form header hgroup main menu "
    "nav search section".split()
)
_APART = frozenset({"aside", "dialog", "footer", "form", "menu", "nav", "search"})
_ARTICLES = ("article", "main")
_NOT_PROSE = frozenset(
    "a button head iframe noscript option script select style svg template textarea title".split()
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_COMMENTS = re.compile(r"(?:^|\s)(?:comments?|commentlist|respond|disqus)(?![a-z])", re.IGNORECASE)
_PROSE = 120
"""Characters outside links that make an element a paragraph of prose; one of Chinese is two."""
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_CAPTION = re.compile(r"caption(?![a-z])", re.IGNORECASE)
_WHOLE = frozenset({"blockquote", "dd", "figcaption"})
"""What is kept or left with all that is in it."""
_TRACE = 30
"""Characters at the start of a text by which it is found again."""


def main_part(page: HtmlElement) -> tuple[_Element, bool]:
    """The element that holds the main text, and whether there is one: if not, it is the body.

    It is the smallest that holds all trafilatura finds and the page's `h1`. Removed from it (from
    `page` itself) are comments, and each container without anything found that is a menu or the
    like, or holds neither prose nor headings only. An aside or a footer of an article may hold its
    notes and is kept, and so are the captions of its pictures.
    """
    body = page.find("body")
    if body is None:
        body = page
    _remove_comments(body)
    found = _elements_of(body, _run_trafilatura(page))
    if not found:
        return body, False
    kept = _with_ancestors({*found, *body.iter("h1")})
    part = _smallest(body, found, kept)
    _remove_boilerplate(part, kept)
    return part, True


def _remove_comments(body: HtmlElement) -> None:
    for element in list(body.iter("div", "section", "ol", "ul", "aside")):
        names = (element.get("class") or "", element.get("id") or "")
        if element.getparent() is not None and any(map(_COMMENTS.search, names)):
            element.drop_tree()


def _run_trafilatura(page: HtmlElement) -> list[str]:
    from trafilatura import bare_extraction
    from trafilatura.settings import Document

    try:
        document = bare_extraction(page, include_comments=False)
    except Exception:
        return []  # its rules meet pages nobody has tried them on; the body is kept then
    if not isinstance(document, Document):
        return []
    return [_squeeze(text) for text in document.body.itertext()]


def _elements_of(body: HtmlElement, found: list[str]) -> set[_Element]:
    """The elements of the page with a text of their own that begins like something found.

    White space is no evidence: trafilatura adds and drops it.
    """
    own = {
        element: [text for node in _own_texts(element) if (text := _squeeze(node))]
        for element in body.iter("*")
    }
    starts = {text[:_TRACE] for texts in own.values() for text in texts if len(text) >= _TRACE}
    everything = "".join(found)
    windows = (everything[at : at + _TRACE] for at in range(len(everything)))
    traces = starts.intersection(windows) | {text for text in found if len(text) < _TRACE}
    return {e for e, texts in own.items() if any(text[:_TRACE] in traces for text in texts)}


def _smallest(body: HtmlElement, found: set[_Element], kept: set[_Element]) -> HtmlElement:
    """The deepest element that holds all of `kept`, none of those that show no prose."""
    part = body
    while part not in found:
        inner = [child for child in part if child in kept]
        if len(inner) != 1 or inner[0].tag in _NOT_PROSE:
            break
        part = inner[0]
    return part


def _remove_boilerplate(part: HtmlElement, kept: set[_Element]) -> None:
    prose = _with_ancestors(_prose(part))
    articles = _inside_articles(part)
    for element in list(part.iter(*_CONTAINERS)):
        if element is part or element in kept:
            continue
        is_apart = element.tag in _APART and not (element in prose and element in articles)
        if is_apart or not (element in prose or _is_headings(element) or _is_caption(element)):
            element.drop_tree()


def _inside_articles(part: HtmlElement) -> set[_Element]:
    if any(around.tag in _ARTICLES for around in part.iterancestors()):
        return set(part.iter())
    return {inner for article in part.iter(*_ARTICLES) for inner in article.iter()}


def _prose(part: HtmlElement) -> Iterator[_Element]:
    for element in part.iter("*"):
        if sum(map(_length, _own_texts(element))) >= _PROSE:
            around = (element, *element.iterancestors())
            if not any(ancestor.tag in _NOT_PROSE for ancestor in around):
                yield element


def _is_headings(element: HtmlElement) -> bool:
    text = _squeeze("".join(element.itertext()))
    headings = "".join(t for heading in element.iter(*_HEADINGS) for t in heading.itertext())
    return bool(text) and text == _squeeze(headings) and next(element.iter("a"), None) is None


def _is_caption(element: HtmlElement) -> bool:
    """Whether it is one, or part of one or of a definition, and has a text outside links."""
    around = (element, *element.iterancestors("div", *_WHOLE))
    if not any(one.tag in _WHOLE or _CAPTION.search(one.get("class") or "") for one in around):
        return False
    texts = (text for inner in element.iter() if inner.tag != "a" for text in _own_texts(inner))
    return sum(map(_length, texts)) >= _TRACE


def _length(text: str) -> int:
    line = " ".join(text.split())
    return len(line) + len(_WIDE.findall(line))


def _with_ancestors(elements: Iterable[_Element]) -> set[_Element]:
    found: set[_Element] = set()
    for element in elements:
        around = element
        while around is not None and around not in found:
            found.add(around)
            around = around.getparent()
    return found


def _own_texts(element: _Element) -> Iterator[str]:
    """The texts directly in an element, not in one inside it."""
    if element.text:
        yield element.text
    for child in element:
        if child.tail:
            yield child.tail


def _squeeze(text: str) -> str:
    return "".join(text.split())
