"""The process that draws one page, within the limits of its kernel, and ends."""

import json
import os
import sys
from contextlib import suppress
from typing import Any

SECONDS = 15  # of computing
MEMORY = 1_000_000_000  # bytes that are written to
CANNOT = 3
"""The status of a process that says in one sentence why there is no picture."""


def draw(job: dict[str, Any]) -> bytes:
    """What the job asks of the page: the PNG, or the boxes as JSON. Raises ValueError."""
    from pypdfium2 import PdfDocument, PdfiumError

    from atlas_search.readers.pdf_picture import boxes, picture

    try:
        with open(job["file"], "rb") as file, PdfDocument(file) as document:
            page = document[job["page"]]
            if "width" in job:
                return picture(page, job["width"])
            return json.dumps(boxes(page, job["text"], job["start"], job["end"])).encode()
    except (PdfiumError, IndexError) as error:
        raise ValueError("The page cannot be drawn: the PDF is damaged there.") from error


def main(job: dict[str, Any]) -> None:
    """Do the job, and write what comes of it to the standard output."""
    _limit("RLIMIT_CPU", SECONDS)
    _limit("RLIMIT_DATA", MEMORY)
    _limit("RLIMIT_CORE", 0)
    try:
        made = draw(job)
    except ValueError as error:
        sys.stdout.write(str(error))
        sys.stdout.flush()
        os._exit(CANNOT)
    sys.stdout.buffer.write(made)


def _limit(name: str, most: int) -> None:
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        which = getattr(resource, name)
        resource.setrlimit(which, (most, most))
