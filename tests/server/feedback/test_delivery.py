"""Votes reach Phoenix, however late it comes; no request waits for it, and nothing is lost."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.answer.answer import Answer
from atlas_search.core.settings import Settings
from atlas_search.server.feedback import delivery
from atlas_search.server.feedback.delivery import (
    SUPPORT,
    DocumentMark,
    Feedback,
    Standing,
    document_annotations,
)
from atlas_search.server.feedback.store import DAY, Backing, RatedAnswer, Vote, rated
from atlas_search.server.state import open_states
from tests.conftest import free_port
from tests.server.two_corpora import QUESTION
from tests.servers import served, wait_for

Kept = dict[str, Any]
"""Settings of where votes are kept."""

PROJECT = "/v1/projects/atlas"


class PhoenixServer:
    """Takes annotations of the spans it knows; `status` answers in its place, `hold` hangs.

    Of a span in `broken` every request is answered with that status.
    """

    def __init__(self) -> None:
        self.address = ""
        self.spans: dict[str, list[str]] = {}
        self.annotations: dict[tuple[str, str, str], dict] = {}
        self.documents: dict[tuple[str, str, int], dict] = {}
        self.requests: list[str] = []
        self.keys: set[str] = set()
        self.status = 0
        self.broken: dict[str, int] = {}
        self.hold = threading.Event()
        self.hold.set()

    def know(self, span_id: str, documents: Iterable[str] = ()) -> None:
        """A span has arrived, with these documents."""
        self.spans[span_id] = list(documents)

    def results(self, voter_count: int = 1) -> dict[str, dict[str, Any]]:
        """The results by name, of one voter."""
        assert len({identifier for _, _, identifier in self.annotations}) <= voter_count
        return {name: marks["result"] for (name, _, _), marks in self.annotations.items()}

    def wait_for_requests(self, count: int) -> None:
        """Wait until so many have come in all."""
        wait_for(lambda: len(self.requests) >= count or None, 30, f"request {count}")

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Answer, as a WSGI application."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        query = {name: value[0] for name, value in parse_qs(environ["QUERY_STRING"]).items()}
        body = environ["wsgi.input"].read() if method == "POST" else b""
        self.requests.append(f"{method} {path}")
        self.keys.add(environ.get("HTTP_AUTHORIZATION", ""))
        self.hold.wait(60)
        status, document = self._answer(method, path, query, json.loads(body or b"null"))
        start_response(f"{status} Said", [("Content-Type", "application/json")])
        return [json.dumps(document).encode() if status != 204 else b""]

    def _answer(
        self, method: str, path: str, query: dict[str, Any], body: Any
    ) -> tuple[int, object]:
        if self.status:
            return self.status, {"detail": "told to"}
        for span_id, status in self.broken.items():
            if span_id in json.dumps(body):
                return status, {"detail": "told to"}
        if path == "/v1/span_annotations":
            return self._annotate(body["data"])
        if path in ("/v1/trace_annotations", f"{PROJECT}/trace_annotations"):
            return (204, None) if method == "DELETE" else (200, {"data": []})
        if path == "/v1/document_annotations":
            return self._annotate_documents(body["data"])
        if method == "DELETE" and path == f"{PROJECT}/span_annotations":
            gone = [
                k for k in self.annotations if (k[0], k[2]) == (query["name"], query["identifier"])
            ]
            for key in gone:
                del self.annotations[key]
            return 204, None
        assert (method, path) == ("GET", f"{PROJECT}/spans")
        return 200, {"data": [_span(span_id, ids) for span_id, ids in self.spans.items()]}

    def _annotate(self, entries: list[dict[str, Any]]) -> tuple[int, object]:
        if any(one["span_id"] not in self.spans for one in entries):
            return 404, {"detail": "Spans do not exist."}
        for one in entries:
            self.annotations[one["name"], one["span_id"], one["identifier"]] = one
        return 200, {"data": []}

    def _annotate_documents(self, entries: list[dict[str, Any]]) -> tuple[int, object]:
        for one in entries:
            assert one.get("identifier", "") == ""
            if one["document_position"] not in range(len(self.spans[one["span_id"]])):
                return 422, {"detail": "Out of bounds."}
        for one in entries:
            self.documents[one["name"], one["span_id"], one["document_position"]] = one
        return 200, {"data": []}


@contextmanager
def phoenix_server() -> Iterator[PhoenixServer]:
    """The server while the block runs."""
    server = PhoenixServer()
    with served(server) as address:
        server.address = address
        try:
            yield server
        finally:
            server.hold.set()


def _span(span_id: str, documents: list[str]) -> dict[str, Any]:
    prefix = "retrieval.documents"
    return {
        "context": {"span_id": span_id},
        "span_kind": "CHAIN",
        "start_time": "2026-01-01",
        "attributes": {f"{prefix}.{n}.document.id": id_ for n, id_ in enumerate(documents)},
    }


SPAN = "00f067aa0ba902b7"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds that the product waits become moments."""
    monkeypatch.setattr(delivery, "SHORTEST_PAUSE", 0.05)


