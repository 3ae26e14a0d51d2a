"""What an answer in the sources' own words costs: `python -m benchmarks.quoted_answers`.

Over the configured collection (the bundled demo, unless the settings say otherwise). Every labelled
question is asked once, and searched for once, whichever comes first in turns. Milliseconds are of
this process's processor: of a search, and of what an answer takes beyond it. The first questions
find no sentence that was embedded before; the later ones some.
"""

import time
from collections.abc import Callable
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from atlas_search.atlas import Atlas
from atlas_search.evaluation.label_files import load_labels
from tests.places import ROOT

FIRST = 60
WARM = 8  # questions that open what stays open


def main(target: Annotated[str, typer.Option()] = "k10_extractive") -> None:
    """Measure and print."""
    labels = load_labels(ROOT / "create" / "samples" / "labels.jsonl")
    questions = [label.question for label in labels]
    questions = questions[-WARM:] + questions[:-WARM]
    with (
        TemporaryDirectory() as state,
        Atlas.open(query_cache_enabled=False, atlas_state_directory=state) as atlas,
    ):
        taken = [_costs(atlas, at, asked, target) for at, asked in enumerate(questions)][WARM:]
    for name, part in ((f"first {FIRST}", taken[:FIRST]), (f"all {len(taken)}", taken)):
        searches, beyond = zip(*part, strict=True)
        print(
            f"{name}: search p50 {median(searches):.1f} ms, mean {mean(searches):.1f}; "
            f"beyond it p50 {median(beyond):.1f} ms, mean {mean(beyond):.1f}"
        )


def _costs(atlas: Atlas, at: int, question: str, target: str) -> tuple[float, float]:
    """Of the search, and of the answer beyond it."""
    works: list[Callable[[], object]] = [
        lambda: atlas.search(question, target=target),
        lambda: atlas.ask(question, target=target),
    ]
    search, answer = _in_turn(works) if at % 2 else reversed(_in_turn(works[::-1]))
    return search, answer - search


def _in_turn(works: list[Callable[[], object]]) -> list[float]:
    taken = []
    for work in works:
        begun = time.process_time()
        work()
        taken.append((time.process_time() - begun) * 1000)
    return taken


if __name__ == "__main__":
    typer.run(main)
