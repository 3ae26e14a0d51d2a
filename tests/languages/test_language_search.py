"""Search in corpora of several languages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.search.query import parse_query
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from tests.languages.german_sources import stems
from tests.tiny import document_ids


@pytest.fixture
def store(folder: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedStore(folder)
    yield opened
    opened.close()


def test_a_german_question_finds_another_form_by_the_keyword_leg(store: EmbeddedStore) -> None:
    """`Häuser` finds `Haus` in the German corpus; English stems would not meet."""
    german, english = parse_query("Häuser", "de").terms, parse_query("Häuser", "en").terms
    found = store.matching("recht", german, 10, None)
    texts = [passage.text[:8] for passage in store.passages(found.rows.tolist())]
    assert texts == ["Ein Verz", "Das Haus"], "the first by its title"
    assert len(store.matching("recht", english, 10, None).rows) == 0


def test_an_english_question_finds_another_form_in_the_english_corpus(store: EmbeddedStore) -> None:
    found = store.matching("law", parse_query("house", "en").terms, 10, None)
    assert store.passage_ids(found.rows.tolist()) == ["law.house:0-49"]


def test_titles_and_metadata_are_analysed_in_the_language_of_their_corpus(
    folder: Path, store: EmbeddedStore
) -> None:
    terms = list(store.tokens.vocabulary)
    assert document_ids(folder) == ["law.house", "recht.haus", "recht.titel"]
    assert [terms[id_] for id_ in store.tokens.titles.row(2)] == ["die", "haus"]
    assert stems("Müller", "de") == ["mull"]
    assert [terms[id_] for id_ in store.tokens.values.flat] == ["mull"]


def test_a_collection_knows_the_languages_of_its_corpora(
    folder: Path, store: EmbeddedStore
) -> None:
    assert Manifest.read(folder).languages == {"law": "en", "recht": "de"}
    assert {corpus.id: corpus.language for corpus in store.corpora} == {"law": "en", "recht": "de"}
    assert store.passage("law.house:0-49").language == "en"
    assert {p.language for p in store.document_passages("recht.haus")} == {"de"}
    assert not [f for f in verify(folder, Manifest.read(folder)) if f.problem]


def test_the_server_says_in_which_language_a_corpus_is(client: FlaskClient) -> None:
    corpora = client.get("/api/corpora").get_json()["corpora"]
    assert {corpus["language"] for corpus in corpora} == {"en"}
