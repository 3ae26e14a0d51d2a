"""Titles of documents whose source states them badly, or not at all."""

import re
from collections.abc import Iterator, Sequence
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from itertools import pairwise, takewhile

from atlas_search.language.lines import fill

LONGEST = 120
"""Characters of a title that is taken from the text."""

_HEAD = 4000  # characters in which a title is looked for
# of a template's tag; without a bound each opener would look through all that follows
_INSIDE = ".{0,300}?"
_TEMPLATE = re.compile(
    rf"\{{\{{{_INSIDE}\}}\}}|\{{%{_INSIDE}%\}}|<%{_INSIDE}%>|<\?{_INSIDE}\?>|<!{_INSIDE}>"
)
_TAG = re.compile(
    r"</?(?:title|h[1-6]|p|div|span|a|b|i|u|em|strong|small|center|font|br|hr|sup|sub|img|meta|link"
    r"|html|head|body|base)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_PRINTED_FROM = re.compile(r"Microsoft (?:Word|Excel|PowerPoint) - (.*?)(?:\.\w{3,4})?")
_FILE = re.compile(
    r"\S+\.(?:docx?|rtf|odt|wpd|pages|xlsx?|pptx?|pdf|ps|dvi|tex|indd|qxd|pmd|txt|html?"
    r"|md|markdown|tmp)",
    re.IGNORECASE,
)
_BROUGHT = re.compile(
    r"(?:.*\s)?template|blank page|(?:new )?document ?\d*|untitled.*", re.IGNORECASE
)
"""The title of a template, not of the file: `High Court Judgment Template`."""
_STATED = (
    re.compile(r"title\s*[:=]\s*(.*)", re.IGNORECASE),
    re.compile(r"subject:\s*(.*)", re.IGNORECASE),  # of a mail
)
_FIELD = re.compile(r"[^\W\d_][\w -]{1,24}:\s+\S.*")
_FENCE = re.compile(r"(-{3,}|\+{3,})")
_MARKS = re.compile(r"^#{2,6}\s*|^#+\s+|\s+#+$|^[-*+•]\s+")
_TARGET = r"(?:\([^)]*\)|\[[^\]]*\])"
_PICTURE = re.compile(rf"\[!\[[^\]]*\]{_TARGET}\]{_TARGET}|!\[[^\]]*\]{_TARGET}")
_COLUMNS = re.compile(r"\S {4,}\S")


def clean_title(title: str) -> str:
    """`title` without template tags and markup; empty if no letter and no digit is left.

    A page that was saved before its template was filled says `{{ page.title }}`. Empty, too, for
    the name of a file.
    """
    from_print = _PRINTED_FROM.fullmatch(title)
    rest = from_print[1] if from_print else title
    if re.search(r"[{<]", rest):
        rest = " ".join(_TAG.sub(" ", _TEMPLATE.sub(" ", rest)).split()).strip("|-–— ")
    return rest if any(map(str.isalnum, rest)) and not _FILE.fullmatch(rest) else ""


_ISOLATES, _END_OF_ISOLATE, _END = "\u2066\u2067\u2068", "\u2069", "\u202c"
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def closed(label: str) -> str:
    """A label with an end for every change of direction in it, so that what follows keeps its own.

    Source: Unicode Standard Annex 9, section 3.3.2.
    """
    ends: list[str] = []
    isolates = 0
    for char in _DIRECTIONS.findall(label):
        if char == _END_OF_ISOLATE and isolates:
            isolates -= 1
            while ends.pop() != char:
                pass
        elif char == _END and ends[-1:] == [_END]:
            ends.pop()
        elif char not in (_END, _END_OF_ISOLATE):
            ends.append(_END_OF_ISOLATE if char in _ISOLATES else _END)
            isolates += char in _ISOLATES
    return label + "".join(reversed(ends))


def title_of_file(stated: str) -> str:
    """Return the title in the properties or a bookmark; empty if it came with the template."""
    return "" if _BROUGHT.fullmatch(stated) else stated


def title_from(text: str) -> str:
    """A title from how `text` begins: the one it states there, else its first line of words.

    `text` is not blank. A line broken by hand is read with the next one; what is longer than
    LONGEST ends behind a word, with `…`.
    """
    head = text.lstrip()[:_HEAD]
    bare = [line.strip() for line in head.splitlines()]
    lines = [line.strip() for line in fill(head).splitlines()]
    titles = filter(None, map(clean_title, [*_stated(bare), *_headings(lines)]))
    return _shorten(next(titles, lines[0]))


def _stated(lines: Sequence[str]) -> Iterator[str]:
    """Find titles that the text states: in its front matter or in a list of fields."""
    for pattern in _STATED:
        # before the first blank line: where that is front matter, one may state a title
        for line in [*takewhile(bool, lines), *_listed(lines)]:
            if match := pattern.fullmatch(line):
                yield header_text(match[1].strip().strip("\"'"))


def header_text(header: str) -> str:
    """The text of a mail's header, which may be in several encodings: `=?UTF-8?B?...?=`."""
    if "=?" not in header:
        return header
    try:
        return str(make_header(decode_header(header)))
    except (ValueError, LookupError, HeaderParseError):
        return header


def _listed(lines: Sequence[str]) -> Iterator[str]:
    """The lines `Title: On sheep` that another such line follows, maybe behind a blank one."""
    filled = [line for line in lines if line]
    return (line for line, after in pairwise(filled) if _FIELD.match(after))


def _headings(lines: Sequence[str]) -> Iterator[str]:
    """Find lines that could be a title, without marks of headings and behind any front matter.

    That has letters: the number of a page or a paragraph is none, and neither is a row of columns
    such as stand above the title of a memorandum. What there is else comes last.
    """
    first = 0
    if _FENCE.fullmatch(lines[0]) and lines[0] in lines[1:LONGEST]:
        first = lines.index(lines[0], 1) + 1
    if "" in lines[first:] and _COLUMNS.search(lines[first]):
        first = lines.index("", first)
    headings = [_PICTURE.sub("", _MARKS.sub("", line)).strip() for line in lines[first:]]
    yield from (line for line in headings if re.search(r"[^\W\d_]{2}", line))
    yield from headings


def _shorten(line: str) -> str:
    if len(line) <= LONGEST:
        return line
    cut = line[: LONGEST - 1]
    whole = cut if line[LONGEST - 1].isspace() else cut.rpartition(" ")[0]
    return f"{(whole or cut).rstrip(' ,;:–—-')}…"
