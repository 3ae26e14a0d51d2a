"""Reading XML of an unknown structure as plain text."""

from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read, Skipped
from atlas_search.readers.xml.draft import draft, unique_keys
from atlas_search.readers.xml.parse import INCLUDE
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

KNOWN = "TEI, Hansard, Akoma Ntoso, CLML (UK), USLM (US) and Justice Laws (Canada)"
"""The schemas whose structure is read."""

_LAYOUT = Layout(
    names(""), names("tr row"), names("td th cell entry"), names("br lb"), names(INCLUDE)
)


class _PlainText:
    """Writes the text of all elements in order; attributes are not text.

    An element is a paragraph unless it stands between words of another one.
    """

    layout = _LAYOUT

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._mixed: list[bool] = []

    def enter(self, element: etree._Element) -> bool:
        if not self._is_inline(element):
            self.writer.block()
        self._mixed.append(self._is_inline(element) or _has_words(element))
        return True

    def leave(self, element: etree._Element) -> None:
        self._mixed.pop()
        if not self._is_inline(element):
            self.writer.block()

    def _is_inline(self, element: etree._Element) -> bool:
        placed = self.layout.cells | self.layout.lines | self.layout.breaks
        return element.tag in placed or bool(self._mixed and self._mixed[-1])


def plain_drafts(root: etree._Element, name: str, documents_at: str) -> Iterator[Read]:
    """One draft for the file, or one for each outermost element called `documents_at`."""
    if not documents_at:
        yield _draft(root, name, "")
        return
    wanted = documents_at.lower()
    parts = [part for part in root.iter(wanted) if next(part.iterancestors(wanted), None) is None]
    if not parts:
        yield Skipped(f"it has no <{documents_at}>, at which its documents should begin")
    keys = unique_keys([part.get("id") or part.get("n") or "" for part in parts])
    for part, key in zip(parts, keys, strict=True):
        yield _draft(part, name, key)


def _draft(part: etree._Element, name: str, key: str) -> Read:
    writer = Writer()
    walk(part, _PlainText(writer))
    language = part.get("lang", "") or part.getroottree().getroot().get("lang", "")
    return draft(
        writer.finish(),
        {"language": language},
        key=key,
        remarks=[_remark(name)],
        speeches_known=False,
    )


def _remark(name: str) -> str:
    return (
        f"no known structure: <{name}> is read as plain text, without sections and dates; known "
        f"are {KNOWN}; convert it to one of them, or name the element of each document with "
        "--documents-at"
    )


def _has_words(element: etree._Element) -> bool:
    """Whether words stand in `element` itself, beside its elements."""
    pieces = [element.text, *(child.tail for child in element)]
    return any(piece and not piece.isspace() for piece in pieces)
