"""No request waits for a server of traces, whatever that does, and however long it takes for it.

Seconds are the product's own: whoever sent spans inside a request would wait for an answer that
takes SLOW, or try again for a minute.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from atlas_search.core.telemetry import export
from tests.collector import Told, collecting
from tests.conftest import free_port
from tests.orchard import ASKED, Orchard, build_orchard, orchard

SLOW = 20.0
SOON = 8.0  # a request takes some 0.1 s, on a busy machine ten times as long
ABSENT = "absent"
REFUSED = "/api/ask?"  # which has a trace too

REQUESTS = {
    "/api/ask": ASKED,
    "/api/ask/stream": ASKED,
    "/api/search": ASKED,
    "/api/validate": {
        "answer": "The warden keeps the ladder [hill.qzjfile-ladder p1].",
        "passages": ["hill.qzjfile-ladder:0-109"],
    },
    REFUSED: {"question": ""},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("orchard")
    build_orchard(folder)
    return folder


@contextmanager
def failing(told: Told | str, after: float) -> Iterator[str]:
    """The address of a server that answers so, and so late; of none if it is ABSENT."""
    if isinstance(told, str) and told == ABSENT:
        yield f"http://127.0.0.1:{free_port()}"
        return
    with collecting(told) as collector:  # type: ignore[arg-type]
        collector.after = after
        yield collector.address


def seconds_of(found: Orchard, path: str) -> float:
    begun = time.monotonic()
    answer = found.post(path, REQUESTS[path])
    taken = time.monotonic() - begun
    assert answer.status_code == (400 if path == REFUSED else 200), answer.text
    return taken


@pytest.mark.parametrize(
    ("told", "after"),
    [(ABSENT, 0), ("hang", 0), (500, 0), (503, 0), (500, SLOW), (401, SLOW), (200, SLOW)],
)
def test_no_request_waits(built: Path, told: Told | str, after: float) -> None:
    assert export.EXPORT_SECONDS > SLOW < export.ANSWER_SECONDS
    with (
        failing(told, after) as address,
        orchard(built, otel_exporter_otlp_endpoint=address) as found,
    ):
        taken = {path: seconds_of(found, path) for path in (*REQUESTS, *REQUESTS)}
        (delivery,) = found.tracer.deliveries
        assert delivery.queue.waiting + delivery.queue.dropped + delivery.queue.exported > 0
        begun = time.monotonic()
    closing = time.monotonic() - begun
    assert {path: seconds for path, seconds in taken.items() if seconds > SOON} == {}
    assert closing < SOON
