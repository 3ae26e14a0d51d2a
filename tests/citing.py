"""A passage with its text, and answers that cite it."""

from atlas_search.answer.check.citations import Verification, verify
from atlas_search.core.domain import Passage

TEXT = "A preface. Grass is green. The sky is blue. Roses are red in 1932. Snow is white."

MARKER = "[uk.case p1]"


def passage(
    text: str, start: int, end: int, *, document: str = "uk.case", page: int = 1
) -> Passage:
    """The passage of `text` from `start` to `end`."""
    return Passage(
        row=start,
        id=f"{document}:{start}-{end}",
        document_id=document,
        corpus="uk",
        title="Case",
        text=text[start:end],
        start=start,
        end=end,
        page=page,
        line=1,
        section="",
        speaker="",
        date="",
        url="",
        metadata={},
    )


GIVEN = [passage(TEXT, len("A preface. "), len(TEXT))]


def check(answer: str, citation_limit: int = 5) -> Verification:
    return verify(answer, GIVEN, citation_limit)


def quotes(verification: Verification) -> list[list[str]]:
    """The quotes of each sentence."""
    return [[c.quote for c in sentence.citations] for sentence in verification.sentences]
