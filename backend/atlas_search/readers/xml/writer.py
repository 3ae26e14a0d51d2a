"""The text of one document while it is composed: its paragraphs, pages, sections and speeches."""

from dataclasses import dataclass

from atlas_search.core.domain import Segment
from atlas_search.readers.markup import plain

_NOTHING, _BLANK, _LINE, _PARAGRAPH = range(4)
_GAPS = ("", " ", "\n", "\n\n")
LONGEST = 1_000
"""Characters of a title, of a path of them, or of the name of a speaker: thousands of segments may
have the same."""

_HYPHENS = ("-", "\u2010", "\u00ac")


@dataclass(frozen=True, slots=True)
class Composed:
    """A finished text; `marks` are the labels of its page breaks and the offsets they stand at."""

    text: str
    marks: tuple[tuple[str, int], ...]
    segments: tuple[Segment, ...]


class Writer:
    """Takes a document piece by piece in reading order; `finish` gives its text.

    White space is collapsed. A page, a section, a place or a speech begins at the first word that
    follows its announcement: none begins in a gap, and no two segments begin at one place.
    """

    def __init__(self) -> None:
        self.speaker = ""
        self._parts: list[str] = []
        self._length = 0
        self._gap = _NOTHING
        self._glued = False
        self._running_in = False
        self._cells = 0
        self._path: list[str] = []
        self._section = ""
        self._locator = ""
        self._is_new = False
        self._breaks: list[str] = []
        self._notes: list[str] = []
        self._marks: list[tuple[str, int]] = []
        self._segments: list[Segment] = []

    def add(self, text: str | None) -> None:
        """Running text. White space at its ends separates it from its neighbours."""
        words = plain(text).split() if text else []
        if not text or not words:
            self._widen(_BLANK if text else _NOTHING)
            return
        self._widen(_BLANK if text[0].isspace() else _NOTHING)
        self._put(" ".join(words))
        self._widen(_BLANK if text[-1].isspace() else _NOTHING)

    def blank(self) -> None:
        """White space, unless the words on both sides were glued together."""
        self._widen(_BLANK)

    def line(self) -> None:
        """A new line of the same paragraph."""
        self._widen(_LINE)

    def block(self) -> None:
        """A new paragraph, after the notes on the one that ends."""
        self._widen(_PARAGRAPH)
        if self._notes and not self._cells:
            notes, self._notes = self._notes, []
            for note in notes:
                self._put(note)
                self._widen(_PARAGRAPH)

    def run_in(self) -> None:
        """What follows continues the line, whatever begins there: the label of a speech."""
        self._gap = min(self._gap, _BLANK)
        self._widen(_BLANK)
        self._running_in = True

    def glue(self) -> None:
        """No white space before the next word, if it is on the same line."""
        if self._gap <= _BLANK:
            self._gap, self._glued = _NOTHING, True

    def rejoin(self) -> None:
        """The next piece belongs to the word before on the line, which may end in a hyphen."""
        if self._gap <= _BLANK and self._parts and self._parts[-1].endswith(_HYPHENS):
            self._parts[-1] = self._parts[-1][:-1]
            self._length -= 1
        self.glue()

    def note(self, text: str) -> None:
        """A paragraph of its own after the one that is being written."""
        self._notes.append(" ".join(plain(text).split()))

    def open_cell(self, *, is_first: bool) -> None:
        """A cell of a table row; what would be a paragraph in it stays on the line."""
        self._cells += 1
        if not is_first:
            self.add(" | ")

    def close_cell(self) -> None:
        """The end of what `open_cell` began."""
        self._cells -= 1

    def page(self, label: str) -> None:
        """A page break; the page that begins has this number or none."""
        self._breaks.append(label.strip())

    def open_section(self, title: str) -> None:
        """A section inside the present one; without a title it has the same name. Ends a speech."""
        self._path.append(_short(title))
        self._name_section()
        # two petitions can follow each other with one title
        self._is_new = bool(title)

    def close_section(self) -> None:
        """Back to the section around it. Ends a speech."""
        self._path.pop()
        self._name_section()

    def section(self, *titles: str) -> None:
        """A section of this path, whatever was open. Ends a speech."""
        self._path = [_short(title) for title in titles]
        self._name_section()
        self._is_new = True

    def locate(self, locator: str) -> None:
        """How the source cites the place that begins (`s 10(1)`); empty where it does not."""
        self._locator = locator

    def speech(self, speaker: str) -> None:
        """A new speech, even if `speaker` spoke before."""
        self.speaker, self._is_new = speaker[:LONGEST], True

    def voice(self, speaker: str) -> None:
        """Who speaks from here on, in a speech that goes on; empty for nobody."""
        self.speaker, self._is_new = speaker, False

    def finish(self) -> Composed:
        """The text so far, without blanks at its ends."""
        self._cells = 0
        self.block()
        return Composed("".join(self._parts), tuple(self._marks), tuple(self._segments))

    def _name_section(self) -> None:
        self._section = " > ".join(filter(None, self._path))[-LONGEST:]
        self.voice("")

    def _widen(self, gap: int) -> None:
        if self._cells or self._running_in:
            gap = min(gap, _BLANK)
        if gap > _BLANK:
            self._glued = False
        if not self._glued:
            self._gap = max(self._gap, gap)

    def _put(self, words: str) -> None:
        self._append(_GAPS[self._gap] if self._length else "")
        self._begin()
        self._append(words)
        self._gap, self._glued, self._running_in = _NOTHING, False, False

    def _append(self, piece: str) -> None:
        self._parts.append(piece)
        self._length += len(piece)

    def _begin(self) -> None:
        """Fixes here what was announced to begin."""
        self._marks += ((label, self._length) for label in self._breaks)
        self._breaks.clear()
        last = self._segments[-1] if self._segments else Segment(0)
        place = self._section, self.speaker, self._locator
        if self._is_new or (last.section, last.speaker, last.locator) != place:
            self._segments.append(Segment(self._length, *place))
            self._is_new = False


def _short(title: str) -> str:
    return " ".join(title[:LONGEST].split())
