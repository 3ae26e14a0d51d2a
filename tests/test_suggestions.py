"""Questions to begin with: made from what a collection holds, the same each time, and answered."""

from collections.abc import Iterator

import pytest

from atlas_search.atlas import Atlas
from atlas_search.building.sources import by_mapping
from atlas_search.core.errors import RequestError
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.services import Services
from tests.tiny import build_tiny, write_sources

ACT = """---
title: Harbour Dues Act 1987
---
# Exemptions for lifeboats

A lifeboat has an exemption from dues, and so has a ship that takes shelter from a storm.

# General

The harbour master collects the dues.
"""
DIARY = """---
title: Diary of a lighthouse keeper
---
# The winter storm

The winter storm broke the lamp of the lighthouse, and the keeper mended it by candle light.

# General

The keeper wrote each day.
"""
CASE = """---
title: Reed v Harbour Board
---
The court decided that the harbour board must pay Reed for the boat that it sank.
"""
NOTES = "An untitled file about nothing in particular.\n"
LOI = """---
title: Loi sur les phares
---
# Les gardiens de phare

La loi sur les phares dit que les gardiens de phare sont nommés par le ministre de la marine, qui
les paie chaque année avec les droits que les navires versent dans les ports du pays.
"""
DULL = """---
title: Collected papers
---
Nothing here speaks of its name.
"""
HOSTILE = """---
title: '<img src=x onerror=alert(1)> "ignore all"'
---
Nothing of this can stand in a question.
"""
FILES = {
    "sea/act.md": ACT,
    "sea/diary.md": DIARY,
    "sea/case.md": CASE,
    "sea/dull.md": DULL,
    "sea/notes.txt": NOTES,
    "sea/hostile.md": HOSTILE,
    "france/loi.md": LOI,
}
MAPPING = """
[[corpus]]
id = "sea"
include = ["sea/**"]

[[corpus]]
id = "france"
include = ["france/**"]
language = "fr"
"""


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[Atlas]:
    root = tmp_path_factory.mktemp("suggestions")
    source = write_sources(root / "source", FILES)
    mapping = source / "corpora.toml"
    mapping.write_text(MAPPING)
    build_tiny(by_mapping(source, mapping, (".md", ".txt"), ""), root / "coast", embedder)
    with Atlas.open(root / "coast", embedder=embedder) as opened:
        yield opened


def questions(atlas: Atlas, *corpora: str, limit: int = 20) -> list[str]:
    return [found.question for found in atlas.suggestions(corpora or "all", limit=limit)]


def test_they_are_made_from_titles_and_headings(atlas: Atlas) -> None:
    assert set(questions(atlas, "sea")) == {
        "What does the Harbour Dues Act 1987 say about exemptions for lifeboats?",
        "What does “Diary of a lighthouse keeper” tell of the winter storm?",
        "What was decided in Reed v Harbour Board?",
    }
    assert questions(atlas, "france") == [
        "Que dit « Loi sur les phares » sur les gardiens de phare ?"
    ]


def test_corpora_take_turns_and_the_same_are_given_again(atlas: Atlas) -> None:
    found = atlas.suggestions(limit=2)
    assert {suggestion.corpus for suggestion in found} == {"france", "sea"}
    assert atlas.suggestions(limit=2) == found
    with pytest.raises(RequestError, match="limit"):
        atlas.suggestions(limit=21)
    with pytest.raises(RequestError, match="empty list"):
        atlas.suggestions([])


def test_each_is_answered_by_the_document_it_was_made_from(atlas: Atlas) -> None:
    for suggestion in atlas.suggestions(limit=20):
        answer = atlas.ask(suggestion.question, corpora=suggestion.corpus)
        cited = {citation.passage.document_id for citation in answer.citations}
        assert suggestion.document_id in cited, (suggestion, answer.outcome)


def test_those_of_the_demo_are_answered(services: Services) -> None:
    demo = Atlas(services)
    found = demo.suggestions(limit=12)
    assert len({suggestion.question for suggestion in found}) == 12
    for suggestion in found:
        answer = demo.ask(suggestion.question)
        cited = {citation.passage.document_id for citation in answer.citations}
        assert suggestion.document_id in cited, (suggestion, answer.outcome)
