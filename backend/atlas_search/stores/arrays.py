"""Arrays mapped from the files of a store."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# NumPy parses a file's header with `ast`, which on Python 3.11 and 3.12 counts its depth for all
# threads together: two files opened at once may end in a SystemError (python/cpython#106905).
_ONE_HEADER_AT_A_TIME = threading.Lock()


def map_array(path: Path) -> NDArray[Any]:
    """The array of a `.npy` file, read only, mapped from disk.

    It is a plain view of the mapping: every slice of an `np.memmap` is several times slower.
    Raises OSError, ValueError or EOFError if the file is missing or no array.
    """
    with _ONE_HEADER_AT_A_TIME:
        return np.asarray(np.load(path, mmap_mode="r"))
