"""A collection of PDF papers in two corpora, and a text among them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atlas_search import Atlas
from tests.hash_embedder import HashEmbedder
from tests.pdf_pages import pdf

LAMP = "The keeper of Kestrel Point lit the lamp for forty years."
STORM = "In the great storm the lamp went out, and two ships were lost."
PAPER = pdf(
    [
        ["Kestrel Point", "", "Kestrel Point stands on a granite cliff above the northern sea."],
        ["The keeper of Kestrel Point lit the lamp", "for forty years.", "", STORM],
    ]
)
SECRET = pdf([["The vault of Ravenmoor holds a silver lantern."]])
DOCUMENT = "coast.kestrel-point"


@contextmanager
def papers(root: Path) -> Iterator[Atlas]:
    """The collection, built below `root` and open; its sources lie in `root / "sources"`."""
    sources = root / "sources"
    for name, data in {"coast/kestrel-point.pdf": PAPER, "vault/ravenmoor.pdf": SECRET}.items():
        path = sources / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (sources / "coast" / "notes.txt").write_text("Notes on the lamp of Kestrel Point.\n")
    Atlas.build(sources, root / "stores" / "papers", embedder=HashEmbedder())
    state = root / "state"
    with Atlas.open(
        root / "stores" / "papers", embedder=HashEmbedder(), atlas_state_directory=state
    ) as opened:
        yield opened
