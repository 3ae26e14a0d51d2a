"""Stopping work that nobody waits for any more."""

import pytest

from atlas_search.core.errors import Cancelled
from atlas_search.core.stop import Stop


def test_nothing_stops_before_it_is_asked_to() -> None:
    stop = Stop()
    stop.check()
    assert not stop.is_set


def test_work_that_checks_ends_once_it_is_asked_to() -> None:
    stop = Stop()
    stop.set()
    assert stop.is_set
    with pytest.raises(Cancelled):
        stop.check()


def test_who_waits_is_called_once() -> None:
    stop = Stop()
    called: list[str] = []
    with (
        stop.calling(lambda: called.append("first")),
        stop.calling(lambda: called.append("second")),
    ):
        assert called == []
        stop.set()
        stop.set()
        assert called == ["first", "second"]


def test_who_begins_to_wait_too_late_is_called_at_once() -> None:
    stop = Stop()
    stop.set()
    called: list[str] = []
    with stop.calling(lambda: called.append("late")):
        assert called == ["late"]


def test_who_waits_no_more_is_not_called() -> None:
    stop = Stop()
    called: list[str] = []
    with stop.calling(lambda: called.append("gone")):
        pass
    stop.set()
    assert called == []
