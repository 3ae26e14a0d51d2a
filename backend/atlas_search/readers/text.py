"""Reading plain text and Markdown, with metadata in YAML front matter."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import yaml
from frontmatter.default_handlers import YAMLHandler

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.encoding import Undecodable, open_text
from atlas_search.readers.markup import Heading, sections
from atlas_search.readers.metadata import flat, is_empty, text_of
from atlas_search.readers.print import running_lines, runs_of, without_line_numbers
from atlas_search.readers.titles import clean_title

if TYPE_CHECKING:
    from markdown_it.token import Token


_LATIN = "bis ter quater quinquies sexies septies octies novies decies".split()
_ARTICLE = re.compile(
    r"(?:\A|\n[^\S\n]*\n)[^\S\n]*((?:Article|ARTICLE) (\d{1,4})(?:er|ER)?"
    rf"([A-Za-z]|[-\u2011]\d{{1,3}}| ?(?i:{'|'.join(_LATIN)}))?\b"
    r"(?:\.?[^\S\n]*(?=\n|\Z)"
    r"|[.:]?(?: [–—-])? {1,3}[^\W\d_a-z][^\n]{0,148}[^\s.:;,]"
    r"[^\S\n]*(?=\n\s*(?:\n|[\d(])|\Z)))"
)
"""A line behind a blank one that ends as no sentence does, with a blank one or a number behind it:
`Article 42 Security of processing`. It is no paragraph (`Article 42(1)`), and no sentence that goes
on in small letters or on the next line."""

_ABOVE = re.compile(
    r"\n[^\S\n]*\n[^\S\n]*(Chapter|Part|Title|Section|Annex|Schedule|Appendix|Exhibit|Attachment"
    r"|Chapitre|Partie|Titre|Annexe|CHAPTER|PART|TITLE|SECTION|ANNEX|SCHEDULE|APPENDIX|EXHIBIT"
    r"|ATTACHMENT|CHAPITRE|PARTIE|TITRE|ANNEXE)"
    r"(?: (?:[–—-] |[A-Z]\b|[\dIVXLC]+\b)[^\n]{0,78}(?<![.;,]))?[^\S\n]*(?=\n|\Z)"
)
"""A heading above articles, or behind the last: an article ends there."""

_SENTENCE_END = re.compile(r"[.;:,][^\S\n]*$", re.MULTILINE)
_LONGEST_TITLE = 300  # characters between the number of a section and the first article in it
_FEWEST = 3


class _Article(NamedTuple):
    start: int
    number: int
    addition: int  # 0 for 4, 1 for 4a, 4-1 and 4 bis
    title: str


def article_headings(text: str) -> Sequence[Heading]:
    """The headings of articles that are numbered upwards throughout, and where they end.

    A list of contents before them does not count. Where numbers begin anew, as those of an annex or
    of articles that are quoted, none is sure. Where one is missing, the article before may hold it,
    and is no section.
    """
    candidates = [
        _Article(match.start(1), int(match[2]), _rank(match[3] or ""), " ".join(match[1].split()))
        for match in _ARTICLE.finditer(text)
    ]

    def rises(before: _Article, after: _Article) -> bool:
        return (after.number, after.addition) > (before.number, before.addition)

    runs = [run for run in runs_of(candidates, rises) if _are_filled(run, text)]
    if len(runs) != 1 or len(runs[0]) < _FEWEST:
        return []
    run = runs[0]
    articles = []
    for article, after in pairwise(run):
        is_next = after.number == article.number + (not after.addition)  # 4, 4a, 5
        articles.append(Heading(article.start, 2, article.title if is_next else ""))
    ends = [Heading(end, 2, "") for end in _ends(run, text)]
    last = Heading(run[-1].start, 2, run[-1].title)
    behind = next((end.start for end in ends if end.start > last.start), len(text))
    if behind - last.start > last.start - run[0].start:  # something stands behind it
        last = Heading(last.start, 2, "")
    return sorted([*articles, last, *ends], key=lambda heading: heading.start)


def _ends(run: Sequence[_Article], text: str) -> list[int]:
    """Find the beginnings of what stands above articles, or behind the last.

    The sections of articles in by-laws are left out: text stands below them.
    """
    matches = list(_ABOVE.finditer(text, run[0].start))
    sections = [match.end() for match in matches if match[1].upper() == "SECTION"]
    starts = [*(article.start for article in run), len(text)]
    above = sum(_holds_no_sentence(text, end, starts[bisect_left(starts, end)]) for end in sections)
    is_above = 2 * above > len(sections)
    return [match.end() for match in matches if is_above or match[1].upper() != "SECTION"]


def _holds_no_sentence(text: str, start: int, end: int) -> bool:
    return end - start < _LONGEST_TITLE and not _SENTENCE_END.search(text, start, end)


def _rank(addition: str) -> int:
    """The place of `a`, `-1` or ` bis` among what is added behind an article."""
    plain = addition.strip(" -\u2011").lower()
    if plain in _LATIN:
        return _LATIN.index(plain) + 1
    return int(plain) if plain.isdecimal() else ord(plain) - ord("a") + 1 if plain else 0


def _are_filled(run: Sequence[_Article], text: str) -> bool:
    """Say if text stands between most of them, as it does not in a list of contents."""
    between = [text[before.start : after.start].strip() for before, after in pairwise(run)]
    return sum("\n" in part for part in between) >= len(between) / 2


def blocks(text: str) -> "Sequence[Token]":
    """The blocks of Markdown in order, each with its lines."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable(["lheading", "reference"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser.parse(_as_lines(text))


