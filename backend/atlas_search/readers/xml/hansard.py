"""Which parliament's XML a file is."""

from collections.abc import Callable, Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.xml.akoma import akoma_drafts, is_akoma_debate
from atlas_search.readers.xml.australia import australian_drafts, is_australian
from atlas_search.readers.xml.canada import canadian_drafts, is_canadian
from atlas_search.readers.xml.historic import historic_drafts, is_historic
from atlas_search.readers.xml.twfy import is_twfy, twfy_drafts

SHAPES: tuple[
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
    return next((drafts(root) for fits, drafts in SHAPES if fits(root)), None)
