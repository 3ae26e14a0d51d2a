"""Sizes and overlaps that can be chosen, and contradictions among them."""

import re

import pytest

from atlas_search.building.chunking import Chunking, Splitter, Unit, chunking, passage_spans
from atlas_search.core.errors import SourceError
from tests.cuts import document


@pytest.mark.parametrize(
    ("splitter", "unit", "size", "overlap"),
    [
        ("recursive", "characters", 1000, 100),
        ("structural", "characters", 1000, 100),
        ("paragraph", "characters", 1000, 0),
        ("fixed", "characters", 800, 120),
        ("recursive", "tokens", 200, 20),
        ("fixed", "tokens", 160, 24),
        ("whole", "characters", 0, 0),
    ],
)
def test_a_splitter_has_its_own_size(
    splitter: Splitter, unit: Unit, size: int, overlap: int
) -> None:
    assert chunking(splitter, unit=unit) == Chunking(splitter, size, overlap, unit)


def test_the_overlap_follows_the_size() -> None:
    assert chunking(size=150).overlap == 15


@pytest.mark.parametrize(
    ("splitter", "size", "overlap", "unit", "reason"),
    [
        ("recursive", 10, None, "characters", "--chunk-size 10: give 50 to 20000 characters."),
        ("fixed", 20_001, None, "characters", "--chunk-size 20001: give 50 to 20000 characters."),
        ("recursive", 15, None, "tokens", "--chunk-size 15: give 16 to 8192 tokens."),
        ("recursive", 100, 51, "characters", "--chunk-overlap 51: give 0 to half the chunk size"),
        ("sentence", 100, -1, "characters", "--chunk-overlap -1: give 0 to half the chunk size"),
        ("whole", 500, None, "characters", "--chunk-size 500: whole documents are not cut"),
        ("whole", None, 9, "characters", "--chunk-overlap 9: whole documents are not cut"),
    ],
)
def test_a_contradiction_names_the_option(
    splitter: Splitter, size: int | None, overlap: int | None, unit: Unit, reason: str
) -> None:
    with pytest.raises(SourceError, match=re.escape(reason)):
        chunking(splitter, size, overlap, unit)


def test_a_size_in_tokens_needs_a_tokenizer() -> None:
    with pytest.raises(ValueError, match="need the token spans of the model"):
        passage_spans(document("text"), chunking(unit="tokens"), None)
