"""A collection of two coasts, of which some questions are answered and others only come close."""

from contextlib import AbstractContextManager
from pathlib import Path

from atlas_search import Atlas
from atlas_search.providers.embedding import Embedder
from tests.answer.collection import collection

LIT = (
    "Elias Thornwick, engineer of the Board of Lights, first lit the lamp of the Skerry lighthouse "
    "in 1874."
)
WHEN = (
    "In which year did the engineer Elias Thornwick of the Board of Lights light the lamp of the "
    "Skerry lighthouse for the first time?"
)
WHEN_FROM_DUNEDIN = (
    "When did the engineer Elias Thornwick of the Board of Lights, known in Dunedin, light the "
    "lamp of the Skerry lighthouse for the first time?"
)
NOT_HELD = "How many stairs has the tower of the Skerry lighthouse?"

SOURCES = {
    "north/skerry.txt": (
        "---\ntitle: The Skerry lighthouse\ndate: 1891-05-02\n---\n"
        f"{LIT} It is filled at dusk. The second keeper rings the fog bell of the Skerry "
        "lighthouse every two minutes. The tower is of grey stone.\n"
    ),
    "south/marram.txt": (
        "---\ntitle: The Marram lighthouse\ndate: 1881\n---\n"
        "The lamp of the Marram lighthouse burns gas. Its tower is painted in red and white, and "
        "visitors who climb it pay the keeper.\n"
    ),
    # a corpus of one passage holds every word alike; among several, a missing name weighs less
    **{
        f"north/{month.lower()}.txt": f"The tide of {month} left {wreck} on the northern sands.\n"
        for month, wreck in {
            "January": "an anchor",
            "March": "two barrels of herring",
            "May": "a broken mast",
            "July": "nothing but weed",
            "September": "the hull of a brig",
            "November": "ropes and a compass",
        }.items()
    },
}
TARGETS = {
    "usual": "",
    "strict": "ANSWER_LIKELIHOOD=1",
    "lenient": "ANSWER_LIKELIHOOD=0",
    # without a key
    "replaced": "LLM_PROVIDER=mistral\nLLM_FALLBACK=extractive\nANSWER_LIKELIHOOD=1",
}


def lighthouses(folder: Path, embedder: Embedder) -> AbstractContextManager[Atlas]:
    """The collection, built below `folder` and open, with TARGETS; `usual` unless one is named."""
    return collection(folder, embedder, SOURCES, TARGETS)
