"""What the `atlas` command writes is for its user alone, unless ATLAS_UMASK says otherwise."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from atlas_search.core.errors import ConfigurationError

PRIVATE = 0o077


@contextmanager
def private_files() -> Iterator[None]:
    """Folders made in it have the mode 0700 and files 0600, those of processes it starts too."""
    before = os.umask(PRIVATE)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def files_of_settings() -> Iterator[None]:
    """New files have the modes that ATLAS_UMASK leaves, within it; nothing is told of bad settings.

    The command itself tells of them, if it needs the settings.
    """
    from atlas_search.core.settings import load_settings  # 0.3 s, which help can do without

    umask = PRIVATE
    with suppress(ConfigurationError):
        umask = load_settings().umask
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)