def line_starts(text: str) -> Sequence[int]:
    """Return the offset of each line of `text`, as `blocks` counts lines."""
    return list(accumulate((len(line) + 1 for line in _as_lines(text).split("\n")), initial=0))


def _as_lines(text: str) -> str:
    """A page break ends a line, but Markdown does not know."""
    return text.replace("\f", "\n")


_RUN_ON = re.compile(r"^(#{2,6})(?=[^\s#])", re.MULTILINE)
"""A heading without the blank that CommonMark asks for, and older Markdown does not."""

_BOLD = re.compile(
    r"(\*\*|__)(?=\S)([^*_\n\[\]<>|]{1,100}[^*_\n\[\]<>|\s.:;,!…。！：；，、।])(?<![.!…。！][\"”’»」])\1"
)
"""A line in bold that may be a heading: short, and it ends as no sentence and no label does."""

_BLANK_LINE = re.compile(r"[^\S\n]*(?:\n|\Z)")


def headings(text: str) -> Sequence[Heading]:
    """Every heading `# ...` that is not inside code, a list or a quotation, in order.

    Where there is none, lines in bold between blank lines are headings of one level.
    """
    starts = line_starts(text)
    parts = list(pairwise(blocks(_RUN_ON.sub(r"\1 ", text))))
    marked = [
        Heading(starts[opening.map[0]], int(opening.tag[1]), " ".join(title.content.split()))
        for opening, title in parts
        if opening.type == "heading_open" and opening.level == 0 and opening.map
    ]
    if marked:
        return marked
    in_bold = [
        Heading(starts[opening.map[0]], 2, " ".join(bold[2].split()))
        for opening, line in parts
        if opening.type == "paragraph_open" and opening.level == 0 and opening.map
        if (bold := _BOLD.fullmatch(line.content)) and any(map(str.isalpha, bold[2]))
        if _BLANK_LINE.match(text, starts[opening.map[1]])
    ]
    return _sure(in_bold, text)


def _sure(in_bold: Sequence[Heading], text: str) -> Sequence[Heading]:
    """The lines in bold that occur once, if most do and enough of them have text under them.

    Who speaks and the labels of a form recur; the lines of a title page have nothing between them.
    """
    often = Counter(heading.title.casefold() for heading in in_bold)
    once = [heading for heading in in_bold if often[heading.title.casefold()] == 1]
    ends = [*(heading.start for heading in once[1:]), len(text)]
    filled = sum(
        "\n" in text[heading.start : end].strip() for heading, end in zip(once, ends, strict=False)
    )
    return once if filled >= _FEWEST and 2 * len(once) >= len(in_bold) else []


def title_of(found: Sequence[Heading], text: str) -> str:
    """The only heading `# ` of `text`, where more text follows than stands before it.

    Empty where there is none, or several: those are parts of the text. Lower headings are none.
    """
    tops = [heading for heading in found if heading.level == 1]
    return tops[0].title if len(tops) == 1 and 2 * tops[0].start < len(text) else ""


_BLANKS = " \t\n"


