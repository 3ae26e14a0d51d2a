"""Files of JSON lines to which several pages and processes write."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from atlas_search.core.errors import SourceError
from atlas_search.core.files import writing

_UNCHANGED = (
    "Nothing of the file has changed. Make room, or give this user the right to write, and save "
    "again."
)


def read_lines(path: Path) -> list[str]:
    """The lines of a file, without empty ones; none if there is no file. Raises SourceError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} cannot be read: {error}") from error
    # not by splitlines: a text may hold other ends of lines
    return [line.rstrip("\r") for line in text.split("\n") if line.strip()]


def json_line(document: Any) -> str:
    """A document as one line."""
    return json.dumps(document, ensure_ascii=False)


def digest_of(path: Path) -> str:
    """What a browser keeps drafts by: the same however the path is written."""
    return hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """No other thread or process that asks for the same file is in this block."""
    folder = path.resolve().parent
    with writing(folder, then=_UNCHANGED):
        folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)  # the folder itself: no file of locks is left behind
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace_lines(path: Path, lines: Sequence[str]) -> None:
    """Let a file hold these lines: whoever reads it finds all of them or those before."""
    path = path.resolve()  # a link stays one
    with (
        writing(path.parent, then=_UNCHANGED),
        NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file,
    ):
        try:
            file.write("".join(f"{line}\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, file.name)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
