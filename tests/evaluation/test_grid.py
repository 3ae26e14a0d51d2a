"""`atlas eval grid`: many configurations, two models of a local server, one table."""

import csv
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.core.errors import RequestError, UnwritableFolder
from atlas_search.core.targets import Target, load_target
from atlas_search.evaluation.carry_out import (
    RunOutcome,
    Subject,
    missing,
)
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.grid import (
    Axes,
    Configuration,
    configurations,
    target_file,
    write_targets,
)
from atlas_search.evaluation.run import EvalRun, score_all
from atlas_search.evaluation.scored import Scored
from tests.chat_server import KEY, Reply, Request, Told, said
from tests.evaluation.farm import (
    LABELS,
    Command,
    write_labels,
)
from tests.evaluation.judging import GOOD, Script, is_of_judge
from tests.openai_server import RUN_MODEL, OpenAIServer


@pytest.fixture
def server(server: OpenAIServer) -> OpenAIServer:
    server.says(written)
    return server


@pytest.fixture
def evaluation(
    evaluation: Command, server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    (tmp_path / "targets").mkdir()
    (tmp_path / "targets" / "mine.txt").write_text(
        "LLM_PROVIDER=openai\nLLM_FALLBACK=extractive\nANSWER_THRESHOLD=0\nLLM_PRICE_OUTPUT=1000\n"
    )
    monkeypatch.setenv("TARGETS_DIRECTORY", str(tmp_path / "targets"))
    monkeypatch.setenv("TEST_TARGET", "mine")
    monkeypatch.setenv("OPENAI_BASE_URL", server.address)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return evaluation


SMALL, LARGE = "gpt-4o-mini", "gpt-4o"
TOKEN = re.compile(r"^(\[\d+\]) (\w+) give", re.MULTILINE)


def written(request: Request) -> str:
    """The larger model says what the best passage does, the smaller one less."""
    ((token, animal), *_) = TOKEN.findall(request.prompt)
    what = re.search(rf"{animal} give (\w+)", request.prompt, re.IGNORECASE)
    assert what
    inputs = what[1] if request.body["model"] == LARGE else "plenty"
    return f"{animal.title()} give {inputs} {token}."


def test_k_by_model_by_split_is_one_command_and_one_table(
    evaluation: Command, server: OpenAIServer, labels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "grid"
    axes = ("--split", "dev,test", "--k", "3,5,8", "--model", f"{LARGE},{SMALL}")
    status, printed, message = evaluation("grid", "--labels", labels, *axes, "--out", out)
    assert status == 0, message
    blocks = re.split(r"^ *(dev|test) *\n", printed, flags=re.MULTILINE)[1:]
    assert blocks[0::2] == ["dev", "test"]
    for split, block in zip(blocks[0::2], blocks[1::2], strict=True):
        head, *lines_ = [line.split() for line in block.splitlines()]
        rows, below = lines_[0::2], lines_[1::2]  # figures, and below each its interval
        assert all(re.fullmatch(r"-?[\d.]+--?[\d.]+", cell) for row in below for cell in row)
        assert {len(row) for row in below} == {10}  # all but k, model and n
        assert head[:9] == "k model n F1 Sem SentG Gnd Recall@k MRR".split()
        assert [row[:2] for row in rows] == [[k, m] for k in "358" for m in (LARGE, SMALL)]
        assert {row[2] for row in rows} == {{"dev": "2", "test": "4"}[split]}
        # "Sheep give wool" for "wool": precision 1/3, coverage 1
        assert [row[3] for row in rows] == [f"{2 * (1 / 3) / (1 / 3 + 1):.2f}", "0.00"] * 3
        assert {tuple(row[5:9]) for row in rows} == {("1.00",) * 4}
        # 7 tokens an answer at 1000 a million
        assert {row[-1] for row in rows} == {f"{100 * 7 * 1000 / 1e6:.2f}"}
    assert len(server.requests) == len(LABELS) * 3 * 2
    assert (out / "grid.md").read_text().count(f"| {LARGE} |") == 6
    assert "| 1.00 [1.00, 1.00] |" in (out / "grid.md").read_text()
    with (out / "grid.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 12
    assert {(line["split"], line["k"], line["model"]) for line in lines} == {
        (split, k, model) for split in ("dev", "test") for k in "358" for model in (LARGE, SMALL)
    }
    for name in ("F1", "p50 s", "p95 s", "tokens_per_second", "cost_per_100"):
        for line in lines:
            assert float(line[f"{name} low"]) <= float(line[name]) <= float(line[f"{name} high"])
    assert all((out / line["run"] / "scores.jsonl").is_file() for line in lines)


def test_the_runs_of_a_grid_can_end_with_their_judge(
    evaluation: Command, server: OpenAIServer, labels: Path, tmp_path: Path
) -> None:
    out, script = tmp_path / "grid", Script(server, **GOOD)
    judged = script.answer

    def both(request: Request) -> Told:
        return judged(request) if is_of_judge(request) else said(written(request))

    server.says(both)
    axes = ("--k", "2", "--reranker", "fused,lexical")  # GOOD has verdicts on two passages
    arguments = ("--labels", labels, "--split", "dev", *axes, "--out", out)
    status, _, report = evaluation("grid", *arguments, "--judge", "--judge-provider", "openai")
    assert status == 0, report
    assert report.count("metrics_source: judge, by openai/") == 2
    for reranker in ("fused", "lexical"):
        assert RunFolder(out / f"mine_k2_{reranker}-dev").load().metrics_source == "judge"
    assert "judge" in (out / "report.md").read_text()
    refused = evaluation("grid", *arguments[:-1], tmp_path / "other", "--judge-model", "m")
    assert "Without --judge, --judge-model" in refused[2]


def interrupted(folder: RunFolder, subject: Subject, **_: object) -> RunOutcome:
    """A run that Ctrl-C ends before anything is asked."""
    scored = score_all(folder.labels(), folder.replies().values(), subject.tools(None))
    return RunOutcome(EvalRun(folder.spec(), tuple(scored)), len(missing(folder)), stopped=True)


def test_a_grid_that_cannot_begin_leaves_nothing(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "grid"
    foreign = replace(LABELS[0], gold_document_ids=frozenset({"sea.whale"}))
    others = write_labels(tmp_path / "foreign.jsonl", [foreign])
    before = {path.name for path in tmp_path.iterdir()}
    arguments = ("--search-only", "--split", "dev", "--out", out)
    status, _, message = evaluation("grid", "--labels", others, "--split", "all", "--out", out)
    assert (status, "are not for this collection" in message) == (1, True)
    assert {path.name for path in tmp_path.iterdir()} == before
    out.mkdir()  # an empty one may be there
    assert evaluation("grid", "--labels", labels, "--k", "3", *arguments)[0] == 0
    assert {path.name for path in (out / "targets").iterdir()} == {"mine_k3.txt"}
    assert "holds" in evaluation("grid", "--labels", labels, "--out", tmp_path)[2]


@pytest.mark.thorough
def test_a_grid_goes_on_with_what_it_lacks(
    evaluation: Command,
    server: OpenAIServer,
    labels: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "grid"
    arguments = ("--labels", labels, "--split", "all", "--k", "3,5", "--out", out)
    assert evaluation("grid", *arguments)[0] == 0
    whole = (out / "grid.md").read_text()
    replies = out / "mine_k5-all" / "replies.jsonl"
    replies.write_text("".join(replies.read_text().splitlines(keepends=True)[:4]))
    server.requests.clear()
    status, printed, _ = evaluation("grid", "--resume", out, "--json")
    assert status == 0
    assert len(server.requests) == 2
    assert [row["questions"] for row in json.loads(printed)] == [6, 6]
    assert [line.split("|")[1:9] for line in (out / "grid.md").read_text().splitlines()] == [
        line.split("|")[1:9] for line in whole.splitlines()
    ]
    replies = out / "mine_k3-all" / "replies.jsonl"
    replies.write_text("".join(replies.read_text().splitlines(keepends=True)[:4]))
    with monkeypatch.context() as patched:
        patched.setattr("atlas_search.evaluation.grid.carry_out", interrupted)
        assert evaluation("grid", "--resume", out)[0] == 130
    assert [line.split("|")[1:4] for line in (out / "grid.md").read_text().splitlines()[4:]] == [
        [" 3 ", f" {RUN_MODEL} ", " 4 of 6 "],
        [" 5 ", f" {RUN_MODEL} ", " 6 "],
    ]
    assert "holds a grid already" in evaluation("grid", *arguments)[2]
    assert "--k says what is asked" in evaluation("grid", "--resume", out, "--k", "3")[2]


def test_each_configuration_is_a_target_that_can_be_asked_again(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "grid"
    axes = ("--k", "3", "--reranker", "fused,lexical", "--balance", "quota")
    status, printed, message = evaluation(
        "grid", "--labels", labels, "--split", "dev", *axes, "--search-only", "--out", out
    )
    assert status == 0, message
    assert printed.splitlines()[1].split()[:3] == ["k", "model", "reranker"]
    target = load_target(out / "targets", "mine_k3_lexical_quota", {})
    assert (target.search_k, target.reranker, target.balance) == (3, "lexical", "quota")
    assert target.llm_price_output == 1000
    run = json.loads((out / "mine_k3_lexical_quota-dev" / "run.json").read_text())
    assert Target.model_validate(run["options"]) == target
    assert run["command"].startswith(f"atlas eval grid --labels {labels} --split dev")


def test_what_the_language_model_must_do_and_does_not_is_an_error(
    evaluation: Command, server: OpenAIServer, labels: Path, tmp_path: Path
) -> None:
    arguments = ("--labels", labels, "--split", "dev", "--require-llm")
    assert evaluation(*arguments, "--out", tmp_path / "good")[0] == 0
    refusing = Reply(400, {"error": {"message": "not today"}})
    server.says(lambda _: refusing)
    status, printed, message = evaluation(*arguments, "--out", tmp_path / "refused")
    assert status == 1
    assert "2 answers are not the language model's" in message
    assert "mine, dev split" in printed  # the report is there all the same
    server.key, before = "another", len(server.requests)
    status, _, message = evaluation(*arguments, "--out", tmp_path / "nothing")
    assert (status, len(server.requests)) == (1, before)
    assert "The language model of mine cannot be used" in message
    assert not (tmp_path / "nothing").exists()


def test_the_model_of_a_row_is_the_one_that_wrote(
    evaluation: Command, server: OpenAIServer, labels: Path
) -> None:
    def models(*axes: str) -> list[str]:
        printed = evaluation("grid", "--labels", labels, "--split", "test", *axes, "--json")[1]
        return [row["model"] for row in json.loads(printed)]

    assert models() == [RUN_MODEL]  # that of the provider: the target names none
    assert models("--search-only") == ["openai"]  # nobody wrote
    refusing = Reply(400, {"error": {"message": "not today"}})
    server.says(lambda _: refusing)
    assert models("--model", LARGE) == [f"extractive, not {LARGE}"]
    assert models() == ["extractive"]
    server.then(refusing, refusing)
    server.says(written)
    assert models("--model", LARGE) == [f"{LARGE} (3), extractive (1)"]


def test_a_target_without_a_model_has_none_to_require_or_to_choose(
    evaluation: Command, labels: Path, tmp_path: Path
) -> None:
    (tmp_path / "targets" / "quotes.txt").write_text("LLM_PROVIDER=extractive\n")
    arguments = ("--labels", labels, "--split", "dev", "--target", "quotes")
    assert "sources' own sentences" in evaluation(*arguments, "--require-llm")[2]
    assert "gpt-4o would not be asked" in evaluation("grid", *arguments, "--model", "gpt-4o")[2]
    assert "Leave out one" in evaluation(*arguments, "--require-llm", "--search-only")[2]


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (Axes(["c"]), "no target c. Known targets: a"),
        (Axes(["a"], k=[0]), "search_k=0"),
        (Axes(["a"], balances=["fair"]), "balance='fair'"),
        (Axes(["a"], models=["m/1", "m:1"]), "would have the same name: a_m-1"),
    ],
)
def test_what_cannot_be_combined_is_told(axes: Axes, message: str) -> None:
    with pytest.raises(RequestError, match=re.escape(message)):
        configurations(axes, {"a": Target(llm_provider="openai")})


def test_a_target_is_read_as_it_was_written(tmp_path: Path) -> None:
    target = Target(
        llm_model='it\'s a \\ #1 "model"',
        fuzzy=True,
        answer_threshold=0.25,
        content_type_caps="pdf:1,html:3",
        system_prompt="mine",
    )
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "mine.prompt").write_text("Be brief.")
    write_targets(tmp_path / "targets", {"t": target}, prompts)
    assert load_target(tmp_path / "targets", "t", {}) == target
    assert (tmp_path / "targets" / "mine.prompt").read_text() == "Be brief."
    assert "ANSWER_LIKELIHOOD" not in target_file(target)
    assert Configuration(target="t").of(target) == target


def test_a_run_of_a_grid_that_fails_costs_no_other(
    evaluation: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = RunFolder.finish

    def full(folder: RunFolder, scored: Iterable[Scored]) -> None:
        if "k2" in folder.path.name:
            raise UnwritableFolder("The disk is full.")
        real(folder, scored)

    monkeypatch.setattr(RunFolder, "finish", full)
    out = tmp_path / "grid"
    arguments = ("--labels", write_labels(tmp_path / "labels.jsonl"), "--search-only", "--k", "2,3")
    status, printed, message = evaluation("grid", *arguments, "--out", out, "--json")
    assert status == 1
    assert [row["questions"] for row in json.loads(printed)] == [0, 4]
    assert "It ended early: The disk is full." in message
    assert [run["troubles"] for run in json.loads((out / "results.json").read_text())["runs"]] == [
        ["The run ended early: The disk is full."],
        [],
    ]
    monkeypatch.setattr(RunFolder, "finish", real)
    status, printed, _ = evaluation("grid", "--resume", out, "--json")
    assert status == 0
    assert [row["questions"] for row in json.loads(printed)] == [4, 4]
