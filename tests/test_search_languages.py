"""A whole search over corpora in two languages: each is asked in its own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from atlas_search.building.sources import by_mapping
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.search.flow import search
from atlas_search.search.request import SearchPlan
from atlas_search.search.result import SearchResult
from atlas_search.search.run import Searcher, SearchRun
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.tiny import READERS, build_tiny, write_sources

FILES = {
    "corpora.toml": '[[corpus]]\nid = "recht"\ninclude = ["recht/*"]\nlanguage = "de"\n'
    '[[corpus]]\nid = "law"\ninclude = ["law/*"]\n',
    "recht/haus.txt": "Das alte Haus steht am Markt.",
    "recht/miete.txt": "Die Miete ist monatlich zu zahlen.",
    "law/house.txt": "The old houses of the town.",
    "law/rent.txt": "The rent is due each month.",
}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    root = tmp_path_factory.mktemp("languages")
    source = write_sources(root / "source", FILES)
    mapped = by_mapping(source, source / "corpora.toml", READERS["txt"].suffixes, "")
    build_tiny(mapped, root / "c", HashEmbedder())
    store = EmbeddedStore(root / "c")
    with ThreadPoolExecutor(2) as executor:
        yield Searcher(store, HashEmbedder(), executor, Tracer("", "", content=False), {})
    store.close()


def found(searcher: Searcher, question: str, **changes: object) -> SearchResult:
    fields: dict[str, object] = {
        "question": question,
        "corpora": ("law", "recht"),
        "every_corpus": True,
        "limit": 4,
        "today": date(2026, 1, 1),
    }
    return search(SearchRun(searcher, SearchPlan(**(fields | changes)), Target()))  # type: ignore[arg-type]


def words_held(result: SearchResult) -> dict[str, float]:
    return {i.passage.document_id: i.overlap for i in result.passages}


def test_every_corpus_is_asked_in_its_own_language(searcher: Searcher) -> None:
    german = found(searcher, "die Häuser")
    assert german.per_corpus["recht"].lexical == 1
    assert words_held(german)["recht.haus"] == 1.0
    assert german.passages[0].highlights
    # of "die", which English does not know as a function word, and "Häuser" it has neither
    assert words_held(german)["law.house"] == 0.0
    english = found(searcher, "house")
    assert words_held(english) == {
        "law.house": 1.0,
        "law.rent": 0.0,
        "recht.haus": 0.0,
        "recht.miete": 0.0,
    }


def test_a_required_phrase_is_compared_in_the_language_of_the_corpus(searcher: Searcher) -> None:
    german = found(searcher, '+"altes Haus"', limit=1)
    assert [i.passage.document_id for i in german.passages] == ["recht.haus"]
    english = found(searcher, '+"old house" -"town"', limit=1)
    assert english.required_unmet
    assert english.required_unmet.passages == 0
    assert "law.house" not in {i.passage.document_id for i in english.passages}


def test_misspelt_words_are_known_in_either_language(searcher: Searcher) -> None:
    german = found(searcher, "Mietee", fuzzy=True)
    assert german.per_corpus["recht"].lexical == 1
    assert found(searcher, "Mietee").per_corpus["recht"].lexical == 0


def test_rows_stay_with_their_signals(searcher: Searcher) -> None:
    table = found(searcher, "house Miete").candidates.table
    assert table.rows.tolist() == [0, 1, 2, 3]
    assert (table.signals["bm25"] > 0).tolist() == [True, False, False, True]
    assert all(len(values) == 4 for values in table.signals.values())
