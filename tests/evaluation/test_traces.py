"""`atlas traces`: reading what Phoenix holds, comparing two targets, and checking the depth."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from atlas_search.atlas import Atlas
from atlas_search.cli import traces as commands
from atlas_search.cli.main import main
from atlas_search.cli.traces import since_when
from atlas_search.core.errors import RequestError, Unavailable
from atlas_search.evaluation.traces import (
    CommonQuestions,
    Marks,
    PhoenixProject,
    Side,
    Spent,
    Told,
    Trace,
    TraceFilter,
    check_depth,
    compare_sides,
    mean_marks,
    pair_traces,
    read_trace,
    verdict,
)
from atlas_search.search.trace import depth_imbalance
from atlas_search.services import Services
from tests.conftest import free_port
from tests.evaluation.made_traces import START, as_phoenix, phoenix_span, shallow, trace_of
from tests.finding import searching
from tests.recorded_spans import Recorded, recording, said, traced_by
from tests.servers import served

COMMANDS = [["traces"], ["traces", "check"], ["traces", "compare", "a", "b"]]
QUESTION = "Can a local authority sue a newspaper for libel?"
TWO_PARTS = "When was the death penalty abolished in Britain, and who may marry in New Zealand?"
Captured = pytest.CaptureFixture[str]
Page = Callable[[str, dict[str, list[str]]], dict[str, Any]]


def run(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    """The status, output and errors of a command."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


# reading from a Phoenix that is away, refuses, or is none


class Replies:
    """A server in place of Phoenix: says the same to everybody, or what a function makes of the
    path and the query."""

    def __init__(self) -> None:
        self.address = ""
        self.status = 200
        self.body: Any = {"data": [], "next_cursor": None}
        self.requests: list[tuple[str, dict[str, list[str]]]] = []
        self.keys: set[str] = set()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        """Answer, as a WSGI application."""
        request = (environ["PATH_INFO"], parse_qs(environ["QUERY_STRING"]))
        self.requests.append(request)
        self.keys.add(environ.get("HTTP_AUTHORIZATION", ""))
        body = self.body(*request) if callable(self.body) else self.body
        start(f"{self.status} Said", [("Content-Type", "application/json")])
        return [body if isinstance(body, bytes) else json.dumps(body).encode()]


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> Iterator[Replies]:
    server = Replies()
    with served(server) as address:
        server.address = address
        monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", address)
        monkeypatch.setenv("PHOENIX_PROJECT_NAME", "reading room")
        yield server


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_phoenix_that_is_not_there_is_told(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    port = free_port()
    monkeypatch.setenv("PHOENIX_PORT", str(port))  # as `atlas run` would start it
    status, out, message = run(capsys, *command)
    assert (status, out) == (1, "")
    assert f"Phoenix at http://127.0.0.1:{port} does not answer" in message
    assert "make phoenix" in message
    monkeypatch.setenv("PHOENIX", "0")
    status, out, message = run(capsys, *command)
    assert (status, out) == (1, "")
    assert "Set PHOENIX_COLLECTOR_ENDPOINT" in message


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {}, "Set PHOENIX_API_KEY"),
        (403, {}, "Set PHOENIX_API_KEY"),
        (404, {"detail": "unknown"}, "has no project 'reading room'"),
        (500, b"boom", "answers 500: boom"),
        (302, b"", "answers 302"),
        (200, b"<html>", "does not answer as Phoenix does"),
        (200, [1], "does not answer as Phoenix does"),
        (200, {"data": None, "next_cursor": None}, "does not answer as Phoenix does"),
        (200, {"data": [{"name": "ask"}], "next_cursor": None}, "does not answer as Phoenix does"),
    ],
)
def test_another_answer_than_phoenix_gives_is_told(
    replies: Replies, status: int, body: Any, expected: str, capsys: Captured
) -> None:
    replies.status, replies.body = status, body
    for command in COMMANDS:
        code, out, message = run(capsys, *command)
        assert (code, out) == (1, "")
        assert expected in message


