"""Which parliament's XML a file is."""

from collections.abc import Callable, Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.law.akoma import akoma_drafts, akoma_laws, is_akoma_debate, is_akoma_law
from atlas_search.readers.law.australia import australian_drafts, is_australian
from atlas_search.readers.law.canada import (
    canadian_drafts,
    canadian_laws,
    is_canadian,
    is_canadian_law,
)
from atlas_search.readers.law.clml import british_laws, is_british_law
from atlas_search.readers.law.hansard import historic_drafts, is_historic, is_twfy, twfy_drafts
from atlas_search.readers.law.uslm import american_laws, is_american_law

DEBATE_SHAPES: tuple[
    tuple[Callable[[etree._Element], bool], Callable[[etree._Element], Iterator[Read]]], ...
] = (
    (is_twfy, twfy_drafts),
    (is_australian, australian_drafts),
    (is_canadian, canadian_drafts),
    (is_historic, historic_drafts),
    (is_akoma_debate, akoma_drafts),
)
"""How each shape is known and read. The first that fits is taken: three have a root `hansard`."""


def hansard_drafts(root: etree._Element) -> Iterator[Read] | None:
    """The drafts of a file of parliamentary debates; None if it is none of those known."""
    return next((drafts(root) for fits, drafts in DEBATE_SHAPES if fits(root)), None)


STATUTE_SHAPES: tuple[
    tuple[Callable[[etree._Element], bool], Callable[[etree._Element], Iterator[Read]]], ...
] = (
    (is_canadian_law, canadian_laws),
    (is_british_law, british_laws),
    (is_american_law, american_laws),
    (is_akoma_law, akoma_laws),
)
"""How each schema is known and read."""


def statute_drafts(root: etree._Element) -> Iterator[Read] | None:
    """The draft of a file that is a law; None if it is in none of the schemas known."""
    return next((drafts(root) for fits, drafts in STATUTE_SHAPES if fits(root)), None)
