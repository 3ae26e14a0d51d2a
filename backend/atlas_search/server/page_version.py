"""The version of the page's files, which stands in their addresses, and what its HTML names first.

A file at an address with its version never changes there, so that browsers keep it and do not ask
again. The HTML alone is asked for at each visit, and names the version to load.
"""

import hashlib
import os
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

STATIC = "static/"
_MARK = "v-"
_DIGITS = 16  # of SHA-256, in hex

_ADDRESS = re.compile(rf'((?:href|src)="{STATIC})')
_ENTRY = re.compile(rf'^( *)<script type="module" src="{STATIC}([^"]+)"></script>$', re.MULTILINE)
_IMPORT = re.compile(r'^(?:import|export)\s(?:[^"\';()]*\sfrom\s)?"(\.[^"]+)"', re.MULTILINE)

Stamp = tuple[int, int]
"""When a file was written, in nanoseconds, and its bytes."""


@dataclass(frozen=True)
class Version:
    """The files of a folder as they were read: a digest of all, and by name what tells a change."""

    digest: str
    stamps: Mapping[str, Stamp]

    @property
    def folder(self) -> str:
        """What stands before the names of its files: `v-0123456789abcdef/`."""
        return f"{_MARK}{self.digest}/"


def read_version(folder: Path) -> Version:
    """The present version; equal files have the same on every server."""
    stamps = read_stamps(folder)  # first: what is written while it is read is seen as a change
    digest = hashlib.sha256()
    for name in sorted(stamps):
        content = (folder / name).read_bytes()
        digest.update(f"{len(name)} {len(content)} {name}".encode() + content)
    return Version(digest.hexdigest()[:_DIGITS], stamps)


def read_stamps(folder: Path) -> dict[str, Stamp]:
    """The stamp of each file below a folder, by its name with slashes."""
    return {
        path.relative_to(folder).as_posix(): stamp(path)
        for path in folder.rglob("*")
        if path.is_file()
    }


def stamp(path: Path) -> Stamp:
    """What is another once a file is written anew. Raises OSError."""
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def split_version(name: str) -> tuple[str, str]:
    """The version that a name begins with, as `Version.folder` writes it or empty, and the rest."""
    first, slash, rest = name.partition("/")
    return (first + slash, rest) if slash and first.startswith(_MARK) else ("", name)


def addressed(html: str, folder: Path, version: Version) -> str:
    """The HTML with the addresses of a version, and all modules that it needs to begin.

    A browser that learns of modules from imports asks for one generation after another.
    """
    entries = list(_ENTRY.finditer(html))
    if entries:
        indent, end = entries[-1][1], entries[-1].end()
        links = (
            f'\n{indent}<link rel="modulepreload" href="{STATIC}{module}" />'
            for module in imported(folder, [entry[2] for entry in entries])
        )
        html = html[:end] + "".join(links) + html[end:]
    return _ADDRESS.sub(rf"\1{version.folder}", html)


def imported(folder: Path, entries: Sequence[str]) -> list[str]:
    """The names of all modules that these need before they run, nearest first, without these."""
    names = list(entries)
    for name in names:  # grows meanwhile
        text = (folder / name).read_text(encoding="utf-8")
        for address in _IMPORT.findall(text):
            module = posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
            if module not in names:
                names.append(module)
    return names[len(entries) :]