def test_a_key_and_a_password_are_sent_and_not_shown(
    replies: Replies, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with monkeypatch.context() as keyed:
        keyed.setenv("PHOENIX_API_KEY", "k-123")
        run(capsys, "traces")
    address = replies.address.replace("http://", "http://reader:s3cret@")
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", address)
    replies.status = 500
    _, out, message = run(capsys, "traces", "list")
    assert "s3cret" not in out + message
    assert replies.keys == {"Bearer k-123", "Basic cmVhZGVyOnMzY3JldA=="}


def test_pages_are_asked_for_until_there_are_enough(replies: Replies) -> None:
    def page(path: str, query: dict[str, list[str]]) -> dict[str, Any]:
        number = int(query.get("cursor", ["0"])[0])
        started = START - timedelta(minutes=number)
        span = phoenix_span("ask · k10 · all", {}, trace_id=f"{number:032x}", started=started)
        other = phoenix_span("validate", {}, trace_id="f" * 32, started=started)
        return {"data": [span, other], "next_cursor": str(number + 1)}  # it never ends

    replies.body = page
    traces = PhoenixProject(replies.address, "p").traces(TraceFilter(("ask",), since=START))
    assert [next(traces).trace_id for _ in range(3)] == [f"{n:032x}" for n in range(3)]
    assert len(replies.requests) == 3
    _, query = replies.requests[0]
    assert query["parent_id"] == ["null"]
    assert query["start_time"] == [START.isoformat()]


def test_a_target_may_be_composite_and_the_last_comes_first(replies: Replies) -> None:
    def page(path: str, query: dict[str, list[str]]) -> dict[str, Any]:
        composite = query["attribute"] == ['composite_target:"a \\"b"']
        spans = [
            phoenix_span("ask", {}, trace_id=str(n), started=START - timedelta(minutes=n))
            for n in range(composite, 6, 2)
        ]
        return {"data": spans, "next_cursor": None}

    replies.body = page
    traces = PhoenixProject(replies.address, "p").traces(TraceFilter(target='a "b'))
    assert [trace.trace_id for trace in traces] == ["0", "1", "2", "3", "4", "5"]


def test_an_odd_annotation_is_no_outage_and_an_evaluator_no_reader(replies: Replies) -> None:
    def mark(score: float | None, kind: str = "HUMAN") -> dict[str, Any]:
        result = {"score": score, "explanation": "Bad."}
        own = {"span_id": "0" * 15 + "1", "name": "thumbs", "annotator_kind": kind}
        return own | {"result": result}

    def page(path: str, query: dict[str, list[str]]) -> dict[str, Any]:
        marks = [mark(1.0), mark(0.0), mark(None), mark(0.0, "LLM"), mark(1.0) | {"result": None}]
        own = marks if path.endswith("span_annotations") else [phoenix_span("search", {})]
        return {"data": own, "next_cursor": None}

    replies.body = page
    source = PhoenixProject(replies.address, "p")
    (report,) = source.tell(source.traces(TraceFilter()))
    assert (report.marks["thumbs"].count, report.marks["thumbs"].mean) == (2, 0.5)
    replies.body = {"data": [{}], "next_cursor": None}
    with pytest.raises(Unavailable, match="as Phoenix does"):
        list(source.tell([report.trace]))


NOW = datetime(2026, 3, 10, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("30m", datetime(2026, 3, 10, 12, tzinfo=UTC)),
        ("24h", datetime(2026, 3, 9, 12, 30, tzinfo=UTC)),
        ("7d", datetime(2026, 3, 3, 12, 30, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T12:00+01:00", datetime(2026, 1, 31, 11, tzinfo=UTC)),
    ],
)
def test_since_is_a_day_a_time_or_how_long_ago(text: str, expected: datetime | None) -> None:
    assert since_when(text, NOW) == expected


@pytest.mark.parametrize("text", ["yesterday", "0d", "7w", "2026-13-01", "999999d"])
def test_another_since_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="--since"):
        since_when(text, NOW)


# comparing two targets


BOTH = ("quick", "slow")


def answer(number: int, question: str, target: str = "quick", **changes: Any) -> Trace:
    fields = {"input__value": question, "target": target, "collection": "parish"}
    return trace_of(number, **(fields | {"composite_target": f"{target}_parish"} | changes))


def cites(*ids: str) -> dict[str, Any]:
    """Attributes of a list of passages of which these are cited, after one that is not."""
    listed = [("other", False), *((id_, True) for id_ in ids)]
    return {
        f"retrieval__documents__{at}__document__{name}": value
        for at, (id_, is_cited) in enumerate(listed)
        for name, value in (("id", id_), ("metadata__cited", is_cited))
    }


def questions(pairs: CommonQuestions) -> list[str]:
    return [pair.asked.question for pair in pairs.pairs]


def test_common_questions_are_paired_by_the_last_answer_to_each() -> None:
    quick = [answer(1, "b"), answer(2, "a"), answer(3, "a"), answer(4, "only quick")]
    slow = [answer(5, "a", "slow"), answer(6, "b", "slow"), answer(7, "only slow", "slow")]
    pairs = pair_traces(BOTH, quick, slow)
    assert questions(pairs) == ["a", "b"]
    assert pairs.side(0) == [quick[1], quick[0]]
    assert pairs.side(1) == [slow[0], slow[1]]
    assert pairs.left_out == ({"earlier": 1, "not_common": 1}, {"not_common": 1})


@pytest.mark.parametrize(
    "changes", [{"corpus_filter": "uk"}, {"mode": "compare"}, {"collection": "county"}]
)
def test_a_question_of_something_else_is_another_question(changes: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="quick has 1 answer; slow has 1 answer"):
        pair_traces(BOTH, [answer(1, "a")], [answer(2, "a", "slow", **changes)])


def test_composite_targets_may_be_of_two_collections() -> None:
    second = answer(2, "a", collection="county", composite_target="quick_county")
    pairs = pair_traces(("quick_parish", "quick_county"), [answer(1, "a")], [second])
    assert pairs.pairs[0].asked == ("a", "all", "answer", "")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "ERROR"}, "1 failed"),
        ({"cancelled": True}, "1 cancelled"),
        ({"cache_hit": True}, "1 given from the cache"),
        ({"history_turns": 2}, "1 to follow-ups"),
        ({"input__value": ""}, "1 to questions that are not in the traces (TRACE_CONTENT=0)"),
    ],
)
def test_what_cannot_be_compared_is_left_out_and_says_why(
    changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(RequestError) as error:
        pair_traces(BOTH, [answer(1, "a", **changes)], [])
    assert f"quick has 1 answer ({reason}); slow has no answers" in str(error.value)


def test_sides_are_summed_up_over_the_pairs() -> None:
    quick = [
        answer(1, "a", seconds=1.0, citations=2, imbalance__kept=0.0),
        answer(2, "b", seconds=2.0, citations=0, imbalance__kept=0.5),
        answer(3, "c", seconds=4.0, citations=1, imbalance__kept=1.0),
    ]
    slow = [answer(number, q, "slow", seconds=9.0) for number, q in enumerate("ab", start=4)]
    slow.append(answer(9, "c", "slow", decision="ABSTAIN", seconds=9.0))
    pairs = pair_traces(BOTH, quick, slow)
    marked = mean_marks([("thumbs", 1.0), ("thumbs", 0.0), ("clarity", 4.0)])
    report = [
        Told(quick[0], Spent(100, 10, 0.5), marked),
        Told(quick[1], Spent(50, 5, None), {"thumbs": Marks(1, 1.0)}),
        *(Told(trace, Spent(), {}) for trace in (quick[2], *slow)),
    ]
    first, second = compare_sides(pairs, reversed(report))
    assert first == Side(
        name="quick",
        answers=3,
        seconds_p50=2.0,
        seconds_p95=pytest.approx(2.0 + 0.9 * (4.0 - 2.0)),
        decisions={"ANSWER": 3},
        spent=Spent(150, 15, 0.5),
        citations=1.0,
        imbalance={"kept": 0.5},
        marks={"clarity": Marks(1, 4.0), "thumbs": Marks(3, pytest.approx(2 / 3))},
    )
    assert second.decisions == {"ABSTAIN": 1, "ANSWER": 2}
    assert (second.spent.cost, second.citations, second.imbalance) == (None, 0.0, {})


def test_the_passages_that_both_cite_are_counted() -> None:
    first = answer(1, "a", **cites("p1", "p2"))
    second = answer(2, "a", "slow", **cites("p2", "p3", "p4"))
    (pair,) = pair_traces(BOTH, [first], [second]).pairs
    assert (pair.cited_by_both, pair.cited_by_either) == (1, 4)


# the depth of every corpus


@pytest.fixture
def traced(services: Services) -> Iterator[tuple[Services, Recorded]]:
    with recording() as (tracer, recorded):
        yield traced_by(services, tracer), recorded


def roots(recorded: Recorded) -> list[Trace]:
    return [read_trace(as_phoenix(span)) for span in recorded.roots]


def told_depth(depth: int, **by_corpus: tuple[int, int, int]) -> Trace:
    """A root that tells what could be found of each corpus, and what each leg gave."""
    figures = {
        f"{leg}__{corpus}": count
        for corpus, counts in by_corpus.items()
        for leg, count in zip(("available", "dense", "lexical"), counts, strict=True)
    }
    return trace_of(1, large_retrieval_size=depth, **figures)


def test_a_root_of_many_corpora_has_no_more_attributes_and_is_read_alike(tmp_path: Path) -> None:
    files = {f"c{n:02}/sheep.txt": f"Sheep give wool in {1900 + n}." for n in range(30)}
    with searching(tmp_path, files) as atlas, recording() as (tracer, recorded):
        answer = Atlas(traced_by(atlas.services, tracer)).ask("What do sheep give?")
        root = said(recorded.named("ask")[-1])
        lists = [name for name in root if name.startswith("retrieval.documents")]
        assert len(root) - len(lists) <= 80
        (trace,) = roots(recorded)
    per_corpus = answer.result.per_corpus
    assert len(per_corpus) == 30
    assert trace.counts.candidates == {id_: of.candidates for id_, of in per_corpus.items()}
    assert trace.counts.available == dict.fromkeys(per_corpus, 1)


def test_real_answers_are_read_as_they_were_given(traced: tuple[Services, Recorded]) -> None:
    services, recorded = traced
    inputs = Atlas(services).ask(QUESTION, filters={"date": {"from": "1990-01-01"}})
    (trace,) = roots(recorded)
    assert trace.question == QUESTION
    assert (trace.target, trace.composite_target) == (
        "k10_extractive",
        "k10_extractive_sentences_atlas_demo",
    )
    assert (trace.outcome, trace.mode, trace.corpus_filter) == ("ANSWER", "answer", "all")
    assert trace.citations == len(inputs.citations) > 0
    assert trace.cited == {citation.passage.id for citation in inputs.citations}
    per_corpus = inputs.result.per_corpus
    assert trace.counts.candidates == {id_: of.candidates for id_, of in per_corpus.items()}
    assert trace.counts.depth == inputs.result.depth
    assert (trace.follow_up, trace.kept_answer) == (False, False)
    root, search = (said(recorded.named(name)[-1]) for name in ("ask", "search"))
    assert trace.imbalance["kept"] == root["imbalance.kept"]
    assert "target" not in search  # its root tells it
    for report in (root, search):
        assert report["imbalance.depth"] == 0
        for corpus in inputs.scope.corpora:
            assert report[f"available.{corpus.id}"] == corpus.passages < corpus.all_passages
            assert report[f"dense.{corpus.id}"] == per_corpus[corpus.id].dense
            assert report[f"lexical.{corpus.id}"] == per_corpus[corpus.id].lexical


def test_real_requests_are_equally_deep(traced: tuple[Services, Recorded]) -> None:
    services, recorded = traced
    atlas = Atlas(services)
    atlas.ask(QUESTION)
    atlas.ask(QUESTION, mode="compare")
    atlas.search(TWO_PARTS)
    atlas.search(QUESTION, filters={"date": {"from": "1990-01-01"}})
    result = check_depth(roots(recorded))
    assert result.verdicts == {"equal": 4, "unequal": 0, "unknown": 0, "unfinished": 0}
    assert result.first
    assert result.last
    assert result.first < result.last
    assert {said(span)["target"] for span in recorded.roots} == {"k10_extractive"}


def test_a_corpus_that_is_searched_less_deep_is_found(traced: tuple[Services, Recorded]) -> None:
    services, recorded = traced
    broken = Atlas(shallow(services, "legal_us", 10))
    broken.ask(QUESTION)
    broken.search(QUESTION)
    broken.search(QUESTION, corpora=["legal_uk"])  # not over all: not checked
    result = check_depth(roots(recorded))
    assert [each.trace.kind for each in result.unequal] == ["ask", "search"]
    assert result.checked == 2
    (lacking,) = [of for of in result.unequal[0].corpora if not of.as_due]
    assert (lacking.corpus, lacking.dense) == ("legal_us", 10)
    assert lacking.due == lacking.available > 100
    report = said(recorded.named("ask")[-1])
    assert report["imbalance.depth"] == round(1 - 10 / lacking.due, 4)


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (told_depth(200, uk=(900, 200, 150), us=(900, 200, 200)), "equal"),
        (told_depth(200, uk=(900, 200, 0), nz=(40, 40, 12)), "equal"),  # smaller than the depth
        (told_depth(200, uk=(900, 200, 9), nz=(0, 0, 0)), "equal"),  # a filter leaves nothing
        (told_depth(200, uk=(900, 200, 9), us=(900, 199, 200)), "unequal"),
        (told_depth(200, uk=(900, 200, 9), us=(900, 300, 200)), "unequal"),  # deeper than asked
        (told_depth(200, uk=(900, 200, 9), us=(900, 200, 201)), "unequal"),
        (told_depth(200, uk=(900, 200, 9), nz=(40, 39, 12)), "unequal"),
        (trace_of(1, large_retrieval_size=200, candidates__uk=200, candidates__us=20), "unknown"),
        (trace_of(1, status="ERROR"), "unfinished"),
        (trace_of(1, cancelled=True), "unfinished"),
    ],
)
def test_each_corpus_owes_the_depth_or_all_that_could_be_found(trace: Trace, expected: str) -> None:
    assert verdict(trace) == expected


