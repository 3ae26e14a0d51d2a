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
from atlas_search.readers.epub.notes import drop_note_signs
from atlas_search.readers.epub.package import Item, Package, package_of
from atlas_search.readers.epub.pages import Chapter, Labels, chapter_of
from atlas_search.readers.markup import Flat, Heading, sections
from atlas_search.readers.page_labels import labels_of_pages

_OUTERMOST = -1000
"""A level above all headings, where the path of a chapter in the table of contents begins."""

_NAMED = 3
_NOTHING = Chapter(Flat("", ()))


@dataclass(frozen=True)
class EpubReader:
    """Reads books. Pages are those of the print where the book lists or marks them, counted from 1;
    else page 3 is the third file of its reading order.

    Most books have a file for each chapter. Sections come from the headings in the chapters, below
    the titles that the table of contents has above them. Signs of notes behind words are left out,
    the notes are not. A book protected by DRM is not read.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".epub"})
    options: ClassVar[Mapping[str, object]] = {"version": 4}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of the file; its XML states its own encoding."""
        yield _read(path)


def epub_reader() -> EpubReader:
    """Build a collection from EPUB files; pages are those of the print if it says them."""
    return EpubReader()


def _read(path: Path) -> Read:
    try:
        with open_archive(path, "an EPUB") as archive:
            return _draft(archive, package_of(archive))
    except BadArchive as error:
        return Skipped(str(error))


def _draft(archive: ZipFile, package: Package) -> Read:
    problems = _Problems()
    chapters = [
        _chapter(archive, item, package.pages.get(item.name, {}), problems)
        for item in package.spine
    ]
    remark = problems.remark(len(chapters))
    text, starts = _join([chapter.flat.text for chapter in chapters])
    if not text:
        return Skipped(f"it holds no text; {remark or 'its pages may be pictures'}")
    metadata = epub_metadata(package.metadata)
    pages = _pages(chapters, starts, len(text))
    return Draft(
        text=text,
        title=str(metadata.get("title", "")),
        metadata=metadata,
        pages=tuple(start for start, _ in pages) or starts,
        segments=sections(_headings(package, [chapter.flat for chapter in chapters], starts)),
        remark=remark,
        printed_pages=labels_of_pages([label for _, label in pages]),
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


def _chapter(archive: ZipFile, item: Item, listed: Labels, problems: _Problems) -> Chapter:
    if not item.is_text:
        return _NOTHING
    try:
        root, well_formed = chapter_tree(part(archive, item.name))
    except ValueError:  # BadArchive is one
        problems.missing.append(item.name or "not in its list of files")
        return _NOTHING
    if not well_formed:
        problems.malformed.append(item.name)
    drop_note_signs(root)
    return chapter_of(root, listed)


def _pages(chapters: Sequence[Chapter], starts: Sequence[int], end: int) -> list[tuple[int, str]]:
    """Where the pages of the print begin, and their labels; none where fewer than two are known.

    Text before the first is a page without a label.
    """
    found: list[tuple[int, str]] = []
    for chapter, start in zip(chapters, starts, strict=True):
        length = len(chapter.flat.text)
        for offset, label in chapter.breaks:
            behind = 2 if length and offset == length else 0  # the gap before the next chapter
            found.append((min(start + offset + behind, end), label))
    if len(found) < 2:
        return []
    return found if found[0][0] == 0 else [(0, ""), *found]


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
