"""Reading EPUB books: one document a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar
from zipfile import ZipFile

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.archive import BadArchive, open_archive, part
from atlas_search.readers.epub.chapter import chapter_tree
from atlas_search.readers.epub.metadata import epub_metadata
from atlas_search.readers.epub.package import Item, Package, package_of
from atlas_search.readers.markup import Flat, Heading, flatten, sections

_OUTERMOST = -1000
"""A level above all headings, where the path of a chapter in the table of contents begins."""

_NAMED = 3
_NOTHING = Flat("", ())


@dataclass(frozen=True)
class EpubReader:
    """Reads books. An EPUB has no pages: page 3 is the third file of its reading order.

    Most books have a file for each chapter. Sections come from the headings in the chapters, below
    the titles that the table of contents has above them. A book protected by DRM is not read.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".epub"})
    options: ClassVar[Mapping[str, object]] = {"version": 2}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of the file; its XML states its own encoding."""
        yield _read(path)


def epub_reader() -> EpubReader:
    """Build a collection from EPUB files; each part of the reading order is a page."""
    return EpubReader()


def _read(path: Path) -> Read:
    try:
        with open_archive(path, "an EPUB") as archive:
            return _draft(archive, package_of(archive))
    except BadArchive as error:
        return Skipped(str(error))


def _draft(archive: ZipFile, package: Package) -> Read:
    problems = _Problems()
    chapters = [_chapter(archive, item, problems) for item in package.spine]
    remark = problems.remark(len(chapters))
    text, pages = _join([chapter.text for chapter in chapters])
    if not text:
        return Skipped(f"it holds no text; {remark or 'its pages may be pictures'}")
    metadata = epub_metadata(package.metadata)
    return Draft(
        text=text,
        title=str(metadata.get("title", "")),
        metadata=metadata,
        pages=pages,
        segments=sections(_headings(package, chapters, pages)),
        remark=remark,
    )


@dataclass(slots=True)
class _Problems:
    missing: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)

    def remark(self, chapters: int) -> str:
        """`1 of 9 parts missing or damaged (text/ch2.xhtml)`."""
        found = {
            "missing or damaged": self.missing,
            "not well-formed, read as HTML": self.malformed,
        }
        return "; ".join(
            f"{len(names)} of {chapters} parts {what} ({', '.join(names[:_NAMED])}"
            f"{', ...' * (len(names) > _NAMED)})"
            for what, names in found.items()
            if names
        )


def _chapter(archive: ZipFile, item: Item, problems: _Problems) -> Flat:
    if not item.is_text:
        return _NOTHING
    try:
        root, well_formed = chapter_tree(part(archive, item.name))
    except ValueError:  # BadArchive is one
        problems.missing.append(item.name or "not in its list of files")
        return _NOTHING
    if not well_formed:
        problems.malformed.append(item.name)
    return flatten(root)


def _join(texts: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The whole text, and where each part begins; one without text where the next one does."""
    pages: list[int] = []
    length = 0
    for text in texts:
        pages.append(length)
        length += len(text) + 2 if text else 0
    end = max(0, length - 2)
    return "\n\n".join(filter(None, texts)), tuple(min(page, end) for page in pages)


def _headings(
    package: Package, chapters: Sequence[Flat], pages: Sequence[int]
) -> Iterator[Heading]:
    for item, chapter, start in zip(package.spine, chapters, pages, strict=True):
        if chapter.text:
            yield from _above(package.contents.get(item.name, ()), chapter, start)
            for heading in chapter.headings:
                yield replace(heading, start=start + heading.start)


def _above(titles: Sequence[str], chapter: Flat, start: int) -> Iterator[Heading]:
    """What the table of contents says of a chapter, which ends the sections before it.

    Its own title counts up to the first heading, which usually is the same. A chapter that the
    table does not name goes on with the section before.
    """
    if not titles:
        return
    yield Heading(start, _OUTERMOST, "")
    for depth, title in enumerate(titles[:-1], start=1):
        yield Heading(start, _OUTERMOST + depth, title)
    if not (chapter.headings and chapter.headings[0].start == 0):
        level = min((heading.level for heading in chapter.headings), default=1)
        yield Heading(start, level, titles[-1])
