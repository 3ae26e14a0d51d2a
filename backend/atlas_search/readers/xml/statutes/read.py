"""Which publisher's law a file is."""

from collections.abc import Callable, Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.xml.statutes.akoma_laws import akoma_laws, is_akoma_law
from atlas_search.readers.xml.statutes.canada import canadian_laws, is_canadian_law
from atlas_search.readers.xml.statutes.clml import british_laws, is_british_law
from atlas_search.readers.xml.statutes.uslm import american_laws, is_american_law

SHAPES: tuple[
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
    return next((drafts(root) for fits, drafts in SHAPES if fits(root)), None)
