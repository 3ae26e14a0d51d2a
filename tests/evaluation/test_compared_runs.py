"""What changed from one run to another: options, figures, questions."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from atlas_search.cli.main import main
from atlas_search.core.errors import SourceError
from atlas_search.evaluation.compare import UNSET, ChangedValue, compare, markdown
from atlas_search.evaluation.compare_figures import Difference
from atlas_search.evaluation.folder import JUDGE, RunFolder
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.evaluation.scored import corpora_of, slices
from tests.evaluation.made_runs import LABELS, by_a_judge, kept, made_run, slower, spec, unanswered

MANY = [label.id for label in LABELS[:18]]


def figures(found: list[Difference]) -> set[tuple[str, str]]:
    return {(one.slice, one.figure) for one in found}


def test_figures_that_fell_on_eighteen_of_24_questions_are_worse() -> None:
    found = compare(made_run(), made_run("after", bad=MANY))
    recall = next(d for d in found.differences if (d.slice, d.figure) == ("all", "recall"))
    assert (recall.questions, recall.a, recall.b, recall.change) == (24, 1, 6 / 24, -18 / 24)
    assert recall.p == pytest.approx(2 / 2**18)
    assert recall.low < recall.change < recall.high < 0
    assert recall.p < recall.corrected < 0.05
    assert recall.verdict == "worse"
    assert ("all", "decided") in figures(found.significant)
    # "similarity" is of answers: six questions have one in both runs
    similarity = next(d for d in found.differences if (d.slice, d.figure) == ("all", "similarity"))
    assert (similarity.questions, similarity.verdict) == (6, "no difference")


def test_the_other_way_round_they_are_better() -> None:
    found = compare(made_run("after", bad=MANY), made_run())
    better = [one for one in found.significant if one.verdict != "differs"]
    assert {one.verdict for one in better} == {"better"}


def test_a_run_does_not_differ_from_itself() -> None:
    found = compare(made_run(bad=MANY), made_run("again", bad=MANY))
    assert found.significant == []
    assert found.questions == ()
    assert {(d.change, d.low, d.high, d.p, d.corrected) for d in found.differences} == {
        (0, 0, 0, 1, 1)
    }


def test_seconds_are_better_lower_and_only_of_replies_that_came() -> None:
    before = made_run()
    later = unanswered(slower(made_run("after"), 1.0), {"q0": "refused"})
    found = {(d.slice, d.figure): d for d in compare(before, later).differences}
    seconds = found["all", "seconds"]
    assert (seconds.questions, seconds.a, seconds.b, seconds.verdict) == (23, 0.5, 1.5, "worse")
    assert found["all", "failed"].b == pytest.approx(1 / 24)
    assert compare(before, later).gaps == ("B got no reply to 1 of 24 questions.",)


def test_every_corpus_and_category_is_a_slice() -> None:
    found = slices(LABELS, ("coast", "island"))
    assert {name: len(ids) for name, ids in found.items()} == {
        "all": 24,
        "corpus.coast": 12,
        "corpus.island": 12,
        "category.factual": 20,
        "category.paraphrase": 4,
    }
    assert next(iter(found)) == "all"


def test_a_question_is_in_the_corpora_of_its_gold_or_of_its_filter() -> None:
    label = Label("q1", "", "", "?", gold_document_ids=frozenset({"b.x.y", "a.z"}))
    assert corpora_of(label) == ["a", "b"]
    assert corpora_of(Label("q1", "", "", "?", gold_spans=(GoldSpan("c.x", 0, 9),))) == ["c"]
    passages = frozenset({"d.x.0-9"})
    assert corpora_of(Label("q1", "", "", "?", gold_passage_ids=passages)) == ["d"]
    assert corpora_of(Label("q1", "", "", "?", corpus_filter=("d", "c"))) == ["c", "d"]
    assert corpora_of(replace(label, corpus_filter=("c",))) == ["a", "b"]
    assert slices([Label("q1", "", "", "?")], ()) == {"all": ["q1"]}


def test_what_stands_before_a_full_stop_of_unknown_gold_is_no_corpus() -> None:
    gold = frozenset({"Annual report 2020.pdf", "coast.light1", "own.x"})
    label = replace(LABELS[1], gold_document_ids=gold, corpus_filter=("own",))
    assert slices([label], ("coast",)).keys() == {
        *("all", "corpus.coast", "corpus.own", "category.factual")
    }
    odd = replace(LABELS[1], gold_document_ids=frozenset({"Annual report 2020.pdf"}))
    a, b = (made_run(name, bad=["q1"], labels=[odd, *LABELS[2:]]) for name in "ab")
    found = compare(a, b)
    assert {d.slice for d in found.differences if d.slice.startswith("corpus.")} == {
        "corpus.coast",
        "corpus.island",
    }


def test_a_slice_of_all_questions_is_not_tested_twice() -> None:
    labels = [replace(label, category="factual") for label in LABELS]
    found = compare(made_run(labels=labels), made_run("after", labels=labels))
    assert {d.slice for d in found.differences} == {"all", "corpus.coast", "corpus.island"}


def test_questions_that_only_one_run_has_or_in_other_words_are_left_out() -> None:
    reworded = replace(LABELS[3], question="What is the height of lighthouse 3?")
    own = replace(LABELS[0], id="q99")
    found = compare(
        made_run(labels=LABELS[:10]), made_run("after", labels=[*LABELS[:3], reworded, own])
    )
    assert found.pairs.common == ("q0", "q1", "q2")
    assert (found.pairs.only_a, found.pairs.only_b, found.pairs.reworded) == (6, 1, 1)
    assert {d.questions for d in found.differences} <= {1, 2, 3}


def test_runs_without_a_common_question_are_an_error() -> None:
    with pytest.raises(SourceError, match="before and after have no question in common"):
        compare(made_run(labels=LABELS[:3]), made_run("after", labels=LABELS[3:]))


def test_what_the_runs_were_asked_with_is_compared() -> None:
    a = made_run()
    options = {"search_k": 10, "weight_bm25": 0, "reader": "x"}
    other = a.spec.labels.model_copy(update={"sha256": "cd" * 32, "split": ""})
    b = made_run("after", options=options, labels=LABELS, collection_version="v2", versions={})
    b = replace(b, spec=b.spec.model_copy(update={"labels": other}))
    found = compare(a, b)
    assert found.options == (
        ChangedValue("reader", UNSET, "x"),
        ChangedValue("weight_bm25", 0.6, 0),
    )
    assert {change.name for change in found.basis} == {
        "contents of the labels",
        "split",
        "version of the collection",
        "python",
    }
    assert compare(a, a).basis == ()


def test_what_else_the_figures_depend_on_is_compared() -> None:
    b = {
        "k": 5,
        "today": date(2026, 1, 2),
        "limit": 20,
        "seed": 3,
        "settings": {"embedding_model": "small", "pooling": "mean"},
    }
    a = made_run(settings={"embedding_model": "large", "pooling": "mean"}, seed=7)
    found = compare(a, made_run("after", **b))
    assert found.basis == (
        ChangedValue("passages wanted", 10, 5),
        ChangedValue("questions drawn", "all", "20 with seed 3"),
        ChangedValue("today", UNSET, "2026-01-02"),
        ChangedValue("embedding_model", "large", "small"),
    )
    assert compare(made_run(k=10), made_run("after", seed=5)).basis == ()


def test_what_a_judge_said_is_compared_with_what_a_judge_said(tmp_path: Path) -> None:
    a, b = made_run(), by_a_judge(made_run("after"))
    found = compare(a, b)
    assert "faithfulness" not in {d.figure for d in found.differences}
    told = "faithfulness of 24 questions is left out: a judge gave it in one run, and shared words"
    assert found.gaps == (f"{told} in the other.",)
    assert found.basis == (
        ChangedValue("figures by", "heuristic", "mixed"),
        ChangedValue("judge", "none", "mistral large, 3 votes"),
    )
    other = by_a_judge(made_run("c"), model="small", votes=1, prompts={"mark": "2e", "guess": "0"})
    found = compare(b, other)
    assert ("all", "faithfulness") in figures(list(found.differences))
    assert found.basis == (
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


def test_a_run_that_was_not_finished_is_told() -> None:
    half = made_run("after", labels=LABELS[:5])
    half = replace(half, spec=spec("after"))
    assert compare(made_run(), half).gaps == ("B has figures of 5 of its 24 questions.",)


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


def test_the_greatest_changes_of_other_figures_follow() -> None:
    def with_f1(f1: float):
        run = made_run()
        changed = replace(run.scored[4], figures={**run.scored[4].figures, "f1": f1})
        return replace(run, scored=(*run.scored[:4], changed, *run.scored[5:]))

    (only,) = compare(with_f1(1), with_f1(0.25)).questions
    assert (only.label_id, only.figure, only.change, only.side) == ("q4", "f1", -0.75, "worse")


def test_markdown_shows_texts_as_they_are_written() -> None:
    odd = replace(LABELS[0], question="How *tall* | is <b>it</b>?\n# Really?")
    labels = [odd, *LABELS[1:]]
    text = markdown(compare(made_run(labels=labels), made_run("after", bad=MANY, labels=labels)))
    assert r"How \*tall\* \| is \<b\>it\</b\>? \# Really?" in text
    assert "| all | recall | 24 | 1.000 | 0.250 | -0.750 |" in text
    assert "  - B: ABSTAIN found coast.harbour" in text


def test_the_command_prints_what_changed(tmp_path: Path, capsys) -> None:
    a = kept(made_run(), tmp_path)
    b = kept(made_run("after", bad=MANY, options={"search_k": 5}), tmp_path)
    command(["eval", "compare", str(a), str(b), "--markdown", str(tmp_path / "c.md")])
    told = capsys.readouterr().out
    assert "Option search_k: 10 → 5" in told
    assert "24 questions in common; left out: none." in told
    assert "differ by more than chance (corrected p < 0.05)." in told
    assert "category.paraphrase" not in told  # of four questions
    assert "wanted: 3 metres" in told
    assert (tmp_path / "c.md").read_text().startswith("# Comparison\n")
    command(["eval", "compare", str(a), str(b), "--all"])
    assert "category.paraphrase" in capsys.readouterr().out


def test_the_command_gives_json_and_takes_names(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for run in (made_run(), made_run("after", bad=MANY)):
        kept(run, tmp_path / "data" / "evaluations")
    command(["eval", "compare", "before", "after", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["questions_in_common"] == 24
    assert {"slice", "figure", "p", "corrected", "low", "high", "verdict"} <= set(
        document["differences"][0]
    )
    assert document["questions"][0]["a"]["answer"]


def test_an_unknown_or_broken_run_is_told(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = kept(made_run(), tmp_path / "data" / "evaluations")
    assert command(["eval", "compare", "before", "missing"]) == 1
    assert "There is no run 'missing'. In " in capsys.readouterr().err
    (path / "labels.jsonl").write_text('{"id": 7}\n')
    assert command(["eval", "compare", "before", "before"]) == 1
    assert "is no run of an evaluation" in capsys.readouterr().err


def command(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)
