"""What the embedding model costs: `python -m benchmarks.embedding`.

Over the bundled demo, with the model in EMBEDDING_RUNTIME. Seconds are of this process's processor:
of a process up to its first answer (its imports included), of a question embedded and of a search
(medians), and of 16 long passages in one batch.
"""

import time
from collections.abc import Callable, Sequence
from statistics import median

from atlas_search.atlas import Atlas
from atlas_search.core.settings import load_settings
from benchmarks.search_speed import made_questions


def main() -> None:
    """Measure and print."""
    folder = load_settings().collection_folder.resolve()
    with Atlas.open(folder) as atlas:
        searcher = atlas.services.searcher
        atlas.ask("Who spoke of the harbour?")
        print(f"{searcher.embedder.info.runtime}: first answer {time.process_time():.1f} s")
        questions = made_questions(searcher)
        embedder = searcher.embedder
        print(f"question {_median(embedder.embed_query, questions) * 1000:.1f} ms")
        print(f"search {_median(atlas.search, questions) * 1000:.1f} ms")
        passage = "An ordinary passage says who did what, and in whose name it was done. " * 17
        batch = [[f"{number} {passage}" for number in range(16)]]
        print(
            f"16 passages of {len(passage)} characters {_median(embedder.embed, batch * 3):.2f} s"
        )


def _median(work: Callable[..., object], given: Sequence[object]) -> float:
    taken = []
    for each in given:
        begun = time.process_time()
        work(each)
        taken.append(time.process_time() - begun)
    return median(taken)


if __name__ == "__main__":
    main()
