"""The demo collection with spans that are kept in memory, and the marked collection, built once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search.services import Services
from tests.answering import answered_by
from tests.chat_server import ChatServer, Request
from tests.orchard import build_orchard
from tests.recorded_spans import Recorded, recording, traced_by
from tests.slow_model import TOKEN

Traced = tuple[Services, Recorded]
Written = tuple[Services, ChatServer, Recorded]


@pytest.fixture
def traced(services: Services, caplog: pytest.LogCaptureFixture) -> Iterator[Traced]:
    """Answered by quotes. Nothing that a span is to say may come to nothing."""
    with recording() as (tracer, recorded):
        yield traced_by(services, tracer), recorded
        assert [s.name for s in recorded.spans if s.dropped_attributes or s.dropped_events] == []
    assert [message for message in caplog.messages if "is not traced" in message] == []


@pytest.fixture
def written(traced: Traced) -> Iterator[Written]:
    """Answered by a language model, a local server."""
    services, recorded = traced
    with answered_by("openai", services) as (own, server):
        yield own, server, recorded


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an orchard."""
    folder = tmp_path_factory.mktemp("orchard")
    build_orchard(folder)
    return folder


def cited(request: Request) -> str:
    """A sentence that cites the best passage of the prompt; of a comparison, none."""
    token = next(iter(TOKEN.findall(request.prompt)), "")
    return f"The council lost its claim for libel. {token}"
