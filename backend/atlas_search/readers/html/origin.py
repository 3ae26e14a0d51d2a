"""Where a fetched page came from: a small hidden file beside the page."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

XHTML = "application/xhtml+xml"


class DamagedNote(ValueError):
    """The file beside a page cannot be read; says what to do."""


@dataclass(frozen=True)
class Origin:
    """The address a page was read at, the day on which it was first seen as it is now (ISO), and
    the type and the encoding its server states. All are empty for a page that was not fetched.
    """

    url: str = ""
    fetched: str = ""
    media_type: str = ""
    charset: str = ""


def origin_of(page: Path) -> Origin:
    """The origin of a page. Raises DamagedNote."""
    note = _note(page)
    try:
        return Origin(**json.loads(note.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Origin()
    except (ValueError, TypeError) as error:
        raise DamagedNote(f"{note.name} is damaged: delete it and fetch the page again") from error


def save_page(page: Path, content: bytes, origin: Origin) -> bool:
    """Write a page and its note unless the page has this content already; whether it was written.

    An unchanged page keeps its note, so that nothing about it looks new.
    """
    note = _note(page)
    if note.exists() and page.exists() and page.read_bytes() == content:
        return False
    page.parent.mkdir(parents=True, exist_ok=True)
    # the note first: if the page is then not written, the next fetch writes both again
    _replace(note, json.dumps(asdict(origin), ensure_ascii=False).encode())
    _replace(page, content)
    return True


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
