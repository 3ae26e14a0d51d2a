"""Filters: nothing outside one is found by either leg, and values as a reader means them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.filters import FUNCTIONS, Condition, Range
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


def record_of(document: Made) -> dict[str, object]:
    year = document.year
    return {"text": document.text, "date": str(year), "year": year, "tags": document.tags}


@pytest.fixture(scope="module")
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    root = tmp_path_factory.mktemp("scope")
    files = {
        f"{corpus}/all.jsonl": "".join(
            json.dumps({"id": document.id.partition(".")[2], **record_of(document)}) + "\n"
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


def meets(document: Made, chosen: dict[str, Condition]) -> bool:
    tags, year, date = chosen.get("tags"), chosen.get("year"), chosen.get("date")
    ids = chosen.get("document_id")
    return (
        (tags is None or bool({*tags} & {*document.tags}))
        and (year is None or year.low <= document.year <= year.high)
        and (date is None or any_day(document.year, date))
        and (ids is None or document.id in ids)
    )


def any_day(year: int, days: Range) -> bool:
    return f"{year}-12-31" >= days.first_day and f"{year}-01-01" <= days.last_day


def holds(document: Made, phrase: tuple[str, ...]) -> bool:
    return f" {' '.join(phrase)} " in f" {document.text} "


@settings(max_examples=100)
@given(filters(), st.lists(phrases, max_size=2), st.lists(phrases, max_size=2), st.data())
def test_both_legs_find_what_the_filter_allows_and_nothing_else(
    made_store: EmbeddedStore,
    chosen: dict[str, Condition],
    required: list[tuple[str, ...]],
    excluded: list[tuple[str, ...]],
    data: st.DataObject,
) -> None:
    corpus = data.draw(st.sampled_from(CORPORA))
    term = data.draw(st.sampled_from(["sheep", "cow", "ship", "silenc"]))
    depth = data.draw(st.sampled_from([1, 5, 200]))
    store = made_store
    scope = store.scope(chosen, [stems(p) for p in required], [stems(p) for p in excluded])
    allowed = {
        document.id
        for document in DOCUMENTS.values()
        if meets(document, chosen)
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


def test_a_scope_of_everything_finds_what_no_scope_finds(made_store: EmbeddedStore) -> None:
    store = made_store
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


# values


def test_filters_on_text_dates_and_lists(store: EmbeddedStore) -> None:
    def titles(**filters: object) -> set[str]:
        documents = store.scope(filters).documents  # type: ignore[arg-type]
        rows = np.flatnonzero(np.isin(store.tokens.document_of, documents))
        return {passage.title for passage in store.passages(rows)}

    assert titles(status=("repealed",)) == {"Privacy Act 1993"}
    assert "Katz v. United States" in titles(date=Range("1967-01-01", "1967-12-31"))
    # only the year is known of Entick v Carrington, so any day of 1765 may be meant
    assert titles(date=Range("1765-06-01", "1765-06-30")) == {"Entick v Carrington"}
    assert titles(author=("Earl Warren",), date=Range("1960-01-01", None)) == {
        "Loving v. Virginia",
        "Miranda v. Arizona",
        "Terry v. Ohio",
    }
    assert titles(author=("nobody",)) == set()


def build_records(root: Path, records: Sequence[Mapping[str, str]]) -> Path:
    """Build a collection of records with ids of their own."""
    lines = [json.dumps({"id": f"r{n}", **record}) + "\n" for n, record in enumerate(records)]
    write_sources(root / "s", {"a/all.jsonl": "".join(lines)})
    build_tiny(root / "s", root / "c", HashEmbedder(), kind="jsonl")
    return root / "c"


def test_each_name_of_a_speaker_is_compared_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many passages have it: a parliament has few members, and they speak often."""
    names = ["Mr Roe", "Mrs Doe", "Mr Roebuck"]
    speeches = [{"text": f"Light {n}.", "speaker": names[n % 3]} for n in range(30)]
    folder = build_records(tmp_path, speeches)
    compared, is_one = [], FUNCTIONS["is_one"]

    def counted(name: str, listed: str) -> bool:
        compared.append(name)
        return is_one(name, listed)

    monkeypatch.setitem(FUNCTIONS, "is_one", counted)
    store = EmbeddedStore(folder)
    rows = store.scope({"speaker": ("mr roe",)}).rows.tolist()
    assert [passage.speaker for passage in store.passages(rows)] == ["Mr Roe"] * 10
    assert sorted(compared) == sorted(names)
    store.close()


def test_a_section_is_chosen_by_its_words(tmp_path: Path) -> None:
    paths = [
        "Part 1 > Dues",
        *(f"Part {n}" for n in range(2, 13)),
        "Part 12 - The Pier",
        "\u7b2c12\u6761",
    ]
    rules = [{"text": f"Rule {n}.", "section": path} for n, path in enumerate(paths)]
    store = EmbeddedStore(build_records(tmp_path, rules))

    def within(*values: str) -> list[str]:
        rows = store.scope({"section": values}).rows.tolist()
        return sorted(passage.section for passage in store.passages(rows))

    assert within("part 1") == ["Part 1 > Dues"]
    assert within("Part 12") == ["Part 12", "Part 12 - The Pier"]
    assert within("Part 1 > Dues", "pier") == ["Part 1 > Dues", "Part 12 - The Pier"]
    assert within("1") == ["Part 1 > Dues"]
    assert within("\u7b2c12") == ["\u7b2c12\u6761"]
    assert within("Part") == sorted(path for path in paths if path.startswith("Part"))
    store.close()


def test_values_that_a_filter_takes_as_one_are_counted_as_one(tmp_path: Path) -> None:
    texts = [
        "---\ncourt: Court\n---\nOne.",
        "---\ncourt: court\n---\nTwo.",
        "---\ncourt: [COURT, Court]\n---\nThree.",
    ]
    write_sources(tmp_path / "s", {f"a/{n}.txt": text for n, text in enumerate(texts)})
    build_tiny(tmp_path / "s", tmp_path / "c", HashEmbedder())
    store = EmbeddedStore(tmp_path / "c")
    (counted,) = store.value_counts(np.arange(3), ["court"])
    assert (counted.value, counted.documents) == ("COURT", 3)
    assert len(store.scope({"court": ("court",)}).documents) == 3
    store.close()
