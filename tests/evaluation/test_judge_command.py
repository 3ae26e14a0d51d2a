"""`atlas eval judge` as it is typed, with a model on a local server."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from atlas_search.evaluation.carry_out import ProcessSubject, carry_out
from atlas_search.evaluation.folder import JUDGE, JUDGEMENTS, SCORES, RunFolder
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.people import Rating, Ratings
from tests.chat_server import KEY
from tests.evaluation.farm import LABELS, Away, Command, answer_all, new_run
from tests.evaluation.judging import GOOD, Script, mark
from tests.mistral_server import mistral_server
from tests.openai_server import MODEL, OpenAIServer
from tests.replies import reply


@pytest.fixture
def run(subject: ProcessSubject, tmp_path: Path) -> RunFolder:
    """A run that is finished, with estimates: every question has a right answer."""
    folder = new_run(tmp_path / "evaluations" / "run", subject)
    answer_all(folder)
    assert carry_out(folder, subject).complete  # nothing is left to ask
    return folder


@pytest.fixture
def command(evaluation: Command) -> Command:
    return lambda *arguments: evaluation("judge", *arguments)


@pytest.fixture
def openai(server: OpenAIServer, script: Script, monkeypatch: pytest.MonkeyPatch) -> OpenAIServer:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.address)
    return server


QUESTIONS = len(LABELS)
OPENAI = ("--judge-provider", "openai")
ONE = (*OPENAI, "--judge-votes", "1")
METRICS = {
    "context_precision",
    "context_recall",
    "faithfulness",
    "answer_relevancy",
    "answer_correctness",
}


def test_a_finished_run_is_judged_and_a_second_time_asks_nothing(
    command: Command, run: RunFolder, openai: OpenAIServer
) -> None:
    before = run.load()
    assert before.metrics_source == "heuristic"
    status, printed, message = command("run", *OPENAI, "--json")
    assert status == 0, message
    report = json.loads(printed)
    assert (report["provider"], report["model"]) == ("openai", MODEL)
    assert report["server"] == openai.address
    assert report["metrics_source"] == "judge"
    assert set(report["sources"]) == METRICS
    assert report["calls"] == len(openai.requests) > QUESTIONS
    assert f"metrics_source: judge, by openai/{MODEL}." in message
    assert "cost unknown" in message

    after = run.load()
    assert after.metrics_source == "judge"
    assert after.spec == before.spec
    assert [one.reply for one in after.scored] == [one.reply for one in before.scored]
    assert {one.figures["recall"] for one in after.scored} == {1}
    assert json.loads((run.path / JUDGE).read_text()) == report
    judgements = [json.loads(line) for line in (run.path / JUDGEMENTS).read_text().splitlines()]
    assert {one["metric"] for one in judgements} == METRICS
    assert {one["label_id"] for one in judgements} == {f"q{n}" for n in range(1, QUESTIONS + 1)}

    arguments, scores = len(openai.requests), (run.path / SCORES).read_text()
    status, printed, _ = command(run.path, *OPENAI, "--json")
    assert (status, len(openai.requests), (run.path / SCORES).read_text()) == (0, arguments, scores)
    assert json.loads(printed)["calls"] == 0


def test_the_model_of_a_target_judges(
    command: Command, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mistral_server() as server:
        Script(server, **GOOD)
        monkeypatch.setenv("MISTRAL_API_KEY", KEY)
        monkeypatch.setenv("MISTRAL_SERVER_URL", server.address)
        monkeypatch.setenv("MISTRAL_REQUESTS_PER_MINUTE", "6000")
        status, printed, message = command(
            "run", "--judge-target", "k5_mistral", "--judge-votes", "1"
        )
    assert status == 0, message
    assert "metrics_source: judge, by mistral/mistral" in message
    assert {"Figure", "faithfulness", "answer_correctness"} <= set(printed.split())


def test_a_limit_is_kept_and_told(
    command: Command, run: RunFolder, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, _, message = command("run", *OPENAI, "--max-cost", "0.01")
    assert status == 1
    assert "LLM_PRICE_INPUT" in message
    assert not openai.requests
    monkeypatch.setenv("LLM_PRICE_INPUT", "1")
    monkeypatch.setenv("LLM_PRICE_OUTPUT", "10")
    status, _, message = command("run", *OPENAI, "--max-cost", "0.01")
    assert status == 0, message
    assert "metrics_source: mixed" in message
    assert "figures are estimates: The judge stopped at the limit of --max-cost." in message
    assert run.load().metrics_source == "mixed"
    assert 0 < json.loads((run.path / JUDGE).read_text())["cost"] <= 0.01


def test_a_run_of_which_no_figure_is_the_judges_is_not_judged(
    command: Command, subject: ProcessSubject, tmp_path: Path
) -> None:
    folder = new_run(tmp_path / "evaluations" / "declined", subject)
    for label in LABELS:
        folder.add(reply("ABSTAIN", label_id=label.id, question=label.question))
    assert carry_out(folder, subject).complete
    status, printed, message = command("declined", *ONE)
    assert status == 1
    assert "metrics_source: heuristic" in message
    assert "Fixed" in printed
    assert folder.load().metrics_source == "heuristic"


def test_without_a_key_all_stays_estimated_and_the_command_fails(
    command: Command, run: RunFolder
) -> None:
    figures = [dict(one.figures) for one in run.load().scored]
    status, _, message = command("run", *OPENAI)
    assert status == 1
    assert "metrics_source: heuristic" in message
    assert "OPENAI_API_KEY" in message
    assert [dict(one.figures) for one in run.load().scored] == figures


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run",), "has no language model that could judge"),
        (("run", "--judge-target", "nobody"), "There is no target nobody."),
        (("run", *OPENAI, "--judge-votes", "2"), "odd number"),
        (("elsewhere", *OPENAI), "There is no run 'elsewhere'"),
        (("run", "--judge-provider", "nobody"), "nobody"),
    ],
)
def test_who_cannot_judge_is_told_and_nothing_changes(
    command: Command, run: RunFolder, arguments: tuple[str, ...], message: str
) -> None:
    before = (run.path / SCORES).read_bytes()
    status, _, text = command(*arguments)
    assert status == 1
    assert message in text
    assert (run.path / SCORES).read_bytes() == before
    assert not (run.path / JUDGE).exists()


def test_a_run_that_goes_on_is_estimated_again(
    command: Command, run: RunFolder, openai: OpenAIServer, subject: ProcessSubject
) -> None:
    assert command("run", *OPENAI)[0] == 0
    label = LABELS[0]
    run.add(Reply(label_id=label.id, seconds=1.0, error="The server is busy."))
    assert carry_out(run, subject).complete  # the failed question is asked again
    assert run.load().metrics_source == "heuristic"
    assert not (run.path / JUDGE).exists()


@pytest.mark.thorough
def test_a_judged_run_that_lacks_nothing_keeps_its_judge(
    command: Command,
    evaluation: Command,
    run: RunFolder,
    openai: OpenAIServer,
    subject: ProcessSubject,
) -> None:
    assert command("run", *OPENAI)[0] == 0
    kept = {name: (run.path / name).read_bytes() for name in (SCORES, JUDGE, JUDGEMENTS)}
    judged = run.load()
    assert carry_out(run, subject).run == judged
    assert evaluation("--resume", run.path, "--audit-index")[0] == 0
    assert {name: (run.path / name).read_bytes() for name in kept} == kept
    assert run.load().metrics_source == "judge"
    assert run.load().spec.index_recall


def test_figures_that_need_an_embedding_model_that_is_away_stay_estimates(
    command: Command, run: RunFolder, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas_search.cli.evaluate_judge.open_embedder", lambda _: Away())
    before = run.load()
    status, printed, message = command("run", *OPENAI, "--json")
    assert status == 0, message
    report = json.loads(printed)
    assert report["metrics_source"] == "mixed"
    assert report["sources"]["answer_relevancy"] == {"heuristic": QUESTIONS}
    assert report["sources"]["faithfulness"] == {"judge": QUESTIONS}
    assert "figures are estimates: The embedding model is away." in message
    for one, was in zip(run.load().scored, before.scored, strict=True):
        assert one.figures["answer_relevancy"] == was.figures["answer_relevancy"]


def test_the_agreement_with_ratings_of_the_run_is_told(
    command: Command, run: RunFolder, openai: OpenAIServer
) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    ratings = Ratings(run.path)
    ratings.begin(ratings.scales())
    for number, one in enumerate(run.load().scored):
        scores = {"accuracy": 4 if number else 1, "relevance": 3}
        ratings.add(Rating(rater="ann", label_id=one.label.id, scores=scores, at=at))
    Script(openai, **GOOD).say("mark", *[mark(2)] * 3, mark(9))
    status, _, message = command("run", *OPENAI, "--parallel", "1")
    assert status == 0
    # the judge says no to the first alone, as the rater does
    report = "With people's accuracy (answer_correctness): kappa 1.000, 100.0% of 6 ratings agree."
    assert report in message
    assert "relevance" not in message


def test_who_logs_in_is_not_told(
    command: Command, run: RunFolder, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", openai.address.replace("//", "//ann:secret@"))
    _, printed, _ = command("run", *ONE, "--json")
    assert json.loads(printed)["server"] == openai.address


def test_a_judge_beside_a_broken_report_asks_as_much_at_once_as_it_may(
    command: Command, run: RunFolder, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_CONCURRENCY", "1")
    monkeypatch.setenv("LLM_QUEUE_SECONDS", "0.01")
    (run.path / "report.md").mkdir()
    status, printed, message = command("run", *ONE, "--parallel", "8", "--json")
    assert (status, json.loads(printed)["notes"]) == (1, {}), message
    assert json.loads(printed)["server"] == openai.address
    assert "metrics_source: judge" in message
    assert "Not written whole: report.md" in message
