"""A collection of generated texts with headings and overlapping passages."""

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Document
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, document_ids, write_sources

WORDS = "strike strikes Strike wage wages ship shipyard the of a pay dispute general".split()
DATES = ["1901", "1901-05-17", "1903", "1903-12", "1911", "c. 1905", "", "1901/1911"]


def text_of(chance: random.Random) -> str:
    def paragraph() -> str:
        if chance.random() < 0.2:
            return f"# {' '.join(chance.choices(WORDS, k=3))}"
        return " ".join(chance.choices(WORDS, k=chance.randint(1, 40))) + "."

    return "\n\n".join(paragraph() for _ in range(chance.randint(1, 6)))


def files(chance: random.Random) -> dict[str, str]:
    made = {}
    for number, corpus in product(range(14), ("mill", "port")):
        date, paper = (
            chance.choice(DATES),
            chance.choice(["Echo", "echo", "Globe", "[Echo, Globe]"]),
        )
        dated = f"date: {date}\n" if date else ""
        made[f"{corpus}/d{number:02}.md"] = f"---\n{dated}paper: {paper}\n---\n{text_of(chance)}\n"
    return made


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("words")
    source = write_sources(root / "source", files(random.Random(17)))
    build_tiny(source, root / "c", HashEmbedder(), size=120, overlap=60)
    return root / "c"


@pytest.fixture(scope="package")
def atlas(folder: Path) -> Iterator[Atlas]:
    with Atlas.open(folder, embedder=HashEmbedder()) as opened:
        yield opened


@pytest.fixture(scope="package")
def documents(atlas: Atlas, folder: Path) -> list[Document]:
    read = [atlas.document(id_) for id_ in document_ids(folder)]
    overlapping = [len(d.text) < sum(len(p.text) for p in atlas.passages(d.id)) for d in read]
    assert any(overlapping)
    return read
