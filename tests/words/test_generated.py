"""Concordances and trends of any generated collection equal a plain scan of its documents."""

import random
from pathlib import Path

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Document
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, document_ids, write_sources
from tests.words.conftest import WORDS, files
from tests.words.scan import characters, typed
from tests.words.test_counting import assert_cells, papers, scanned, year_of

PATTERNS = [*WORDS, "strike*", "*age*", "?ay", "none"]
QUERIES_OF_EACH = 12


def random_query(chance: random.Random, depth: int = 2) -> object:
    """A phrase, or two queries that are near each other or of which either is wanted."""
    if depth and chance.random() < 0.5:
        parts = [random_query(chance, depth - 1) for _ in range(2)]
        if chance.random() < 0.5:
            return ("or", *parts)
        return ("near", *parts, chance.choice([1, 3, 30]))
    return chance.choices(PATTERNS, k=chance.choice([1, 1, 2]))


def group_of(document: Document, by: str) -> list[str | None]:
    """The values under which a document is counted."""
    if by == "corpus":
        return [document.corpus]
    return [*papers(document)] if by == "paper" else [year_of(document)]


@pytest.mark.parametrize("seed", range(3))
def test_any_query_of_any_collection_equals_a_scan(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    source = write_sources(tmp_path / "source", files(chance))
    size = chance.choice([60, 120, 400])
    build_tiny(source, tmp_path / "c", HashEmbedder(), size=size, overlap=size // 2)
    with Atlas.open(tmp_path / "c", embedder=HashEmbedder()) as atlas:
        documents = [atlas.document(id_) for id_ in document_ids(tmp_path / "c")]
        for _ in range(QUERIES_OF_EACH):
            query = random_query(chance)
            asked = typed(query)
            found = atlas.concordance(asked, limit=1000)
            expected = scanned(documents, query)
            assert found.hits == len(expected), asked
            lines = [(line.document_id, line.start, line.end) for line in found.lines]
            assert lines == expected[:1000], asked
            holding = {
                p.id
                for d in documents
                for p in atlas.passages(d.id)
                if any(p.start <= a and b <= p.end for a, b in characters(query, d.text))
            }
            assert found.passages == len(holding), asked
            by = chance.choice(["year", "corpus", "paper"])
            for cell in atlas.trends(asked, by=by).cells:
                of = [d for d in documents if cell.value in group_of(d, by)]
                assert_cells(atlas, of, query, cell)
                held = {p.id for d in of for p in atlas.passages(d.id)} & holding
                assert cell.passages == len(held), asked
