"""Drawing pages, each in a process of its own: a PDF is a program of whoever made it."""

import json
import subprocess
import sys
import threading
from importlib.util import find_spec
from typing import IO, Any

from atlas_search.core.errors import MissingLibrary, NotFound, ServerBusy
from atlas_search.server.pages.child import CANNOT

AT_ONCE = 2  # processes; a page takes about half a second of one processor
WAIT_SECONDS = 10.0
PATIENCE = 30.0  # seconds by the clock; a busy machine computes more slowly
RETRY_SECONDS = 2.0

TOO_MUCH = "The page takes too long or too much memory to draw."
_START = """
import json, sys
job = json.load(sys.stdin)
sys.path[:] = job["path"]
from atlas_search.server.pages.child import main
main(job)
"""

_places = threading.BoundedSemaphore(AT_ONCE)


def drawn(file: IO[bytes], **job: Any) -> bytes:
    """What `child.draw` makes of a page of an open PDF.

    Raises NotFound if the page cannot be drawn, ServerBusy, and MissingLibrary.
    """
    if find_spec("pypdfium2") is None:
        raise MissingLibrary(
            "Pages are drawn by pypdfium2, which is not installed. Run "
            "`pip install atlas-research-search[pdf]`."
        )
    if not _places.acquire(timeout=WAIT_SECONDS):
        raise ServerBusy("Too many pages are being drawn. Try again in a moment.", RETRY_SECONDS)
    try:
        return _run(file, job)
    finally:
        _places.release()


def _run(file: IO[bytes], job: dict[str, Any]) -> bytes:
    said = json.dumps({**job, "file": file.fileno(), "path": sys.path})
    try:
        ended = subprocess.run(
            [sys.executable, "-P", "-c", _START],
            input=said.encode(),
            capture_output=True,
            pass_fds=[file.fileno()],
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NotFound(TOO_MUCH) from error
    if ended.returncode == CANNOT:
        raise NotFound(ended.stdout.decode(errors="replace"))
    if ended.returncode:
        raise NotFound(TOO_MUCH)
    return ended.stdout
