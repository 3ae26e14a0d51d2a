"""What the `atlas` command writes is for its user alone, unless ATLAS_UMASK says otherwise."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import load_settings

PRIVATE = 0o077


@contextmanager
def private_files() -> Iterator[None]:
    """Folders made in it have the mode 0700 and files 0600, those of processes it starts too."""
    before = os.umask(_umask())
    try:
        yield
    finally:
        os.umask(before)


def _umask() -> int:
    try:
        return load_settings().umask
    except ConfigurationError:  # which the command itself tells, if it needs the settings
        return PRIVATE
