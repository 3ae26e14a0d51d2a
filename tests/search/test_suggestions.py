"""Questions made from titles and headings of a collection, which its sources answer."""

from collections.abc import Iterator

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.errors import RequestError
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.services import Services
from tests.finding import searching

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
    "sea/notes.txt": "An untitled file about nothing in particular.\n",
    "sea/hostile.md": HOSTILE,
    "sea/storm.md": "---\ntitle: Storm\n---\nA storm sank three ships.\n",
    "sea/wages.md": "---\ntitle: Wages\n---\nName | Wages\n\nName: Ada | Wages: 320\n",
    "sea/calm.md": "---\ntitle: Calm\n---\nThe calm held the ships.\n\nNone of them sailed.\n",
    "france/loi.md": LOI,
    "corpora.toml": '[[corpus]]\nid = "sea"\ninclude = ["sea/**"]\n'
    '[[corpus]]\nid = "france"\ninclude = ["france/**"]\nlanguage = "fr"\n',
}


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[Atlas]:
    with searching(tmp_path_factory.mktemp("suggestions"), FILES, embedder) as opened:
        yield opened


@pytest.mark.parametrize(
    ("corpus", "questions"),
    [
        (
            "sea",
            {
                "What does the Harbour Dues Act 1987 say about exemptions for lifeboats?",
                "What does “Diary of a lighthouse keeper” say about the winter storm?",
                "What was decided in Reed v Harbour Board?",
                "What is “Calm” about?",  # but not “Storm” and “Wages”
            },
        ),
        ("france", {"Que dit « Loi sur les phares » sur les gardiens de phare ?"}),
    ],
)
def test_questions_are_made_from_titles_and_headings(
    atlas: Atlas, corpus: str, questions: set[str]
) -> None:
    assert {each.question for each in atlas.suggestions([corpus], limit=20)} == questions


def test_corpora_take_turns_and_the_same_are_given_again(atlas: Atlas) -> None:
    first = atlas.suggestions(limit=2)
    assert {suggestion.corpus for suggestion in first} == {"france", "sea"}
    assert atlas.suggestions(limit=2) == first
    with pytest.raises(RequestError, match="limit"):
        atlas.suggestions(limit=21)
    with pytest.raises(RequestError, match="empty list"):
        atlas.suggestions([])


@pytest.mark.parametrize("of", ["tiny", "demo"])
def test_each_is_answered_by_the_document_it_was_made_from(
    atlas: Atlas, services: Services, of: str
) -> None:
    collection = atlas if of == "tiny" else Atlas(services)
    suggestions = collection.suggestions(limit=12)
    assert len({suggestion.question for suggestion in suggestions}) == (5 if of == "tiny" else 12)
    for suggestion in suggestions:
        answer = collection.ask(suggestion.question)
        cited = {citation.passage.document_id for citation in answer.citations}
        assert suggestion.document_id in cited, (suggestion, answer.outcome)
