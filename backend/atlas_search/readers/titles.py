"""What a document is called where its source says so badly, or not at all."""

import re
from collections.abc import Iterator, Sequence

from atlas_search.language.wraps import fill

LONGEST = 120
"""Characters of a title that is taken from the text."""

_HEAD = 4000  # characters in which a title is looked for
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<%.*?%>|<\?.*?\?>|<!.*?>")
_TAG = re.compile(
    r"</?(?:title|h[1-6]|p|div|span|a|b|i|u|em|strong|small|center|font|br|hr|sup|sub|img)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_STATED = re.compile(r"title\s*[:=]\s*(.*)", re.IGNORECASE)
_FENCE = re.compile(r"(-{3,}|\+{3,})")
_HEADING = re.compile(r"^#+\s+|\s+#+$")


def clean_title(title: str) -> str:
    """`title` without template tags and markup; empty if no letter and no digit is left.

    A page that was saved before its template was filled says `{{ page.title }}`.
    """
    left = _TAG.sub(" ", _TEMPLATE.sub(" ", title)) if re.search(r"[{<]", title) else title
    if left != title:
        left = " ".join(left.split()).strip("|-–— ")
    return left if any(map(str.isalnum, left)) else ""


def title_from(text: str) -> str:
    """A title from how `text` begins: the one it states there, else its first line.

    `text` is not blank. A line broken by hand is read with the next one; what is longer than
    LONGEST ends behind a word, with `…`.
    """
    head = text.lstrip()[:_HEAD]
    lines = [line.strip() for line in fill(head).splitlines()]
    front = _front([line.strip() for line in head.splitlines()])
    stated = (match[1].strip().strip("\"'") for line in front if (match := _says(line)))
    found = filter(None, map(clean_title, [*stated, *_headings(lines)]))
    return _shorten(next(found, lines[0]))


def _front(lines: Sequence[str]) -> Iterator[str]:
    """The lines before the first blank one: where they are front matter, one may state a title."""
    for line in lines:
        if not line:
            return
        yield line


def _says(line: str) -> re.Match[str] | None:
    return _STATED.fullmatch(line)


def _headings(lines: Sequence[str]) -> Iterator[str]:
    """What could be a title, without marks of headings and behind any front matter."""
    first = 0
    if _FENCE.fullmatch(lines[0]) and lines[0] in lines[1:LONGEST]:
        first = lines.index(lines[0], 1) + 1
    return (_HEADING.sub("", line) for line in lines[first:])


def _shorten(line: str) -> str:
    if len(line) <= LONGEST:
        return line
    cut = line[: LONGEST - 1]
    whole = cut if line[LONGEST - 1].isspace() else cut.rpartition(" ")[0]
    return f"{(whole or cut).rstrip(' ,;:–—-')}…"
