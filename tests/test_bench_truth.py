"""The benchmark of answers: the whole command over small sets, and its arithmetic."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from atlas_search.answer.quotes.scores import LIKELY, Signs
from atlas_search.building.flow import BuildReport
from atlas_search.core.errors import SourceError
from atlas_search.providers.embedding_local import LocalEmbedder
from tests.benchmarks.quality.collection import Collection, build_collection, open_collection
from tests.benchmarks.quality.records import GroupReader
from tests.benchmarks.quality.sets import TestSet, read_sets
from tests.benchmarks.truth import __main__ as command
from tests.benchmarks.truth import fit
from tests.benchmarks.truth.asking import TODAY, Reply, ask
from tests.benchmarks.truth.draws import area, curve, draw, share, threshold
from tests.benchmarks.truth.figures import Judged
from tests.benchmarks.truth.judging import is_right
from tests.benchmarks.truth.questions import Question, questions
from tests.tiny import silent
from tests.truth_sets import HELD, NOT_HELD, NOWHERE, STORIES, TOLD, write_sets

SCORES = np.array([0.9, 0.5, 0.1])
RIGHT = np.array([True, False, True])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("truth")
    write_sets(folder)
    return folder


@pytest.fixture(scope="module")
def sets(data: Path) -> list[TestSet]:
    return read_sets(data)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def collection(store: Path, sets: list[TestSet], embedder: LocalEmbedder) -> Iterator[Collection]:
    build_collection(store, sets, embedder, GroupReader(), silent)
    with open_collection(store, sets, embedder) as opened:
        yield opened


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drawn") / "truth.svg"


@pytest.fixture(scope="module")
def reported(
    data: Path, store: Path, drawn: Path, collection: Collection
) -> dict[tuple[str, str], dict[str, Any]]:
    """What the command writes, by section and by set and measure."""
    written = drawn.with_suffix(".json")
    command.main(data=data, queries=0, store=store, plot_file=drawn, json_file=written)
    found = json.loads(written.read_text())["figures"]
    return {(each["section"], f"{each['set_name']} {each['measure']}"): each for each in found}


def cut(figures: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in figures["cuts"] if each["name"] == name)


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


def test_every_set_is_reported_alone_and_together_and_then_their_mean(reported) -> None:
    names = [
        "chunkeval whole",
        "chunkeval part",
        "contractnli cites",
        "squad2 whole",
        "mean of sets None",
    ]
    sections = ("alone", "together")
    assert list(reported) == [(section, name) for section in sections for name in names]


def test_the_test_half_is_counted(reported) -> None:
    alone = reported["alone", "squad2 whole"]
    # two stories and two statements of that half are off-topic for squad2
    asked = {"answerable": 3, "unanswerable": 1, "off-topic": 4}
    assert alone["questions"] == asked
    assert reported["together", "squad2 whole"]["questions"] == asked | {"off-topic": 0}


def test_answers_with_the_gold_text_are_right_and_others_wrong(reported) -> None:
    for section in ("alone", "together"):
        everything = cut(reported[section, "squad2 whole"], "1")
        assert everything["answered"]["mean"] == 1
        assert everything["right"]["mean"] == pytest.approx(2 / 3)


def test_a_sentence_of_a_longer_gold_text_is_a_part_and_not_the_whole(reported) -> None:
    shares = [
        cut(reported["alone", f"chunkeval {measure}"], "1")["right"]["mean"]
        for measure in ("whole", "part")
    ]
    assert shares == [0, 1]


def test_statements_are_answered_from_their_own_contract(reported) -> None:
    for section in ("alone", "together"):
        assert cut(reported[section, "contractnli cites"], "1")["right"]["mean"] == 1


def test_in_the_mean_each_set_counts_the_same(reported) -> None:
    everything = cut(reported["alone", "mean of sets None"], "1")
    assert everything["right"]["mean"] == pytest.approx((0 + 1 + 2 / 3) / 3)


def test_what_nothing_answers_is_declined(reported) -> None:
    figures = reported["alone", "squad2 whole"]
    assert cut(figures, "default")["unanswerable_declined"]["mean"] == 1
    assert cut(figures, "default")["off_topic_declined"]["mean"] == 1
    assert cut(figures, "1")["unanswerable_declined"]["mean"] == 0
    assert cut(reported["alone", "contractnli cites"], "1")["unanswerable_declined"] is None
    assert [gate["lost"] for gate in figures["gates"]] == [0.02, 0.05]


def test_shares_and_intervals_are_in_order(reported) -> None:
    for figures in reported.values():
        found = [figures["area"], *(each["right"] for each in figures["cuts"])]
        for estimate in filter(None, found):
            assert 0 <= estimate["low"] <= estimate["mean"] <= estimate["high"] <= 1
        coverage, _ = figures["curve"]
        assert coverage == sorted(coverage)
        assert coverage[-1] == pytest.approx(1)


def test_words_count_the_answers_they_are_given(reported) -> None:
    figures = reported["alone", "squad2 whole"]
    answered = round(3 * cut(figures, "default")["answered"]["mean"])
    assert sum(word["answers"] for word in figures["words"]) == answered


def test_a_line_is_drawn_for_each_set_and_one_for_all(reported, drawn: Path) -> None:
    text = drawn.read_text()
    for name in ("chunkeval, whole", "contractnli, cites", "squad2, whole", "mean of sets"):
        assert text.count(f"{name} (") == 1
    assert "chunkeval, part" not in text


def test_a_file_that_cannot_be_drawn_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="svg"):
        command.main(data=tmp_path / "absent", store=tmp_path, plot_file=tmp_path / "truth.doc")


def test_sets_that_cannot_be_judged_are_not_asked(sets: list[TestSet], data: Path) -> None:
    assert [each.name for each in command.measured_sets(sets, data)] == [s.name for s in sets]
    with pytest.raises(SourceError, match="none of the sets squad2, chunkeval"):
        command.measured_sets([], data)


def test_questions_know_their_half_group_and_place(sets: list[TestSet]) -> None:
    chunkeval, contractnli, squad2 = sets
    asked = [q for q in questions(squad2, [contractnli], 0) if q.half == "test"]
    of = {
        group: [q.text for q in asked if q.group == group]
        for group in ("answerable", "unanswerable", "off-topic")
    }
    assert sorted(of["answerable"]) == sorted([*HELD, *NOT_HELD])
    assert of["unanswerable"] == [*NOWHERE]
    # a statement put to several contracts is one off-topic question
    assert len(of["off-topic"]) == len({*of["off-topic"]})
    assert [q.place for q in questions(contractnli, [], 0)] == [
        {"contract": ("ash",)},
        {"contract": ("ash",)},
        {"contract": ("birch",)},
        {"contract": ("birch",)},
    ]
    assert {q.group for q in questions(chunkeval, [], 1)} == {"answerable"}
    assert len(questions(chunkeval, [squad2], 1)) == 4


def test_the_score_is_the_likelihood_that_the_product_gives(
    collection: Collection, sets: list[TestSet]
) -> None:
    squad2 = sets[-1]
    asked = [q for q in questions(squad2, [], 0) if q.half == "test"]
    given = ask(collection.atlas, asked, "squad2", lambda p: collection.records[p.row])
    answered = 0
    for each in given:
        answer = collection.atlas.ask(each.question.text, corpora="squad2", as_of=TODAY)
        if answer.outcome.decision == "ANSWER":
            answered += 1
            assert answer.confidence.likelihood == round(each.score, 4)
            assert [c.quote for c in answer.citations] == [*each.texts]
        else:
            assert each.score < LIKELY
    assert answered >= len(HELD)
    assert {each.question.text for each in given if each.score < 0} == {*NOWHERE}


def test_an_answer_is_right_by_its_words_or_by_its_source() -> None:
    held = reply("It was Hendrik  VAAL.", answers=("Hendrik Vaal",), gold="a", sources="b")
    assert is_right(held, "whole")
    assert not is_right(held, "cites")
    assert not is_right(reply("It was Hendrika Vaal.", answers=("Hendrik Vaal",)), "whole")
    story = STORIES["orchard#0"]
    assert next(iter(TOLD.values())) == "orchard#0"
    sentence = reply("The orchard keeper stored his pears in dry sand", answers=(story,))
    assert not is_right(sentence, "whole")
    assert is_right(sentence, "part")
    assert is_right(reply("Other words.", sources="a", gold="a"), "cites")


def test_nothing_is_right_where_nothing_answers() -> None:
    empty = reply("Some words.", sources="a")
    assert not any(is_right(empty, measure) for measure in ("whole", "part", "cites"))


def test_the_area_is_the_mean_precision_of_all_coverages() -> None:
    weights = draw([3])
    found = area(weights, SCORES, RIGHT)
    assert found.mean == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
    coverage, precision = curve(weights[0], SCORES, RIGHT)
    assert coverage.tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert precision.tolist() == pytest.approx([1, 1 / 2, 2 / 3])


def test_each_set_counts_the_same_however_many_questions_it_has() -> None:
    weights = draw([1, 2])
    assert weights[0].tolist() == [1, 0.5, 0.5]
    assert np.allclose(weights @ np.array([0, 1, 1]), 1)
    found = share(weights, np.array([True, False, False]), np.ones(3, dtype=bool))
    assert found.mean == 1 / 2
    assert share(weights, RIGHT, np.zeros(3, dtype=bool)) is None


@pytest.mark.parametrize(("coverage", "score"), [(0.3, 0.9), (0.5, 0.5), (0.66, 0.5), (1, 0.1)])
def test_a_threshold_is_reached_by_the_share_asked_for(coverage: float, score: float) -> None:
    assert threshold(draw([3])[0], SCORES, coverage) == score


def test_the_fit_finds_the_sign_that_tells_right_from_wrong() -> None:
    of_scores = [
        reply("Four words of text.", score=score, gold="a", sources="a" if score > 0.5 else "b")
        for score in np.linspace(0, 1, 20).tolist()
    ]
    nothing = [reply(score=1.0)]  # never given, so it teaches nothing
    weights, intercept = fit.fit([Judged([*of_scores, *nothing], "cites")])
    assert weights.score > 1
    assert intercept < 0
    assert -intercept / weights.score == pytest.approx(0.5, abs=0.05)
    assert weights.turned == 0


def test_the_fit_prints_its_weights_beside_those_in_use(
    data: Path, store: Path, collection: Collection, demo: BuildReport, stores: Path, capsys
) -> None:
    fit.main(data=data, queries=1, store=store, demo=stores)
    printed = capsys.readouterr().out
    for name in (*Signs.__dataclass_fields__, "(intercept)"):
        assert printed.count(f" {name} ") == 1
