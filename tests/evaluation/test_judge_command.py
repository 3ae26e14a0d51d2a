"""`atlas eval judge` as it is typed, with a model on a local server."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from atlas_search.cli.evaluate_judge import rated_votes, vote_of
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.carry_out import ProcessSubject, carry_out
from atlas_search.evaluation.folder import JUDGE, JUDGEMENTS, SCORES, RunFolder
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.people import Rating as PersonRating
from atlas_search.evaluation.people import Ratings
from atlas_search.server.feedback.delivery import open_store
from atlas_search.server.feedback.store import AnswerRating, RatedAnswer, Vote
from tests.chat_server import KEY
from tests.evaluation.away import Away
from tests.evaluation.commands import Command, command_runner
from tests.evaluation.farm import LABELS, answer_all, begun, build_farm, opened_farm
from tests.evaluation.judging import GOOD, Script, mark
from tests.hash_embedder import HashEmbedder
from tests.mistral_server import mistral_server
from tests.openai_server import MODEL, OpenAIServer, openai_server
from tests.replies import reply

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


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_farm(tmp_path_factory.mktemp("judge") / "stores").parent


@pytest.fixture(scope="module")
def subject(stores: Path) -> Iterator[ProcessSubject]:
    with opened_farm(stores / "farm") as opened:
        yield opened


@pytest.fixture
def run(subject: ProcessSubject, tmp_path: Path) -> RunFolder:
    """A run that is finished, with estimates: every question has a right answer."""
    folder = begun(tmp_path / "evaluations" / "run", subject)
    answer_all(folder)
    assert carry_out(folder, subject).complete  # nothing is left to ask
    return folder


@pytest.fixture
def command(
    stores: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    monkeypatch.setenv("ATLAS_EVALUATION_DIRECTORY", str(tmp_path / "evaluations"))
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    typed = command_runner(stores, capsys, monkeypatch)
    return lambda *arguments: typed("judge", *arguments)


@pytest.fixture
def evaluation(
    stores: Path,
    command: Command,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    """`atlas eval` in the same surroundings, with hashes for vectors."""
    monkeypatch.setattr("atlas_search.services.open_embedder", lambda _: HashEmbedder())
    return command_runner(stores, capsys, monkeypatch)


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with openai_server() as running:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", running.address)
        Script(running, **GOOD)
        yield running


def test_a_finished_run_is_judged_and_a_second_time_asks_nothing(
    command: Command, run: RunFolder, openai: OpenAIServer
) -> None:
    before = run.load()
    assert before.metrics_source == "heuristic"
    status, printed, said = command("run", *OPENAI, "--json")
    assert status == 0, said
    report = json.loads(printed)
    assert (report["provider"], report["model"]) == ("openai", MODEL)
    assert report["server"] == openai.address
    assert report["metrics_source"] == "judge"
    assert set(report["sources"]) == METRICS
    assert report["calls"] == len(openai.requests) > QUESTIONS
    assert f"metrics_source: judge, by openai/{MODEL}." in said
    assert "cost unknown" in said

    after = run.load()
    assert after.metrics_source == "judge"
    assert after.spec == before.spec
    assert [one.reply for one in after.scored] == [one.reply for one in before.scored]
    assert {one.figures["recall"] for one in after.scored} == {1}
    assert json.loads((run.path / JUDGE).read_text()) == report
    judgements = [json.loads(line) for line in (run.path / JUDGEMENTS).read_text().splitlines()]
    assert {one["metric"] for one in judgements} == METRICS
    assert {one["label_id"] for one in judgements} == {f"q{n}" for n in range(1, QUESTIONS + 1)}

    asked, scores = len(openai.requests), (run.path / SCORES).read_text()
    status, printed, _ = command(run.path, *OPENAI, "--json")
    assert (status, len(openai.requests), (run.path / SCORES).read_text()) == (0, asked, scores)
    assert json.loads(printed)["calls"] == 0


def test_the_model_of_a_target_judges(
    command: Command, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mistral_server() as server:
        Script(server, **GOOD)
        monkeypatch.setenv("MISTRAL_API_KEY", KEY)
        monkeypatch.setenv("MISTRAL_SERVER_URL", server.address)
        monkeypatch.setenv("MISTRAL_REQUESTS_PER_MINUTE", "6000")
        status, printed, said = command("run", "--judge-target", "k5_mistral", "--judge-votes", "1")
    assert status == 0, said
    assert "metrics_source: judge, by mistral/mistral" in said
    assert {"Figure", "faithfulness", "answer_correctness"} <= set(printed.split())


def test_a_limit_is_kept_and_told(
    command: Command, run: RunFolder, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, _, said = command("run", *OPENAI, "--max-cost", "0.01")
    assert status == 1
    assert "LLM_PRICE_INPUT" in said
    assert not openai.requests
    monkeypatch.setenv("LLM_PRICE_INPUT", "1")
    monkeypatch.setenv("LLM_PRICE_OUTPUT", "10")
    status, _, said = command("run", *OPENAI, "--max-cost", "0.01")
    assert status == 0, said
    assert "metrics_source: mixed" in said
    assert "figures are estimates: The judge stopped at the limit of --max-cost." in said
    assert run.load().metrics_source == "mixed"
    assert 0 < json.loads((run.path / JUDGE).read_text())["cost"] <= 0.01


def test_who_logs_in_is_not_told(
    command: Command, run: RunFolder, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = openai.address.replace("//", "//ann:secret@")
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    _, printed, _ = command("run", *ONE, "--json")
    assert json.loads(printed)["server"] == openai.address


def test_no_more_questions_are_judged_at_once_than_calls_may_run(
    command: Command, run: RunFolder, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_CONCURRENCY", "1")
    monkeypatch.setenv("LLM_QUEUE_SECONDS", "0.01")
    status, printed, said = command("run", *ONE, "--parallel", "8", "--json")
    assert (status, json.loads(printed)["notes"]) == (0, {}), said


def test_a_run_of_which_no_figure_is_the_judges_is_not_judged(
    command: Command, subject: ProcessSubject, tmp_path: Path
) -> None:
    folder = begun(tmp_path / "evaluations" / "declined", subject)
    for label in LABELS:
        folder.add(reply("ABSTAIN", label_id=label.id, question=label.question))
    assert carry_out(folder, subject).complete
    status, printed, said = command("declined", *ONE)
    assert status == 1
    assert "metrics_source: heuristic" in said
    assert "Fixed" in printed
    assert folder.load().metrics_source == "heuristic"


def test_a_report_that_cannot_be_written_fails_the_command(
    command: Command, run: RunFolder, openai: OpenAIServer
) -> None:
    (run.path / "report.md").mkdir()
    status, _, said = command("run", *ONE)
    assert status == 1
    assert "metrics_source: judge" in said
    assert "Not written whole: report.md" in said


def test_without_a_key_all_stays_estimated_and_the_command_fails(
    command: Command, run: RunFolder
) -> None:
    figures = [dict(one.figures) for one in run.load().scored]
    status, _, said = command("run", *OPENAI)
    assert status == 1
    assert "metrics_source: heuristic" in said
    assert "OPENAI_API_KEY" in said
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
    status, _, said = command(*arguments)
    assert status == 1
    assert message in said
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
    status, printed, said = command("run", *OPENAI, "--json")
    assert status == 0, said
    report = json.loads(printed)
    assert report["metrics_source"] == "mixed"
    assert report["sources"]["answer_relevancy"] == {"heuristic": QUESTIONS}
    assert report["sources"]["faithfulness"] == {"judge": QUESTIONS}
    assert "figures are estimates: The embedding model is away." in said
    for one, was in zip(run.load().scored, before.scored, strict=True):
        assert one.figures["answer_relevancy"] == was.figures["answer_relevancy"]


def test_the_agreement_with_votes_of_readers_is_told(
    command: Command, run: RunFolder, openai: OpenAIServer
) -> None:
    loaded = run.load()
    rated = [rated_answer(one.reply, loaded.spec.collection) for one in loaded.scored]
    store = open_store(load_settings())
    store.add(rated)
    for number, answer in enumerate(rated):
        thumb = "up" if number else "down"
        store.change(
            "", answer.qa_id, "ann", lambda *_, t=thumb: Vote(thumb=t, scores={"accuracy": 3})
        )
    Script(openai, **GOOD).say("mark", *[mark(2)] * 3, mark(9))
    status, _, said = command("run", *OPENAI, "--parallel", "1")
    assert status == 0
    # the judge says no to the first alone, as the reader does
    assert "With people's thumb (answer_correctness): kappa 1.000, 100.0% of 6 votes agree." in said
    assert "accuracy" not in said


def test_ratings_in_the_run_are_votes_too(run: RunFolder) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    ratings = Ratings(run.path)
    ratings.begin(ratings.scales())
    first, second = (label.id for label in LABELS[:2])
    for label, scores in ((first, {"accuracy": 1, "relevance": 3}), (second, {"accuracy": 4})):
        ratings.add(PersonRating(rater="ann", label_id=label, scores=scores, at=at))
    votes = rated_votes(run)
    assert [vote.approves for vote in votes] == [{"accuracy": False}, {"accuracy": True}]
    assert [vote.qa_id for vote in votes] == [f"eval-{first}", f"eval-{second}"]


def test_a_vote_is_read_as_approval() -> None:
    answer = RatedAnswer.model_construct(
        session_id="s", qa_id="q", question="?", answer="Yes.", decision="ANSWER"
    )
    said = Vote(thumb="down", scores={"accuracy": 5, "relevance": 3, "corpus_fidelity": 1})
    assert vote_of(AnswerRating(answer, "ann", said)).approves == {
        "thumb": False,
        "accuracy": True,
        "corpus_fidelity": False,
    }


def rated_answer(came: Reply, collection: str) -> RatedAnswer:
    """An answer of a run as a server keeps it, without its texts."""
    answer = came.answer
    assert answer
    return RatedAnswer(
        qa_id=answer.qa_id,
        owner="",
        session_id=answer.session_id,
        created="2026-01-01T00:00:00+00:00",
        trace_id="",
        span_id="",
        target=answer.target,
        composite_target=answer.composite_target,
        provider="extractive",
        model="sentences",
        collection=collection,
        collection_version=answer.collection_version,
        corpora=(),
        narrowed=False,
        mode="ask",
        decision=answer.decision,
        reason="",
        follow_up=False,
        question="",
        standalone="",
        answer="",
        passages=(),
        citations=(),
    )
