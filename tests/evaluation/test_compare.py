"""Two runs compared: options, questions, and figures that differ by more than chance."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.compare import UNSET, ChangedValue, compare
from atlas_search.evaluation.compare_figures import (
    Difference,
    QuestionFigures,
    differences,
    unlike_sources,
)
from atlas_search.evaluation.folder import JUDGE, RunFolder
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.evaluation.scored import Source, slices
from tests.evaluation.farm import Command
from tests.evaluation.made_runs import LABELS, by_a_judge, kept, made_run, slower, spec, unanswered

MANY = [label.id for label in LABELS[:18]]


def figures(found: list[Difference]) -> set[tuple[str, str]]:
    return {(one.slice, one.figure) for one in found}


def test_figures_that_fell_on_eighteen_of_24_questions_are_worse() -> None:
    result = compare(made_run(), made_run("after", bad=MANY))
    recall = next(d for d in result.differences if (d.slice, d.figure) == ("all", "recall"))
    assert (recall.questions, recall.a, recall.b, recall.change) == (24, 1, 6 / 24, -18 / 24)
    assert recall.p == pytest.approx(2 / 2**18)
    assert recall.low < recall.change < recall.high < 0
    assert recall.p < recall.corrected < 0.05
    assert recall.verdict == "worse"
    assert ("all", "decided") in figures(result.significant)
    # "similarity" is of answers: six questions have one in both runs
    similarity = next(d for d in result.differences if (d.slice, d.figure) == ("all", "similarity"))
    assert (similarity.questions, similarity.verdict) == (6, "no difference")


def test_a_run_does_not_differ_from_itself() -> None:
    result = compare(made_run(bad=MANY), made_run("again", bad=MANY))
    assert result.significant == []
    assert result.questions == ()
    assert {(d.change, d.low, d.high, d.p, d.corrected) for d in result.differences} == {
        (0, 0, 0, 1, 1)
    }


def test_seconds_are_better_lower_and_only_of_replies_that_came() -> None:
    before = made_run()
    later = unanswered(slower(made_run("after"), 1.0), {"q0": "refused"})
    result = {(d.slice, d.figure): d for d in compare(before, later).differences}
    seconds = result["all", "seconds"]
    assert (seconds.questions, seconds.a, seconds.b, seconds.verdict) == (23, 0.5, 1.5, "worse")
    assert result["all", "failed"].b == pytest.approx(1 / 24)
    assert compare(before, later).gaps == ("B got no reply to 1 of 24 questions.",)


def test_a_question_is_in_the_corpora_of_its_gold_or_of_its_filter() -> None:
    def corpora(**known: Any) -> list[str]:
        found = slices([Label("q1", "", "", "?", **known)], ("a", "b", "c", "d"))
        return [name.removeprefix("corpus.") for name in found if name != "all"]

    gold = frozenset({"b.x.y", "a.z"})
    assert corpora(gold_document_ids=gold) == ["a", "b"]
    assert corpora(gold_spans=(GoldSpan("c.x", 0, 9),)) == ["c"]
    assert corpora(gold_passage_ids=frozenset({"d.x.0-9"})) == ["d"]
    assert corpora(corpus_filter=("d", "c")) == ["c", "d"]
    assert corpora(gold_document_ids=gold, corpus_filter=("c",)) == ["a", "b"]
    assert slices([Label("q1", "", "", "?")], ()) == {"all": ["q1"]}


def test_what_stands_before_a_full_stop_of_unknown_gold_is_no_corpus() -> None:
    gold = frozenset({"Annual report 2020.pdf", "coast.light1", "own.x"})
    label = replace(LABELS[1], gold_document_ids=gold, corpus_filter=("own",))
    assert slices([label], ("coast",)).keys() == {
        *("all", "corpus.coast", "corpus.own", "category.factual")
    }
    odd = replace(LABELS[1], gold_document_ids=frozenset({"Annual report 2020.pdf"}))
    a, b = (made_run(name, bad=["q1"], labels=[odd, *LABELS[2:]]) for name in "ab")
    result = compare(a, b)
    assert {d.slice for d in result.differences if d.slice.startswith("corpus.")} == {
        "corpus.coast",
        "corpus.island",
    }


def test_questions_that_only_one_run_has_or_in_other_words_are_left_out() -> None:
    reworded = replace(LABELS[3], question="What is the height of lighthouse 3?")
    own = replace(LABELS[0], id="q99")
    result = compare(
        made_run(labels=LABELS[:10]), made_run("after", labels=[*LABELS[:3], reworded, own])
    )
    assert result.pairs.common == ("q0", "q1", "q2")
    assert (result.pairs.only_a, result.pairs.only_b, result.pairs.reworded) == (6, 1, 1)
    assert {d.questions for d in result.differences} <= {1, 2, 3}


def test_what_a_judge_said_is_compared_with_what_a_judge_said(tmp_path: Path) -> None:
    a, b = made_run(), by_a_judge(made_run("after"))
    result = compare(a, b)
    assert "faithfulness" not in {d.figure for d in result.differences}
    report = (
        "faithfulness of 24 questions is left out: a judge gave it in one run, and shared words"
    )
    assert result.gaps == (f"{report} in the other.",)
    assert result.basis == (
        ChangedValue("figures by", "heuristic", "mixed"),
        ChangedValue("judge", "none", "mistral large, 3 votes"),
    )
    other = by_a_judge(made_run("c"), model="small", votes=1, prompts={"mark": "2e", "guess": "0"})
    result = compare(b, other)
    assert ("all", "faithfulness") in figures(list(result.differences))
    assert result.basis == (
        ChangedValue("judge", "mistral large, 3 votes", "mistral small, 1 votes"),
        ChangedValue("prompt of the judge: guess", UNSET, "0"),
        ChangedValue("prompt of the judge: mark", "1f", "2e"),
    )
    folder = kept(b, tmp_path)
    (folder / JUDGE).write_text(b.judge.model_dump_json())
    assert RunFolder(folder).load().judge == b.judge
    by_a_library = {"libraries": {"ragas": "0.4.3"}}  # as earlier versions wrote it
    (folder / JUDGE).write_text(json.dumps(b.judge.model_dump() | by_a_library))
    assert RunFolder(folder).load().judge == b.judge
    (folder / JUDGE).write_text("{}")
    with pytest.raises(SourceError, match=r"judge\.json"):
        RunFolder(folder).load()


def test_questions_that_changed_sides_come_with_both_answers() -> None:
    first, *rest = compare(made_run(bad=["q2"]), made_run("after", bad=["q7", "q3"])).questions
    assert (first.label_id, first.side, first.figure, first.change) == (
        "q3",
        "worse",
        "decided",
        -1,
    )
    assert (first.a.decision, first.a.answer) == ("ANSWER", "3 metres")
    assert (first.b.decision, first.b.answer) == ("ABSTAIN", "")
    assert first.b.documents == ("coast.harbour",)
    assert [(one.label_id, one.side) for one in rest] == [("q7", "worse"), ("q2", "better")]


NAMES = ("f1", *(f"recall@{n}" for n in range(1, 2700)))


def figures_of(values: Sequence[float], figure: str = "recall") -> dict[str, QuestionFigures]:
    return {f"q{n}": QuestionFigures("same", {figure: v}) for n, v in enumerate(values)}


@pytest.mark.parametrize(
    ("figure", "a", "b", "verdict"),
    [
        ("recall", [1.0] * 10, [0.0] * 10, "worse"),
        ("recall", [0.0] * 10, [1.0] * 10, "better"),
        ("seconds", [1.0] * 10, [2.0] * 10, "worse"),
        ("no metric", [0.0] * 10, [1.0] * 10, "differs"),
        ("kept_share.coast", [0.0] * 10, [1.0] * 10, "differs"),
        ("kept_share.coast", [0.0] * 10, [0.0] * 10, "no difference"),
        ("recall", [1.0] * 10, [1.0] * 5 + [0.0] * 5, "no difference"),
        ("recall", [1.0] * 10, [1.0 + 1e-7] * 10, "no difference"),
        ("recall", [1.0] * 5, [0.0] * 5, "too few"),
    ],
)
def test_the_verdict_is_by_the_better_side_of_the_figure(figure, a, b, verdict) -> None:
    ids = [f"q{n}" for n in range(len(a))]
    (result,) = differences(figures_of(a, figure), figures_of(b, figure), {"all": ids})
    assert result.verdict == verdict
    assert (result.a, result.b) == pytest.approx((sum(a) / len(a), sum(b) / len(b)))
    assert result.low <= result.change <= result.high


def test_one_figure_of_thousands_can_differ() -> None:
    a = {f"q{n}": QuestionFigures("", dict.fromkeys(NAMES, 0.5)) for n in range(60)}
    b = {
        id_: QuestionFigures("", dict.fromkeys(NAMES, 0.5 + (-1) ** n / 4) | {"f1": 0.1 + n / 1e3})
        for n, id_ in enumerate(a)
    }
    result = {one.figure: one for one in differences(a, b, {"all": list(a)})}
    assert (len(result), result["f1"].verdict) == (len(NAMES), "worse")
    assert {one.verdict for name, one in result.items() if name != "f1"} == {"no difference"}


def test_what_has_no_better_side_is_tested_and_corrected_with_the_rest() -> None:
    shares = {f"kept_share.c{n}": float(n) for n in range(1, 3)}
    a = {f"q{n}": QuestionFigures("", {"f1": 1.0} | shares) for n in range(8)}
    b = {f"q{n}": QuestionFigures("", {"f1": 0.0} | dict.fromkeys(shares, 0.5)) for n in range(8)}
    result = {one.figure: one for one in differences(a, b, {"all": list(a)})}
    assert result["f1"].p == pytest.approx(2 / 2**8)
    assert result["f1"].corrected == pytest.approx(3 * 2 / 2**8)  # of three figures
    share = result["kept_share.c2"]
    assert (share.change, share.low, share.high) == (-1.5, -1.5, -1.5)
    assert (share.p, share.verdict) == (pytest.approx(2 / 2**8), "differs")


def test_figures_of_other_sources_are_not_compared() -> None:
    def of(values: Sequence[float], *sources: Source) -> dict[str, QuestionFigures]:
        return {
            f"q{n}": QuestionFigures("", {"faithfulness": v, "recall": v}, {"faithfulness": source})
            for n, (v, source) in enumerate(zip(values, sources, strict=True))
        }

    a = of([0, 0, 0, 1], "heuristic", "heuristic", "judge", "judge")
    b = of([1, 1, 1, 0], "judge", "heuristic", "judge", "heuristic")
    result = {one.figure: one for one in differences(a, b, {"all": list(a)})}
    assert (result["faithfulness"].questions, result["faithfulness"].change) == (2, 1)
    assert result["recall"].questions == 4
    assert unlike_sources(a, b, list(a)) == {"faithfulness": 2}


def test_a_figure_is_compared_over_the_questions_that_have_it_in_both() -> None:
    a = figures_of([1, 0, 1]) | {"q3": QuestionFigures("same", {"f1": 1.0})}
    b = figures_of([0, 0]) | {"q3": QuestionFigures("same", {"f1": 0.5})}
    parts = {"all": ["q0", "q1", "q3"], "corpus.c": ["q3"], "corpus.d": []}
    result = {(d.slice, d.figure): d for d in differences(a, b, parts)}
    assert set(result) == {("all", "recall"), ("all", "f1"), ("corpus.c", "f1")}
    recall = result["all", "recall"]
    assert (recall.questions, recall.a, recall.b, recall.change) == (2, 1 / 2, 0, -1 / 2)


def test_what_the_figures_depend_on_is_compared() -> None:
    a = made_run(settings={"embedding_model": "large", "pooling": "mean"}, seed=7)
    b = made_run(
        "after",
        k=5,
        today=date(2026, 1, 2),
        limit=20,
        seed=3,
        settings={"embedding_model": "small", "pooling": "mean"},
        options={"search_k": 10, "weight_bm25": 0, "reader": "x"},
        collection_version="v2",
        versions={},
    )
    labels = a.spec.labels.model_copy(update={"sha256": "cd" * 32, "split": ""})
    result = compare(a, replace(b, spec=b.spec.model_copy(update={"labels": labels})))
    assert result.options == (
        ChangedValue("reader", UNSET, "x"),
        ChangedValue("weight_bm25", 0.6, 0),
    )
    assert {change.name: (change.a, change.b) for change in result.basis} == {
        "contents of the labels": ("ab" * 6, "cd" * 6),
        "split": ("test", "all"),
        "version of the collection": ("v1", "v2"),
        "python": ("3.11", UNSET),
        "passages wanted": (10, 5),
        "questions drawn": ("all", "20 with seed 3"),
        "today": (UNSET, "2026-01-02"),
        "embedding_model": ("large", "small"),
    }
    assert compare(made_run(k=10), made_run("after", seed=5)).basis == ()


def test_runs_that_cannot_be_compared_whole_are_told() -> None:
    with pytest.raises(SourceError, match="before and after have no question in common"):
        compare(made_run(labels=LABELS[:3]), made_run("after", labels=LABELS[3:]))
    half = replace(made_run("after", labels=LABELS[:5]), spec=spec("after"))
    assert compare(made_run(), half).gaps == ("B has figures of 5 of its 24 questions.",)


def test_the_command_prints_what_changed(tmp_path: Path, evaluation: Command) -> None:
    odd = replace(LABELS[0], question="How *tall* | is <b>it</b>?\n# Really?")
    labels = [odd, *LABELS[1:]]
    a = kept(made_run(labels=labels), tmp_path)
    b = kept(made_run("after", bad=MANY, labels=labels, options={"search_k": 5}), tmp_path)
    _, printed, _ = evaluation("compare", a, b, "--markdown", tmp_path / "c.md")
    assert "Option search_k: 10 → 5" in printed
    assert "24 questions in common; left out: none." in printed
    assert "differ by more than chance (corrected p < 0.05)." in printed
    assert "category.paraphrase" not in printed  # of four questions
    assert "wanted: 3 metres" in printed
    assert "category.paraphrase" in evaluation("compare", a, b, "--all")[1]
    text = (tmp_path / "c.md").read_text()
    assert text.startswith("# Comparison\n")
    assert r"How \*tall\* \| is \<b\>it\</b\>? \# Really?" in text
    assert "| all | recall | 24 | 1.000 | 0.250 | -0.750 |" in text
    assert "  - B: ABSTAIN found coast.harbour" in text


def test_the_command_gives_json_takes_names_and_tells_of_broken_runs(
    tmp_path: Path, evaluation: Command
) -> None:
    for run in (made_run(), made_run("after", bad=MANY)):
        kept(run, tmp_path / "evaluations")
    document = json.loads(evaluation("compare", "before", "after", "--json")[1])
    assert document["questions_in_common"] == 24
    assert {"slice", "figure", "p", "corrected", "low", "high", "verdict"} <= set(
        document["differences"][0]
    )
    assert document["questions"][0]["a"]["answer"]
    status, _, message = evaluation("compare", "before", "missing")
    assert (status, "There is no run 'missing'. In " in message) == (1, True)
    (tmp_path / "evaluations" / "before" / "labels.jsonl").write_text('{"id": 7}\n')
    status, _, message = evaluation("compare", "before", "before")
    assert (status, "is no run of an evaluation" in message) == (1, True)