@pytest.mark.parametrize(
    ("available", "dense", "expected"),
    [
        ({"a": 900, "b": 900}, {"a": 200, "b": 200}, 0.0),
        ({"a": 900, "b": 40}, {"a": 200, "b": 40}, 0.0),
        ({"a": 900, "b": 900}, {"a": 200, "b": 50}, 0.75),  # 1 - 50 / 200
        ({"a": 900, "b": 40}, {"a": 200, "b": 30}, 0.25),  # 1 - 30 / 40
        ({"a": 900, "b": 900}, {"a": 200}, 1.0),
        ({"a": 0, "b": 0}, {}, 0.0),
    ],
)
def test_the_imbalance_of_the_depth_is_what_a_corpus_lacks_of_its_due(
    available: dict[str, int], dense: dict[str, int], expected: float
) -> None:
    assert depth_imbalance(200, available, dense) == expected


# the commands, over a Phoenix that holds some traces


class Holding:
    """Stands in the place of Phoenix' project, and holds these traces."""

    def __init__(self, *traces: Trace):
        self._traces = traces

    def traces(self, _: TraceFilter) -> Iterator[Trace]:
        return iter(self._traces)

    def tell(self, traces: Iterable[Trace]) -> Iterator[Told]:
        return (Told(trace, trace.spent, {}) for trace in traces)


