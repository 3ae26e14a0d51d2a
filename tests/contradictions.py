"""Passages made by hand, as a search gives them."""

from collections.abc import Mapping

from atlas_search.core.domain import CheckedPassage, Passage, RankedPassage
from atlas_search.core.metadata import MetadataValue

BEGIN = 100  # where each passage begins in its document


def passage(
    document: str,
    text: str,
    corpus: str = "rules",
    title: str = "",
    language: str = "en",
    metadata: Mapping[str, MetadataValue] | None = None,
) -> CheckedPassage:
    found = Passage(
        row=0,
        id=f"{document}:{BEGIN}-{BEGIN + len(text)}",
        document_id=document,
        corpus=corpus,
        title=title,
        text=text,
        start=BEGIN,
        end=BEGIN + len(text),
        page=1,
        line=1,
        section="",
        speaker="",
        date="",
        url="",
        metadata=metadata or {},
        language=language,
    )
    return CheckedPassage(RankedPassage(found, 1.0, {}), True, 1.0, ())
