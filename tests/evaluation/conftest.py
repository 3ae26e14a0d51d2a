"""A collection that is built in a moment, and who is asked of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search.evaluation.carry_out import ProcessSubject
from tests.evaluation.farm import build_farm, opened_farm


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_farm(tmp_path_factory.mktemp("farm") / "stores")


@pytest.fixture
def subject(farm: Path) -> Iterator[ProcessSubject]:
    with opened_farm(farm) as opened:
        yield opened
