"""What building a store costs: `python -m benchmarks.build_store`.

Three measurements, each a ratio within one run or a size, since machines differ:

- the rate of a whole build with the real model, against the rate at which the model alone embeds
  the same passages in bulk;
- a second build with nothing changed, against the first;
- disk and resident memory for each passage of a large store of generated text, beyond the size of
  one copy of its vectors.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_folder, by_rule
from atlas_search.core.settings import load_settings
from atlas_search.providers.embedding import DEFAULT_MODEL, EmbedderInfo, find_folder
from atlas_search.providers.open import open_embedder
from atlas_search.readers.tables import JsonlReader
from atlas_search.readers.text import TxtReader

DIMENSION = 384
SHARES = {"small": 0.01, "medium": 0.1, "large": 0.89}
PARAGRAPHS = 20  # of a generated document, each a passage
ROUNDS = 3


class Generated:
    """Vectors made from the digest of a text, in clusters as real ones are; takes no time."""

    fingerprint = hashlib.sha256(b"generated").hexdigest()
    info = EmbedderInfo("generated", "0" * 64, DIMENSION, "mean", 256, "local", "", "")

    def __init__(self) -> None:
        self._centres = np.random.default_rng(1).standard_normal((500, DIMENSION), np.float32)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
            noise = np.random.default_rng(seed).standard_normal(DIMENSION, np.float32)
            vectors[row] = self._centres[seed % len(self._centres)] + noise
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder."""
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See Embedder."""
        return [len(text) // 5 for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See Embedder."""
        raise NotImplementedError(text)


def main(
    source: Annotated[Path | None, typer.Option(help="Folder of JSONL records to embed")] = None,
    passages: Annotated[
        int, typer.Option(help="Passages of the large store; 0 for none")
    ] = 200_000,
    folder: Annotated[Path | None, typer.Option(help="Where to build [a temporary folder]")] = None,
) -> None:
    """Measure and print."""
    with TemporaryDirectory(dir=folder) as temporary:
        root = Path(temporary)
        if source:
            print_rate(source, root)
        if passages:
            print_large(root, passages)


def print_rate(source: Path, root: Path) -> None:
    """The rate of a build against the model's own, and a second build against the first."""
    embedder = open_embedder(load_settings())
    reader = JsonlReader()
    sources = by_rule([source], reader.suffixes, CorpusRule("one"))
    embedder.embed(["The first call compiles kernels."])
    ratios = []
    for number in range(ROUNDS):
        store = root / f"rate-{number}"
        first = timed(lambda store=store: build(store, sources, reader, embedder, OPTIONS, quiet))
        again = timed(lambda store=store: build(store, sources, reader, embedder, OPTIONS, quiet))
        texts = passage_texts(store)
        alone = min(timed_encoding(texts, batch) for batch in (16, 32))
        ratios.append(alone / first)
        print(
            f"round {number + 1}: {len(texts)} passages; build {len(texts) / first:.1f}/s, model "
            f"alone {len(texts) / alone:.1f}/s, ratio {alone / first:.3f}; second build "
            f"{first / again:.0f} times faster ({again * 1000:.0f} ms)"
        )
        shutil.rmtree(store)
    print(f"build against model alone, median of {ROUNDS}: {sorted(ratios)[ROUNDS // 2]:.3f}")


OPTIONS = BuildOptions("benchmark", "jsonl")


def quiet(_stage: str, _done: int, _total: int) -> None:
    """No progress."""


def timed(work: object) -> float:
    """Seconds that a call takes."""
    started = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - started


def passage_texts(store: Path) -> list[str]:
    """The texts of all passages."""
    from atlas_search.stores.embedded import EmbeddedStore

    opened = EmbeddedStore(store)
    texts = [p.text for p in opened.passages(range(opened.manifest.passages))]
    opened.close()
    return texts


_MODEL: list[object] = []


def timed_encoding(texts: Sequence[str], batch: int) -> float:
    """Seconds that sentence-transformers itself takes for all texts."""
    if not _MODEL:
        from sentence_transformers import SentenceTransformer

        _MODEL.append(SentenceTransformer(str(find_folder(DEFAULT_MODEL)), device="cpu"))
    return timed(lambda: _MODEL[0].encode(list(texts), batch_size=batch))  # type: ignore[attr-defined]


def print_large(root: Path, passages: int) -> None:
    """Times, disk and memory of a store of generated text."""
    texts = root / "texts"
    write_texts(texts, passages)
    reader = TxtReader()
    sources = by_folder([texts], reader.suffixes, "")
    store = root / "large"
    report = stages(lambda tell: build(store, sources, reader, Generated(), LARGE, tell))
    count = report.manifest.passages
    vectors = DIMENSION * 4
    for part, size in report.manifest.sizes.items():
        print(f"  {part}: {size / count:.0f} bytes a passage")
    disk = sum(report.manifest.sizes.values()) / count - vectors
    print(f"{count} passages: {disk:.0f} bytes of disk a passage beyond one copy of the vectors")
    command = [sys.executable, "-m", "benchmarks.open_store", str(store)]
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")
    again = timed(lambda: build(store, sources, reader, Generated(), LARGE, quiet))
    print(f"second build: {report.seconds / again:.0f} times faster ({again:.2f} s)")
    changed = next((texts / "medium").iterdir())
    changed.write_text(f"{changed.read_text()}\n\nA new paragraph.")
    began = time.process_time()
    report = stages(lambda tell: build(store, sources, reader, Generated(), LARGE, tell))
    processor = time.process_time() - began
    print(
        f"one of {report.manifest.documents} documents changed: {report.seconds:.1f} s, "
        f"{processor:.1f} s of processor"
    )


LARGE = BuildOptions("large", "txt")


def stages(work: object) -> BuildReport:
    """Run a build and print how long each of its stages took."""
    began: dict[str, float] = {}
    ended: dict[str, float] = {}

    def tell(stage: str, _done: int, _total: int) -> None:
        began.setdefault(stage, time.perf_counter())
        ended[stage] = time.perf_counter()

    report: BuildReport = work(tell)  # type: ignore[operator]
    for stage, start in began.items():
        print(f"  {stage}: {ended[stage] - start:.1f} s")
    return report


def write_texts(folder: Path, passages: int, shares: Mapping[str, float] = SHARES) -> None:
    """Corpora of these shares, by default very unequal, of words as frequent as a language's."""
    random = np.random.default_rng(0)
    words = [
        "".join(map(chr, random.integers(97, 123, random.integers(3, 11)))) for _ in range(60_000)
    ]
    frequency = 1 / np.arange(1, len(words) + 1)
    frequency /= frequency.sum()
    for corpus, share in shares.items():
        (folder / corpus).mkdir(parents=True)
        for number in range(max(1, round(passages * share / PARAGRAPHS))):
            drawn = random.choice(len(words), (PARAGRAPHS, 140), p=frequency)
            text = "\n\n".join(f"{' '.join(words[w] for w in row)}." for row in drawn)
            (folder / corpus / f"document-{number:06d}.txt").write_text(text)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    typer.run(main)
