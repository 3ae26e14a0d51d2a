"""Stopping work that nobody waits for any more, and turns at what only some may do at once."""

import threading
from pathlib import Path

import pytest

from atlas_search.core.errors import Cancelled
from atlas_search.core.stop import Stop, Turns
from atlas_search.services import RETRIEVAL_THREADS
from atlas_search.stores.record_files import CONNECTIONS
from tests.chat_server import Pause, Says
from tests.crowd import crowd, footprint
from tests.servers import ATLAS, running, wait_for
from tests.without_model import settings_with_chat


def test_work_that_checks_ends_once_it_is_stopped() -> None:
    stop = Stop()
    stop.check()
    assert not stop.is_set
    stop.set()
    assert stop.is_set
    with pytest.raises(Cancelled):
        stop.check()


def test_a_listener_is_called_once_at_the_stop_and_no_more_after_it_left() -> None:
    stop = Stop()
    calls: list[str] = []
    with stop.calling(lambda: calls.append("gone")):
        pass
    with (
        stop.calling(lambda: calls.append("first")),
        stop.calling(lambda: calls.append("second")),
    ):
        assert calls == []
        stop.set()
        stop.set()
        assert calls == ["first", "second"]
    with stop.calling(lambda: calls.append("late")):
        assert calls == ["first", "second", "late"]


def test_so_many_have_a_turn_at_once_and_the_next_when_one_ends() -> None:
    turns, stop = Turns(2), Stop()
    third = threading.Event()

    def wait() -> None:
        with turns.take(stop):
            third.set()

    waiting = threading.Thread(target=wait)
    with turns.take(stop):
        with turns.take(stop):
            waiting.start()
            assert not third.wait(0.1)
        assert third.wait(20)
    waiting.join(20)


def test_a_stop_ends_the_wait_for_a_turn() -> None:
    turns, stop = Turns(1), Stop()
    stop.set()
    with turns.take(Stop()), pytest.raises(Cancelled), turns.take(stop):
        raise AssertionError


def test_a_turn_ends_with_an_error_too() -> None:
    turns = Turns(1)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), turns.take(Stop()):
            raise ZeroDivisionError


@pytest.mark.thorough
def test_nothing_is_left_of_streams_that_are_left_beside_searches(tmp_path: Path) -> None:
    questions = ["Do sheep give wool?", "Do cows give milk?", "What do merchants sell?"]
    says = Says(*(part for word in ("Sheep ", "give ", "wool.") for part in (Pause(0.2), word)))
    with settings_with_chat(tmp_path, says) as settings:
        settings |= {"QUERY_CACHE_ENABLED": "0", "MISTRAL_REQUESTS_PER_MINUTE": "60000"}
        with running(*ATLAS, "serve", environment=settings, folder=tmp_path) as server:
            address, process = server.address("Atlas"), server.process.pid
            crowd(address, questions, searching=4, streaming=16, seconds=2.0)  # opens what stays
            before = footprint(process)
            clients = crowd(address, questions, searching=4, streaming=16, seconds=4.0)
            assert set(clients.statuses) == {200}, server.lines
            assert clients.searches
            assert {"vanishes", "stalls"} <= set(clients.streams)

            # pools grow up to their bound, and not all of them may have been full before
            def is_back() -> bool | None:
                now = footprint(process)
                back = now.threads <= before.threads + RETRIEVAL_THREADS
                return (back and now.files <= before.files + CONNECTIONS) or None

            wait_for(is_back, 60, f"{before}, but it is {footprint(process)}: that")
