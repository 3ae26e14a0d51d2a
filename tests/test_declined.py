"""How much it takes to answer, who says so, and what is declined for want of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.answer.quotes.likelihood import LIKELY
from atlas_search.providers.embedding.local import LocalEmbedder
from tests.tiny import write_sources

SOURCES = {
    "corpora.toml": (
        'answer_likelihood = 0.2\n[[corpus]]\nid = "cases"\ninclude = ["cases/**"]\n'
        '[[corpus]]\nid = "harbour"\ninclude = ["harbour/**"]\n'
    ),
    "cases/alder.txt": "---\ntitle: Alder v Quay Board\n---\n"
    "Alder decided that the board may not close a quay without notice. "
    "The court heard Mr Alder for two days.\n",
    "cases/moss.txt": "---\ntitle: Moss v. Tern\n---\n"
    "The court decided Moss together with Finch v. Birch. It decided on a lease of pasture.\n",
    "harbour/rules.txt": "---\ntitle: Rules of the harbour\n---\n"
    "The harbour master rings the bell before a storm. Boats leave the quay in the order of "
    "their arrival.\n",
}
HELD = "Can the board close a quay without notice?"
NEAR = "What do boats do?"  # so short that its words are no sure sign


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("declined")
    targets = {"usual": "", "sure": "ANSWER_LIKELIHOOD=0.99", "much": "ANSWER_THRESHOLD=0.95"}
    for name, line in targets.items():
        _write(folder / "targets" / f"{name}.txt", f"{line}\n")
    sources = write_sources(folder / "sources", SOURCES)
    Atlas.build(sources, folder / "stores" / "quays", embedder=embedder)
    with Atlas.open(
        folder / "stores" / "quays",
        embedder=embedder,
        targets_directory=folder / "targets",
        test_target="usual",
    ) as opened:
        yield opened


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_file_of_the_corpora_says_how_likely_quotes_must_be(atlas: Atlas) -> None:
    answer = atlas.ask(NEAR)
    assert answer.outcome.decision == "ANSWER"
    assert answer.confidence is not None
    assert 0.2 < answer.confidence.likelihood < LIKELY
    assert answer.confidence.word == "possible"


def test_what_a_target_says_goes_before_what_the_collection_says(atlas: Atlas) -> None:
    answer = atlas.ask(NEAR, target="sure")
    assert answer.outcome.code == "not_held"
    assert answer.outcome.numbers["needed"] == 0.99
    assert answer.outcome.numbers["likelihood"] < LIKELY
    assert answer.text == ""
    assert answer.closest[0].quote.startswith("Boats leave the quay")


def test_evidence_is_asked_of_quotes_where_a_target_names_a_threshold(atlas: Atlas) -> None:
    assert atlas.ask(HELD).outcome.decision == "ANSWER"
    declined = atlas.ask(HELD, target="much")
    assert declined.outcome.code == "weak_evidence"
    assert declined.outcome.numbers["needed"] == 0.95


@pytest.mark.parametrize("target", ["usual", "sure"])
def test_parties_of_two_other_cases_are_no_case(atlas: Atlas, target: str) -> None:
    answer = atlas.ask("What did Alder v. Birch decide about a quay?", target=target)
    assert answer.outcome.code == "unknown_name"
    assert answer.outcome.message == "No passage found speaks of Alder v. Birch."
    assert atlas.ask("What did Moss v. Tern decide?").outcome.decision == "ANSWER"
