"""The notes of a law in CLML, each to be written once, after the provision that refers to it."""

from collections.abc import Iterator

from lxml import etree

_CONTAINERS = ("commentaries", "footnotes", "marginnotes")
_SIGNS = ("commentaryref", "footnoteref", "marginnoteref")


class Notes:
    """Footnotes and histories of amendments, by the id that the text refers to."""

    def __init__(self, root: etree._Element) -> None:
        self._waiting = {
            note.get("id") or f"note {place}": note
            for container in root.iter(*_CONTAINERS)
            for place, note in enumerate(container)
        }
        self._due: list[str] = []

    def refer(self, *elements: etree._Element) -> None:
        """The notes to which these elements refer are due."""
        for element in elements:
            name = element.get("ref" if element.tag in _SIGNS else "commentaryref")
            if name in self._waiting:
                self._due.append(name)

    def due(self) -> Iterator[etree._Element]:
        """Those referred to, in that order, none twice; a note may refer to others."""
        while self._due:
            note = self._waiting.pop(self._due.pop(0), None)
            if note is not None:
                yield note

    def rest(self) -> Iterator[etree._Element]:
        """All that are left."""
        yield from self.due()
        self._due = list(self._waiting)
        yield from self.due()
