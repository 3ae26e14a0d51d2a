"""Lists of addresses: one a line, `[corpus]` above those of a corpus, `#` before a comment."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from atlas_search.core.addresses import address_fault
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import check_id

LIST_SUFFIXES = frozenset({".txt", ".urls"})
CORPUS = "web"
"""The corpus of addresses above the first `[corpus]`."""

_COMMENT = re.compile(r"(?:^|\s)#.*")  # not the # inside an address


@dataclass(frozen=True)
class Listed:
    """An address of a list, without its fragment, and its corpus."""

    corpus: str
    url: str


@dataclass(frozen=True)
class Failure:
    """An address that gave no page, or no new one, and why."""

    url: str
    reason: str


def read_list(path: Path) -> tuple[list[Listed], list[Failure]]:
    """The addresses of a list in order, each once a corpus, and the lines that are none.

    Raises SourceError for a list that cannot be read, a `[corpus]` that cannot be one, and if there
    is nothing to fetch.
    """
    listed: dict[Listed, None] = {}
    failures = []
    corpus = CORPUS
    for number, line in enumerate(_lines(path), start=1):
        text = _COMMENT.sub("", line).strip()
        if text.startswith("["):
            heading = text.removeprefix("[").removesuffix("]").strip()
            corpus = check_id(heading, f"{path}, line {number}")
        elif text and (fault := _fault(text)):
            failures.append(Failure(text, f"line {number}: {fault}"))
        elif text:
            listed.setdefault(Listed(corpus, urldefrag(text).url))
    if not listed and not failures:
        raise SourceError(
            f"{path} lists no address. Write one a line, such as https://example.org."
        )
    return list(listed), failures


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{path} is not UTF-8 at byte {error.start}. A list of addresses must be."
        ) from error


def _fault(text: str) -> str:
    """What keeps a text from being an address to fetch, empty if nothing does."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"not an address: {error}"
    if parts.scheme not in ("http", "https") or not host:
        return "not an address that begins with http:// or https://"
    if len(text.split()) > 1:
        return "an address has no blanks: write %20 for them"
    if parts.username is not None:
        return "it holds a user name or password, which would be shown with each citation"
    fault = address_fault(text)
    return f"it {fault}" if fault else ""
