"""Lines broken by hand: which line ends only break a line, and which end something.

The test is the one a typist makes: would the next word have fitted? What is never joined (items,
rows, headings, verse) is told by the form of the lines, in any language.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from atlas_search.language.languages import BREAK

_WIDEST = 120  # columns; longer lines were not wrapped by hand
_NARROWEST = 45  # columns of wrapped prose: verse and addresses are narrower
_NARROWEST_WIDE = 20  # characters of Chinese or Japanese, each of two columns
_FEWEST = 3  # words of a line that small letters continue: fewer are those of a list
_FULL = 0.8  # of the longest line: by hand nobody fills every line
_VERSE = 60  # columns
_VERSE_LINES, _LIST_LINES = 3, 5
_LONGEST_RUN = 4000  # characters: the sentence splitter takes quadratic time without blanks

_NEIGHBOURS = re.compile(r"[^\n]\n[^\n]")
_MARGIN = " \t>"
_FENCE = re.compile(r"^[ \t>]*(?:```+|~~~+)[ \t]*(\S?)", re.MULTILINE)  # and what opens it
# headings, rules, markup, rows of a table
_ALONE = re.compile(r"#{1,6}\s|[\W_]+$|@@|</?[a-zA-Z]\w*(?:[\s/>].*)?>$|<!|\|")
# cells, columns of blanks, and leaders to the number of a page
_ROW = re.compile(r"\t|\s\|\s|[^\s.:;!?] {3,}\S|\.{5}|(?: \.){4}")
_CODE = re.compile(r".*(?:[{}=<>\\$#;]|\w\(|\w_\w|::)")
_INDENTED = 4  # columns from which on a line can be code
_ITEM = re.compile(r"(?:[*+•‣▪◦·]|\.\.)\s|:\w[\w ]*:\s")
_BULLET = "*"
# a year or a page can begin a line of prose, a dash too; `Mr SMITH:` is a speaker
_PERHAPS_ITEM = re.compile(
    r"[-–]\s|\d{1,3}(?:\.\d{1,3})*[.)]\s|[a-zA-Z][.)]\s|\((?:\d{1,3}|[a-zA-Z]{1,4})\)\s"
    r"|(?:[^\W\d_a-z][\w.'’-]*|\([^()]*\))(?: (?:[^\W\d_a-z][\w.'’-]*|\([^()]*\)|\d+)){0,4}:\s"
)
_ENDED = re.compile(r".*[.:;!?…。！？][\"'”’»)\]]*$")
_LETTER = re.compile(r"[^\W_]")
_FIRST_WIDE = "\u2e80"
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]+$")
_BROKEN = re.compile(BREAK)
_HYPHENATED = re.compile("\\w[-\u2010]\\s")  # before a capital or a digit: the hyphen is its own
_GAP = re.compile(r"[ \t\r]*\n[ \t\n>]*")
# bounded, or thousands of empty lines would take quadratic time
_TORN = re.compile(r"\n[ \t]{0,80}+\n\s{0,80}+(?=[a-z]{2})")
_UNENDED = re.compile(r"[\w,’'”)\]]")


class _Line(NamedTuple):
    """A line without its margin, which is blanks and the marks of a quotation.

    It stands at `start` of the text. `width` is that of the whole line in columns, `first` its
    first letter or digit; a line that is `alone` is joined with none.
    """

    start: int
    text: str
    width: int
    quoted: int
    first: str
    alone: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def fill(text: str) -> str:
    """Return `text` with blanks for the ends of the lines that go on, and as long as it was.

    The marks of a quotation (`> `) that such a line begins with are blanks, too.
    """
    if not _NEIGHBOURS.search(text):
        return text
    parts, at = [], 0
    for start, end in _wraps(text):
        parts += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def mend(text: str) -> str:
    """Return `text` with blanks for the empty lines that tear a sentence in two, as long as it was.

    A long line that ends nothing, and is no row of a table, stands before them, and small letters
    follow. Such as a PDF leaves where a page ended, or behind every printed line.
    """

    def joined(gap: re.Match[str]) -> str:
        line = text[text.rfind("\n", 0, gap.start()) + 1 : gap.start()].rstrip()
        is_torn = len(line) > _NARROWEST and _UNENDED.match(line[-1]) and " | " not in line
        return " " * len(gap[0]) if is_torn else gap[0]

    return _TORN.sub(joined, text)


def unwrap(sentence: str) -> str:
    """A sentence on one line, as it is shown; a word broken at a line's end is left as it is."""
    return _GAP.sub(_joint, sentence) if "\n" in sentence else sentence


def _joint(gap: re.Match[str]) -> str:
    text, start = gap.string, gap.start()
    if _BROKEN.match(text, start - 1):
        return gap.group()
    if _HYPHENATED.match(text, start - 2):
        return ""
    return "" if _WIDE.match(text[start - 1 : start] + text[gap.end() : gap.end() + 1]) else " "