def clean(text: str) -> str:
    """`text` with `\\n` at the end of each line, and without blank lines around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip(_BLANKS)


def pages(text: str) -> tuple[int, ...]:
    """Return the offsets of pages: 0, and after each form feed."""
    starts = [0]
    while at := text.find("\f", starts[-1]) + 1:
        starts.append(at)
    return tuple(starts)


def without_comments(text: str) -> str:
    """`text` without what HTML comments of Markdown hide, but with their lines.

    In code they are shown.
    """
    if "<!--" not in text:
        return text
    starts = line_starts(text)
    code = [
        range(starts[token.map[0]], starts[token.map[1]])
        for token in blocks(text)
        if token.type in ("fence", "code_block") and token.map
    ]

    pieces, at = list[str](), 0
    # no pattern: of a thousand comments without an end each would be looked for to the end
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin) + 3) > 2:
        is_shown = text[begin - 1 : begin] == "`" or _is_in(code, begin)
        comment = text[begin:end]
        hidden = "".join(char for char in comment if char in "\n\f")
        pieces += [text[at:begin], comment if is_shown else hidden]
        at = end
    return clean("".join([*pieces, text[at:]]))


def _is_in(blocks: Sequence[range], at: int) -> bool:
    """Say if one of `blocks`, in order and apart, holds a place."""
    last = bisect_right(blocks, at, key=lambda block: block.start) - 1
    return last >= 0 and at in blocks[last]


MARKDOWN = frozenset({".md", ".markdown"})
MOST_VALUES = 10_000
"""In the front matter of one file."""

_DEEPEST = 100  # levels; libyaml crashes at 50,000
_NODES = 3 * MOST_VALUES  # values with their keys, and what aliases stand for
# a line of more than three dashes is a rule, as many a transcript has above and below its head
_YAML = YAMLHandler(fm_boundary=re.compile(r"^---[ \t]*$", re.MULTILINE))
# what PyYAML raises for values that YAML has and Python has not, such as 30 February
_NOT_PYTHON = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class TxtReader:
    """Build a collection from text and Markdown files (YAML front matter is metadata)."""

    suffixes: ClassVar[frozenset[str]] = frozenset({".txt"}) | MARKDOWN
    options: ClassVar[Mapping[str, object]] = {"version": 5}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """Read a text: a form feed starts a page, a heading of Markdown or an article of a statute
        a section.

        Heads and feet that run on from page to page are read once, numbers of lines not at all.
        """
        try:
            with open_text(path, encoding) as file:
                yield _read(clean(file.read()), path.suffix.lower() in MARKDOWN)
        except Undecodable as error:
            yield Skipped(str(error))


def _read(content: str, markdown: bool) -> Read:
    try:
        metadata, text = _parse(content)
    except RecursionError:
        return Skipped("its front matter is nested too deeply")
    except (yaml.YAMLError, *_NOT_PYTHON) as error:
        what = " ".join(str(error).split())
        return Skipped(f"its front matter is not valid YAML: {what}")
    text = _without_running_lines(text)
    text = without_comments(text) if markdown else clean(without_line_numbers(text))
    if not text.strip():
        return Skipped("it holds no text")
    its_headings = headings(text) if markdown else article_headings(text)
    return Draft(
        text=text,
        title=clean_title(" ".join(text_of(metadata.get("title")).split()))
        or title_of(its_headings, text),
        metadata=metadata,
        pages=pages(text),
        segments=sections(its_headings),
    )


def _parse(content: str) -> tuple[dict[str, object], str]:
    """Front matter and text. The text keeps its form feeds, which count the pages."""
    if not _YAML.detect(content):
        return {}, content
    if not _YAML.FM_BOUNDARY.search(content, pos=3):
        raise ValueError("no line `---` ends it")
    front, text = _YAML.split(content)
    _refuse_bombs(front)
    loaded = _YAML.load(front)
    if loaded is not None and not isinstance(loaded, dict):
        raise ValueError("it is not a list of `key: value` lines")
    if not _is_small(loaded):
        raise ValueError(f"it holds more than {MOST_VALUES} values")
    metadata: dict[str, object] = {}
    for name, value in flat(loaded or {}):
        if not is_empty(value):
            metadata.setdefault(name, value)
    return metadata, clean(text)


def _without_running_lines(text: str) -> str:
    """`text` with blank lines for the heads and feet that run on from page to page."""
    if "\f" not in text:
        return text
    pages = [page.split("\n") for page in text.split("\f")]
    filled = [[number for number, line in enumerate(page) if line.strip()] for page in pages]
    running = running_lines(
        [[page[number] for number in numbers] for page, numbers in zip(pages, filled, strict=True)]
    )
    for page, numbers, places in zip(pages, filled, running, strict=True):
        for place in places:
            page[numbers[place]] = ""
    return clean("\f".join("\n".join(page) for page in pages))


def _refuse_bombs(front: str) -> None:
    """Raise before anything is made of YAML that no machine has room for.

    RecursionError if it is nested too deeply, ValueError if its aliases stand for too many values:
    each of forty lines may merge the one before twice.
    """
    sizes: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(front, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        added = 1
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, 1))
            if len(open_) > _DEEPEST:
                raise RecursionError
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, added = open_.pop()
            if anchor:
                sizes[anchor] = added
        elif isinstance(event, yaml.AliasEvent):
            added = sizes.get(str(event.anchor), 1)
        outer, size = open_.pop()
        open_.append((outer, size + added))
        if size + added > _NODES:
            raise ValueError(f"it holds more than {MOST_VALUES} values")


def _is_small(value: object) -> bool:
    """Say if it can be walked: nine lines of YAML aliases can stand for a billion values."""
    waiting = [value]
    for _ in range(MOST_VALUES):
        if not waiting:
            return True
        match waiting.pop():
            case dict() as item:
                waiting += item.values()
            case list() as item:
                waiting += item
    return False
