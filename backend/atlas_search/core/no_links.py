"""What lies below a folder, reached part by part, so that no link leads away from it.

A path that is checked first and used afterwards can become a link in between. A descriptor of the
folder it lies in cannot.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePath
from typing import IO

# with O_PATH the right to pass through a folder is enough; macOS has no such thing
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_PATH", 0)
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe would be waited for


@contextmanager
def folder_below(root: PurePath, path: PurePath, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder that lies at `path` from `root`; what is missing may be made.

    Only `root` may be reached by links. Raises OSError for a link, or for what is no folder.
    """
    if path.is_absolute() or ".." in path.parts:
        raise OSError(errno.EINVAL, "It does not lie below", str(path))
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in path.parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def open_below(root: PurePath, path: PurePath) -> IO[bytes]:
    """A regular file that lies at `path` from `root`, to be read.

    Raises OSError for a link on the way or in its place, and for a pipe or device.
    """
    with folder_below(root, path.parent) as folder:
        descriptor = os.open(path.name, _FILE, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")