def _wraps(text: str) -> Iterator[tuple[int, int]]:
    """From where each line that goes on ends to where the next begins, both without margins."""
    lines = list(_lines(text))
    usual = _width(lines)
    for paragraph in _paragraphs(lines):
        if _is_verse(paragraph, usual) or _is_code(paragraph):
            continue
        width = _width(paragraph) if len(paragraph) > 2 else usual
        forms, run = {_form(paragraph[0])}, paragraph[0].start
        for before, after in pairwise(paragraph):
            is_full = _is_full(before, after, width)
            form = _form(after)
            is_item = form and (
                form == _BULLET or form in forms or not is_full or _ENDED.match(before.text)
            )
            # the first line of a passage may be the rest of one
            cut = before.start == lines[0].start and after.width >= _NARROWEST
            goes_on = is_full or (after.first.islower() and (cut or _is_long(before)))
            if is_item or not goes_on or after.end - run > _LONGEST_RUN:
                run = after.start
                forms.add(form)
            else:
                yield before.end, after.start


def _lines(text: str) -> Iterator[_Line]:
    """Return all lines in order; those of code and of tables are alone."""
    at, has_fences, has_rows = 0, "```" in text or "~~~" in text, _may_hold_rows(text)
    fenced = has_fences and _begins_in_code(text)
    for whole in text.split("\n"):
        start = len(whole) - len(whole.lstrip(_MARGIN))
        line = whole[start:].rstrip()
        fence = has_fences and _FENCE.match(whole) is not None
        fenced ^= fence
        letter = _LETTER.search(line)
        yield _Line(
            at + start,
            line,
            start + len(line),
            whole.count(">", 0, start),
            letter.group() if letter else "",
            fence
            or fenced
            or _ALONE.match(line) is not None
            or (has_rows and _ROW.search(line) is not None),
        )
        at += len(whole) + 1


def _begins_in_code(text: str) -> bool:
    """Return whether the first fence of a passage ends code: only one that begins it names a
    language.

    Where none does, whichever side of the first one looks more like code is code.
    """
    fences = list(_FENCE.finditer(text))
    for number, fence in enumerate(fences):
        if fence[1]:
            return number % 2 == 1
    if not fences:
        return False
    end = fences[1].start() if len(fences) > 1 else len(text)
    return _code_share(text[: fences[0].start()]) > _code_share(text[fences[0].end() : end])


def _code_share(text: str) -> float:
    lines = [line for line in text.splitlines() if line.strip()]
    return sum(_CODE.match(line) is not None for line in lines) / max(len(lines), 1)


def _may_hold_rows(text: str) -> bool:
    return "   " in text or "\t" in text or "| " in text or "....." in text or ". . . " in text


def _paragraphs(lines: Iterable[_Line]) -> Iterator[list[_Line]]:
    """Two or more neighbours that may belong together."""
    held: list[_Line] = []
    for line in lines:
        if held and (line.alone or not line.text or line.quoted != held[-1].quoted):
            if len(held) > 1:
                yield held
            held = []
        if line.text and not line.alone:
            held.append(line)
    if len(held) > 1:
        yield held


def _width(lines: Iterable[_Line]) -> int:
    """Columns of the longest line that could have been wrapped by hand; 0 if most were not."""
    widths = [line.width for line in lines if line.text and not line.alone]
    narrow = [width for width in widths if width <= _WIDEST]
    return max(narrow, default=0) if 2 * len(narrow) > len(widths) else 0


def _is_verse(paragraph: Sequence[_Line], usual: int) -> bool:
    """Check if each line begins with a capital or a digit, as in verse, lists and addresses."""
    longest = max(line.width for line in paragraph)
    wide = longest >= _VERSE or longest > _FULL * usual >= _FULL * _VERSE
    if len(paragraph) < (_LIST_LINES if wide else _VERSE_LINES):
        return False
    return all(line.first.isupper() or line.first.isdigit() for line in paragraph) and not all(
        line.text.isupper() for line in paragraph
    )


def _is_code(paragraph: Sequence[_Line]) -> bool:
    """Return whether it is indented, and most of its lines hold what programs are written with."""
    if any(line.width - len(line.text) < _INDENTED for line in paragraph):
        return False
    return 2 * sum(_CODE.match(line.text) is not None for line in paragraph) > len(paragraph)


def _form(line: _Line) -> str:
    """Return what marks an item, without its letters and digits: `()` for `(a)`; else empty."""
    if _ITEM.match(line.text):
        return _BULLET
    mark = _PERHAPS_ITEM.match(line.text)
    return re.sub(r"[\w\s]", "", mark.group())[-2:] if mark else ""


def _is_full(before: _Line, after: _Line, width: int) -> bool:
    """Return whether the next word would not have fitted.

    A heading in capitals is never full, nor a line before one that nobody has wrapped.
    """
    if after.width > max(width, _WIDEST):
        return False
    if before.text[-1] >= _FIRST_WIDE and _WIDE.match(before.text[-1] + after.first):
        return width >= _NARROWEST_WIDE and before.width >= width - 2
    if width < _NARROWEST or (before.text.isupper() and not after.text.isupper()):
        return False
    return before.width + 1 + len(after.text.split(None, 1)[0]) > _FULL * width


def _is_long(line: _Line) -> bool:
    """Return whether small letters on the next line go on with this one."""
    if line.text.endswith(","):
        return True
    return line.text.count(" ") >= _FEWEST - 1 and not line.text.endswith(":")