@pytest.fixture
def phoenix() -> Iterator[PhoenixServer]:
    """A Phoenix in which the span of the answer has arrived."""
    with phoenix_server() as server:
        server.know(SPAN)
        yield server


@pytest.fixture
def traced(parish: Atlas) -> Answer:
    return replace(parish.ask(QUESTION, qa_id="q1"), span_id=SPAN, trace_id=TRACE)


@pytest.fixture
def state(kept_in: Kept) -> Kept:
    return kept_in


def feedback_of(state: Kept, address: str, **changed: object) -> Feedback:
    settings = Settings(**state, phoenix_collector_endpoint=address, **changed)
    return Feedback(settings, open_states(settings))


@contextmanager
def sending(
    state: Kept, address: str, answer: Answer | None = None, **changed: object
) -> Iterator[Feedback]:
    """The feedback of a server that runs, and has given the answer."""
    feedback = feedback_of(state, address, **changed)
    feedback.start()
    if answer:
        feedback.note(answer, "")
    try:
        yield feedback
    finally:
        feedback.close()


def vote(feedback: Feedback, voter: str = "anna", **results: object) -> None:
    feedback.change("", "q1", voter, lambda _, before: before.model_copy(update=results))


def wait_until_sent(feedback: Feedback, voter: str = "anna") -> None:
    wait_for(lambda: feedback.rating("", "q1", voter).sent or None, 30, "the vote in Phoenix")


def wait_until(condition: Callable[[], bool], what: str) -> None:
    wait_for(lambda: condition() or None, 30, what)


