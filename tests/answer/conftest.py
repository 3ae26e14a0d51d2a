"""The bundled collection answered by a language model, in every test of this room."""

from collections.abc import Iterator

import pytest

from atlas_search.services import Services
from tests.answer.models import Both
from tests.answering import answered_by


@pytest.fixture
def both(services: Services, request: pytest.FixtureRequest) -> Iterator[Both]:
    """The services and their model, of OpenAI unless a test names another provider."""
    with answered_by(getattr(request, "param", "openai"), services) as given:
        yield given
    assert given[0].calls.running == 0
    assert given[0].tracer.open_spans == 0
