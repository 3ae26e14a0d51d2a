"""A run is held to rules, and to the run before."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.compare_figures import is_known, run_figures
from atlas_search.evaluation.gate import (
    Check,
    Gate,
    baseline_of,
    gate,
    read_baseline,
    read_rules,
    write_baseline,
)
from atlas_search.evaluation.run import EvalRun
from tests.evaluation.farm import Command
from tests.evaluation.made_runs import LABELS, by_a_judge, kept, made_run, slower, spec, unanswered
from tests.places import ROOT

IDS = [label.id for label in LABELS]
GOOD = made_run()


def rules(folder: Path, text: str):
    path = folder / "rules.toml"
    path.write_text(text)
    return read_rules(path)


def held(folder: Path, text: str, run: EvalRun, before: EvalRun | None = None) -> Gate:
    return gate(run, rules(folder, text), baseline_of(before) if before else None)


def failed(found: Gate) -> list[tuple[str, str, str]]:
    return [(check.slice, check.figure, check.need) for check in found.failed]


def only(found: Gate) -> Check:
    (check,) = (check for check in found.checks if check.figure != "failed")
    return check


@pytest.mark.parametrize(
    ("needs", "bad", "passed"),
    [
        ("min = 0.75", 6, True),  # 18 of 24
        ("min = 0.75", 7, False),
        ("max = 0.75", 6, True),
        ("max = 0.75", 5, False),
    ],
)
def test_a_mean_is_held_to_its_bounds(tmp_path: Path, needs: str, bad: int, passed: bool) -> None:
    result = held(tmp_path, f"[all]\nrecall = {{ {needs} }}", made_run(bad=IDS[:bad]))
    assert only(result).passed is passed
    assert only(result).value == pytest.approx((24 - bad) / 24)
    assert bool(result.failed) is not passed


def test_a_drop_by_more_than_is_allowed_fails_and_a_rise_does_not(tmp_path: Path) -> None:
    text = "[all]\nrecall = { max_drop = 0.125 }"  # three of 24
    assert failed(held(tmp_path, text, made_run(bad=IDS[:3]), GOOD)) == []
    assert failed(held(tmp_path, text, made_run(bad=IDS[:4]), GOOD)) == [
        ("all", "recall", "max_drop")
    ]
    assert failed(held(tmp_path, text, GOOD, made_run(bad=IDS[:20]))) == []


def test_a_drop_of_what_is_better_lower_is_a_rise(tmp_path: Path) -> None:
    text = "[all]\nseconds = { max_drop = 0.2, significant = true }"
    assert len(failed(held(tmp_path, text, slower(GOOD, 0.3), GOOD))) == 2
    assert failed(held(tmp_path, text, slower(GOOD, -0.3), GOOD)) == []


def test_a_small_drop_fails_if_it_is_no_chance(tmp_path: Path) -> None:
    text = "[all]\nrecall = { significant = true }"
    result = held(tmp_path, text, made_run(bad=IDS[:6]), GOOD)
    assert failed(result) == [("all", "recall", "significant")]
    assert only(result).p == pytest.approx(2 / 2**6)
    assert failed(held(tmp_path, text, made_run(bad=IDS[:5]), GOOD)) == []  # 2 / 2^5
    # ten became worse and six better: the mean fell, by no more than chance
    assert failed(held(tmp_path, text, made_run(bad=IDS[:10]), made_run(bad=IDS[10:16]))) == []
    assert failed(held(tmp_path, text, GOOD, made_run(bad=IDS[:20]))) == []


def test_p_is_corrected_for_the_number_of_rules_that_need_one(tmp_path: Path) -> None:
    # seven questions: p is 2 / 2^7 = 0.016, and four such rules make 0.0625 of it
    names = ("recall", "mrr", "decided", "f1")
    for count, caught in ((3, 3), (4, 0)):
        text = "[all]\n" + "\n".join(f"{name} = {{significant = true}}" for name in names[:count])
        assert len(failed(held(tmp_path, text, made_run(bad=IDS[:7]), GOOD))) == caught
    assert len(failed(held(tmp_path, f"alpha = 0.1\n{text}", made_run(bad=IDS[:7]), GOOD))) == 4


def test_rules_that_a_total_collapse_would_pass_need_more_questions(tmp_path: Path) -> None:
    # the least p of seven questions is 2 / 2^7 = 0.016: three rules can fail by it, four cannot
    names, seven = ("recall", "mrr", "decided", "f1"), LABELS[:7]
    good, bad = made_run(labels=seven), made_run(bad=IDS, labels=seven)
    rules_of = {
        count: "[all]\n" + "\n".join(f"{name} = {{significant = true}}" for name in names[:count])
        for count in (3, 4)
    }
    assert failed(held(tmp_path, rules_of[3], good, good)) == []
    assert len(failed(held(tmp_path, rules_of[3], bad, good))) == 3
    for run in (good, bad):
        result = held(tmp_path, rules_of[4], run, good)
        assert {check.needed for check in result.failed} == {"more questions for any p"}
        assert len(result.failed) == 4
    assert failed(held(tmp_path, f"alpha = 0.1\n{rules_of[4]}", good, good)) == []
    # a rule of many questions makes the others' p no larger, if it fails too
    more = f"{rules_of[3]}\n[category.factual]\nrecall = {{significant = true}}"
    labels = [replace(one, category="" if n < 17 else "factual") for n, one in enumerate(LABELS)]
    assert failed(held(tmp_path, more, *[made_run(labels=labels)] * 2)) == []


def test_a_rule_that_no_question_could_fail_fails(tmp_path: Path) -> None:
    text = "[all]\nrejected = { min = 0, max_drop = 1, significant = true }"
    result = held(tmp_path, text, GOOD, GOOD)
    assert [check.need for check in result.failed] == ["min", "max_drop", "significant"]
    assert {check.needed for check in result.failed} == {
        "a question with this figure",
        "a question with this figure in both",
    }


def test_without_a_rule_about_it_every_question_needs_a_reply(tmp_path: Path) -> None:
    broken = unanswered(GOOD, {"q3": "refused"})
    assert failed(held(tmp_path, "[all]\nrecall={min=1}", broken)) == [("all", "failed", "max")]
    assert failed(held(tmp_path, "[all]\nfailed={max=0.1}", broken)) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no rule"),
        ("[all]", "holds no rule"),
        ("[all]\nrecall = {}", "recall needs one of min, max, max_drop or significant = true"),
        ("[all]\nrecall = { least = 1 }", "`all.recall.least`"),
        ("[all]\nrecall = { min = nan }", "`all.recall.min`"),
        ("[all]\nrecall = { max_drop = -1 }", "`all.recall.max_drop`"),
        ("[all]\nrecall = { min = 1 }\nrecall = { min = 0 }", "is not valid TOML"),
        ("[split.test]\nrecall = { min = 1 }", "`split`"),
        ("alpha = 1\n[all]\nrecall = { min = 1 }", "`alpha`"),
        ("[all]\nrecal = { min = 1 }", "recal is no figure. Known: "),
        ("[corpus.sea]\nrecall={min=1}", "No question is in corpus.sea. Known: all, corpus.coast"),
        (
            "[all]\ncalibration_error = { max_drop = 0 }",
            "of all questions together, so no two runs",
        ),
        ("[all]\ncoverage_at_90 = { significant = true }", "give min or max"),
        ("[all]\nrecall = { max_drop = 0 }", "recall is held to another run: name it, --against"),
    ],
)
def test_rules_that_are_not_about_a_run_are_errors(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SourceError) as raised:
        held(tmp_path, text, GOOD)
    assert problem in str(raised.value)


def test_a_figure_without_a_better_side_fails_if_it_is_another(tmp_path: Path) -> None:
    text = "[all]\nkept_imbalance = { significant = true }"

    def with_imbalance(value: float) -> EvalRun:
        scored = tuple(replace(one, figures={"kept_imbalance": value}) for one in GOOD.scored)
        return replace(GOOD, scored=scored)

    even, uneven = with_imbalance(1.0), with_imbalance(0.2)
    assert failed(held(tmp_path, text, even, even)) == []
    for run, before in ((even, uneven), (uneven, even)):
        assert failed(held(tmp_path, text, run, before)) == [
            ("all", "kept_imbalance", "significant")
        ]


def test_a_run_of_fewer_questions_than_its_baseline_fails(tmp_path: Path) -> None:
    text = "[all]\nrecall = { max_drop = 0 }"
    before = made_run(bad=IDS[10:])
    easy = made_run(labels=LABELS[:10])  # what became worse could be what was left out
    (check,) = held(tmp_path, text, easy, before).failed
    assert (check.figure, check.value, check.questions) == ("questions", 10, 10)
    assert check.needed.startswith("all 24 questions of the baseline")
    allowed = gate(easy, rules(tmp_path, text), baseline_of(before), allow_fewer=True)
    assert failed(allowed) == []
    other = replace(LABELS[3], question="Who painted the pier?")
    reworded = made_run(labels=[*LABELS[:3], other, *LABELS[4:]])
    assert failed(held(tmp_path, text, reworded, before)) == [("all", "questions", "questions")]
    assert failed(held(tmp_path, text, before, easy)) == []  # more questions are no fault


def test_a_baseline_is_one_small_file_with_the_figures_of_each_question(tmp_path: Path) -> None:
    run, path = made_run(bad=IDS[:2]), tmp_path / "baseline.json"
    write_baseline(run, path)
    read = read_baseline(path)
    assert read.spec == run.spec
    assert list(read.figures) == IDS
    for id_, one in run_figures(run).items():
        expected = {name: value for name, value in one.figures.items() if name != "seconds"}
        assert read.figures[id_].figures == pytest.approx(expected)
        assert read.figures[id_].digest == one.digest
    assert sum(line.startswith('"q') for line in path.read_text().splitlines()) == 1 + len(IDS)
    first = path.read_bytes()
    write_baseline(slower(run, 1), path)
    assert path.read_bytes() == first


def test_a_baseline_takes_the_place_of_a_baseline_and_of_no_other_file(tmp_path: Path) -> None:
    file, other = tmp_path / "baseline.json", tmp_path / "rules.toml"
    other.write_text("[all]\n")
    for _ in range(2):
        write_baseline(GOOD, file)
    with pytest.raises(SourceError, match="is there and no baseline, so it stays"):
        write_baseline(GOOD, other)
    assert other.read_text() == "[all]\n"


def test_a_run_is_held_to_a_baseline_as_to_the_run_it_was_written_of(tmp_path: Path) -> None:
    # eleven recalls fall by a third, one rises by one, and one by two
    changes = {f"q{n}": (2, 1) for n in range(11)} | {"q11": (0, 1), "q12": (0, 2)}

    def of(side: int) -> EvalRun:
        recalls = {id_: changes.get(id_, (3, 3))[side] / 3 for id_ in IDS}
        scored = (replace(one, figures={"recall": recalls[one.label.id]}) for one in GOOD.scored)
        return replace(GOOD, scored=tuple(scored))

    text, path = "[all]\nrecall={max_drop=0.2, significant=true}", tmp_path / "baseline.json"
    write_baseline(of(0), path)
    of_run, of_file = (
        gate(of(1), rules(tmp_path, text), before).checks
        for before in (baseline_of(of(0)), read_baseline(path))
    )
    assert of_run == of_file
    # of the 2^12 signs of the thirds, 9 heads and more or 1 and fewer go as far as 8 with the two
    p = (220 + 66 + 12 + 1 + 12 + 1) / 2**12
    assert (of_file[-1].p, of_file[-1].passed) == (pytest.approx(p), True)


def test_estimates_are_not_held_to_a_judges_figures(tmp_path: Path) -> None:
    judged, path = by_a_judge(made_run(bad=IDS[:9])), tmp_path / "baseline.json"
    text = "[all]\nfaithfulness={max_drop=0}\nrecall={significant=true}"
    write_baseline(judged, path, only=rules(tmp_path, text).compared)
    q20 = read_baseline(path).figures["q20"]
    assert (q20.figures, q20.sources) == (
        {"faithfulness": 0, "recall": 1},
        {"faithfulness": "judge"},
    )
    for before in (baseline_of(judged), read_baseline(path)):
        result = gate(GOOD, rules(tmp_path, text), before)
        assert failed(result) == [("all", "faithfulness", "max_drop")]
        assert result.failed[0].needed == "a question with this figure in both"
        assert result.gaps == (
            "faithfulness of 15 questions is left out: a judge gave it in one run, and shared "
            "words in the other.",
        )
        assert {change.name: (change.a, change.b) for change in result.basis} == {
            "figures by": ("mixed", "heuristic"),
            "judge": ("mistral large, 3 votes", "none"),
        }
        assert gate(judged, rules(tmp_path, text), before).failed == []


def test_the_rules_of_the_documentation_can_be_read(tmp_path: Path) -> None:
    pages = "".join(path.read_text() for path in sorted((ROOT / "docs").glob("evaluation*.md")))
    view = re.findall(r"```toml\n(.*?)```", pages, re.DOTALL)
    read = [rules(tmp_path, text) for text in view if "[all]" in text]
    assert read
    assert all(is_known(rule.figure) for one in read for rule in one.rules)


def test_a_slice_and_all_questions_together_have_rules_of_their_own(tmp_path: Path) -> None:
    text = "[corpus.coast]\nrecall={min=1}\n[category.paraphrase]\nrecall={min=1}"
    assert failed(held(tmp_path, text, made_run(bad=["q21"]))) == [
        ("corpus.coast", "recall", "min"),
        ("category.paraphrase", "recall", "min"),
    ]
    assert failed(held(tmp_path, text, made_run(bad=["q0"]))) == []
    text = "[all]\nprecision_coverage = { min = 0.99 }\ncoverage_at_90 = { max = 0.5 }"
    result = held(tmp_path, text, GOOD)
    assert failed(result) == [("all", "coverage_at_90", "max")]
    assert {check.questions for check in result.checks} == {24}


def test_a_run_that_cannot_be_held_is_an_error(tmp_path: Path) -> None:
    text = "[all]\nrecall={min=1}"
    half = replace(made_run(labels=LABELS[:5]), spec=spec())
    with pytest.raises(SourceError, match="before has figures of 5 of its 24 questions"):
        held(tmp_path, text, half)
    first, *others = GOOD.scored
    lacking = replace(GOOD, scored=(replace(first, lacking="The model is away."), *others))
    with pytest.raises(SourceError, match=r"1 questions .* lack figures \(The model is away"):
        held(tmp_path, text, lacking)
    odd = replace(GOOD, scored=tuple(replace(one, figures={"own": 1.0}) for one in GOOD.scored))
    assert failed(held(tmp_path, "[all]\nown = { min = 1 }", odd)) == []
    with pytest.raises(SourceError, match="own is neither better high nor low"):
        held(tmp_path, "[all]\nown = { max_drop = 0 }", odd, odd)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        *(
            (lambda _, text=text: text, "is no baseline of an evaluation")
            for text in ("", "{}", "[1]", '{"form": 4}', '{"form": 3, "spec": {}, "figures": []}')
        ),
        (
            lambda text: text.replace('"form": 3', '"form": 2'),
            r"form 2 .* write it anew with `atlas eval baseline`",
        ),
        (
            lambda text: re.sub(r'("q5": \[[^\]]*\[.*?), [^,\]]+\]', r"\1]", text),
            r"q5 has \d+ of \d+ figures",
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_told(
    tmp_path: Path, change: Callable[[str], str], problem: str
) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(GOOD, path)
    path.write_text(change(path.read_text()))
    with pytest.raises(SourceError, match=problem):
        read_baseline(path)


@pytest.fixture
def gated(tmp_path: Path, evaluation: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """`atlas eval` where there are the runs `before` and `after`, and rules."""
    monkeypatch.chdir(tmp_path)
    for run in (GOOD, made_run("after", bad=IDS[:9], options={"weight_bm25": 0})):
        kept(run, tmp_path / "evaluations")
    (tmp_path / "rules.toml").write_text("[all]\nrecall = { significant = true }\n")
    return evaluation


RULES = ("--rules", "rules.toml")


def test_the_exit_code_says_whether_a_run_passed(gated: Command) -> None:
    assert gated("baseline", "before", "kept.json", *RULES)[0] == 0
    status, printed, _ = gated("gate", "before", "--against", "kept.json", *RULES)
    assert (status, "None of 2 checks failed." in printed) == (0, True)
    status, printed, _ = gated("gate", "after", "--against", "kept.json", *RULES)
    assert status == 1
    assert all(text in printed for text in ("Option weight_bm25: 0.6 → 0", "0.0039", "FAILED"))
    status, printed, _ = gated("gate", "after", "--against", "before", *RULES)
    assert (status, "failed   max" in printed) == (1, False)
    assert "passed" in gated("gate", "after", "--against", "before", *RULES, "--all")[1]
    status, printed, _ = gated("gate", "after", "--against", "before", *RULES, "--json")
    document = json.loads(printed)
    assert (status, document["passed"], document["gaps"]) == (1, False, [])
    assert [check["figure"] for check in document["checks"]] == ["failed", "recall"]
    assert document["questions_in_common"] == 24
    assert document["left_out"] == {"only_a": 0, "only_b": 0, "reworded": 0}
    assert {"name": "weight_bm25", "a": 0.6, "b": 0} in document["options"]
    assert document["basis"] == [{"name": "passages wanted", "a": 10, "b": "(not there)"}]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("before", "--rules", "none.toml"), "none.toml cannot be read"),
        (("before", *RULES), "--against RUN"),
        (("none", *RULES), "There is no run 'none'"),
        (("before", "--against", "no", *RULES), "There is no run 'no'"),
        (("before", "--against", "rules.toml", *RULES), "no baseline"),
    ],
)
def test_what_cannot_be_read_has_an_exit_code_of_its_own(
    gated: Command, arguments: tuple[str, ...], problem: str
) -> None:
    status, _, message = gated("gate", *arguments)
    assert (status, problem in message) == (2, True)