def test_a_vote_is_one_annotation_for_each_thing_said(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    with sending(state, phoenix.address, traced) as feedback:
        vote(feedback, thumb="up", scores={"clarity": 4}, tags=["a", "b"], comment="Good.")
        wait_until_sent(feedback)
    assert phoenix.results() == {
        "thumbs": {"label": "up", "score": 1.0},
        "clarity": {"score": 4.0},
        "tags": {"label": "a, b"},
        "comment": {"explanation": "Good."},
    }
    (kinds, users, spans) = zip(
        *(
            (one["annotator_kind"], one["metadata"]["user_id"], one["span_id"])
            for one in phoenix.annotations.values()
        ),
        strict=True,
    )
    assert (set(kinds), set(users), set(spans)) == ({"HUMAN"}, {"anna"}, {SPAN})


def test_a_changed_vote_replaces_the_old_one_and_a_withdrawn_one_is_removed(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    with sending(state, phoenix.address, traced) as feedback:
        vote(feedback, thumb="up", comment="Good.")
        vote(feedback, "bert", thumb="up")
        wait_until(lambda: len(phoenix.annotations) == 3, "three annotations")
        vote(feedback, thumb="down", comment="")
        wait_until_sent(feedback)
        assert len(phoenix.annotations) == 2
        assert sorted(one["result"]["label"] for one in phoenix.annotations.values()) == [
            "down",
            "up",
        ]
        feedback.change("", "q1", "anna", lambda *_: Vote())
        wait_until(lambda: len(phoenix.annotations) == 1, "the withdrawal")
        (left,) = phoenix.annotations.values()
        assert left["metadata"]["user_id"] == "bert"


def test_documents_have_one_annotation_that_all_voters_share(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    ids = [item.passage.id for item in traced.result.passages]
    cited = ids.index(traced.citations[0].passage.id)
    phoenix.know(SPAN, ids)
    with sending(state, phoenix.address, traced) as feedback:
        vote(feedback, passages={ids[0]: "relevant", ids[1]: "irrelevant"})
        vote(feedback, "bert", passages={ids[0]: "irrelevant"}, citations={1: "supports"})
        wait_until_sent(feedback)
        wait_until_sent(feedback, "bert")
        assert {key: one["result"]["score"] for key, one in phoenix.documents.items()} == {
            ("relevance", SPAN, 0): 0.5,
            ("relevance", SPAN, 1): 0.0,
            ("citation_support", SPAN, cited): 1.0,
        }
        assert phoenix.documents["relevance", SPAN, 0]["result"]["label"] == "mixed"
        vote(feedback, passages={})
        wait_until_sent_or_gone(feedback)
        assert {key: one["result"]["label"] for key, one in phoenix.documents.items()} == {
            ("relevance", SPAN, 0): "irrelevant",
            ("relevance", SPAN, 1): "withdrawn",
            ("citation_support", SPAN, cited): "supports",
        }


def test_a_withdrawn_vote_on_passages_alone_is_told_though_the_answer_is_old(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    ids = [traced.result.passages[0].passage.id]
    phoenix.know(SPAN, ids)
    with sending(state, phoenix.address, traced) as feedback:
        vote(feedback, passages={ids[0]: "relevant"})
        wait_until_sent(feedback)
    feedback = feedback_of(state, phoenix.address)
    now = time.time() + 89 * DAY
    feedback.store._clock = lambda: now
    vote(feedback, passages={})
    now += 2 * DAY
    feedback.note(replace(traced, request=replace(traced.request, qa_id="q2")), "")
    feedback._noting.flush()
    with sending(state, phoenix.address) as later:
        later.outbox._clock = lambda: now
        later._delivery.wake()
        wait_until_sent_or_gone(later)
    label = phoenix.documents["relevance", SPAN, 0]["result"]["label"]
    assert label == "withdrawn"


def wait_until_sent_or_gone(feedback: Feedback) -> None:
    """Wait for all that is on its way, withdrawals too."""
    wait_for(lambda: feedback.outbox.seconds() is None or None, 30, "an empty outbox")


@pytest.mark.thorough
def test_a_span_that_comes_after_the_vote_gets_it(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    phoenix.spans.clear()
    with sending(state, phoenix.address, traced) as feedback:
        vote(feedback, thumb="up")
        phoenix.wait_for_requests(2)
        assert not feedback.rating("", "q1", "anna").sent
        phoenix.know(SPAN)
        wait_until_sent(feedback)
    assert phoenix.results()["thumbs"]["label"] == "up"


def test_a_vote_on_a_span_that_never_comes_holds_up_no_other(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    phoenix.spans.clear()
    other = replace(traced, span_id="1" * 16, request=replace(traced.request, qa_id="q2"))
    phoenix.know("1" * 16)
    with sending(state, phoenix.address, traced) as feedback:
        feedback.note(other, "")
        vote(feedback, thumb="up")
        phoenix.wait_for_requests(1)
        feedback.change("", "q2", "anna", lambda *_: Vote(thumb="down"))
        wait_for(lambda: feedback.rating("", "q2", "anna").sent or None, 30, "the second vote")
        assert not feedback.rating("", "q1", "anna").sent


@pytest.mark.parametrize("status", [500, 503])
def test_a_vote_on_which_phoenix_always_fails_holds_up_no_other_and_is_sent_in_the_end(
    phoenix: PhoenixServer,
    traced: Answer,
    state: Kept,
    status: int,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivery, "SOONEST", 0.05)
    other = replace(traced, span_id="1" * 16, request=replace(traced.request, qa_id="q2"))
    phoenix.know("1" * 16)
    phoenix.broken[SPAN] = status
    with sending(state, phoenix.address, traced) as feedback:
        feedback.note(other, "")
        vote(feedback, thumb="up")
        phoenix.wait_for_requests(1)
        feedback.change("", "q2", "anna", lambda *_: Vote(thumb="down"))
        wait_for(lambda: feedback.rating("", "q2", "anna").sent or None, 30, "the second vote")
        assert not feedback.rating("", "q1", "anna").sent
        phoenix.wait_for_requests(4)
        phoenix.broken.clear()
        wait_until_sent(feedback)
    warned = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert [str(status) in record.getMessage() for record in warned] == [True]


@pytest.mark.parametrize("longest", [delivery.LONGEST_PATIENCE, delivery.LONGEST_WITHOUT])
def test_a_vote_that_fails_waits_longer_each_time_and_never_for_ever(
    traced: Answer, state: Kept, longest: float
) -> None:
    feedback = feedback_of(state, "http://127.0.0.1:1")
    feedback.note(traced, "")
    vote(feedback, thumb="up")
    now = time.time()
    feedback.outbox._clock = lambda: now
    pauses: list[float] = []
    for _ in range(15):
        parcel = feedback.outbox.take(lambda _: ())
        assert parcel
        feedback.outbox.later(parcel, longest)
        pauses.append(round(feedback.outbox.seconds() or 0))
        now += pauses[-1] + 0.1
    assert pauses == [min(longest, 2**n) for n in range(15)]


@pytest.mark.parametrize("status", [500, 503, 429, 401, 302])
@pytest.mark.thorough
def test_a_phoenix_that_fails_gets_the_vote_once_it_works(
    phoenix: PhoenixServer, traced: Answer, state: Kept, status: int, caplog
) -> None:
    phoenix.status = status
    with sending(state, phoenix.address, traced) as feedback:
        vote(feedback, thumb="up")
        phoenix.wait_for_requests(2)
        phoenix.status = 0
        wait_until_sent(feedback)
    warned = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert [str(status) in record.getMessage() for record in warned] == [True]


def test_what_is_voted_without_phoenix_is_sent_after_a_restart(traced: Answer, state: Kept) -> None:
    with sending(state, f"http://127.0.0.1:{free_port()}", traced) as feedback:
        vote(feedback, thumb="up", comment="Good.")
        vote(feedback, thumb="down")
    with phoenix_server() as phoenix:
        phoenix.know(SPAN)
        with sending(state, phoenix.address) as later:
            wait_until_sent(later)
        assert phoenix.results()["thumbs"]["label"] == "down"
        assert phoenix.requests == ["POST /v1/span_annotations", "POST /v1/trace_annotations"]


def test_a_withdrawal_without_phoenix_is_made_up_for_after_a_restart(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    with sending(state, phoenix.address, traced) as feedback:
        vote(feedback, thumb="up")
        wait_until_sent(feedback)
    with sending(state, f"http://127.0.0.1:{free_port()}") as feedback:
        feedback.change("", "q1", "anna", lambda *_: Vote())
    assert phoenix.results()["thumbs"]["label"] == "up"
    with sending(state, phoenix.address):
        wait_until(lambda: not phoenix.annotations, "the withdrawal")


def test_a_vote_withdrawn_before_it_was_sent_is_never_sent(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    feedback = feedback_of(state, phoenix.address)
    feedback.note(traced, "")
    vote(feedback, thumb="up")
    feedback.change("", "q1", "anna", lambda *_: Vote())
    with sending(state, phoenix.address) as later:
        wait_until_sent_or_gone(later)
    assert phoenix.requests == []


def test_what_may_have_arrived_before_the_machine_stopped_is_taken_back(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    """Phoenix took the vote, but nothing here learnt of it."""
    phoenix.hold.clear()
    feedback = feedback_of(state, phoenix.address)
    feedback.start()
    feedback.note(traced, "")
    vote(feedback, thumb="up")
    phoenix.wait_for_requests(1)
    feedback.outbox.done = lambda *_: None  # type: ignore[method-assign]  # the machine stops
    feedback.close()
    phoenix.hold.set()
    wait_until(lambda: bool(phoenix.annotations), "the vote in Phoenix")
    feedback.change("", "q1", "anna", lambda *_: Vote())
    with sending(state, phoenix.address) as later:
        wait_until_sent_or_gone(later)
    assert phoenix.annotations == {}


def test_neither_a_vote_nor_the_end_waits_for_a_phoenix_that_hangs(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    phoenix.hold.clear()
    with sending(state, phoenix.address, traced) as feedback:
        vote(feedback, thumb="up")
        phoenix.wait_for_requests(1)
        vote(feedback, thumb="down")  # returns while the first one hangs
        assert not feedback.rating("", "q1", "anna").sent
    phoenix.hold.set()
    with sending(state, phoenix.address) as later:
        wait_until_sent(later)
    assert phoenix.results()["thumbs"]["label"] == "down"


def test_a_request_that_phoenix_refuses_is_said_once_and_holds_up_no_other(
    phoenix: PhoenixServer, traced: Answer, state: Kept, caplog
) -> None:
    phoenix.status = 422
    with sending(state, phoenix.address, traced) as feedback:
        vote(feedback, thumb="up")
        phoenix.wait_for_requests(2)
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == [
        'Phoenix takes no feedback on q1: it answers 422: {"detail": "told to"}'
    ]


def test_an_answer_that_was_not_traced_keeps_its_votes_here(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    with sending(state, phoenix.address) as feedback:
        feedback.note(replace(traced, span_id=""), "")
        vote(feedback, thumb="up")
        wait_until_sent_or_gone(feedback)
        assert not feedback.rating("", "q1", "anna").sent
    assert phoenix.requests == []


def test_comment_and_tags_stay_here_where_traces_hold_no_texts(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    with sending(state, phoenix.address, traced, trace_content=False) as feedback:
        vote(feedback, thumb="up", comment="Of Anna.", tags=["Anna"], scores={"clarity": 1})
        wait_until_sent(feedback)
        assert feedback.rating("", "q1", "anna").vote.comment == "Of Anna."
    assert set(phoenix.results()) == {"thumbs", "clarity"}


def test_comment_and_tags_are_redacted_as_traces_are(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    with sending(state, phoenix.address, traced, trace_redact="contacts") as feedback:
        vote(feedback, comment="Ask anna@example.org.", tags=["of anna@example.org"])
        wait_until_sent(feedback)
    results = phoenix.results()
    assert "Ask" in results["comment"]["explanation"]
    assert "anna@example.org" not in str(results)


def test_a_phoenix_that_asks_for_a_key_gets_it(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    with sending(state, phoenix.address, traced, phoenix_api_key=SecretStr("a-key")) as feedback:
        vote(feedback, thumb="up")
        wait_until_sent(feedback)
    assert phoenix.keys == {"Bearer a-key"}


def test_what_is_older_than_the_days_waits_no_more(
    phoenix: PhoenixServer, traced: Answer, state: Kept
) -> None:
    feedback = feedback_of(state, phoenix.address)
    feedback.note(traced, "")
    vote(feedback, thumb="up")
    assert feedback.outbox.seconds() == 0
    feedback.outbox._clock = lambda: 4e9
    assert feedback.outbox.seconds() is None


YES: Backing = "supports"
NO: Backing = "does_not_support"


@pytest.fixture
def citing_twice(parish: Atlas) -> RatedAnswer:
    """An answer that cites one passage in two places."""
    answer = rated(parish.ask(QUESTION, qa_id="q1"), "", content=True)
    return answer.model_copy(update={"citations": answer.citations[:1] * 2})


def test_who_votes_on_two_citations_of_a_passage_is_one_voter(citing_twice: RatedAnswer) -> None:
    votes_of: dict[str, dict[int, Backing]] = {
        "anna": {1: YES, 2: YES},
        "bert": {1: NO, 2: NO},
        "cleo": {1: YES, 2: NO},
        "dora": {1: NO},
    }
    votes = [
        Standing(who, Vote(citations=entries), frozenset()) for who, entries in votes_of.items()
    ]
    place = {citing_twice.citations[0].passage_id: (SPAN, 0)}
    marks = document_annotations(citing_twice, votes, place)
    assert marks[DocumentMark(SUPPORT, SPAN, 0)]["result"] == {
        "label": "mixed",
        "score": 0.5,
        "explanation": "2 of 4: supports",
    }
