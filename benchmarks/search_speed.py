"""What a search costs: `python -m benchmarks.search_speed STORE`.

STORE is the folder of any collection built with the default model, such as the one that the
quality benchmark makes. Times of the parts of a search are compared with each other in one run,
since machines differ:

- measuring and ranking 600 and 4,000 candidates, in milliseconds;
- a whole search against its two legs and the embedding of the question.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Annotated

import numpy as np
import typer

from atlas_search.atlas import Atlas
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.planning import plan_search
from atlas_search.search.candidates import Candidates
from atlas_search.search.find import retrieve
from atlas_search.search.query import parse_query
from atlas_search.search.ranking import rerank
from atlas_search.search.request import SearchRequest
from atlas_search.search.run import Searcher, SearchRun
from atlas_search.search.signals import measure
from atlas_search.stores.vectors import Cosines

QUESTIONS = 40
WORDS = 9  # of a made question
ROUNDS = 7


def main(store: Annotated[Path, typer.Argument(help="Folder of a built collection")]) -> None:
    """Measure and print."""
    with Atlas.open(store) as atlas:
        searcher = atlas.services.searcher
        questions = made_questions(searcher)
        for count in (600, 4000):
            print_ranking(searcher, questions, count)
        print_whole(atlas, questions)


def made_questions(searcher: Searcher) -> list[str]:
    """Words from the middle of passages spread over the collection."""
    rows = np.linspace(0, searcher.store.manifest.passages - 1, QUESTIONS).astype(int)
    texts = [passage.text.split() for passage in searcher.store.passages(rows.tolist())]
    return [" ".join(text[len(text) // 2 :][:WORDS]) for text in texts]


def print_ranking(searcher: Searcher, questions: list[str], count: int) -> None:
    """The time from candidate rows to a ranking, all signals included."""
    store = searcher.store
    random = np.random.default_rng(0)
    total = store.manifest.passages
    rows = np.sort(random.choice(total, min(count, total), replace=False))
    every = list(range(len(store.corpora)))
    times = []
    for question in questions:
        query = parse_query(question)
        vector = searcher.embedder.embed_query(question)

        def ranked(query=query, vector=vector) -> None:
            cosines = Cosines(vector, store.similarities)
            table = measure(query, cosines, rows, store.tokens, every, searcher.mean_length)
            rerank(Candidates(query, cosines, [], table), Target())

        times.append(best(ranked))
    print(f"{len(rows)} candidates measured and ranked: {median(times):.1f} ms (median question)")


def print_whole(atlas: Atlas, questions: list[str]) -> None:
    """A search from question to kept passages, against what nobody can do without."""
    _, target = atlas.services.target(None)
    searcher, corpora = atlas.services.searcher, atlas.corpora
    depth = target.large_retrieval_size_all_corpus
    silent = Tracer("", "", content=False)
    whole, legs = [], []
    quiet = replace(searcher, tracer=silent)
    for question in questions:
        request = plan_search(atlas.services, SearchRequest(question=question))

        def bare(request=request) -> None:
            run = SearchRun(quiet, request, target)
            vector = searcher.embedder.embed_query(run.query.text)
            retrieve(run, run.query, Cosines(vector, searcher.store.similarities))

        whole.append(best(lambda request=request: atlas.find(request)))
        legs.append(best(bare))
    ratio = median(a / b for a, b in zip(whole, legs, strict=True))
    print(
        f"a search over {len(corpora)} corpora, {depth} candidates per corpus and leg: "
        f"{median(whole):.1f} ms; its legs and the embedding {median(legs):.1f} ms; "
        f"ratio {ratio:.2f}"
    )


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
