"""Reading files in the process of the build itself."""

import time
from collections.abc import Iterator

from atlas_search.build.isolation.limits import End, Limits, TooLong, measured
from atlas_search.build.prepare import Preparation, Prepared, Unreadable, prepare, size_of
from atlas_search.build.source_file import SourceFile
from atlas_search.core.errors import SourceError


def read_here(
    preparation: Preparation, limits: Limits, file: SourceFile
) -> Iterator[Prepared | End]:
    """What a file gives, and last its End."""
    started = time.monotonic()
    failure, again = "", False
    try:
        yield from measured(prepare(preparation, file), limits, size_of(file))
    except TooLong:
        failure = limits.too_long
    except Unreadable as error:
        failure, again = str(error), True
    except SourceError:
        raise
    except Exception as error:
        failure = f"cannot be read: {type(error).__name__}: {error}"
    yield End(round(time.monotonic() - started, 4), failure, again)
