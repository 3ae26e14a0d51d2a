"""A passage of a text that was never stored."""

from atlas_search.core.domain import Passage


def passage(
    text: str, document: str = "town.pier", start: int = 0, speaker: str = "", date: str = ""
) -> Passage:
    """The whole of a text that stands at `start` of its document."""
    return Passage(
        row=0,
        id=f"{document}:{start}-{start + len(text)}",
        document_id=document,
        corpus="town",
        title="",
        text=text,
        start=start,
        end=start + len(text),
        page=1,
        line=1,
        section="",
        speaker=speaker,
        date=date,
        url="",
        metadata={},
        language="en",
    )
