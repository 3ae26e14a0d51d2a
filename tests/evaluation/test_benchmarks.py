"""The benchmarks of ranking, of answers and of costs, over small sets; no cost grows unnoticed."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from atlas_search.answer.quotes.scores import LIKELY, Signs
from atlas_search.core.errors import SourceError
from atlas_search.core.targets import Target
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.search.find import find_candidates
from atlas_search.search.flow import search
from atlas_search.search.run import SearchRun
from benchmarks.performance.growth import growth
from benchmarks.performance.page import KEPT as FIGURES
from benchmarks.performance.page import PAGE, page
from benchmarks.performance.records import Record
from benchmarks.performance.site import Site
from benchmarks.performance.small import KEPT, RATIOS, SIZE, WORSE, prepare
from benchmarks.performance.versus import Failed, worker
from benchmarks.quality.asking import SHOWN, Rankings, ask
from benchmarks.quality.collection import Collection, build_collection, open_collection
from benchmarks.quality.measures import measured
from benchmarks.quality.records import GroupReader
from benchmarks.quality.runs import RUNS
from benchmarks.quality.scopes import Leak, check_inside, found, scopes
from benchmarks.quality.sets import TestSet, read_sets
from benchmarks.quality.statistics import p_value
from benchmarks.truth import __main__ as truth
from benchmarks.truth.asking import TODAY, Reply
from benchmarks.truth.asking import ask as ask_for_truth
from benchmarks.truth.draws import area, curve, draw, share, threshold
from benchmarks.truth.judging import is_right
from benchmarks.truth.questions import Question, questions
from tests.hash_embedder import HashEmbedder
from tests.places import ROOT
from tests.tiny import silent

SETS = Path(__file__).parent / "benchmark_sets"
RANKING, ANSWERS = SETS / "ranking", SETS / "answers"
"""Of squad2 both halves have two questions that the text answers, one whose gold answer it lacks,
and one that nothing answers; of chunkeval two, whose gold answers have several sentences; of
contractnli two statements, each put to one of two contracts."""


# ranking


@pytest.fixture(scope="module")
def sets() -> list[TestSet]:
    return read_sets(RANKING)


@pytest.fixture(scope="module")
def collection(
    tmp_path_factory: pytest.TempPathFactory, sets: list[TestSet]
) -> Iterator[Collection]:
    store = tmp_path_factory.mktemp("ranking")
    build_collection(store, sets, HashEmbedder(), GroupReader(), silent)
    articles, talks = sets
    shorter = replace(talks, groups=talks.groups[:1])
    with (
        pytest.raises(SourceError, match="2 passages of the store are of no record"),
        open_collection(store, [articles, shorter], HashEmbedder()),
    ):
        pass
    with open_collection(store, sets, HashEmbedder()) as opened:
        yield opened


def test_a_set_is_a_sub_folder_of_records_judged_questions_and_shared_fields(
    sets: list[TestSet], tmp_path: Path
) -> None:
    assert [(s.name, s.records, len(s.queries), s.filter_fields) for s in sets] == [
        ("articles", 3, 2, ()),
        ("talks", 4, 2, ("day",)),
    ]
    with pytest.raises(SourceError, match="has no sub-folder with"):
        read_sets(tmp_path)
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "docs.jsonl").write_text('{"id": "a", "text": "A."}\n')
    (tmp_path / "s" / "queries.jsonl").write_text('{"id": "q", "text": "A?", "metadata": {}}\n')
    (tmp_path / "s" / "qrels.tsv").write_text("q\ta\t1\nq\tb\t1\n")
    with pytest.raises(SourceError, match="lacks 1 judged records: b"):
        read_sets(tmp_path)


def test_records_of_a_document_become_its_passages(collection: Collection) -> None:
    store = collection.searcher.store
    texts = [passage.text for passage in store.passages(range(7))]
    assert dict(zip(collection.records, texts, strict=True)) == {
        f"{name}/{row['id']}": row["text"].strip()
        for name in ("articles", "talks")
        for row in map(json.loads, (RANKING / name / "docs.jsonl").read_text().splitlines())
    }
    assert store.manifest.documents == 4


def test_a_question_is_searched_alone_pooled_and_where_it_is_from(
    collection: Collection, sets: list[TestSet]
) -> None:
    articles, talks = sets
    scopes_ = list(scopes(collection, talks, talks.queries[0]))
    records = {s.section: {collection.records[row] for row in s.allowed} for s in scopes_}
    assert records == {
        "alone": {name for name in collection.records if name.startswith("talks/")},
        "pooled": set(collection.records),
        "filtered": {"talks/monday#0", "talks/monday#1-2"},
    }
    assert [(s.every_corpus, dict(s.filters)) for s in scopes_] == [
        (False, {}),
        (True, {}),
        (False, {"day": ("monday",)}),
    ]
    of_articles = scopes(collection, articles, articles.queries[0])
    assert [s.section for s in of_articles] == ["alone", "pooled"]


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
    (alone, pooled, filtered) = ask(collection, sets[1], sets[1].queries, shown=True)
    assert [r.section for r in (alone, pooled, filtered)] == ["alone", "pooled", "filtered"]
    for rankings in (alone, pooled, filtered):
        assert rankings.relevant == {"a": {"talks/monday#1-2": 1}, "b": {"talks/tuesday#0": 1}}
        assert rankings.runs.keys() == {*RUNS, SHOWN}
        assert all(run.keys() == {"a", "b"} for run in rankings.runs.values())
    assert filtered.runs["default"]["b"][0] == "talks/tuesday#0"
    assert set(filtered.runs["default"]["b"]) == {"talks/tuesday#0", "talks/tuesday#1"}
    # both records with milk, the shorter first
    assert alone.runs["BM25"]["a"][0] == "talks/monday#1-2"
    assert set(pooled.runs["BM25"]["a"]) >= {"talks/tuesday#0", "articles/Ships"}
    (scope, *_) = scopes(collection, sets[1], sets[1].queries[0])
    request = scope.request(collection.atlas, sets[1].queries[0])
    result = search(SearchRun(collection.searcher, request, Target()))
    rows = [checked.passage.row for checked in result.passages]
    assert alone.runs[SHOWN]["a"] == [collection.records[row] for row in rows] != []


def test_metrics_are_those_of_the_order_given() -> None:
    # equal scores would be ordered d, c, b, a
    runs = {"run": {"q": ["a", "b", "c"]}, "none": {"q": []}}
    values = measured(Rankings("alone", "set", {"q": {"b": 1, "d": 1}}, runs))
    assert {name: float(of[0]) for name, of in values["run"].items()} == pytest.approx(
        {
            "nDCG@10": (1 / log2(3)) / (1 / log2(2) + 1 / log2(3)),
            "R@10": 1 / 2,
            "R@100": 1 / 2,
            "RR@10": 1 / 2,
        }
    )
    assert {float(of[0]) for of in values["none"].values()} == {0.0}
    assert p_value([np.array([0.1, 0.2, 0.3, 0.4, 0.5])]) == 2 / 2**5


# answers


def cut(figures: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in figures["cuts"] if each["name"] == name)


@pytest.mark.thorough
def test_the_benchmark_of_answers_reports_every_set_alone_together_and_their_mean(
    tmp_path: Path, embedder: LocalEmbedder
) -> None:
    plot, written, store = tmp_path / "truth.svg", tmp_path / "truth.json", tmp_path / "store"
    with pytest.raises(typer.BadParameter, match="svg"):
        truth.main(data=ANSWERS, store=store, plot_file=tmp_path / "truth.doc")
    sets = read_sets(ANSWERS)
    build_collection(store, sets, embedder, GroupReader(), silent)
    truth.main(data=ANSWERS, queries=0, store=store, plot_file=plot, json_file=written)
    reported = {
        (each["section"], f"{each['set_name']} {each['measure']}"): each
        for each in json.loads(written.read_text())["figures"]
    }
    names = [
        *("chunkeval whole", "chunkeval part", "contractnli cites", "squad2 whole"),
        "mean of sets None",
    ]
    sections = ("alone", "together")
    assert list(reported) == [(section, name) for section in sections for name in names]
    # two stories and two statements of the other half are off-topic for squad2
    groups = {"answerable": 3, "unanswerable": 1, "off-topic": 4}
    squad2 = reported["alone", "squad2 whole"]
    assert squad2["questions"] == groups
    assert reported["together", "squad2 whole"]["questions"] == groups | {"off-topic": 0}
    # of three questions of squad2 one has a gold answer that its text lacks
    rights = dict(zip(names, (0, 1, 1, 2 / 3, (0 + 1 + 2 / 3) / 3), strict=True))
    assert {
        name: cut(reported["alone", name], "1")["right"]["mean"] for name in names
    } == pytest.approx(rights)
    assert cut(squad2, "1")["answered"]["mean"] == 1
    assert cut(squad2, "1")["unanswerable_declined"]["mean"] == 0
    default = cut(squad2, "default")
    assert default["unanswerable_declined"]["mean"] == default["off_topic_declined"]["mean"] == 1
    answered = round(3 * default["answered"]["mean"])
    assert sum(word["answers"] for word in squad2["words"]) == answered
    for each in reported.values():
        for one in filter(None, (each["area"], *(cut_["right"] for cut_ in each["cuts"]))):
            assert 0 <= one["low"] <= one["mean"] <= one["high"] <= 1
    for name in ("chunkeval, whole", "contractnli, cites", "squad2, whole", "mean of sets"):
        assert plot.read_text().count(f"{name} (") == 1
    with open_collection(store, sets, embedder) as opened:
        scores_are_likelihoods(opened, sets[-1])


def scores_are_likelihoods(collection: Collection, squad2: TestSet) -> None:
    arguments = [q for q in questions(squad2, [], 0) if q.half == "test"]
    replies = ask_for_truth(
        collection.atlas, arguments, "squad2", lambda p: collection.records[p.row]
    )
    answered = 0
    for each in replies:
        answer = collection.atlas.ask(each.question.text, corpora="squad2", as_of=TODAY)
        if answer.outcome.decision == "ANSWER":
            answered += 1
            assert answer.confidence.likelihood == round(each.score, 4)
            assert [c.quote for c in answer.citations] == [*each.texts]
        else:
            assert each.score < LIKELY
    assert answered >= 2
    nowhere = {"Who painted the lighthouse at Farsund?"}
    assert {each.question.text for each in replies if each.score < 0} == nowhere


def reply(
    *texts: str,
    score: float = 0.5,
    sources: str = "",
    gold: str = "",
    answers: tuple[str, ...] = (),
) -> Reply:
    gold_ids = frozenset({gold} if gold else ())
    question = Question("q", "Why?", "dev", "answerable", {}, answers, gold_ids)
    return Reply(question, texts, frozenset({sources}), 0.5, score, Signs(score=score))


STORY = "The orchard keeper stored his pears in dry sand below the chapel. So it went."


VAAL = reply("By Hendrik  VAAL.", answers=("Hendrik Vaal",), gold="a", sources="b")
PEARS = reply("The orchard keeper stored his pears in dry sand", answers=(STORY,))
NOTHING = reply("Some words.", sources="a")


@pytest.mark.parametrize(
    ("one", "measure", "right"),
    [
        (VAAL, "whole", True),
        (VAAL, "cites", False),
        (reply("It was Hendrika Vaal.", answers=("Hendrik Vaal",)), "whole", False),
        (PEARS, "whole", False),
        (PEARS, "part", True),
        (reply("Other words.", sources="a", gold="a"), "cites", True),
        *((NOTHING, measure, False) for measure in ("whole", "part", "cites")),
    ],
)
def test_an_answer_is_right_by_its_words_or_by_its_source(
    one: Reply, measure: str, right: bool
) -> None:
    assert is_right(one, measure) is right


def test_precision_coverage_and_shares_by_hand() -> None:
    scores, right = np.array([0.9, 0.5, 0.1]), np.array([True, False, True])
    weights = draw([3])
    assert area(weights, scores, right).mean == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
    coverage, precision = curve(weights[0], scores, right)
    assert coverage.tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert precision.tolist() == pytest.approx([1, 1 / 2, 2 / 3])
    for request, score in ((0.3, 0.9), (0.5, 0.5), (0.66, 0.5), (1, 0.1)):
        assert threshold(weights[0], scores, request) == score
    # each set counts the same, however many questions it has
    two = draw([1, 2])
    assert two[0].tolist() == [1, 0.5, 0.5]
    assert share(two, np.array([True, False, False]), np.ones(3, dtype=bool)).mean == 1 / 2
    assert share(two, right, np.zeros(3, dtype=bool)) is None


# costs


KNOWN = json.loads(KEPT.read_text())
TRIES = 3  # more, of a ratio that is too high


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("performance"), SIZE)
    prepare(made)
    return made


@pytest.mark.thorough
@pytest.mark.parametrize("name", RATIOS)
def test_no_ratio_is_a_third_worse(site: Site, name: str) -> None:
    most = WORSE * KNOWN[name]
    ratio = RATIOS[name](site)
    for _ in range(TRIES):
        if ratio > most:  # something else may have run beside it
            ratio = min(ratio, RATIOS[name](site))
    assert ratio <= most, f"{ratio:.3f}, and it was {KNOWN[name]}"


def test_the_page_is_written_from_the_figures_and_every_known_ratio_is_measured() -> None:
    assert PAGE.read_text() == page(json.loads(FIGURES.read_text()))
    assert list(KNOWN) == list(RATIOS)


def test_a_reach_is_reached_from_its_side_and_growth_is_the_largest_against_the_smallest() -> None:
    cost = Record("a search", "ms", 12.0, reach=12.0)
    recall = Record("recall", "", 0.98, reach=0.99, better="higher")
    assert [cost.reached, recall.reached] == [True, False]
    assert replace(cost, reach=None).reached is None
    assert replace(cost, value=None, error="it failed").reached is False
    searches = [Record("search, vector given", "ms", ms, size) for size, ms in ((10, 2), (40, 6))]
    (largest,) = growth([*searches, Record("open a collection", "s", 1.0, 10)])
    assert (largest.value, largest.reached) == (3.0, False)


def test_other_libraries_are_pinned_and_one_that_cannot_be_run_says_why(tmp_path: Path) -> None:
    lines = (ROOT / "constraints-peers.txt").read_text().splitlines()
    pinned = {line.partition("==")[0].lower() for line in lines}
    assert not [name for name in pinned if name.startswith("nvidia")]
    named = re.search(r"^PEERS = (.*(?:\\\n.*)*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert named
    assert set(named[1].replace("\\", "").split()) <= pinned
    with worker(sys.executable, "nobody", tmp_path / "data", tmp_path, 60) as nobody:
        for _ in range(2):
            with pytest.raises(Failed, match=r"build: ModuleNotFoundError: .*nobody"):
                nobody("build")
