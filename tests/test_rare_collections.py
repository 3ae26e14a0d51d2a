"""Python searches for circular garbage as before once all that held it back is over."""

import gc
import threading

from atlas_search.building.sources import rare_collections


def test_threads_that_are_inside_at_once_leave_it_as_it_was() -> None:
    before = gc.get_threshold()
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with rare_collections():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with rare_collections():
        thread.start()
        assert entered.wait(10)
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold()[0] > before[0]  # the other is inside yet
    leave.set()
    thread.join()
    assert gc.get_threshold() == before
