"""A part of a collection is as the collection would be if it had never held the rest."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from atlas_search import Atlas
from atlas_search.core.errors import NotFound, RequestError, UnknownCorpus, UnknownFilterField
from tests.access.two_corpora import OPEN, PLANTED, QUESTION, SECRET_QUESTION, VAULT, build_open
from tests.hash_embedder import HashEmbedder

TODAY = date(2026, 5, 1)
SECRET_DOCUMENT = f"{VAULT}.zqxfile"


@pytest.fixture(scope="module")
def part(parish: Atlas) -> Atlas:
    return parish.permitted([OPEN])


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    """A collection that was built of the open corpus, and of nothing else."""
    with build_open(tmp_path_factory.mktemp("alone"), HashEmbedder()) as opened:
        yield opened


def test_it_is_made_once_and_the_whole_is_itself(parish: Atlas, part: Atlas) -> None:
    assert parish.permitted({OPEN, "another"}) is part
    assert parish.permitted({OPEN, VAULT}) is parish
    assert parish.permitted([]).corpora == ()


def test_the_manifest_says_what_it_would_say_alone(part: Atlas, alone: Atlas) -> None:
    own, other = part.services.store.manifest, alone.services.store.manifest
    assert own.fields == other.fields
    assert (own.documents, own.passages) == (other.documents, other.passages)
    assert [c.model_dump(exclude={"seconds"}) for c in own.corpora] == [
        c.model_dump(exclude={"seconds"}) for c in other.corpora
    ]
    assert own.origins.keys() == other.origins.keys()
    assert own.origins["files"].passages == other.origins["files"].passages
    assert PLANTED not in own.model_dump_json().casefold()


def test_words_are_counted_and_known_as_alone(part: Atlas, alone: Atlas) -> None:
    own, other = part.services.store.tokens, alone.services.store.tokens
    assert own.vocabulary.keys() == other.vocabulary.keys()
    assert own.mean_length() == other.mean_length()
    for term, number in other.vocabulary.items():
        mine = own.vocabulary[term]
        assert own.passage_frequency[mine] == other.passage_frequency[number], term
        assert own.frequency(np.array([mine]), [0]) == other.frequency(np.array([number]), [0])
    assert own.passages_of.tolist() == other.passages_of.tolist()


@pytest.mark.parametrize("question", [QUESTION, SECRET_QUESTION, "Who is the zqxwarde?", "Zqxfile"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"exact": True},
        {"facets": True},
        {"fuzzy": True},
        {"require": ["zqxamulet"]},
        {"exclude": ["granite bridge"]},
        {"filters": {"author": "Alma Reed"}},
        {"filters": {"date": {"from": "1977"}}},
        {"filters": {"document_id": SECRET_DOCUMENT}},
    ],
)
def test_a_search_finds_what_it_would_find_alone(
    part: Atlas, alone: Atlas, question: str, how: dict
) -> None:
    own, other = (of.search(question, as_of=TODAY, **how).to_dict() for of in (part, alone))
    apart = {"timings_ms": 0, "trace_id": ""}
    assert own | apart == other | apart


def test_the_whole_collection_does_find_it(parish: Atlas) -> None:
    found = parish.search(SECRET_QUESTION).to_dict()
    assert "zqxamulet" in str(found["passages"])
    assert parish.passages(SECRET_DOCUMENT)


def test_its_documents_and_passages_are_not_found(parish: Atlas, part: Atlas) -> None:
    secret = parish.passages(SECRET_DOCUMENT)[0]
    store = part.services.store
    for read, id_ in ((part.passage, secret.id), (part.document, SECRET_DOCUMENT)):
        with pytest.raises(NotFound) as hidden:
            read(id_)
        with pytest.raises(NotFound) as absent:
            read("zzz")
        assert str(hidden.value).replace(id_, "zzz") == str(absent.value)
    assert part.passages(SECRET_DOCUMENT) == []
    for ask in (store.passages, store.passage_ids):
        with pytest.raises(NotFound):
            ask([secret.row])
    vector = np.zeros(32, dtype=np.float32)
    with pytest.raises(NotFound):
        store.nearest(VAULT, vector, 5, None)
    with pytest.raises(NotFound):
        store.matching(VAULT, ["zqxamulet"], 5, None)


@pytest.mark.parametrize(
    ("error", "where"),
    [
        (UnknownCorpus, {"corpora": [VAULT]}),
        (UnknownFilterField, {"filters": {"zqxfield": "zqxvalue"}}),
        (UnknownFilterField, {"facets": ["zqxfield"]}),
    ],
)
def test_it_refuses_as_for_what_does_not_exist(
    part: Atlas, alone: Atlas, error: type[RequestError], where: dict
) -> None:
    said = []
    for of in (part, alone):
        with pytest.raises(error) as refused:
            of.search(QUESTION, **where)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_all_means_its_corpora_even_where_all_was_something_else(
    parish: Atlas, tmp_path: Path
) -> None:
    assert parish.permitted([OPEN]).services.default_corpora == (OPEN,)
    store = parish.services.settings
    with Atlas.open(
        store.collection_folder, embedder=HashEmbedder(), multi_corpus_metadata=VAULT
    ) as other:
        assert other.services.default_corpora == (VAULT,)
        assert other.permitted([OPEN]).services.default_corpora == (OPEN,)


def test_a_kept_answer_is_not_given_to_who_sees_another_part(parish: Atlas, part: Atlas) -> None:
    parish.services.answerer.cache.clear()
    # chosen by name, both ask for the same corpus, but how many there are differs
    whole_first = parish.ask(QUESTION, corpora=[OPEN])
    again = part.ask(QUESTION, corpora=[OPEN])
    assert not again.cache_hit
    assert whole_first.to_dict()["scope"]["all_corpora"] == 2
    assert again.to_dict()["scope"]["all_corpora"] == 1
    assert part.ask(QUESTION, corpora=[OPEN]).cache_hit
