"""Answers in the making: resumed, stopped, bounded."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import httpx2
import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.errors import Conflict, NotFound, TooManyQuestions
from atlas_search.server.app import create_app
from atlas_search.server.runs import Runs
from atlas_search.services import Services
from tests.servers import served, wait_for
from tests.slow_model import SlowModel
from tests.test_stream import QUESTION, served_by

BODY = {"question": QUESTION, "qa_id": "q1"}


@pytest.fixture
def model() -> SlowModel:
    return SlowModel()


@pytest.fixture
def address(services: Services, model: SlowModel) -> Iterator[str]:
    settings = services.settings.model_copy(
        update={"resume_seconds": 30.0, "llm_concurrency": 1, "llm_queue": 1}
    )
    own = replace(served_by(services, model), settings=settings)
    with served(create_app(lambda: Atlas(own)), channel_request_lookahead=1) as found:
        yield found
        model.go.release(100)


def events(response: httpx2.Response, count: int = 1000) -> list[tuple[int, str]]:
    """Numbers and names of up to `count` events."""
    found: list[tuple[int, str]] = []
    for line in response.iter_lines():
        if line.startswith("id: "):
            number = int(line[4:])
        if line.startswith("event: "):
            found.append((number, line[7:]))
            if len(found) == count:
                break
    return found


def test_a_broken_stream_goes_on_where_it_broke(address: str, model: SlowModel) -> None:
    url = f"{address}/api/ask/stream"
    with httpx2.stream("POST", url, json=BODY, timeout=30) as response:
        model.go.release()
        assert events(response, 2) == [(1, "references"), (2, "token")]
    model.go.release(10)
    resumed = f"{address}/api/ask/q1/stream"
    with httpx2.stream("GET", resumed, headers={"Last-Event-ID": "2"}, timeout=30) as response:
        rest = events(response)
    assert [number for number, _ in rest] == list(range(3, 3 + len(rest)))
    assert rest[-1][1] == "complete"
    again = httpx2.post(url, json=BODY, headers={"Last-Event-ID": "2"}, timeout=30)
    assert [line for line in again.text.splitlines() if line.startswith("id: ")] == [
        f"id: {number}" for number, _ in rest
    ]
    assert len(model.prompts) == 1


def test_an_answer_that_is_deleted_stops_its_model(address: str, model: SlowModel) -> None:
    with httpx2.stream("POST", f"{address}/api/ask/stream", json=BODY, timeout=30) as response:
        events(response, 1)
        wait_for(lambda: model.prompts or None, 60, "the model's call")
        deleted = httpx2.delete(f"{address}/api/ask/q1")
        assert deleted.json() == {"qa_id": "q1", "stopped": True}
        assert model.ended.wait(60)


def test_the_stream_of_a_deleted_answer_ends_with_an_error(address: str, model: SlowModel) -> None:
    with httpx2.stream("POST", f"{address}/api/ask/stream", json=BODY, timeout=30) as response:
        lines = response.iter_lines()
        for line in lines:
            if line == "event: references":
                httpx2.delete(f"{address}/api/ask/q1")
                break
        rest = "\n".join(lines)
    assert "event: error" in rest
    assert '"status":409' in rest.replace(" ", "")
    assert httpx2.get(f"{address}/api/ask/q1").status_code == 409


def test_an_answer_at_once_can_be_deleted_too(address: str, model: SlowModel) -> None:
    responses: list[httpx2.Response] = []
    thread = threading.Thread(
        target=lambda: responses.append(httpx2.post(f"{address}/api/ask", json=BODY, timeout=30))
    )
    thread.start()
    wait_for(lambda: model.prompts or None, 60, "the model's call")
    httpx2.delete(f"{address}/api/ask/q1")
    thread.join(60)
    assert responses[0].status_code == 409


def test_no_more_answers_are_begun_than_there_are_places(address: str, model: SlowModel) -> None:
    threads = []
    for number in range(2):
        body = BODY | {"qa_id": f"q{number}"}
        thread = threading.Thread(
            target=lambda body=body: httpx2.post(f"{address}/api/ask", json=body, timeout=30)
        )
        thread.start()
        threads.append(thread)
    wait_for(lambda: len(model.prompts) == 2 or None, 60, "two answers")
    refused = httpx2.post(f"{address}/api/ask", json=BODY | {"qa_id": "q3"})
    taken = httpx2.post(f"{address}/api/ask", json=BODY | {"qa_id": "q1"})
    model.go.release(100)
    for thread in threads:
        thread.join(20)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert refused.json()["type"] == "urn:atlas:problem:too-many-questions"
    assert refused.json()["retry_after"] == 5
    assert taken.status_code == 409


def test_a_finished_answer_is_kept_for_a_while(address: str, model: SlowModel) -> None:
    model.go.release(10)
    answer = httpx2.post(f"{address}/api/ask", json=BODY, timeout=30).json()
    kept = httpx2.get(f"{address}/api/ask/q1").json()
    assert answer["passages"] is None
    assert {**kept, "passages": None} == answer
    assert len(kept["passages"]) > 0


def test_an_id_that_is_kept_is_not_given_to_another_answer(address: str, model: SlowModel) -> None:
    model.go.release(20)
    first = httpx2.post(f"{address}/api/ask", json=BODY, timeout=30).json()
    for path in ("ask", "ask/stream"):
        other = BODY | {"question": "May a newspaper criticise a council?"}
        taken = httpx2.post(f"{address}/api/{path}", json=other, timeout=30)
        assert taken.status_code == 409
        assert "Choose another qa_id" in taken.json()["detail"]
    assert httpx2.get(f"{address}/api/ask/q1").json()["question"] == first["question"]


def test_an_unknown_answer_is_not_found(address: str) -> None:
    for response in (
        httpx2.get(f"{address}/api/ask/q9"),
        httpx2.get(f"{address}/api/ask/q9/stream"),
        httpx2.delete(f"{address}/api/ask/q9"),
        httpx2.get(f"{address}/api/ask/q9/export"),
        httpx2.get(f"{address}/api/sessions/s9/export"),
    ):
        assert response.status_code == 404
        assert response.json()["type"] == "urn:atlas:problem:not-found"


@pytest.mark.parametrize("number", ["x", "-1", "9" * 5000])
def test_a_last_event_id_that_is_no_number_is_refused(
    address: str, model: SlowModel, number: str
) -> None:
    model.go.release(10)
    httpx2.post(f"{address}/api/ask", json=BODY, timeout=30)
    response = httpx2.get(f"{address}/api/ask/q1/stream", headers={"Last-Event-ID": number})
    assert response.status_code == 400
    assert "Last-Event-ID" in response.json()["detail"]


def test_who_has_seen_all_events_is_told_the_last_again(address: str, model: SlowModel) -> None:
    model.go.release(10)
    httpx2.post(f"{address}/api/ask", json=BODY, timeout=30)
    response = httpx2.get(f"{address}/api/ask/q1/stream", headers={"Last-Event-ID": "500"})
    assert response.text.count("event: ") == response.text.count("event: complete") == 1


def test_one_reader_may_leave_while_another_stays(address: str, model: SlowModel) -> None:
    with httpx2.stream("POST", f"{address}/api/ask/stream", json=BODY, timeout=30) as first:
        events(first, 1)
        with httpx2.stream("GET", f"{address}/api/ask/q1/stream", timeout=30) as second:
            first.close()
            model.go.release(10)
            assert events(second)[-1][1] == "complete"


def test_runs_free_their_place_at_their_end() -> None:
    runs = Runs(1, 0.0)
    go = threading.Event()
    run = runs.start("q1", "s1", lambda _: go.wait(60) and None)
    with pytest.raises(Conflict):
        runs.start("q1", "s1", lambda _: None)
    with pytest.raises(TooManyQuestions):
        runs.start("q2", "s1", lambda _: None)
    go.set()
    wait_for(lambda: run.ended or None, 60, "the end")
    assert runs.running == 0
    runs.start("q2", "s1", lambda _: None)
    with pytest.raises(NotFound):
        runs.get("q3")
    assert runs.of_session("s1") == []
