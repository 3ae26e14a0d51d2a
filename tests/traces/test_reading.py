"""Reading from a Phoenix that is away, refuses, or is none; pages; and times."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest

from atlas_search.cli.main import main
from atlas_search.cli.traces import since_when
from atlas_search.core.errors import RequestError, Unavailable
from atlas_search.evaluation import traces
from atlas_search.evaluation.traces import PhoenixProject, TraceFilter
from tests.conftest import free_port
from tests.servers import served
from tests.traces.made import START, phoenix_span

COMMANDS = [["traces"], ["traces", "check"], ["traces", "compare", "a", "b"]]


class Replies:
    """A server in place of Phoenix: says the same to everybody, or what a function makes of the
    path and the query."""

    def __init__(self) -> None:
        self.address = ""
        self.status = 200
        self.body: Any = {"data": [], "next_cursor": None}
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        self.keys: set[str] = set()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        """Answer, as a WSGI application."""
        asked = (environ["PATH_INFO"], parse_qs(environ["QUERY_STRING"]))
        self.asked.append(asked)
        self.keys.add(environ.get("HTTP_AUTHORIZATION", ""))
        body = self.body(*asked) if callable(self.body) else self.body
        start(f"{self.status} Said", [("Content-Type", "application/json")])
        return [body if isinstance(body, bytes) else json.dumps(body).encode()]


@pytest.fixture
def replies() -> Iterator[Replies]:
    server = Replies()
    with served(server) as address:
        server.address = address
        yield server


@pytest.fixture
def configured(replies: Replies, monkeypatch: pytest.MonkeyPatch) -> Replies:
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", replies.address)
    monkeypatch.setenv("PHOENIX_PROJECT_NAME", "reading room")
    return replies


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The message of a command that ends with status 1."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_a_phoenix_it_says_what_to_set(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PHOENIX", "0")
    assert "Set PHOENIX_COLLECTOR_ENDPOINT" in fails(capsys, *command)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_one_that_does_not_run_is_named_with_its_address(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    monkeypatch.setenv("PHOENIX_PORT", str(port))  # as `atlas run` would start it
    said = fails(capsys, *command)
    assert f"Phoenix at http://127.0.0.1:{port} does not answer" in said
    assert "make phoenix" in said


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
def test_what_it_answers_otherwise_is_said(
    configured: Replies,
    status: int,
    body: Any,
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    configured.status, configured.body = status, body
    for command in COMMANDS:
        assert expected in fails(capsys, *command)


def test_a_password_of_the_address_is_sent_and_not_shown(
    configured: Replies, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = configured.address.replace("http://", "http://reader:s3cret@")
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", address)
    configured.status = 500
    assert "s3cret" not in fails(capsys, "traces", "list")
    assert configured.keys == {"Basic cmVhZGVyOnMzY3JldA=="}


def test_a_key_is_sent(configured: Replies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHOENIX_API_KEY", "k-123")
    with pytest.raises(SystemExit):
        main(["traces"])
    assert configured.keys == {"Bearer k-123"}


def test_without_a_trace_there_is_nothing_to_check_or_compare(
    configured: Replies, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["traces", "check"])
    assert ended.value.code == 3
    assert "No request over all corpora was found" in capsys.readouterr().out
    said = fails(capsys, "traces", "compare", "a", "b")
    assert "a has no answers; b has no answers" in said


def test_pages_are_asked_for_until_there_are_enough(replies: Replies) -> None:
    def page(path: str, query: dict[str, list[str]]) -> dict[str, Any]:
        number = int(query.get("cursor", ["0"])[0])
        started = START - timedelta(minutes=number)
        span = phoenix_span("ask", {}, trace_id=f"{number:032x}", started=started)
        return {"data": [span], "next_cursor": str(number + 1)}  # it never ends

    replies.body = page
    traces = PhoenixProject(replies.address, "p").traces(TraceFilter(("ask",), since=START))
    assert [next(traces).trace_id for _ in range(3)] == [f"{n:032x}" for n in range(3)]
    assert len(replies.asked) == 3
    _, query = replies.asked[0]
    assert (query["parent_id"], query["name"]) == (["null"], ["ask"])
    assert query["start_time"] == [START.isoformat()]


def test_a_target_may_be_composite_and_the_last_comes_first(replies: Replies) -> None:
    def page(path: str, query: dict[str, list[str]]) -> dict[str, Any]:
        odd = query["attribute"] == ['composite_target:"a \\"b"']
        numbers = range(odd, 6, 2)
        spans = [
            phoenix_span("ask", {}, trace_id=str(n), started=START - timedelta(minutes=n))
            for n in numbers
        ]
        return {"data": spans, "next_cursor": None}

    replies.body = page
    found = PhoenixProject(replies.address, "p").traces(TraceFilter(target='a "b'))
    assert [trace.trace_id for trace in found] == ["0", "1", "2", "3", "4", "5"]


def test_an_odd_annotation_is_no_outage_and_an_evaluator_no_reader(replies: Replies) -> None:
    def said(score: float | None, kind: str = "HUMAN") -> dict[str, Any]:
        return {
            "span_id": "0" * 15 + "1",
            "name": "thumbs",
            "annotator_kind": kind,
            "result": {"score": score, "explanation": "Bad."},
        }

    def page(path: str, query: dict[str, list[str]]) -> dict[str, Any]:
        spans = [phoenix_span("search", {})]
        marks = [said(1.0), said(0.0), said(None), said(0.0, "LLM"), said(1.0) | {"result": None}]
        found = marks if path.endswith("span_annotations") else spans
        return {"data": found, "next_cursor": None}

    replies.body = page
    source = PhoenixProject(replies.address, "p")
    (told,) = source.tell(source.traces(TraceFilter()))
    assert (told.marks["thumbs"].count, told.marks["thumbs"].mean) == (2, 0.5)
    replies.body = {"data": [{}], "next_cursor": None}
    with pytest.raises(Unavailable, match="as Phoenix does"):
        list(source.tell([told.trace]))


def test_traces_are_asked_about_together(replies: Replies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "TOGETHER", 2)
    read = [
        traces.read_trace(phoenix_span("ask", {}, trace_id=str(n), span_id=str(n)))
        for n in range(3)
    ]
    assert len(list(PhoenixProject(replies.address, "p").tell(read))) == 3
    assert [query.get("trace_id") or query["span_ids"] for _, query in replies.asked] == [
        ["0", "1"],
        ["0", "1"],
        ["2"],
        ["2"],
    ]


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
