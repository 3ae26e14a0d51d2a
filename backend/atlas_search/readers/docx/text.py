"""From paragraphs with page breaks in them to one text, its pages and its headings."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from atlas_search.readers.docx.body import EXPLICIT, RENDERED, Paragraph
from atlas_search.readers.markup import Heading

_BREAKS = f"[{EXPLICIT}{RENDERED}]"


@dataclass(slots=True)
class Text:
    """What was written so far.

    `breaks` are page breaks since the last word, `awaited` those of them that Word marks once
    more where the next words begin.
    """

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    pages: list[int] = field(default_factory=lambda: [0])
    headings: list[Heading] = field(default_factory=list)
    breaks: int = 0
    awaited: int = 0
    rendered: bool = False

    def write(self, paragraphs: Iterable[Paragraph]) -> None:
        """Add paragraphs, a blank line between them. A break at the very end begins no page."""
        for paragraph in paragraphs:
            opened = False
            for piece in re.split(f"({_BREAKS})", _tidy(paragraph.text)):
                if piece in (EXPLICIT, RENDERED):
                    self._break(piece)
                elif piece:
                    if not opened:
                        self._open(paragraph)
                    opened = True
                    self._add(piece)

    def _break(self, mark: str) -> None:
        self.rendered |= mark == RENDERED
        if mark == RENDERED and self.awaited:
            self.awaited -= 1
        else:
            self.breaks += 1
            self.awaited += mark == EXPLICIT

    def _open(self, paragraph: Paragraph) -> None:
        if self.length:
            self.pieces.append("\n\n")
            self.length += 2
        if paragraph.level:
            title = " ".join(paragraph.words.split())
            self.headings.append(Heading(self.length, paragraph.level, title))

    def _add(self, piece: str) -> None:
        self.pages += [self.length] * self.breaks
        self.breaks = self.awaited = 0
        self.pieces.append(piece)
        self.length += len(piece)


def _tidy(text: str) -> str:
    """`text` without blanks around its lines; a page begins with a letter, not with a blank."""
    text = re.sub(rf"({_BREAKS}+)(\s+)", r"\2\1", text) if re.search(_BREAKS, text) else text
    text = "\n".join(line.strip(" ") for line in text.split("\n")).strip("\n")
    text = re.sub(rf"(?<![ \n])[ \n]+({_BREAKS}+)$", r"\1", text)
    return re.sub(r"\n{3,}", "\n\n", text)
