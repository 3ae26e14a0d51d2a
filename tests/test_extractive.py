"""Which sentences an extractive answer is made of."""

from backend.domain import CheckedPassage, Passage, RankedPassage
from backend.llm import Prompt
from backend.llm.extractive import ExtractiveProvider
from tests.hash_embedder import HashEmbedder


def written(text: str, limit: int = 3) -> str:
    """The answer to a question about wool from one passage."""
    passage = Passage(
        row=0,
        id="farm.sheep:0-9",
        document_id="farm.sheep",
        corpus="farm",
        title="",
        text=text,
        start=0,
        end=len(text),
        page=1,
        line=1,
        section="",
        speaker="",
        date="",
        url="",
        metadata={},
    )
    items = (CheckedPassage(RankedPassage(passage, 1.0, {}), True, 1.0, ()),)
    prompt = Prompt("Which wool do sheep give?", items, {"wool": 2.0, "sheep": 1.0}, (), limit)
    return "".join(ExtractiveProvider(HashEmbedder()).stream(prompt))


def test_headings_and_references_are_no_answers() -> None:
    text = "Sheep wool in the hills of Wales\nSource: the wool and the sheep, 1901.\n"
    text += "The wool of hill sheep is coarse."
    assert written(text) == "The wool of hill sheep is coarse. [farm.sheep p1]\n"


def test_a_source_without_full_stops_is_still_quoted() -> None:
    assert written("the wool of hill sheep is coarse") == (
        "the wool of hill sheep is coarse [farm.sheep p1]\n"
    )


def test_what_is_quoted_may_end_in_a_quotation_mark() -> None:
    assert "coarse.”" in written(
        "He said that “the wool of hill sheep is coarse.”\nA sheep of wool"
    )
