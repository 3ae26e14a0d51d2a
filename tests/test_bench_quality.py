"""The benchmark of ranking, over two small sets and with hashes for vectors."""

import json
from collections.abc import Iterator
from dataclasses import astuple, replace
from io import StringIO
from math import log2
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from atlas_search.building.flow import BuildReport
from atlas_search.core.errors import SourceError
from atlas_search.core.targets import Target
from atlas_search.search.find import find_candidates
from atlas_search.search.flow import search
from atlas_search.search.run import SearchRun
from tests.benchmarks.quality.asking import SHOWN, Rankings, ask
from tests.benchmarks.quality.collection import Collection, build_collection, open_collection
from tests.benchmarks.quality.figures import MEAN, figures
from tests.benchmarks.quality.measures import measured
from tests.benchmarks.quality.records import GroupReader
from tests.benchmarks.quality.runs import RUNS
from tests.benchmarks.quality.scopes import Leak, check_inside, found, scopes
from tests.benchmarks.quality.sets import TestSet, read_sets, sampled, split_of
from tests.benchmarks.quality.statistics import Estimate, estimate, p_value
from tests.benchmarks.quality.tables import as_json, tables
from tests.hash_embedder import HashEmbedder
from tests.tiny import silent

TALKS = {
    "monday#0": "Sheep give wool.\n\nThe chair asked about cows.",
    "monday#1-2": "Cows give milk. ",
    "tuesday#0": "Cows give milk and leather.",
    "tuesday#1": "Nobody spoke of goats.",
}
ARTICLES = {
    "Cloth#0": "Merchants sell cloth.",
    "Cloth#1": "Cloth is made of wool.",
    "Ships": "Ships carry milk.",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_set(
        folder / "talks",
        [
            {"id": id_, "title": "", "text": text, "metadata": {"day": id_.split("#")[0], "n": n}}
            for n, (id_, text) in enumerate(TALKS.items())
        ],
        {"a": ("Who gives milk?", "monday"), "b": ("Was leather spoken of?", "tuesday")},
        {"a": ["monday#1-2"], "b": ["tuesday#0"]},
    )
    write_set(
        folder / "articles",
        [
            {"id": id_, "title": id_.split("#")[0], "text": text, "metadata": {}}
            for id_, text in ARTICLES.items()
        ],
        {"c": ("What is cloth made of?", "x"), "d": ("Who sells?", "y"), "e": ("Why?", "z")},
        {"c": ["Cloth#1"], "d": ["Cloth#0"]},
    )
    (folder / "notes").mkdir()
    return folder


def write_set(
    folder: Path,
    records: list[dict[str, object]],
    queries: dict[str, tuple[str, str]],
    relevant: dict[str, list[str]],
) -> None:
    folder.mkdir()
    asked = [{"id": i, "text": t, "metadata": {"day": day}} for i, (t, day) in queries.items()]
    for name, rows in (("docs", records), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    lines = [f"{query}\t{record}\t1\n" for query, found in relevant.items() for record in found]
    (folder / "qrels.tsv").write_text("".join(lines))


@pytest.fixture(scope="module")
def sets(data: Path) -> list[TestSet]:
    return read_sets(data)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def built(store: Path, sets: list[TestSet]) -> BuildReport:
    return build_collection(store, sets, HashEmbedder(), GroupReader(), silent)


@pytest.fixture(scope="module")
def collection(store: Path, sets: list[TestSet], built: BuildReport) -> Iterator[Collection]:
    with open_collection(store, sets, HashEmbedder()) as opened:
        yield opened


def test_every_sub_folder_with_records_is_a_set_and_its_judged_questions_count(
    sets: list[TestSet],
) -> None:
    assert [(s.name, s.records, len(s.queries)) for s in sets] == [
        ("articles", 3, 2),
        ("talks", 4, 2),
    ]


def test_what_questions_share_with_their_documents_is_filtered_by(sets: list[TestSet]) -> None:
    assert {s.name: s.filter_fields for s in sets} == {"articles": (), "talks": ("day",)}


def test_records_of_a_document_become_its_passages(collection: Collection) -> None:
    store = collection.searcher.store
    texts = [passage.text for passage in store.passages(range(7))]
    assert dict(zip(collection.records, texts, strict=True)) == {
        **{f"articles/{record}": text.strip() for record, text in ARTICLES.items()},
        **{f"talks/{record}": text.strip() for record, text in TALKS.items()},
    }
    assert store.manifest.documents == 4


def test_only_given_titles_have_words(collection: Collection) -> None:
    store = collection.searcher.store
    titled = {p.document_id: p.title for p in store.passages(range(7)) if p.is_titled}
    assert titled == {"articles.Cloth": "Cloth", "articles.Ships": "Ships"}
    assert store.tokens.titles.lengths(np.arange(4)).tolist() == [1, 1, 0, 0]


def test_a_second_build_finds_nothing_to_do(
    store: Path, sets: list[TestSet], built: BuildReport
) -> None:
    embedder = HashEmbedder()
    again = build_collection(store, sets, embedder, GroupReader(), silent)
    assert (again.unchanged, again.read, embedder.embedded) == (True, 0, 0)


def test_passages_that_are_not_the_records_are_refused(
    store: Path, sets: list[TestSet], built: BuildReport
) -> None:
    articles, talks = sets
    shorter = replace(talks, groups=talks.groups[:1])
    with (
        pytest.raises(SourceError, match="2 passages of the store are of no record"),
        open_collection(store, [articles, shorter], HashEmbedder()),
    ):
        pass


def test_a_question_is_searched_alone_pooled_and_where_it_is_from(
    collection: Collection, sets: list[TestSet]
) -> None:
    articles, talks = sets
    found = list(scopes(collection, talks, talks.queries[0]))
    records = {s.section: {collection.records[row] for row in s.allowed} for s in found}
    assert records == {
        "alone": {f"talks/{record}" for record in TALKS},
        "pooled": set(collection.records),
        "filtered": {"talks/monday#0", "talks/monday#1-2"},
    }
    assert [(s.every_corpus, dict(s.filters)) for s in found] == [
        (False, {}),
        (True, {}),
        (False, {"day": ("monday",)}),
    ]
    assert [s.section for s in scopes(collection, articles, articles.queries[0])] == [
        "alone",
        "pooled",
    ]


def test_a_leak_stops_the_benchmark(collection: Collection, sets: list[TestSet]) -> None:
    (*_, filtered) = scopes(collection, sets[1], sets[1].queries[0])
    request = filtered.request(collection.atlas, sets[1].queries[0])
    within = find_candidates(SearchRun(collection.searcher, request, Target()))
    check_inside(found(within), filtered)
    beyond = find_candidates(SearchRun(collection.searcher, replace(request, filters={}), Target()))
    with pytest.raises(Leak, match=r"2 passages from outside of talks with filters"):
        check_inside(found(beyond), filtered)


def test_every_run_ranks_every_question_in_every_section(
    collection: Collection, sets: list[TestSet]
) -> None:
    (alone, pooled, filtered) = ask(collection, sets[1], sets[1].queries)
    assert [r.section for r in (alone, pooled, filtered)] == ["alone", "pooled", "filtered"]
    for rankings in (alone, pooled, filtered):
        assert rankings.relevant == {"a": {"talks/monday#1-2": 1}, "b": {"talks/tuesday#0": 1}}
        assert rankings.runs.keys() == RUNS.keys()
        assert all(run.keys() == {"a", "b"} for run in rankings.runs.values())
    assert filtered.runs["default"]["b"][0] == "talks/tuesday#0"
    assert set(filtered.runs["default"]["b"]) == {"talks/tuesday#0", "talks/tuesday#1"}
    # both records with milk, the shorter first
    assert alone.runs["BM25"]["a"][0] == "talks/monday#1-2"
    assert set(pooled.runs["BM25"]["a"]) >= {"talks/tuesday#0", "articles/Ships"}


def test_what_is_shown_is_what_a_search_returns(
    collection: Collection, sets: list[TestSet]
) -> None:
    (alone, _, _) = ask(collection, sets[1], sets[1].queries[:1], shown=True)
    (scope, *_) = scopes(collection, sets[1], sets[1].queries[0])
    result = search(
        SearchRun(
            collection.searcher, scope.request(collection.atlas, sets[1].queries[0]), Target()
        )
    )
    rows = [checked.passage.row for checked in result.passages]
    assert alone.runs[SHOWN]["a"] == [collection.records[row] for row in rows] != []


def test_metrics_are_those_of_the_order_given() -> None:
    relevant = {"q": {"b": 1, "d": 1}}
    # equal scores would be ordered d, c, b, a
    rankings = Rankings(
        "alone", "set", relevant, {"run": {"q": ["a", "b", "c"]}, "none": {"q": []}}
    )
    found = measured(rankings)
    assert {name: float(values[0]) for name, values in found["run"].items()} == pytest.approx(
        {
            "nDCG@10": (1 / log2(3)) / (1 / log2(2) + 1 / log2(3)),
            "R@10": 1 / 2,
            "R@100": 1 / 2,
            "RR@10": 1 / 2,
        }
    )
    assert {float(values[0]) for values in found["none"].values()} == {0.0}


def test_recall_looks_deeper_than_the_rest() -> None:
    order = [f"r{number}" for number in range(20)]
    found = measured(Rankings("alone", "set", {"q": {"r10": 1}}, {"run": {"q": order}}))["run"]
    assert {name: float(values[0]) for name, values in found.items()} == {
        "nDCG@10": 0.0,
        "R@10": 0.0,
        "R@100": 1.0,
        "RR@10": 0.0,
    }


def test_the_mean_of_sets_does_not_count_questions() -> None:
    found = estimate([np.array([1.0, 1.0, 1.0]), np.array([0.0])])
    assert found == Estimate(0.5, 0.5, 0.5)


def test_an_interval_holds_the_middle_of_resampled_means() -> None:
    sample = np.array([0.0, 1.0] * 50)
    found = estimate([sample])
    # normal approximation: 1.96 * sqrt(0.25 / 100)
    assert astuple(found) == pytest.approx((0.5, 0.5 - 0.098, 0.5 + 0.098), abs=0.015)
    assert estimate([sample]) == found


def test_significance_counts_the_signs_that_give_as_much() -> None:
    assert p_value([np.array([0.1, 0.2, 0.3, 0.4, 0.5])]) == 2 / 2**5
    assert p_value([np.zeros(5)]) == 1.0


def test_samples_and_splits_depend_on_ids_only(sets: list[TestSet]) -> None:
    queries = [replace(sets[0].queries[0], id=str(number)) for number in range(100)]
    ten = sampled(queries, 10, "all")
    assert sampled(queries[::-1], 10, "all") == ten
    assert len(sampled(queries, 0, "all")) == 100
    dev, test = sampled(queries, 0, "dev"), sampled(queries, 0, "test")
    assert sorted([*dev, *test], key=queries.index) == queries
    assert {split_of(query) for query in dev} == {"dev"}
    assert 30 <= len(dev) <= 70


def test_figures_have_a_row_for_every_section_set_and_run(
    collection: Collection, sets: list[TestSet]
) -> None:
    rankings = [found for s in sets for found in ask(collection, s, s.queries)]
    rows, costs = figures(rankings)
    assert list(dict.fromkeys((row.section, row.set_name, row.queries) for row in rows)) == [
        ("alone", "articles", 2),
        ("alone", "talks", 2),
        ("alone", MEAN, 4),
        ("pooled", "articles", 2),
        ("pooled", "talks", 2),
        ("pooled", MEAN, 4),
        ("filtered", "talks", 2),
    ]
    assert len(rows) == 7 * len(RUNS)
    assert [cost.set_name for cost in costs] == ["articles", "talks", MEAN]
    assert json.loads(json.dumps(as_json(rows, costs)))["confidence"] == 0.95
    printed = StringIO()
    Console(file=printed, width=150).print(*tables(rows, costs))
    assert printed.getvalue().count("│ default ") == 7


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="has no sub-folder with"):
        read_sets(tmp_path)


def test_judgements_of_records_that_are_missing_are_refused(tmp_path: Path) -> None:
    write_set(tmp_path / "s", [{"id": "a", "text": "A."}], {"q": ("A?", "")}, {"q": ["a", "b"]})
    with pytest.raises(SourceError, match="lacks 1 judged records: b"):
        read_sets(tmp_path)
