"""Pictures of pages read by the program `tesseract`, where it is installed."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import typer

from atlas_search.core.errors import ConfigurationError

Ocr = Annotated[
    str,
    typer.Option(
        metavar="LANGUAGES",
        help="Have Tesseract read pages of PDFs without text, in these of its languages: `eng+fra`",
    ),
]
_PROGRAM = "tesseract"
_WORD = "5"  # the level of a row that is a word


class RecognisedWord(NamedTuple):
    """A recognised word with its box in pixels from the left upper corner, and a confidence from
    0 to 1; `line` numbers its page, block, paragraph and line."""

    text: str
    left: int
    top: int
    right: int
    bottom: int
    confidence: float
    line: tuple[str, ...]


def require_tesseract(languages: str) -> None:
    """Raise ConfigurationError if the program, or one of its languages `eng+fra`, is not there."""
    if shutil.which(_PROGRAM) is None:
        raise ConfigurationError(
            f"--ocr {languages} needs the program {_PROGRAM}, not installed here. "
            "Install it (`apt install tesseract-ocr`, `brew install tesseract`) or leave out --ocr."
        )
    _, *known = _run(["--list-langs"]).splitlines()  # the first line says what they are
    if missing := [name for name in languages.split("+") if name not in known]:
        raise ConfigurationError(
            f"--ocr {languages}: {_PROGRAM} has no language {', '.join(missing)}. It has "
            f"{', '.join(known)}. Install it (`apt install tesseract-ocr-{missing[0]}`), or name "
            "another."
        )


def recognise(picture: bytes, languages: str, resolution: int) -> Sequence[RecognisedWord]:
    """The words on a picture of so many dots an inch, in reading order.

    Raises OSError with what the program says if it fails.
    """
    arguments = ["stdin", "stdout", "-l", languages, "--dpi", str(resolution), "tsv"]
    rows = (row.split("\t") for row in _run(arguments, picture).splitlines())
    words = []
    for level, page, block, paragraph, line, _, *box, confidence, text in rows:
        if level == _WORD and text.strip():
            left, top, width, height = map(int, box)
            place, share = (page, block, paragraph, line), float(confidence) / 100
            words.append(RecognisedWord(text, left, top, left + width, top + height, share, place))
    return words


def _run(arguments: Sequence[str], given: bytes = b"") -> str:
    # several files are read at once: with threads of its own each would wait for the others
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    ended = subprocess.run(
        [_PROGRAM, *arguments], input=given, capture_output=True, env=environment, check=False
    )
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise OSError(f"{_PROGRAM} failed: {said[-1] if said else ended.returncode}")
    return ended.stdout.decode(errors="replace")
