"""Reading plain text and Markdown, with metadata in YAML front matter."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import yaml
from frontmatter.default_handlers import YAMLHandler

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.articles import article_headings
from atlas_search.readers.fields import flat, is_empty, text_of
from atlas_search.readers.line_numbers import without_line_numbers
from atlas_search.readers.markdown.headings import headings, title_of
from atlas_search.readers.markdown.html import without_comments
from atlas_search.readers.markup import sections
from atlas_search.readers.running_lines import running_lines
from atlas_search.readers.text_files import Undecodable, clean, open_text, pages
from atlas_search.readers.titles import clean_title

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
    """Reads text files: a form feed starts a page, a heading of Markdown or an article of a
    statute a section.

    Heads and feet that run on from page to page are read once, numbers of lines not at all.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".txt"}) | MARKDOWN

    @property
    def options(self) -> Mapping[str, object]:
        """There is nothing to set."""
        return {"version": 5}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The text of a file without its front matter."""
        try:
            with open_text(path, encoding) as file:
                yield _read(clean(file.read()), path.suffix.lower() in MARKDOWN)
        except Undecodable as error:
            yield Skipped(str(error))


def txt_reader() -> TxtReader:
    """Build a collection from text and Markdown files (YAML front matter is metadata)."""
    return TxtReader()


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
    found = headings(text) if markdown else article_headings(text)
    return Draft(
        text=text,
        title=clean_title(" ".join(text_of(metadata.get("title")).split()))
        or title_of(found, text),
        metadata=metadata,
        pages=pages(text),
        segments=sections(found),
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
    """Whether it can be walked: nine lines of YAML aliases can stand for a billion values."""
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
