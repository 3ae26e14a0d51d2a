"""Writing a debate: its sections, its speeches and who makes them.

`Debate` does what the formats of all parliaments have in common. A parliament is a subclass: its
class attributes name the elements, its methods hold its exceptions.
"""

from typing import ClassVar

from lxml import etree

from atlas_search.readers.xml.tree import Layout, TextWriter, text_of


class Debate:
    """Writes a debate. After a speech goes on who spoke before it, as when one interrupts."""

    layout: Layout
    sections: ClassVar[frozenset[str]] = frozenset()
    speeches: ClassVar[frozenset[str]] = frozenset()
    labels: ClassVar[frozenset[str]] = frozenset()
    """Printed names, which stand at the head of the speech."""

    def __init__(self) -> None:
        self.writer = TextWriter()
        self._voices: list[str] = []

    def _title(self, section: etree._Element) -> str:
        """The title of a section; empty without one."""
        raise NotImplementedError

    def _speaker(self, speech: etree._Element) -> str:
        """The name of who makes a speech; empty if it does not say."""
        raise NotImplementedError

    def _begin(self, element: etree._Element) -> bool:
        """Begin an element after its section or speech has begun; say if to read what is in it."""
        return True

    def _end(self, element: etree._Element) -> None:
        """End an element before its section or speech ends."""

    def enter(self, element: etree._Element) -> bool:
        if element.tag in self.sections:
            self.writer.open_section(self._title(element))
        elif element.tag in self.speeches:
            self._voices.append(self.writer.speaker)
            self.writer.speech(self._speaker(element))
        return self._begin(element)

    def leave(self, element: etree._Element) -> None:
        self._end(element)
        if element.tag in self.sections:
            self.writer.close_section()
        elif element.tag in self.speeches:
            self.writer.block()
            self.writer.voice(self._voices.pop())
        elif element.tag in self.labels and text_of(element):
            self.writer.run_in()
