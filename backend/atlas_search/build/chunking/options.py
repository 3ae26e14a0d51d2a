"""How documents are to be cut, checked once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from atlas_search.core.errors import SourceError

Splitter = Literal["recursive", "fixed", "paragraph", "sentence", "structural", "whole"]
Unit = Literal["characters", "tokens"]

LIMITS: Mapping[Unit, tuple[int, int]] = {"characters": (50, 20_000), "tokens": (16, 8192)}
_SIZES: Mapping[Unit, int] = {"characters": 1000, "tokens": 200}  # a token has about 5 characters
_FIXED_SIZES: Mapping[Unit, int] = {"characters": 800, "tokens": 160}
_OVERLAP_PERCENT: Mapping[Splitter, int] = {"recursive": 10, "structural": 10, "fixed": 15}


@dataclass(frozen=True)
class Chunking:
    """A choice without contradictions; make it with `chunking`.

    `size` and `overlap` are in `unit`, both 0 where documents are left whole. Every splitter but
    `whole` keeps pages and speakers apart, so that words are never given to somebody else, and the
    sections of statutes; the structural one keeps all sections apart. `across_pages` and
    `across_sections` let passages run over the end of a page, or of a speech or section.
    """

    splitter: Splitter = "recursive"
    size: int = 1000
    overlap: int = 100
    unit: Unit = "characters"
    across_pages: bool = False
    across_sections: bool = False


def chunking(
    splitter: Splitter = "recursive",
    size: int | None = None,
    overlap: int | None = None,
    unit: Unit = "characters",
    across_pages: bool = False,
    across_sections: bool = False,
) -> Chunking:
    """What was chosen, with the splitter's own size and overlap where none is given.

    A fixed window has 800 characters, 15 % of them overlap; others 1000 and 10 %; in tokens a
    fifth of it. Single paragraphs and sentences overlap only on demand, where a long one is cut.
    Raises SourceError that names the option.
    """
    if splitter == "whole":
        _refuse_sizes(size, overlap)
        return Chunking(splitter, 0, 0, unit, across_pages, across_sections)
    if size is None:
        size = (_FIXED_SIZES if splitter == "fixed" else _SIZES)[unit]
    if overlap is None:
        overlap = size * _OVERLAP_PERCENT.get(splitter, 0) // 100
    _check(size, overlap, unit)
    return Chunking(splitter, size, overlap, unit, across_pages, across_sections)


def _refuse_sizes(size: int | None, overlap: int | None) -> None:
    for option, value in (("--chunk-size", size), ("--chunk-overlap", overlap)):
        if value is not None:
            raise SourceError(f"{option} {value}: whole documents are not cut; leave it out.")


def _check(size: int, overlap: int, unit: Unit) -> None:
    least, most = LIMITS[unit]
    if not least <= size <= most:
        raise SourceError(f"--chunk-size {size}: give {least} to {most} {unit}.")
    if not 0 <= overlap <= size // 2:
        raise SourceError(f"--chunk-overlap {overlap}: give 0 to half the chunk size ({size}).")
