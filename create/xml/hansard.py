"""Which parliament's XML a file is."""

from collections.abc import Callable, Iterator

from lxml import etree

from create.source import Read
from create.xml.akoma import akoma_drafts, is_akoma_debate
from create.xml.australia import australian_drafts, is_australian
from create.xml.canada import canadian_drafts, is_canadian
from create.xml.historic import historic_drafts, is_historic
from create.xml.twfy import is_twfy, twfy_drafts

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
