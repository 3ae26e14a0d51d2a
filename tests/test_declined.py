"""How much it takes to answer, who says so, and what is declined for want of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.answer.quotes.scores import LIKELY, POSSIBLE
from atlas_search.providers.embedding_local import LocalEmbedder
from tests.tiny import write_sources

SOURCES = {
    "cases/alder.txt": "---\ntitle: Alder v Quay Board\n---\n"
    "Alder decided that the board may not close a quay without notice. "
    "The court heard Mr Alder for two days.\n",
    "harbour/rules.txt": "---\ntitle: Rules of the harbour\n---\n"
    "The harbour master rings the bell before a storm. Boats leave the quay in the order of "
    "their arrival.\n",
}
HELD = "Can the board close a quay without notice?"
NEAR = "When may boats leave the quay in a storm of the kind that Alder saw?"


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("declined")
    targets = {
        "usual": "",
        "likely": f"ANSWER_LIKELIHOOD={LIKELY}",
        "much": "ANSWER_THRESHOLD=0.95",
    }
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


def test_what_is_possible_is_said_with_what_speaks_against_it(atlas: Atlas) -> None:
    answer = atlas.ask(NEAR)
    assert answer.outcome.decision == "ANSWER"
    assert answer.confidence is not None
    assert POSSIBLE <= answer.confidence.likelihood < LIKELY
    assert answer.confidence.word == "possible"
    against = "The passage quoted first does not have “Alder”."
    assert against in answer.verification.warnings


def test_a_target_may_ask_for_likely_answers_alone(atlas: Atlas) -> None:
    answer = atlas.ask(NEAR, target="likely")
    assert answer.outcome.code == "not_held"
    assert answer.outcome.numbers["needed"] == LIKELY
    assert answer.outcome.numbers["likelihood"] < LIKELY
    assert answer.text == ""
    assert answer.closest[0].quote.startswith("Boats leave the quay")


def test_evidence_is_asked_of_quotes_where_a_target_names_a_threshold(atlas: Atlas) -> None:
    assert atlas.ask(HELD).outcome.decision == "ANSWER"
    declined = atlas.ask(HELD, target="much")
    assert declined.outcome.code == "weak_evidence"
    assert declined.outcome.numbers["needed"] == 0.95
