"""Where a fetched page came from: a small hidden file beside the page."""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

XHTML = "application/xhtml+xml"


class DamagedNote(ValueError):
    """The file beside a page cannot be read; says what to do."""


@dataclass(frozen=True)
class PageOrigin:
    """The address a page was read at, the day on which it was first seen as it is now (ISO), and
    what its server states: the type, the encoding, and by what it can be asked for a change only.
    All are empty for a page that was not fetched.
    """

    url: str = ""
    fetched: str = ""
    media_type: str = ""
    charset: str = ""
    etag: str = ""
    modified: str = ""


class Page(NamedTuple):
    """A page that was fetched."""

    content: bytes
    origin: PageOrigin


def origin_of(page: Path) -> PageOrigin:
    """The origin of a page. Raises DamagedNote."""
    note = _note(page)
    if note.is_symlink():  # Atlas writes none, and this one may lead anywhere
        return PageOrigin()
    try:
        return PageOrigin(**json.loads(note.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return PageOrigin()
    except (ValueError, TypeError) as error:
        raise DamagedNote(f"{note.name} is damaged: delete it and fetch the page again") from error


def read_held_page(path: Path) -> Page | None:
    """A page that was fetched before and is there; none if its note is damaged."""
    with suppress(DamagedNote, FileNotFoundError):
        origin = origin_of(path)
        if origin.url:
            return Page(path.read_bytes(), origin)
    return None


def save_page(page: Path, content: bytes, origin: PageOrigin) -> None:
    """Write a page and its note. A page that has this content already keeps its day."""
    held = read_held_page(page)
    if held and held.content == content:
        origin = replace(origin, fetched=held.origin.fetched)
    else:
        # no page stands beside a note about another: what is interrupted here is fetched again
        page.unlink(missing_ok=True)
    page.parent.mkdir(parents=True, exist_ok=True)
    _replace(_note(page), json.dumps(asdict(origin), ensure_ascii=False).encode())
    if not page.exists():
        _replace(page, content)


def remove_pages(folder: Path, keep: frozenset[Path]) -> None:
    """Delete the fetched pages below `folder` that are not among `keep`, and nothing else."""
    for note in sorted(folder.glob("*/.*.json")):
        page = note.with_name(note.name.removeprefix(".").removesuffix(".json"))
        if page not in keep:
            page.unlink(missing_ok=True)
            note.unlink()
    for corpus in sorted(path for path in folder.glob("[!.]*/") if not any(path.iterdir())):
        corpus.rmdir()


def _note(page: Path) -> Path:
    return page.with_name(f".{page.name}.json")


def _replace(path: Path, content: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)
