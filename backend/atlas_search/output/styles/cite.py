"""Citations in a chosen style."""

from collections.abc import Mapping
from datetime import date
from typing import Literal, NamedTuple

from atlas_search.output.answer_document import CitationOut
from atlas_search.output.styles.apa import APA
from atlas_search.output.styles.bluebook import BLUEBOOK
from atlas_search.output.styles.chicago import CHICAGO
from atlas_search.output.styles.footnote import PLAIN
from atlas_search.output.styles.mcgill import MCGILL
from atlas_search.output.styles.mla import MLA
from atlas_search.output.styles.oscola import OSCOLA
from atlas_search.output.styles.style import Style
from atlas_search.output.styles.work import work_of
from atlas_search.output.styles.written import Written, written

StyleName = Literal["plain", "chicago", "apa", "mla", "oscola", "bluebook", "mcgill"]

STYLES: Mapping[StyleName, Style] = {
    "plain": PLAIN,
    "chicago": CHICAGO,
    "apa": APA,
    "mla": MLA,
    "oscola": OSCOLA,
    "bluebook": BLUEBOOK,
    "mcgill": MCGILL,
}


class Styled(NamedTuple):
    """A citation in a style: a footnote, or an entry of the list of works and what stands in the
    text; `in_text` is None in styles of footnotes."""

    reference: Written
    in_text: Written | None


def cite(cited: CitationOut, style: StyleName, today: date) -> Styled:
    """`cited` as the style has it; `today` is when its address was looked at."""
    work, form = work_of(cited, today), STYLES[style]
    in_text = written(form.in_text(work)) if form.in_text else None
    return Styled(written(form.reference(work)), in_text)
