"""What concordances, counts and lists of words cost: `python -m benchmarks.words_speed`.

A store of generated text is built, with hashes for vectors: three corpora, documents dated 1800 to
1999, words as frequent as Zipf's law has it. Then the first page of a concordance, and a trend over
all years, and the collocates, of words from the most frequent to the rarest, of wildcards, phrases
and near words; then keywords; each the fastest of several calls, through the front door. Also what
the words take on disk.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer

from atlas_search.atlas import Atlas
from atlas_search.building.flow import BuildOptions, build
from atlas_search.building.sources import by_folder
from atlas_search.readers.tables import JsonlReader
from tests.hash_embedder import HashEmbedder

SHARES = {"small": 0.01, "medium": 0.1, "large": 0.89}
VOCABULARY = 200_000
WORDS = 2_400  # of a document
PASSAGES = 14  # that these make
ROUNDS = 7
QUERIES = {
    "the most frequent word": "w0",
    "a frequent word": "w30",
    "a rare word": "w20000",
    "a stem": "w30",
    "a phrase of frequent words": '"w0 w1"',
    "a beginning": "w30*",
    "an end": "*77",
    "near": "w30* NEAR/5 w2*",
}


def main(
    passages: Annotated[int, typer.Option(help="Passages, about")] = 200_000,
    folder: Annotated[Path | None, typer.Option(help="A store of an earlier run, or where")] = None,
) -> None:
    """Build, measure and print."""
    with TemporaryDirectory() as temporary:
        root = folder or Path(temporary)
        if not (root / "words").exists():
            started = time.perf_counter()
            write_documents(root / "source", passages // PASSAGES)
            sources = by_folder([root / "source"], JsonlReader().suffixes, "")
            options = BuildOptions("words", "jsonl")
            embedder = HashEmbedder(dimension=4)
            build(root / "words", sources, JsonlReader(), embedder, options, lambda *_: None)
            print(f"built in {time.perf_counter() - started:.0f} s")
        with Atlas.open(root / "words", embedder=HashEmbedder(dimension=4)) as atlas:
            print_store(atlas)
            for name, query in QUERIES.items():
                print_query(atlas, name, query)
            print_keywords(atlas)


def write_documents(folder: Path, count: int) -> None:
    """Documents of made-up words, the n-th as often as 1/n."""
    random = np.random.default_rng(17)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    words = np.array([f"w{number}" for number in range(VOCABULARY)])
    folder.mkdir(parents=True)
    for corpus, share in SHARES.items():
        (folder / corpus).mkdir()
        with (folder / corpus / "all.jsonl").open("w") as file:
            for number in range(max(int(count * share), 1)):
                chosen = words[random.choice(VOCABULARY, WORDS, p=weights / weights.sum())]
                sentences = [" ".join(part) for part in np.array_split(chosen, WORDS // 15)]
                day = f"{random.integers(1800, 2000)}-05-17"
                record = {"id": f"d{number}", "text": ". ".join(sentences), "date": day}
                file.write(json.dumps(record) + "\n")


def print_store(atlas: Atlas) -> None:
    """How much there is."""
    manifest, table = atlas.services.store.manifest, atlas.services.store.words
    print(
        f"{manifest.passages:,} passages, {manifest.documents:,} documents, "
        f"{len(table.tokens):,} words, {len(table.forms):,} forms; on disk "
        f"{manifest.sizes['words'] / manifest.passages:,.0f} bytes a passage "
        f"(tokens {manifest.sizes['tokens'] / manifest.passages:,.0f})"
    )


def print_query(atlas: Atlas, name: str, query: str) -> None:
    """What the first page of a concordance and a trend of a query take."""
    form = "stem" if name == "a stem" else "surface"
    how = {"form": form}
    hits = atlas.counts(query, **how).total.hits  # type: ignore[arg-type]
    took = {
        f"{sort} page": best(lambda sort=sort: atlas.concordance(query, sort=sort, **how))
        for sort in ("document", "left", "date")
    }
    took["trend"] = best(lambda: atlas.trends(query, **how))  # type: ignore[arg-type]
    took["collocates"] = best(lambda: atlas.collocates(query, **how))  # type: ignore[arg-type]
    took["collocates in one corpus"] = best(
        lambda: atlas.collocates(query, corpora="large", **how)  # type: ignore[arg-type]
    )
    took["in one corpus since 1900"] = best(
        lambda: atlas.trends(
            query,
            corpora="large",
            filters={"date": {"from": "1900"}},
            **how,  # type: ignore[arg-type]
        )
    )
    figures = ", ".join(f"{what} {milliseconds:.0f}" for what, milliseconds in took.items())
    print(f"{name} ({query}, {hits:,} hits), ms: {figures}")


def print_keywords(atlas: Atlas) -> None:
    """What keywords take: of a corpus, of a time, of passages that hold a word."""
    asked: dict[str, dict[str, Any]] = {
        "a small corpus": {"corpora": "small"},
        "a large corpus": {"corpora": "large"},
        "two corpora": {"corpora": "large", "against": "medium"},
        "since 1900": {"filters": {"date": {"from": "1900"}}},
        "since 1900, in two documents": {
            "filters": {"date": {"from": "1900"}},
            "min_documents": 2,
            "direction": "both",
        },
        "passages with a word": {"require": ["w30"]},
    }
    for name, what in asked.items():
        print(f"keywords of {name}, ms: {best(lambda what=what: atlas.keywords(**what)):.0f}")


def best(work: Callable[[], object]) -> float:
    """Milliseconds of the fastest of ROUNDS calls: what else runs here only makes it slower."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times) * 1000


if __name__ == "__main__":
    typer.run(main)