OLD = trace_of(1, large_retrieval_size=200, candidates__uk=200)
EVEN, UNEVEN = told_depth(200, uk=(900, 200, 9)), told_depth(200, uk=(900, 10, 9))
NOTHING = "No request over all corpora was found that could be checked."


@pytest.mark.parametrize(
    ("held", "code", "message"),
    [
        ((), 3, NOTHING),
        ((replace(EVEN, corpus_filter="uk"),), 3, NOTHING),
        ((OLD, OLD), 3, "2 more cannot be checked: an earlier version traced them."),
        ((trace_of(1, cancelled=True),), 3, "1 more failed or was cancelled."),
        ((trace_of(1, status="ERROR"),) * 2, 3, "2 more failed or were cancelled."),
        ((OLD, EVEN), 0, "1 request over all corpora was checked"),
        ((EVEN, EVEN), 0, "2 requests over all corpora were checked, 2026-03-01 11:59"),
        ((OLD, UNEVEN), 1, "1 unequal."),
    ],
)
def test_only_a_check_that_checked_something_succeeds(
    held: tuple[Trace, ...],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.setattr(commands, "open_phoenix", lambda _: Holding(*held))
    status, out, _ = run(capsys, "traces", "check")
    assert (status, message in out) == (code, True), out
    status, out, _ = run(capsys, "traces", "check", "--json")
    assert (status, json.loads(out)["checked"] == 0) == (code, code == 3)


def test_imbalance_is_a_table_over_time(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    counts = {"kept__uk": 4, "kept__us": 3, "candidates__uk": 9, "cited__uk": 0}
    later = trace_of(1, target="quick", imbalance__kept=0.25, **counts)
    earlier = trace_of(2, target="=1+1", corpus_filter="nz", imbalance__kept=0.0, kept__nz=4)
    monkeypatch.setattr(commands, "open_phoenix", lambda _: Holding(later, earlier))
    first, second = csv.DictReader(run(capsys, "traces", "list", "--csv")[1].splitlines())
    assert [first["started"], second["started"]] == [
        earlier.started.isoformat(),
        later.started.isoformat(),
    ]
    assert (first["imbalance.kept"], second["imbalance.kept"]) == ("0.0", "0.25")
    assert first["imbalance.cited"] == ""  # nothing was told
    assert [second[f"kept.{corpus}"] for corpus in ("nz", "uk", "us")] == ["", "4", "3"]
    assert (second["candidates.uk"], second["cited.uk"]) == ("9", "0")
    assert (first["corpus_filter"], second["corpus_filter"]) == ("nz", "all")
    assert first["target"] == "'=1+1"  # which no spreadsheet computes
    monkeypatch.setattr(commands, "open_phoenix", lambda _: Holding())
    (head,) = csv.reader(run(capsys, "traces", "--csv")[1].splitlines())
    assert {"started", "imbalance.depth", "imbalance.kept"} <= {*head}
