"""Taking sentences out of an answer; the rest stays as it was."""

from collections.abc import Collection, Sequence

from atlas_search.answer.check.citations import Checker
from atlas_search.answer.check.markers import places
from atlas_search.core.domain import Passage


def without_sentences(answer: str, numbers: Collection[int], given: Sequence[Passage]) -> str:
    """`answer` without the sentences of these `numbers`, from 1, and without their tokens.

    Of the blanks on both sides of a gap those with more line ends stay, so paragraphs stay apart.
    """
    spans = places(answer, Checker(given, 0).languages)
    kept = ""
    for number, span in enumerate(spans, start=1):
        piece = answer[span.start : span.end]
        kept = _join_blanks(kept, piece) if number in numbers else kept + piece
    return kept.strip()


def _join_blanks(kept: str, struck: str) -> str:
    before, after = kept[len(kept.rstrip()) :], struck[len(struck.rstrip()) :]
    return kept.rstrip() + max(before, after, key=lambda blanks: blanks.count("\n"))
