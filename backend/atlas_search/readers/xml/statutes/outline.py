"""The headings that are open while a law is written, and how the place is cited."""

from lxml import etree

from atlas_search.core.locator import is_locator
from atlas_search.readers.markup import plain
from atlas_search.readers.xml.writer import Writer

_NOTES = frozenset({"authorialnote", "footnote", "sidenote"})
_BREAKS = frozenset({"br", "eol", "linebreak"})


class Outline:
    """Tells a writer under which headings it stands and in which provision."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._open: list[tuple[int, str]] = []
        self._cited: list[str] = []

    def open(self, depth: int, title: str) -> None:
        """A heading; it closes those of its depth and deeper ones. Nothing without a title."""
        if title:
            self._open = [each for each in self._open if each[0] < depth]
            self._open.append((depth, title))
            self._name()

    def close(self, depth: int) -> None:
        """Ends the headings of this depth and deeper ones."""
        still_open = [each for each in self._open if each[0] < depth]
        if len(still_open) < len(self._open):
            self._open = still_open
            self._name()

    def enter(self, locator: str, *, first: str = "") -> None:
        """A provision; `first` is the level at which its text begins, `(1)`, if it has one.

        What no citation can hold, such as a number in small letters, is no locator.
        """
        self._cited.append(locator if is_locator(locator) else "")
        self._writer.locate(self.locator and self.locator + first)

    def leave(self) -> None:
        """Back to the provision around it."""
        self._cited.pop()
        self._writer.locate(self.locator)

    @property
    def locator(self) -> str:
        """The provision that is open, or empty."""
        return self._cited[-1] if self._cited else ""

    def _name(self) -> None:
        self._writer.section(*(title for _, title in self._open))


def line_of(*elements: etree._Element | None) -> str:
    """The texts of `elements` on one line with blanks between, as a writer puts them: without the
    notes inside them."""
    texts = (plain(_text(element)) for element in elements if element is not None)
    return " ".join(" ".join(filter(None, texts)).split())


def _text(root: etree._Element) -> str:
    pieces: list[str | None] = []
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            pieces.append(element.tail if element is not root else None)
        elif element.tag in _NOTES:
            walker.skip_subtree()
        else:
            pieces += (" " if element.tag in _BREAKS else None, element.text)
    return "".join(filter(None, pieces))
