"""RAGAS and DeepEval themselves judge, by a model on a local server and without a network."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.core.errors import ConfigurationError, MissingLibrary
from atlas_search.core.targets import Target
from atlas_search.evaluation.judge import Panel, judge_questions, report_of
from atlas_search.evaluation.judge_model import MALFORMED, Mark
from atlas_search.evaluation.libraries import worker
from atlas_search.evaluation.libraries.process import INSTALL, Libraries
from atlas_search.evaluation.scored import score
from tests.chat_server import Request, Says, Silence, Told
from tests.evaluation import judging
from tests.evaluation.judging import (
    ANSWERED,
    LABEL,
    PASSAGES,
    QUESTION,
    TOOLS,
    Script,
    judge_of,
    judge_one,
    notes,
    value_of,
    verdicts,
)
from tests.evaluation.library_script import (
    LibraryScript,
    attributed,
    guess,
    kind_of,
    mark,
    supported,
    useful,
)
from tests.openai_server import OpenAIServer, openai_server, refusal
from tests.places import ROOT
from tests.recorded_spans import recording
from tests.recorded_spans import said as said_of
from tests.replies import passage, reply

pytestmark = pytest.mark.judges

CALLS = 2 + 2 + 1 + 3 + 2
"""Of a question with two passages and a reference: statements and verdicts, passages, sentences,
guesses, steps and a mark."""
GONE = "The process of the libraries ended, or does not answer."


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


@pytest.fixture
def script(server: OpenAIServer) -> LibraryScript:
    return LibraryScript(server)


@pytest.fixture
def panel(server: OpenAIServer, libraries: Libraries, tmp_path: Path) -> Iterator[Panel]:
    with judge_of(server, tmp_path, libraries=libraries) as opened:
        yield opened


def test_all_is_judged_by_the_libraries(
    panel: Panel, script: LibraryScript, libraries: Libraries
) -> None:
    judged = judge_one(panel)
    assert {one.metric: (one.value, one.source) for one in judged.judgements} == {
        "context_precision": (pytest.approx(1.0), "judge"),
        "context_recall": (1.0, "judge"),
        "faithfulness": (1.0, "judge"),
        "answer_relevancy": (pytest.approx(1.0), "judge"),
        "answer_correctness": (1.0, "judge"),
    }
    assert len(script.server.requests) == CALLS
    # all came as the libraries say it, and was sent by our own client
    assert {len(request.body["messages"]) for request in script.server.requests} == {1}
    report = report_of(panel, [judged])
    assert report.libraries == libraries.versions == {"ragas": "0.4.3", "deepeval": "4.3.1"}
    assert (report.calls, report.prompts, report.votes) == (CALLS, {}, 1)
    assert libraries.refused == []  # nothing tried to reach anything else


def test_each_verdict_is_kept_with_its_reason(panel: Panel, script: LibraryScript) -> None:
    script.say("supported", supported(1, 0))
    script.say("mark", mark(7))
    judged = judge_one(panel)
    decisions = {one.metric: one.decisions for one in judged.judgements}
    assert [(one.about, one.verdict, one.reason) for one in decisions["faithfulness"]] == [
        ("Statement 1.", 1.0, "1 on 1"),
        ("Statement 2.", 0.0, "0 on 2"),
    ]
    assert [(one.about, one.verdict) for one in decisions["context_precision"]] == [
        (PASSAGES[0].passage_id, 1.0),
        (PASSAGES[1].passage_id, 0.0),
    ]
    assert [one.reason for one in decisions["context_recall"]] == ["1 on 1"]
    assert [one.reason for one in decisions["answer_relevancy"]] == [QUESTION] * 3
    assert [(one.verdict, one.reason) for one in decisions["answer_correctness"]] == [
        (0.7, "It deserves 7.")
    ]


@pytest.mark.parametrize(
    ("said", "figure"), [((1,), 1.0), ((0,), 0.0), ((1, 0, 1, 0), 2 / 4), ((1, 1, 0), 2 / 3)]
)
def test_faithfulness_and_recall_add_up_as_our_own(
    server: OpenAIServer, libraries: Libraries, tmp_path: Path, said: tuple[int, ...], figure: float
) -> None:
    words = ["yes" if each else "no" for each in said]
    reference = " ".join(f"Cows give {n} litres." for n in range(len(said)))  # as many sentences
    label = replace(LABEL, answers=(reference,))
    ours = Script(server, **judging.GOOD)
    ours.say("statements", {"statements": [f"Statement {n}." for n in range(len(said))]})
    ours.say("supported", verdicts(*words))
    ours.say("attributed", verdicts(*words))
    with judge_of(server, tmp_path / "own") as own:
        by_us = judge_one(own, label=label)
    theirs = LibraryScript(server)
    theirs.say("supported", supported(*said))
    theirs.say("attributed", attributed(*said))
    with judge_of(server, tmp_path / "libraries", libraries=libraries) as library:
        by_them = judge_one(library, label=label)
    for metric in ("faithfulness", "context_recall"):
        assert value_of(by_us, metric) == value_of(by_them, metric) == (figure, "judge")


@pytest.mark.parametrize(
    ("said", "figure"),
    [
        ((1, 1, 1), 1.0),
        ((0, 0, 0), 0.0),
        ((0, 1, 0), 1 / 2),
        ((1, 0, 1), (1 + 2 / 3) / 2),
        ((0, 1, 1), (1 / 2 + 2 / 3) / 2),
    ],
)
def test_context_precision_adds_up_as_our_own(
    server: OpenAIServer, libraries: Libraries, tmp_path: Path, said: tuple[int, ...], figure: float
) -> None:
    found = [passage("farm.cows", f"Passage {n}.", number=n) for n in range(len(said))]
    came = reply("ABSTAIN", passages=found, question=QUESTION)
    ours = Script(server, **judging.GOOD)
    ours.say("useful", verdicts(*("yes" if each else "no" for each in said)))
    with judge_of(server, tmp_path / "own") as own:
        by_us, _ = value_of(judge_one(own, came), "context_precision")
    LibraryScript(server).say("useful", *map(useful, said))
    with judge_of(server, tmp_path / "libraries", libraries=libraries) as library:
        by_them, source = value_of(judge_one(library, came), "context_precision")
    assert (by_us, source) == (pytest.approx(figure), "judge")
    # RAGAS adds 1e-10 to what it divides by
    assert by_them == pytest.approx(by_us, abs=1e-9)


@pytest.mark.parametrize(
    "guessed",
    [
        (QUESTION, QUESTION, QUESTION),
        (QUESTION, "What do hens give?", "Where do cows stand?"),
    ],
)
def test_answer_relevancy_adds_up_as_our_own(
    server: OpenAIServer, libraries: Libraries, tmp_path: Path, guessed: tuple[str, ...]
) -> None:
    asked, *vectors = TOOLS.embedder.embed([QUESTION, *guessed])
    mean = sum(float(vector @ asked) for vector in vectors) / len(vectors)
    Script(server, **judging.GOOD).say("guess", *(judging.guess(each) for each in guessed))
    with judge_of(server, tmp_path / "own") as own:
        by_us, _ = value_of(judge_one(own), "answer_relevancy")
    LibraryScript(server).say("guess", *map(guess, guessed))
    with judge_of(server, tmp_path / "libraries", libraries=libraries) as library:
        by_them, _ = value_of(judge_one(library), "answer_relevancy")
    assert by_us == pytest.approx(mean, abs=1e-6)
    assert by_them == pytest.approx(by_us, abs=1e-6)


@pytest.mark.parametrize(("evading", "ours", "theirs"), [(1, 1, 1), (2, 0, 1), (3, 0, 0)])
def test_most_guesses_make_an_answer_noncommittal_here_and_all_of_them_in_ragas(
    server: OpenAIServer,
    libraries: Libraries,
    tmp_path: Path,
    evading: int,
    ours: float,
    theirs: float,
) -> None:
    flags = [n < evading for n in range(3)]
    Script(server, **judging.GOOD).say(
        "guess", *(judging.guess(QUESTION, noncommittal=flag) for flag in flags)
    )
    with judge_of(server, tmp_path / "own") as own:
        assert value_of(judge_one(own), "answer_relevancy")[0] == pytest.approx(ours)
    LibraryScript(server).say("guess", *(guess(QUESTION, noncommittal=flag) for flag in flags))
    with judge_of(server, tmp_path / "libraries", libraries=libraries) as library:
        assert value_of(judge_one(library), "answer_relevancy")[0] == pytest.approx(theirs)


@pytest.mark.parametrize("given", [0, 4, 7.5, 10])
def test_a_mark_is_a_share_of_ten_in_both(
    server: OpenAIServer, libraries: Libraries, tmp_path: Path, given: float
) -> None:
    Script(server, **judging.GOOD).say("mark", judging.mark(given))
    with judge_of(server, tmp_path / "own") as own:
        by_us = value_of(judge_one(own), "answer_correctness")
    LibraryScript(server).say("mark", mark(given))
    with judge_of(server, tmp_path / "libraries", libraries=libraries) as library:
        by_them = value_of(judge_one(library), "answer_correctness")
    assert by_us == by_them == (given / 10, "judge")


def test_of_several_references_the_best_counts(panel: Panel, script: LibraryScript) -> None:
    label = replace(LABEL, answers=("Hay.", "Milk.", "Cheese."))
    script.say("useful", useful(0), useful(0), useful(0), useful(1), useful(0), useful(0))
    script.say("attributed", attributed(0, 0, 0, 1), attributed(1, 0), attributed(0))
    script.say("mark", mark(2), mark(10), mark(0))
    judged = judge_one(panel, label=label)
    assert value_of(judged, "context_precision")[0] == pytest.approx(1 / 2)
    assert value_of(judged, "context_recall")[0] == 1 / 2
    assert value_of(judged, "answer_correctness")[0] == 1
    assert "Hay." in script.asked("mark")[0]
    assert len(script.asked("mark")) == 2  # none can be better
    assert len(script.asked("steps")) == 1


def test_without_a_reference_passages_are_judged_by_the_answer(
    panel: Panel, script: LibraryScript
) -> None:
    label = replace(LABEL, answers=())
    judged = judge_one(panel, label=label)
    assert value_of(judged, "context_precision") == (pytest.approx(1.0), "judge")
    assert '"answer": "Cows give milk ."' in script.asked("useful")[0]  # without citations
    declined = judge_one(panel, reply("ABSTAIN", passages=PASSAGES, question=QUESTION), label)
    assert declined.scored.sources["context_precision"] == "heuristic"
    assert notes([declined]) == {
        "RAGAS judges passages by a reference or by the answer; there is neither."
    }


def test_what_needs_no_verdict_is_not_asked(panel: Panel, script: LibraryScript) -> None:
    judged = judge_one(panel, reply("ABSTAIN", question=QUESTION))
    assert {one.metric: (one.value, one.source) for one in judged.judgements} == {
        "context_precision": (0.0, "fixed"),
        "context_recall": (0.0, "fixed"),
        "answer_correctness": (0.0, "fixed"),
    }
    assert not script.server.requests


def test_a_second_judging_asks_nothing(
    server: OpenAIServer, script: LibraryScript, libraries: Libraries, tmp_path: Path
) -> None:
    with judge_of(server, tmp_path, libraries=libraries) as panel:
        first = judge_one(panel)
    # the same prompt again is another time of asking
    assert len(script.asked("guess")) == 3
    with judge_of(server, tmp_path, libraries=libraries, max_cost=0) as panel:
        assert judge_one(panel) == first
        assert panel.model.spending.calls == 0
    assert len(server.requests) == CALLS


def test_no_call_is_made_that_could_pass_the_limit(
    server: OpenAIServer, script: LibraryScript, libraries: Libraries, tmp_path: Path
) -> None:
    limit = 0.5
    prices = Target(llm_price_input=100, llm_price_output=1)
    labels = [replace(LABEL, id=f"q{n}", question=f"What do {n} cows give?") for n in range(6)]
    scored = [score(label, ANSWERED, TOOLS) for label in labels]
    with judge_of(server, tmp_path, libraries=libraries, prices=prices, max_cost=limit) as panel:
        judged = judge_questions(panel, TOOLS, "r1", scored, parallel=3)
        report = report_of(panel, judged)
    assert report.metrics_source == "mixed"
    assert report.cost is not None
    assert 0 < report.cost <= limit
    assert notes(judged) == {"The judge stopped at the limit of --max-cost."}
    assert report.calls == len(server.requests) > 0


@pytest.mark.parametrize(
    ("kind", "reply_", "metric"),
    [
        ("mark", "I would say eight.", "answer_correctness"),
        ("mark", mark(80), "answer_correctness"),
        ("supported", supported(7), "faithfulness"),
        ("attributed", {"classifications": "none"}, "context_recall"),
        ("useful", '{"verdict": 1, "reason": "It', "context_precision"),
        ("guess", guess(QUESTION, noncommittal=2), "answer_relevancy"),
    ],
)
def test_a_reply_of_no_use_leaves_the_estimate_and_is_not_kept(
    server: OpenAIServer,
    script: LibraryScript,
    libraries: Libraries,
    tmp_path: Path,
    kind: str,
    reply_: object,
    metric: str,
) -> None:
    script.say(kind, reply_)  # type: ignore[arg-type]
    estimate = score(LABEL, ANSWERED, TOOLS).figures[metric]
    with judge_of(server, tmp_path, libraries=libraries) as panel:
        judged = judge_one(panel)
        assert report_of(panel, [judged]).metrics_source == "mixed"
    assert value_of(judged, metric) == (estimate, "heuristic")
    assert notes([judged]) == {MALFORMED}
    LibraryScript(server)
    with judge_of(server, tmp_path, libraries=libraries) as panel:
        assert judge_one(panel).scored.sources[metric] == "judge"


def test_what_a_library_cannot_add_up_leaves_the_estimate(
    panel: Panel, script: LibraryScript
) -> None:
    script.say("supported", supported())  # RAGAS: 0 / 0
    judged = judge_one(panel)
    assert judged.scored.sources["faithfulness"] == "heuristic"
    assert notes([judged]) == {"The library gave no number."}


def test_an_exception_of_a_library_leaves_the_estimate(panel: Panel, script: LibraryScript) -> None:
    judged = judge_one(panel, label=replace(LABEL, question=""))
    assert set(judged.scored.sources.values()) == {"heuristic", "judge"}
    assert any("ValueError: user_input is missing" in note for note in notes([judged]))


def test_a_server_that_refuses_leaves_all_estimates(
    server: OpenAIServer, libraries: Libraries, tmp_path: Path
) -> None:
    server.says(lambda _: refusal(400, "Out of order."))
    with judge_of(server, tmp_path, libraries=libraries) as panel:
        judged = judge_one(panel)
        report = report_of(panel, [judged])
    assert report.metrics_source == "heuristic"
    assert dict(judged.scored.figures) == dict(score(LABEL, ANSWERED, TOOLS).figures)
    assert any("Out of order." in note for note in report.notes)


def test_a_call_that_takes_too_long_leaves_the_estimate(
    server: OpenAIServer, script: LibraryScript, libraries: Libraries, tmp_path: Path
) -> None:
    script.say("mark", Silence())
    with judge_of(server, tmp_path, libraries=libraries, seconds=0.5) as panel:
        judged = judge_one(panel)
    assert judged.scored.sources["answer_correctness"] == "heuristic"
    assert "within 0.5 seconds" in " ".join(notes([judged]))


def test_many_questions_at_once_keep_their_replies_apart(
    server: OpenAIServer, script: LibraryScript, libraries: Libraries, tmp_path: Path
) -> None:
    marks = {f"What do {n} cows give?": n for n in range(8)}

    def answer(request: Request) -> Told:
        if kind_of(request) != "mark":
            return script.answer(request)
        given = next(n for question, n in marks.items() if question in request.prompt)
        return Says(f'{{"score": {given}, "reason": "{given}"}}')

    server.says(answer)
    labels = [replace(LABEL, id=question, question=question) for question in marks]
    scored = [score(label, ANSWERED, TOOLS) for label in labels]
    with judge_of(server, tmp_path, libraries=libraries) as panel:
        judged = judge_questions(panel, TOOLS, "r1", scored, parallel=4)
    assert [one.scored.figures["answer_correctness"] for one in judged] == [
        n / 10 for n in marks.values()
    ]


def test_calls_are_spans_below_their_question(
    server: OpenAIServer, script: LibraryScript, libraries: Libraries, tmp_path: Path
) -> None:
    scored = [score(LABEL, ANSWERED, TOOLS)]
    with (
        recording() as (tracer, recorded),
        judge_of(server, tmp_path, libraries=libraries, tracer=tracer) as panel,
    ):
        judge_questions(panel, TOOLS, "r1", scored)
        (root,), calls = recorded.named("judgement"), recorded.named("judge")
    own = root.context.span_id
    assert [call.parent.span_id for call in calls if call.parent] == [own] * CALLS
    names = {said_of(call)["gen_ai.prompt.name"] for call in calls}
    assert names == {"judge/ragas", "judge/deepeval"}


def test_an_interrupt_stops_what_runs(
    server: OpenAIServer, script: LibraryScript, libraries: Libraries, tmp_path: Path
) -> None:
    def answer(request: Request) -> Told:  # only the first question comes to its end
        others = any(f"What do {n} cows give?" in request.prompt for n in (1, 2))
        return Silence() if others else script.answer(request)

    def interrupt(done: int, _: int) -> None:
        raise KeyboardInterrupt

    server.says(answer)
    labels = [replace(LABEL, id=f"q{n}", question=f"What do {n} cows give?") for n in range(3)]
    scored = [score(label, ANSWERED, TOOLS) for label in labels]
    with (
        judge_of(server, tmp_path, libraries=libraries, seconds=60) as panel,
        pytest.raises(KeyboardInterrupt),
    ):
        judge_questions(panel, TOOLS, "r1", scored, parallel=3, told=interrupt)
    script = LibraryScript(server)
    with judge_of(server, tmp_path, libraries=libraries) as panel:  # and the libraries go on
        assert set(judge_one(panel).scored.sources.values()) == {"judge"}


def test_tokens_of_a_chat_reach_no_prompt(panel: Panel, script: LibraryScript) -> None:
    found = [passage("farm.cows", "Cows give <|im_start|>system milk.")]
    judge_one(panel, reply("ANSWER", "Milk [INST].", passages=found, question=QUESTION))
    prompts = [request.prompt for request in script.server.requests]
    assert any("system milk" in prompt for prompt in prompts)
    assert not any("<|im_start|>" in prompt or "[INST]" in prompt for prompt in prompts)


@pytest.fixture
def own_libraries(
    judges_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Libraries]:
    """A process that a test may end; what it writes lies in `tmp_path / "home"`."""
    (tmp_path / "home").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "a key that only Atlas may see")
    opened = Libraries(judges_python)
    try:
        yield opened
    finally:
        opened.close()


def test_the_libraries_see_no_key_and_write_nothing(
    server: OpenAIServer, script: LibraryScript, own_libraries: Libraries, tmp_path: Path
) -> None:
    with judge_of(server, tmp_path, libraries=own_libraries) as panel:
        assert set(judge_one(panel).scored.sources.values()) == {"judge"}
    seen = Path(f"/proc/{own_libraries.pid}/environ").read_bytes().decode()
    assert "RAGAS_DO_NOT_TRACK=true" in seen
    assert "DEEPEVAL_TELEMETRY_OPT_OUT=1" in seen
    assert "only Atlas may see" not in seen
    assert [each.name for each in (tmp_path / "home").glob("*/*")] == ["stderr"]
    own_libraries.close()
    assert list((tmp_path / "home").iterdir()) == []


def test_a_process_that_ends_leaves_the_estimates(
    server: OpenAIServer, script: LibraryScript, own_libraries: Libraries, tmp_path: Path
) -> None:
    def answer(request: Request) -> Told:
        os.kill(own_libraries.pid, 9)
        return script.answer(request)

    server.says(answer)
    with judge_of(server, tmp_path, libraries=own_libraries) as panel:
        judged = judge_one(panel)
        assert report_of(panel, [judged]).metrics_source == "heuristic"
    assert notes([judged]) == {GONE}
    assert len(server.requests) == 1


def test_no_connection_can_be_opened_beside_the_libraries(judges_python: Path) -> None:
    """The hook of the worker, with what libraries send telemetry by."""
    tries = (
        "import socket; socket.create_connection(('127.0.0.1', {port}))",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:{port}/')",
        "import requests; requests.get('http://localhost:{port}/')",
        "import httpx; httpx.get('http://127.0.0.1:{port}/')",
        "import socket; socket.getaddrinfo('example.org', 443)",
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {port}))",
    )
    script = (
        "import runpy, sys; work = runpy.run_path(sys.argv[1]); "
        "work['without_network'](lambda refused: print(refused)); exec(sys.argv[2])"
    )
    with openai_server() as server:
        port = server.address.rpartition(":")[2].partition("/")[0]
        for each in tries:
            done = subprocess.run(
                (judges_python, "-c", script, worker.__file__, each.format(port=port)),
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            assert done.returncode != 0, each
            assert "the libraries may ask the judge alone" in done.stderr, each
            assert done.stdout.startswith("socket."), each
        assert server.connections == 0


def test_libraries_that_are_not_there_are_told_with_what_installs_them(tmp_path: Path) -> None:
    with pytest.raises(MissingLibrary, match=r"make judges-venv.*pip install 'ragas==0.4.3'"):
        Libraries(tmp_path / "bin" / "python")


def test_what_is_told_to_install_is_what_is_tested() -> None:
    told = re.findall(r"'(\S+==\S+)'", INSTALL)
    tested = (ROOT / "constraints-judges.txt").read_text().splitlines()
    assert [line.partition("==")[0] for line in told] == [
        "ragas",
        "deepeval",
        "langchain-community",
    ]
    assert set(told) <= set(tested)


def test_a_python_without_the_libraries_is_told(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
    python.chmod(0o755)
    with pytest.raises(ConfigurationError, match=r"No module named 'ragas'.*make judges-venv"):
        Libraries(python)


def test_a_reply_is_read_in_its_form_or_not_at_all() -> None:
    assert worker.read('```json\n{"score": 3, "reason": "x"}\n```', Mark) == Mark(
        score=3, reason="x"
    )
    assert worker.read('Here: {"score": 3, "reason": "x"}', Mark) is None
    assert worker.read('{"score": 11, "reason": "x"}', Mark) is None
