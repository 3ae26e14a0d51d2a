"""Uploads to a Phoenix that is away, busy or strange, and what they say of a question."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from atlas_search.cli.main import main
from atlas_search.core.errors import (
    AtlasError,
    ConfigurationError,
    NotFound,
    RequestError,
    Unavailable,
)
from atlas_search.evaluation.carry_out import carry_out
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.people import Rating, Ratings, Scale
from atlas_search.evaluation.phoenix import (
    Shown,
    annotate_ratings,
    dataset_name,
    evaluations,
    example_input,
    example_metadata,
    example_output,
    experiment_metadata,
    experiment_name,
    load_together,
    output,
    times,
)
from atlas_search.evaluation.phoenix_api import PhoenixApi
from atlas_search.evaluation.run import RunSpec
from atlas_search.evaluation.scored import Scored
from tests.conftest import free_port
from tests.evaluation.farm import LABELS, new_run, opened_farm
from tests.evaluation.made_runs import LABELS as LIGHTHOUSES
from tests.evaluation.made_runs import kept, made_run
from tests.phoenix.experiments import silent
from tests.replies import reply
from tests.servers import served

ALL = Shown(content=True, mask=lambda text: text.replace("anna@x.org", "[address]"))
BARE = Shown(content=False, mask=ALL.mask)
LABEL = Label(
    "q1",
    "test",
    "factual",
    "What does anna@x.org keep?",
    ("Sheep of anna@x.org",),
    frozenset({"farm.sheep", "farm.cows"}),
    gold_spans=(GoldSpan("farm.sheep", 0, 5),),
    filters={"author": "anna@x.org", "year": {"from": 1990.0}},
    corpus_filter=("farm",),
)


@pytest.fixture(scope="module")
def run(farm: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    with opened_farm(farm) as subject:
        folder = new_run(tmp_path_factory.mktemp("runs") / "run", subject)
        carry_out(folder, subject)
    return folder


class Moody:
    """In place of Phoenix: it answers with each status in turn, and then always with the last."""

    def __init__(self, *statuses: int, retry_after: str = ""):
        self.statuses = list(statuses)
        self.headers = [("Content-Type", "application/json")]
        if retry_after:
            self.headers.append(("Retry-After", retry_after))
        self.requests = 0

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        """Answer, as a WSGI application."""
        self.requests += 1
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        start(f"{status} Said", self.headers)
        return [b'{"data": {}}' if status == 200 else b"told to"]


@pytest.fixture
def api_of(waits: list[float]) -> Iterator[Callable[[str], PhoenixApi]]:
    opened: list[PhoenixApi] = []

    def make(address: str) -> PhoenixApi:
        opened.append(PhoenixApi(address, {}, tries=4, sleep=waits.append))
        return opened[-1]

    yield make
    for api in opened:
        api.close()


def test_a_busy_one_is_asked_again(api_of: Callable[[str], PhoenixApi], waits: list[float]) -> None:
    busy = Moody(503, 429, 200)
    with served(busy) as address:
        assert api_of(address).post("/v1/x", {}) == {"data": {}}
    assert (busy.requests, waits) == (3, [1.0, 2.0])


@pytest.mark.parametrize("status", [None, 500, 200])
def test_a_run_is_as_it_was_if_it_cannot_be_uploaded(
    run: RunFolder,
    status: int | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("atlas_search.cli.evaluate_runs.TRIES", 1)
    before = run.load()
    with served(Moody(status or 200)) as address:
        away = f"http://127.0.0.1:{free_port()}"
        monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", address if status else away)
        with pytest.raises(SystemExit) as ended:
            main(["eval", "phoenix", str(run.path)])
    assert ended.value.code == 1
    assert "Phoenix" in capsys.readouterr().err
    assert run.load() == before


def test_runs_of_other_labels_are_not_compared(run: RunFolder, farm: Path, tmp_path: Path) -> None:
    with opened_farm(farm) as subject:
        other = new_run(tmp_path / "other", subject, LABELS[:2])
    with pytest.raises(RequestError, match="a run of other labels"):
        load_together([run, other])
    with pytest.raises(RequestError, match="no figures yet"):
        load_together([other])


def test_an_example_says_all_that_a_label_does_with_texts_redacted() -> None:
    assert example_input(LABEL, ALL) == {
        "question": "What does [address] keep?",
        "corpus_filter": ["farm"],
        "filters": {"author": "[address]", "year": {"from": 1990.0}},
    }
    assert example_output(LABEL, ALL) == {
        "answerable": True,
        "answers": ["Sheep of [address]"],
        "gold_documents": {"farm.cows": 1, "farm.sheep": 1},
        "gold_spans": [{"document_id": "farm.sheep", "start": 0, "end": 5}],
    }
    assert example_metadata(LABEL) == {"label_id": "q1", "category": "factual", "split": "test"}


def test_an_example_without_content_is_its_id_and_figures() -> None:
    assert example_input(LABEL, BARE) == {"label_id": "q1"}
    bare = example_output(LABEL, BARE)
    assert "answers" not in bare
    assert list(bare["gold_documents"].values()) == [1, 1]
    assert "sheep" not in repr(bare)


def figure(
    name: str, value: float, came: Reply, label: Label = LABEL, shown: Shown = ALL, **sources: Any
) -> dict[str, Any]:
    (result,) = evaluations(Scored(label, came, {name: value}, sources), [name], shown)
    return result


def test_a_judges_figure_is_a_models_and_any_other_is_computed() -> None:
    came = reply("ANSWER", "Sheep.")
    judged = figure("answer_correctness", 0.5, came, answer_correctness="judge")
    assert (judged["annotator_kind"], judged["metadata"]) == ("LLM", {"source": "judge"})
    estimated = figure("answer_correctness", 0.5, came, answer_correctness="heuristic")
    assert (estimated["annotator_kind"], estimated["metadata"]["source"]) == ("CODE", "heuristic")


@pytest.mark.parametrize(
    ("name", "value", "came", "label", "explanation"),
    [
        (
            "answered",
            0.0,
            reply("ABSTAIN"),
            "ABSTAIN",
            "Expected: ANSWER. Came: ABSTAIN (abstain).",
        ),
        ("answered", 1.0, reply("ANSWER", "Sheep."), "ANSWER", None),
        ("false_refusal", 0.0, reply("ANSWER", "Sheep."), "ANSWER", None),
        (
            "failed",
            1.0,
            Reply(label_id="q1", seconds=1, error="Boom of anna@x.org"),
            "FAILED",
            "Boom of [address]",
        ),
        (
            "recall",
            0.0,
            reply("ANSWER", found=("farm.hens",)),
            None,
            "Not found: farm.cows, farm.sheep.",
        ),
        (
            "recall",
            0.5,
            reply("ANSWER", found=("farm.hens", "farm.cows")),
            None,
            "Not found: farm.sheep. The first gold document is number 2 of 2.",
        ),
        (
            "mrr",
            0.5,
            reply("ANSWER", found=("farm.hens", "farm.cows", "farm.sheep")),
            None,
            "The first gold document is number 2 of 3.",
        ),
        ("cites_gold", 0.0, reply("ANSWER", "Hens."), None, "Not cited: farm.cows, farm.sheep."),
        ("exact_match", 0.0, reply("ANSWER", "Hens."), None, "Expected: Sheep of [address]"),
        ("kept_imbalance", 0.2, reply("ANSWER", "Hens."), None, None),
    ],
)
def test_a_wrong_figure_says_why(
    name: str, value: float, came: Reply, label: str | None, explanation: str | None
) -> None:
    result = figure(name, value, came)["result"]
    assert result["score"] == value
    assert result.get("label") == label
    assert result.get("explanation") == explanation


def test_no_explanation_holds_a_text_where_content_is_off() -> None:
    failed = Reply(label_id="q1", seconds=1, error="No corpus of anna@x.org")
    assert figure("failed", 1.0, failed, shown=BARE)["result"]["explanation"] == (
        "No reply came, but an error."
    )
    assert "explanation" not in figure("f1", 0.0, reply("ANSWER", "Hens."), shown=BARE)["result"]
    result = figure("recall", 0.0, reply("ANSWER", found=("farm.hens",)), shown=BARE)["result"]
    assert result["explanation"].startswith("Not found: ")
    assert "farm" not in result["explanation"]


def test_what_came_back_is_shown_as_far_as_it_may_be() -> None:
    came = reply("ANSWER", "Of anna@x.org.", found=("farm.hens",), cited=("farm.hens",))
    whole, bare = output(came, ALL), output(came, BARE)
    assert whole
    assert bare
    assert whole["answer"] == "Of [address]."
    assert whole["passages"] == whole["cited"] == ["farm.hens.0-10"]
    assert bare.keys() == whole.keys() - {"answer"}
    assert "hens" not in repr(bare)
    assert output(Reply(label_id="q1", seconds=1, error="Boom"), ALL) is None


def test_a_question_ended_when_it_was_answered(run: RunFolder) -> None:
    spec = run.spec()
    answered = reply("ANSWER", "Sheep.")
    started, ended = times(answered, spec)
    assert ended.isoformat() == "2026-01-01T00:00:00+00:00"
    assert (ended - started).total_seconds() == answered.seconds
    kept = reply("ANSWER", "Sheep.", cache_hit=True)
    for unknown in (kept, Reply(label_id="q1", seconds=0.5, error="Boom")):
        started, ended = times(unknown, spec)
        assert started == spec.started
        assert (ended - started).total_seconds() == 0.5


def test_an_experiment_says_whose_it_is_and_no_password(run: RunFolder) -> None:
    spec: RunSpec = run.spec()
    there = {"where": "http://anna:s3cret@host:8000", "k": 3, "target": "zürich"}
    message = experiment_metadata(spec.model_copy(update=there))
    assert message["run_id"] == spec.id
    assert message["where"] == "http://host:8000"
    assert message["options"] == spec.options
    name = experiment_name(spec.model_copy(update=there | {"search_only": True}))
    assert name == f"z?rich, k=3, searched, {spec.started:%Y-%m-%d %H:%M}"


@pytest.mark.parametrize("asking", ["get", "post_once"])
def test_who_is_not_waited_for(
    api_of: Callable[[str], PhoenixApi], waits: list[float], asking: str
) -> None:
    """Somebody who asks for a day, and what would be made twice."""
    day = "86400" if asking == "get" else ""
    busy = Moody(503, 200, retry_after=day)
    with served(busy) as address:
        api = api_of(address)
        ask = api.get if day else partial(api.post_once, body={})
        with pytest.raises(Unavailable, match="answers 503"):
            ask("/v1/x")
    assert (busy.requests, waits) == (1, [])


@pytest.mark.parametrize(
    ("status", "kind", "problem"),
    [
        (401, ConfigurationError, "PHOENIX_API_KEY"),
        (404, NotFound, "answers 404: told to"),
        (422, Unavailable, "answers 422: told to"),
        (None, Unavailable, "PHOENIX_COLLECTOR_ENDPOINT"),  # nobody is there
    ],
)
def test_what_it_refuses_is_told(
    api_of: Callable[[str], PhoenixApi],
    waits: list[float],
    status: int | None,
    kind: type[AtlasError],
    problem: str,
) -> None:
    with served(Moody(status or 200)) as address, pytest.raises(kind, match=problem):
        api_of(address if status else f"http://127.0.0.1:{free_port()}").get("/v1/x")
    assert waits == []


def test_a_choice_of_a_label_set_is_a_dataset_of_its_own(run: RunFolder) -> None:
    spec = run.spec()
    assert dataset_name(spec) == "labels.jsonl"
    labels = spec.labels.model_copy(update={"split": "test"})
    few = spec.model_copy(update={"labels": labels, "limit": 20, "seed": 3})
    assert dataset_name(few) == "labels.jsonl (test, 20 drawn with seed 3)"


def with_span(one: Scored, span_id: str) -> Scored:
    """A question whose answer has this root span."""
    assert one.reply.answer
    answer = one.reply.answer.model_copy(update={"span_id": span_id})
    return replace(one, reply=one.reply.model_copy(update={"answer": answer}))


@pytest.mark.parametrize(
    ("shown", "reasons"), [(ALL, ["[address] says so", "Well put"]), (BARE, [])]
)
def test_ratings_are_annotations_of_the_answers_by_each_rater_and_scale(
    tmp_path: Path, api_of: Callable[[str], PhoenixApi], shown: Shown, reasons: list[str]
) -> None:
    made = made_run("rated", labels=LIGHTHOUSES[:2])
    traced = [with_span(one, id_) for one, id_ in zip(made.scored, ("a1", ""), strict=True)]
    folder = RunFolder(kept(replace(made, scored=tuple(traced)), tmp_path))
    ratings = Ratings(folder.path)
    ratings.begin([Scale(name="clarity"), Scale(name="tone", low=0, high=1)])
    for rater, label_id in (("anna", "q0"), ("ben", "q0"), ("ben", "q1")):
        ratings.add(
            Rating(
                rater=rater,
                label_id=label_id,
                scores={"clarity": 4, "tone": 0},
                rationales={"clarity": "anna@x.org says so", "tone": ""},
                comment="Well put" if rater == "anna" else "",
                at=datetime(2026, 1, 1, tzinfo=UTC),
            )
        )
    sent: list[dict[str, Any]] = []

    def taking(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        assert environ["QUERY_STRING"] == "sync=true"
        sent.extend(json.load(environ["wsgi.input"])["data"])
        start("200 OK", [("Content-Type", "application/json")])
        return [b"{}"]

    with served(taking) as address:
        lost = annotate_ratings(folder, api_of(address), shown, silent)
    assert [(one.rater, one.label_id) for one in lost] == [("ben", "q1")]
    assert {(one["span_id"], one["annotator_kind"]) for one in sent} == {("a1", "HUMAN")}
    numbers = [one for one in sent if "score" in one["result"]]
    assert {(one["metadata"]["rater"], one["name"], one["result"]["score"]) for one in numbers} == {
        (rater, *mark) for rater in ("anna", "ben") for mark in (("clarity", 4), ("tone", 0))
    }
    assert len({(one["name"], one["identifier"]) for one in sent}) == len(sent)
    texts = {one["result"]["explanation"] for one in sent if "explanation" in one["result"]}
    assert sorted(texts) == sorted(reasons)
    with served(Moody(404)) as address:
        assert len(annotate_ratings(folder, api_of(address), shown, silent)) == 3
