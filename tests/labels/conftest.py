"""A small collection that labels are about."""

from collections.abc import Iterator

import pytest

from atlas_search import Atlas
from atlas_search.evaluation.label_fit import OpenCollection
from atlas_search.readers.tables import beir_reader
from tests.hash_embedder import HashEmbedder
from tests.labels.forms import lines
from tests.tiny import write_sources

BRIDGE = "The parish keeps the\ngranite bridge in repair.\n\nThe miller pays a toll. The end.\n"
SOURCES = {
    "meadow/the_bridge.md": f"---\ntitle: On the Bridge\n---\n{BRIDGE}",
    "meadow/1931/mill.txt": "The miller grinds the corn. The end.\n",
    "town/mill.txt": "Another mill, in the town.\n",
}
RECORDS = [
    {"_id": "Tower#0", "title": "Tower", "text": "The tower was built of oak."},
    {"_id": "Tower#1", "title": "Tower", "text": "It burned in the winter."},
]


@pytest.fixture(scope="package")
def village(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenCollection]:
    """Documents from files of two corpora, and from the records of a benchmark."""
    folder = tmp_path_factory.mktemp("village")
    sources = write_sources(folder / "sources", SOURCES)
    store, model = folder / "stores" / "village", HashEmbedder()
    Atlas.build(sources, store, embedder=model)
    (folder / "set").mkdir()
    lines(folder / "set" / "corpus.jsonl", *RECORDS)
    Atlas.build(
        folder / "set", store, kind="beir", reader=beir_reader(), corpus="tower", embedder=model
    )
    with Atlas.open(store, embedder=model) as atlas:
        yield OpenCollection(atlas)
