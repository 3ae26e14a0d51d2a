"""Streams and searches beside each other: turns, and what a server holds afterwards."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from atlas_search.core.errors import Cancelled
from atlas_search.core.stop import Stop, Turns
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.services import RETRIEVAL_THREADS
from atlas_search.stores.record_files import CONNECTIONS
from tests.chat_server import Pause, Says
from tests.crowd import crowd, footprint
from tests.servers import ATLAS, running, wait_for
from tests.without_model import settings_with_chat

QUESTIONS = ["Do sheep give wool?", "Do cows give milk?", "What do merchants sell?"]


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


def test_who_is_not_wanted_any_more_waits_no_longer() -> None:
    turns, stop = Turns(1), Stop()
    stop.set()
    with turns.take(Stop()), pytest.raises(Cancelled), turns.take(stop):
        raise AssertionError


def test_a_turn_ends_with_an_error_too() -> None:
    turns = Turns(1)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), turns.take(Stop()):
            raise ZeroDivisionError


def test_threads_that_embed_bring_no_threads_of_their_own(embedder: LocalEmbedder) -> None:
    callers = 16
    embedder.embed_query("The first call starts what stays.")
    before = threads_of_this_process()
    together = threading.Barrier(callers)

    def embed(number: int) -> None:
        together.wait(20)
        embedder.embed_query(f"Question {number}")

    with ThreadPoolExecutor(callers) as executor:
        list(executor.map(embed, range(callers)))
        assert threads_of_this_process() - before <= callers + 1


def test_nothing_is_left_of_streams_that_are_left_beside_searches(tmp_path: Path) -> None:
    says = Says(*(part for word in ("Sheep ", "give ", "wool.") for part in (Pause(0.2), word)))
    with settings_with_chat(tmp_path, says) as settings:
        settings |= {"QUERY_CACHE_ENABLED": "0", "MISTRAL_REQUESTS_PER_MINUTE": "60000"}
        with running(*ATLAS, "serve", environment=settings, folder=tmp_path) as server:
            address, process = server.address("Atlas"), server.process.pid
            crowd(address, QUESTIONS, searching=4, streaming=16, seconds=2.0)  # opens what stays
            before = footprint(process)
            found = crowd(address, QUESTIONS, searching=4, streaming=16, seconds=4.0)
            assert set(found.statuses) == {200}, server.lines
            assert found.searches
            assert {"vanishes", "stalls"} <= set(found.streams)

            # pools grow up to their bound, and not all of them may have been full before
            def is_back() -> bool | None:
                now = footprint(process)
                back = now.threads <= before.threads + RETRIEVAL_THREADS
                return (back and now.files <= before.files + CONNECTIONS) or None

            wait_for(is_back, 60, f"{before}, but it is {footprint(process)}: that")


def threads_of_this_process() -> int:
    return len(list(Path("/proc/self/task").iterdir()))
