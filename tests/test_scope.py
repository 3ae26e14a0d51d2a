"""Nothing outside a filter is found by either leg, whatever is asked for."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.filters import Condition, Range
from atlas_search.stores.store import Scope
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, write_sources

CORPORA = ("farm", "town", "port")
TAGS = ("wool", "milk", "trade", "law")
WORDS = ("sheep", "cows", "ships", "cloth", "silence")


@dataclass(frozen=True)
class Made:
    """A document as it was written; what a filter may ask for."""

    id: str
    corpus: str
    text: str
    year: int
    tags: tuple[str, ...]


def made(number: int) -> Made:
    words = [WORDS[(number * step + number // step) % len(WORDS)] for step in (1, 2, 3, 5)]
    corpus = CORPORA[number % 7 % len(CORPORA)]
    tags = tuple(tag for at, tag in enumerate(TAGS) if number >> at & 1)
    return Made(f"{corpus}.d{number}", corpus, " ".join(words), 1900 + number % 40, tags)


DOCUMENTS = {document.id: document for document in map(made, range(120))}


def said(document: Made) -> dict[str, object]:
    year = document.year
    return {"text": document.text, "date": str(year), "year": year, "tags": document.tags}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    root = tmp_path_factory.mktemp("scope")
    files = {
        f"{corpus}/all.jsonl": "".join(
            json.dumps({"id": document.id.partition(".")[2], **said(document)}) + "\n"
            for document in DOCUMENTS.values()
            if document.corpus == corpus
        )
        for corpus in CORPORA
    }
    build_tiny(write_sources(root / "source", files), root / "c", HashEmbedder(), kind="jsonl")
    opened = EmbeddedStore(root / "c")
    yield opened
    opened.close()


years = st.integers(1895, 1945)
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(tuple)


@st.composite
def filters(draw: st.DrawFn) -> dict[str, Condition]:
    chosen: dict[str, Condition] = {}
    if draw(st.booleans()):
        chosen["tags"] = tuple(draw(st.lists(st.sampled_from([*TAGS, "none"]), min_size=1)))
    if draw(st.booleans()):
        low, high = draw(years), draw(years)
        chosen["year"] = Range(low=low, high=high)
    if draw(st.booleans()):
        low, high = draw(years), draw(years)
        chosen["date"] = Range(f"{low}-06-01", f"{high}-06-30")
    if draw(st.booleans()):
        ids = st.sampled_from([*sorted(DOCUMENTS), "nobody"])
        chosen["document_id"] = tuple(draw(st.lists(ids, min_size=1, max_size=60)))
    return chosen


def meets(document: Made, asked: dict[str, Condition]) -> bool:
    tags, year, date = asked.get("tags"), asked.get("year"), asked.get("date")
    ids = asked.get("document_id")
    return (
        (tags is None or bool({*tags} & {*document.tags}))
        and (year is None or year.low <= document.year <= year.high)
        and (date is None or any_day(document.year, date))
        and (ids is None or document.id in ids)
    )


def any_day(year: int, asked: Range) -> bool:
    return f"{year}-12-31" >= asked.first_day and f"{year}-01-01" <= asked.last_day


def holds(document: Made, phrase: tuple[str, ...]) -> bool:
    return f" {' '.join(phrase)} " in f" {document.text} "


@settings(max_examples=200)
@given(filters(), st.lists(phrases, max_size=2), st.lists(phrases, max_size=2), st.data())
def test_both_legs_find_what_the_filter_allows_and_nothing_else(
    store: EmbeddedStore,
    asked: dict[str, Condition],
    required: list[tuple[str, ...]],
    excluded: list[tuple[str, ...]],
    data: st.DataObject,
) -> None:
    corpus = data.draw(st.sampled_from(CORPORA))
    term = data.draw(st.sampled_from(["sheep", "cow", "ship", "silenc"]))
    depth = data.draw(st.sampled_from([1, 5, 200]))
    scope = store.scope(asked, [stems(p) for p in required], [stems(p) for p in excluded])
    allowed = {
        document.id
        for document in DOCUMENTS.values()
        if meets(document, asked)
        and all(holds(document, phrase) for phrase in required)
        and not any(holds(document, phrase) for phrase in excluded)
    }
    own = {id_ for id_ in allowed if DOCUMENTS[id_].corpus == corpus}
    vector = HashEmbedder().embed_query(data.draw(st.sampled_from(WORDS)))
    dense = documents(store, store.nearest(corpus, vector, depth, scope).rows)
    lexical = documents(store, store.matching(corpus, [term], depth, scope).rows)
    with_term = {id_ for id_ in own if any(w.startswith(term) for w in DOCUMENTS[id_].text.split())}
    assert len(dense) == min(depth, len(own))
    assert len(lexical) == min(depth, len(with_term))
    assert set(dense) <= own
    assert set(lexical) <= with_term


def test_a_scope_of_everything_finds_what_no_scope_finds(store: EmbeddedStore) -> None:
    everything = store.scope({})
    assert isinstance(everything, Scope)
    assert len(everything.rows) == len(DOCUMENTS)
    for corpus in CORPORA:
        one = store.matching(corpus, ["sheep", "cloth"], 20, None)
        other = store.matching(corpus, ["sheep", "cloth"], 20, everything)
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tolist() == other.scores.tolist()


def stems(phrase: tuple[str, ...]) -> tuple[str, ...]:
    table = {"cows": "cow", "ships": "ship", "silence": "silenc"}
    return tuple(table.get(word, word) for word in phrase)


def documents(store: EmbeddedStore, rows: list[int]) -> list[str]:
    return [passage.document_id for passage in store.passages(rows)]
