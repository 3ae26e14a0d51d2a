"""Ratios at a small size, which hold on any machine: what the tests compare with `ratios.json`.

`python -m benchmarks.performance.small` measures them anew and writes that file.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.performance.rows.answering import embed_questions
from benchmarks.performance.rows.building import ADDED, build_store
from benchmarks.performance.rows.searching import search, search_both
from benchmarks.performance.site import Site, write_questions

SIZE = 2000
WORSE = 4 / 3
"""How many times a ratio may be what it was."""
KEPT = Path(__file__).with_name("ratios.json")

Ratio = Callable[[Site], float]


def search_to_engines(site: Site) -> float:
    """A search with its vector given, by the two legs of every corpus alone."""
    took = search(str(site.store), str(site.questions))
    return took["search"] / took["engines"]


def change_to_build(site: Site) -> float:
    """A build after one document has changed, by a whole one."""
    path = site.documents()[1]
    path.write_text(path.read_text() + ADDED)
    changed = build_store(str(site.sources), str(site.store))
    return float(changed["processor"] / json.loads(_whole(site).read_text()))


def embedding_to_runtime(_site: Site) -> float:
    """A question embedded, by ONNX Runtime alone."""
    took = embed_questions()
    return took["embed"] / took["alone"]


def twenty_to_three(site: Site) -> float:
    """A search of twenty corpora, by one of three of the same total."""
    many = Site(site.root, site.size, twenty=True)
    prepare(many)
    took = search_both(
        [str(site.store), str(many.store)], [str(site.questions), str(many.questions)]
    )
    return took["20"] / took["3"]


RATIOS: Mapping[str, Ratio] = {
    "a search to its engines alone": search_to_engines,
    "a change of one document to a build": change_to_build,
    "a question embedded to ONNX Runtime alone": embedding_to_runtime,
    "20 corpora to 3": twenty_to_three,
}


def prepare(site: Site) -> None:
    """The collection of a site and its questions, made in this process."""
    if not site.questions.exists():
        site.write_sources()
        whole = build_store(str(site.sources), str(site.store))
        _whole(site).write_text(json.dumps(whole["processor"]))
        write_questions(str(site.store), str(site.questions))


def _whole(site: Site) -> Path:
    """Where the seconds of the first build are kept."""
    return site.folder / "whole.json"


def main() -> None:
    """Measure, print and write."""
    with TemporaryDirectory() as folder:
        site = Site(Path(folder), SIZE)
        prepare(site)
        found = {name: round(ratio(site), 3) for name, ratio in RATIOS.items()}
    for name, ratio in found.items():
        print(f"{name}: {ratio}")
    KEPT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
